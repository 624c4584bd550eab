//! Spreads the datagrams of a large snapshot over several ticks, so that they do not overflow the queue of a narrow
//! link.

use std::collections::VecDeque;

/// A queue of packets that are sent at given ticks.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    now: u64,
    /// Packets with their due tick.
    waiting: VecDeque<(u64, Vec<u8>)>,
}

impl Pacer {
    /// Queues packets that are sent evenly over `ticks` ticks, the first one at once.
    pub fn put(&mut self, packets: Vec<Vec<u8>>, ticks: u32) {
        let count = packets.len() as u64;
        for (index, packet) in (0..).zip(packets) {
            let due = self.now + index * u64::from(ticks) / count;
            self.waiting.push_back((due, packet));
        }
    }

    /// Returns the packets that are due and advances by a tick.
    pub fn take(&mut self) -> impl Iterator<Item = Vec<u8>> {
        let waiting = self.waiting.iter();
        let due = waiting.take_while(|(due, _)| *due <= self.now).count();
        self.now += 1;
        self.waiting.drain(..due).map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packets(count: u8) -> Vec<Vec<u8>> {
        (0..count).map(|index| vec![index]).collect()
    }

    fn taken(pacer: &mut Pacer, ticks: usize) -> Vec<usize> {
        (0..ticks).map(|_| pacer.take().count()).collect()
    }

    #[test]
    fn packets_go_out_evenly_the_first_at_once() {
        let mut pacer = Pacer::default();
        assert_eq!(taken(&mut pacer, 2), [0, 0]);
        pacer.put(packets(3), 8);
        assert_eq!(taken(&mut pacer, 8), [1, 0, 1, 0, 0, 1, 0, 0]);
        pacer.put(packets(31), 4);
        assert_eq!(taken(&mut pacer, 5), [8, 8, 8, 7, 0]);
        pacer.put(packets(8), 1);
        assert_eq!(taken(&mut pacer, 2), [8, 0]);
        assert!(pacer.waiting.is_empty());
    }

    #[test]
    fn what_is_put_later_is_sent_later() {
        let mut pacer = Pacer::default();
        pacer.put(packets(2), 4);
        assert_eq!(pacer.take().collect::<Vec<_>>(), [[0]]);
        pacer.put(vec![vec![9]], 1);
        assert_eq!(taken(&mut pacer, 1), [0]);
        assert_eq!(pacer.take().collect::<Vec<_>>(), [[1], [9]]);
    }
}
