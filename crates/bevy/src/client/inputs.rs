//! Recent inputs, and the datagrams that repeat them.

use std::collections::VecDeque;

use crate::wire::{RECENT_INPUTS, RecentInputs, Upstream, encode};

/// Recent inputs of one registered type.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    newest: u64,
    /// Each input, with the number of datagrams that have contained it.
    recent: VecDeque<(Vec<u8>, usize)>,
}

/// Consecutive inputs, and the number of the last one.
type Run = (u64, Vec<Vec<u8>>);

/// Limit of the input bytes in one datagram, including their headers. With the rest of the [`Upstream`], that is 1200
/// bytes, which need no fragmentation.
const DATAGRAM_BYTES: usize = 1_196;

/// Largest header of a channel, and largest length prefix of an input, in bytes.
const CHANNEL_BYTES: usize = 12;
const LENGTH_BYTES: usize = 3;

/// Largest input that is repeated, in bytes. A longer one is sent once, in fragments.
pub(super) const MAX_REPEATED_BYTES: usize = DATAGRAM_BYTES - CHANNEL_BYTES - LENGTH_BYTES;

impl Inputs {
    pub(super) fn push(&mut self, input: Vec<u8>) {
        self.newest += 1;
        self.recent.push_back((input, 0));
        if self.recent.len() > RECENT_INPUTS {
            self.recent.pop_front();
        }
    }

    /// Takes the new inputs, plus as many earlier ones as fit into `room` bytes with them. Earlier ones that do not fit
    /// are not sent again.
    fn take(&mut self, room: usize) -> Vec<Run> {
        let bytes = |(input, _): &(Vec<u8>, usize)| input.len() + LENGTH_BYTES;
        // Inputs that were sent before are at the front.
        let new = self.recent.partition_point(|&(_, sent)| sent > 0);
        let mut size = self.recent.range(new..).map(bytes).sum::<usize>();
        let mut first = new;
        while first > 0 && size + bytes(&self.recent[first - 1]) <= room {
            first -= 1;
            size += bytes(&self.recent[first]);
        }
        self.recent.drain(..first);
        let inputs: Vec<_> = self.recent.iter().map(|(input, _)| input.clone()).collect();
        for (_, sent) in &mut self.recent {
            *sent += 1;
        }
        self.recent.retain(|&(_, sent)| sent < RECENT_INPUTS);
        if inputs.is_empty() {
            return Vec::new();
        } else if size <= room {
            return vec![(self.newest, inputs)];
        }
        // The new inputs alone exceed the room, so each one gets a separate run.
        let before = self.newest - inputs.len() as u64;
        (before + 1..).zip(inputs.into_iter().map(|input| vec![input])).collect()
    }
}

/// Takes the datagrams with the inputs of all channels. Each has as many inputs as fit into one packet, or a single
/// longer one.
pub(super) fn datagrams(channels: &mut [Inputs]) -> Vec<Vec<u8>> {
    let is_active = |inputs: &&Inputs| !inputs.recent.is_empty();
    let active = channels.iter().filter(is_active).count().max(1);
    let room = (DATAGRAM_BYTES / active).saturating_sub(CHANNEL_BYTES);
    let mut runs = Vec::new();
    for (channel, inputs) in channels.iter_mut().enumerate() {
        runs.extend(inputs.take(room).into_iter().map(|run| (channel as u8, run)));
    }
    let mut datagrams: Vec<Upstream<'_>> = Vec::new();
    let mut left = 0_usize;
    for &(channel, (newest, ref inputs)) in &runs {
        let inputs: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
        let bytes = inputs.iter().map(|input| input.len() + LENGTH_BYTES);
        let bytes = CHANNEL_BYTES + bytes.sum::<usize>();
        if datagrams.is_empty() || bytes > left {
            datagrams.push(Upstream::default());
            left = DATAGRAM_BYTES;
        }
        left = left.saturating_sub(bytes);
        let last = datagrams.len() - 1;
        datagrams[last].inputs.push(RecentInputs { channel, newest, inputs });
    }
    datagrams.iter().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::decode;

    /// Sends inputs of these lengths, one per tick, followed by ticks without input. Returns the number of the newest
    /// input and the lengths, for each datagram.
    fn sent(lengths: &[usize], silence: usize) -> Vec<(u64, Vec<usize>)> {
        let mut channels = [Inputs::default()];
        let mut sent = Vec::new();
        for tick in 0..lengths.len() + silence {
            if let Some(&length) = lengths.get(tick) {
                channels[0].push(vec![7; length]);
            }
            for datagram in datagrams(&mut channels) {
                let has_one = |length| (length..length + 12).contains(&datagram.len());
                assert!(datagram.len() <= 1_200 || lengths.iter().any(|&length| has_one(length)));
                let upstream: Upstream<'_> = decode(&datagram).unwrap();
                assert_eq!((upstream.feedback.len(), upstream.inputs.len()), (0, 1));
                let run = &upstream.inputs[0];
                sent.push((run.newest, run.inputs.iter().map(|input| input.len()).collect()));
            }
        }
        assert!(channels[0].recent.is_empty());
        sent
    }

    #[test]
    fn each_is_in_eight_datagrams_if_there_is_room() {
        let sent = sent(&[4; 20], 10);
        assert_eq!(sent.len(), 27);
        for number in 1..=20 {
            let has_it = |&&(newest, ref inputs): &&(u64, Vec<usize>)| {
                (newest - inputs.len() as u64 + 1..=newest).contains(&number)
            };
            assert_eq!(sent.iter().filter(has_it).count(), 8, "{number}");
        }
    }

    #[test]
    fn long_ones_are_repeated_as_there_is_room_and_longer_ones_are_sent_once() {
        assert_eq!(
            sent(&[500; 4], 7),
            [
                &[(1, vec![500]), (2, vec![500; 2]), (3, vec![500; 2])],
                &vec![(4, vec![500; 2]); 7][..],
                &[(4, vec![500])],
            ]
            .concat()
        );
        assert_eq!(
            sent(&[MAX_REPEATED_BYTES + 1, 20_000, 4, 5], 8)[..4],
            [(1, vec![MAX_REPEATED_BYTES + 1]), (2, vec![20_000]), (3, vec![4]), (4, vec![4, 5])]
        );
    }

    #[test]
    fn channels_share_a_datagram_and_what_is_new_is_always_sent() {
        let mut channels = [(); 3].map(|()| Inputs::default());
        for channel in &mut channels {
            for _ in 0..12 {
                channel.push(vec![1; 30_000]);
            }
        }
        // The eight most recent inputs of each channel.
        assert_eq!(datagrams(&mut channels).len(), 24);
        for channel in &mut channels {
            channel.push(vec![1; 100]);
        }
        let short = datagrams(&mut channels);
        let short: Vec<Upstream<'_>> = short.iter().map(|bytes| decode(bytes).unwrap()).collect();
        let runs: Vec<_> = short.iter().flat_map(|upstream| &upstream.inputs).collect();
        assert_eq!((short.len(), runs.len()), (1, 3));
        assert!(runs.iter().all(|run| run.newest == 13 && run.inputs.len() == 1));
    }
}
