//! A bad network between a viewer and the server, with faults drawn from a seed. It also captures datagrams for the
//! attackers.

use std::collections::{HashSet, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::wire::{MAX_DATAGRAM_BYTES, STEP, Tally, Wire, random_address};

/// Number of datagrams by fault.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Fates {
    pub(crate) arrived: u64,
    pub(crate) dropped: u64,
    pub(crate) duplicated: u64,
    pub(crate) delayed: u64,
    /// Captured datagrams that were sent again.
    pub(crate) replayed: u64,
    pub(crate) flipped: u64,
    pub(crate) truncated: u64,
    /// Datagrams sent from another address.
    pub(crate) resourced: u64,
}

/// Datagrams that passed the relay in either direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// The first datagrams, which include the handshake.
    first: Vec<Vec<u8>>,
    last: VecDeque<Vec<u8>>,
}

impl Captured {
    fn add(&self, datagram: &[u8]) {
        let mut kept = self.0.lock().expect("no thread panics");
        if kept.first.len() < MAX_FIRST {
            kept.first.push(datagram.to_vec());
        } else {
            kept.last.push_back(datagram.to_vec());
            if kept.last.len() > MAX_LAST {
                kept.last.pop_front();
            }
        }
    }

    /// Returns a random captured datagram, or `None` if there is no datagram yet.
    pub(crate) fn any(&self, random: &mut impl Rng) -> Option<Vec<u8>> {
        let kept = self.0.lock().expect("no thread panics");
        let index = random.random_range(0..(kept.first.len() + kept.last.len()).max(1));
        let last = index.checked_sub(kept.first.len());
        let found = match last {
            Some(last) => kept.last.get(last),
            None => kept.first.get(index),
        };
        found.cloned()
    }
}

/// First byte of a connection request, which contains the token.
const REQUEST: u8 = 0;

const MAX_FIRST: usize = 32;
const MAX_LAST: usize = 1024;

/// A datagram to forward.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Passing {
    delay: Duration,
    is_resourced: bool,
    datagram: Vec<u8>,
}

/// Draws the faults for a datagram. Returns the datagrams to forward: empty if it is dropped, several if it is
/// duplicated or a replay is added.
fn pass(
    datagram: &[u8],
    captured: &Captured,
    random: &mut impl Rng,
    fates: &mut Fates,
) -> Vec<Passing> {
    fates.arrived += 1;
    let mut passing = Vec::new();
    let mut datagrams = vec![datagram.to_vec()];
    if random.random_ratio(5, 100) {
        fates.dropped += 1;
        datagrams.clear();
    }
    if random.random_ratio(2, 100) {
        fates.duplicated += 1;
        datagrams.push(datagram.to_vec());
    }
    if random.random_ratio(2, 100)
        && let Some(old) = captured.any(random)
    {
        fates.replayed += 1;
        datagrams.push(old);
    }
    for mut datagram in datagrams {
        if random.random_ratio(2, 100) && !datagram.is_empty() {
            fates.flipped += 1;
            let offset = random.random_range(0..datagram.len());
            datagram[offset] ^= 1 << random.random_range(0..8);
        }
        if random.random_ratio(1, 100) {
            fates.truncated += 1;
            datagram.truncate(random.random_range(0..=datagram.len()));
        }
        let mut delay = Duration::ZERO;
        if random.random_ratio(5, 100) {
            fates.delayed += 1;
            delay = Duration::from_millis(random.random_range(5..60));
        }
        let is_resourced = random.random_ratio(1, 100);
        fates.resourced += u64::from(is_resourced);
        passing.push(Passing {
            delay,
            is_resourced,
            datagram,
        });
    }
    passing
}

/// Sockets of the relay.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The viewer sends to this socket.
    front: Wire,
    /// The server receives from this socket.
    back: Wire,
    /// A second address on each side.
    others: [Wire; 2],
    server: SocketAddr,
    pub(crate) captured: Captured,
}

