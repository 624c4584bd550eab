//! Captured datagrams, for the attackers.

use std::sync::{Arc, Mutex};

use rand::{Rng, RngExt};

/// Datagrams that an honest viewer has sent or received, and how many there were: the first [`MAX_FIRST`], which include
/// the handshake, and the last [`MAX_LAST`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Arc<Mutex<(usize, Vec<Vec<u8>>)>>);

impl Captured {
    pub(crate) fn add(&self, datagram: &[u8]) {
        let (count, kept) = &mut *self.0.lock().expect("no thread panics");
        match kept.len() < MAX_FIRST + MAX_LAST {
            true => kept.push(datagram.to_vec()),
            false => kept[MAX_FIRST + (*count - MAX_FIRST) % MAX_LAST] = datagram.to_vec(),
        }
        *count += 1;
    }

    /// Returns a random captured datagram, or `None` if there is no datagram yet.
    pub(crate) fn any(&self, random: &mut impl Rng) -> Option<Vec<u8>> {
        let (_, kept) = &*self.0.lock().expect("no thread panics");
        let index = random.random_range(0..kept.len().max(1));
        kept.get(index).cloned()
    }
}

const MAX_FIRST: usize = 32;
const MAX_LAST: usize = 1024;

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_first_and_the_last_datagrams_are_kept() {
        let captured = Captured::default();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(captured.any(&mut random), None);
        for number in 0..10_000_u32 {
            captured.add(&number.to_be_bytes());
        }
        for _ in 0..10_000 {
            let any = captured.any(&mut random).unwrap();
            let number = u32::from_be_bytes(any.try_into().unwrap()) as usize;
            assert!(!(MAX_FIRST..10_000 - MAX_LAST).contains(&number));
        }
    }
}
