//! Sends a long snapshot's packets one after another, not all at once.

use std::collections::VecDeque;

/// Packets that wait for their ticks.
#[derive(Debug, Default)]
pub(super) struct Spread {
    now: u64,
    /// With the tick that each is due in.
    waiting: VecDeque<(u64, Vec<u8>)>,
}

impl Spread {
    /// Puts packets behind those that wait, to be sent evenly over so many ticks from now on.
    pub(super) fn put(&mut self, packets: Vec<Vec<u8>>, ticks: u32) {
        let count = packets.len() as u64;
        for (place, packet) in (0..).zip(packets) {
            let due = self.now + place * u64::from(ticks) / count;
            self.waiting.push_back((due, packet));
        }
    }

    /// Takes out those that are due; after that, so many ticks are over.
    pub(super) fn take(&mut self, ticks: u32) -> impl Iterator<Item = Vec<u8>> {
        let waiting = self.waiting.iter();
        let due = waiting.take_while(|(due, _)| *due <= self.now).count();
        self.now += u64::from(ticks);
        self.waiting.drain(..due).map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(count: u8) -> Vec<Vec<u8>> {
        (0..count).map(|place| vec![place]).collect()
    }

    fn taken(spread: &mut Spread, ticks: u32, times: usize) -> Vec<usize> {
        (0..times).map(|_| spread.take(ticks).count()).collect()
    }

    #[test]
    fn packets_go_out_evenly_the_first_at_once() {
        let mut spread = Spread::default();
        assert_eq!(taken(&mut spread, 1, 2), [0, 0]);
        spread.put(packets(3), 8);
        assert_eq!(taken(&mut spread, 1, 8), [1, 0, 1, 0, 0, 1, 0, 0]);
        spread.put(packets(31), 4);
        assert_eq!(taken(&mut spread, 1, 5), [8, 8, 8, 7, 0]);
        spread.put(packets(8), 1);
        assert_eq!(taken(&mut spread, 1, 2), [8, 0]);
        // Frames of several ticks.
        spread.put(packets(8), 8);
        assert_eq!(taken(&mut spread, 3, 4), [1, 3, 3, 1]);
    }

    #[test]
    fn what_is_put_later_is_sent_later() {
        let mut spread = Spread::default();
        spread.put(packets(2), 4);
        assert_eq!(spread.take(1).collect::<Vec<_>>(), [[0]]);
        spread.put(vec![vec![9]], 1);
        assert_eq!(taken(&mut spread, 1, 1), [0]);
        assert_eq!(spread.take(1).collect::<Vec<_>>(), [[1], [9]]);
    }
}