impl Relay {
    pub(crate) fn new(server: SocketAddr, random: &mut ChaCha8Rng) -> std::io::Result<Self> {
        Ok(Self {
            front: Wire::bind(Ipv4Addr::LOCALHOST)?,
            back: Wire::bind(Ipv4Addr::LOCALHOST)?,
            others: [
                Wire::bind(random_address(random))?,
                Wire::bind(random_address(random))?,
            ],
            server,
            captured: Captured::default(),
        })
    }

    /// Returns the address for the viewer to connect to.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.front.address()
    }

    /// Returns a handle of the socket that the server knows as the viewer.
    pub(crate) fn as_viewer(&self) -> std::io::Result<Wire> {
        self.back.try_clone()
    }

    /// Forwards datagrams until told to stop. The first sender is taken for the viewer. Also returns the tally of the
    /// datagrams exchanged with the server.
    pub(crate) fn run(
        &mut self,
        should_stop: &AtomicBool,
        mut random: ChaCha8Rng,
    ) -> (Fates, Tally) {
        let mut fates = Fates::default();
        let mut tokens = HashSet::new();
        let mut viewer = None;
        let mut waiting: Vec<(Instant, bool, Passing)> = Vec::new();
        let mut buffer = [0; MAX_DATAGRAM_BYTES];
        while !should_stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            for is_upstream in [true, false] {
                let wire = if is_upstream {
                    &mut self.front
                } else {
                    &mut self.back
                };
                while let Some((datagram, from)) = wire.receive(&mut buffer) {
                    let peer = match is_upstream {
                        true => *viewer.get_or_insert(from),
                        false => self.server,
                    };
                    if from == peer {
                        if is_upstream && datagram.first() == Some(&REQUEST) {
                            tokens.insert(datagram.to_vec());
                        }
                        self.captured.add(datagram);
                        let passing = pass(datagram, &self.captured, &mut random, &mut fates);
                        waiting.extend(
                            passing
                                .into_iter()
                                .map(|one| (now + one.delay, is_upstream, one)),
                        );
                    }
                }
                self.back.keys = tokens.len();
            }
            for (_, is_upstream, passing) in waiting.extract_if(.., |(due, ..)| *due <= now) {
                let [up, down] = &mut self.others;
                let (wire, to) = match (is_upstream, passing.is_resourced) {
                    (true, false) => (&mut self.back, Some(self.server)),
                    (true, true) => (up, Some(self.server)),
                    (false, false) => (&mut self.front, viewer),
                    (false, true) => (down, viewer),
                };
                if let Some(to) = to {
                    wire.send(&passing.datagram, to);
                }
            }
            thread::sleep(STEP);
        }
        (fates, self.back.tally)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Passes 10 000 datagrams through the relay.
    fn passed(seed: u64) -> (Vec<Passing>, Fates) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let captured = Captured::default();
        captured.add(b"captured");
        let mut fates = Fates::default();
        let passed = (0..10_000_u32)
            .flat_map(|number| pass(&number.to_be_bytes(), &captured, &mut random, &mut fates));
        (passed.collect(), fates)
    }

    #[test]
    fn the_seed_decides_what_becomes_of_datagrams() {
        assert_eq!(passed(1).0, passed(1).0);
        assert_ne!(passed(1).0, passed(2).0);
    }

    #[test]
    fn most_datagrams_pass_and_each_fate_befalls_some() {
        let (passed, fates) = passed(1);
        assert_eq!(fates.arrived, 10_000);
        let sent = 10_000 - fates.dropped + fates.duplicated + fates.replayed;
        assert_eq!(passed.len() as u64, sent);
        for (count, per_mille) in [
            (fates.dropped, 50),
            (fates.duplicated, 20),
            (fates.replayed, 20),
            (fates.flipped, 20),
            (fates.truncated, 10),
            (fates.delayed, 50),
            (fates.resourced, 10),
        ] {
            let expected = 10 * per_mille;
            assert!((expected / 2..expected * 2).contains(&count), "{fates:?}");
        }
        assert!(passed.iter().any(|one| one.datagram == b"captured"));
    }

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
            assert!(
                !(MAX_FIRST..10_000 - MAX_LAST).contains(&number),
                "{number}"
            );
        }
    }
}
