//! Datagrams from a client: feedback, and recent inputs of the app.
//!
//! A datagram is a sequence of items, each beginning with its kind. [`Feedback`] has the kinds 0 to 2.
//!
//! ```text
//! inputs   3 | channel 8 | newest varint | count 8 | count × (length varint | bytes)
//! ```
//!
//! An item has consecutive inputs of a channel, the last with the number `newest`. Inputs are repeated in later datagrams, because
//! any datagram can get lost.

use std::collections::VecDeque;

use crate::feedback::Feedback;

const INPUTS: u8 = 3;

/// Limit of the inputs of a channel in a datagram. An input is lost only if eight datagrams in a row are lost.
const RECENT_INPUTS: usize = 8;

/// Limit of the feedback in a datagram. A client sends one message for up to 33 snapshots that have arrived.
const MAX_FEEDBACK: usize = 16;

/// Limit of the items with inputs in a datagram.
const MAX_RUNS: usize = 100;

/// Limit of a datagram with several items, bytes. It needs no fragmentation.
const DATAGRAM_BYTES: usize = 1_200;

/// Largest header of an item with inputs, and largest length prefix of an input, in bytes.
const HEADER_BYTES: usize = 13;
const LENGTH_BYTES: usize = 3;

/// Largest input that is repeated, in bytes. A longer one is sent once, in fragments.
pub const MAX_REPEATED_BYTES: usize = DATAGRAM_BYTES - HEADER_BYTES - LENGTH_BYTES;

/// Recent inputs of one channel.
#[derive(Clone, Debug, Default)]
pub(super) struct SentInputs {
    newest: u64,
    /// Each input, with the number of datagrams that have contained it.
    recent: VecDeque<(Vec<u8>, usize)>,
}

impl SentInputs {
    pub(super) fn push(&mut self, input: Vec<u8>) {
        self.newest += 1;
        self.recent.push_back((input, 0));
        if self.recent.len() > RECENT_INPUTS {
            self.recent.pop_front();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.recent.is_empty()
    }

    /// Encodes the new inputs, plus as many earlier ones as fit into `room` bytes with them. Earlier ones that do not
    /// fit are not sent again. New inputs that do not fit alone get an item each.
    fn take(&mut self, channel: u8, room: usize) -> Vec<Vec<u8>> {
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
        let in_item = if size <= room { self.recent.len() } else { 1 };
        let mut newest = self.newest - self.recent.len() as u64;
        let inputs = self.recent.make_contiguous();
        let items = inputs.chunks(in_item.max(1)).map(|inputs| {
            newest += inputs.len() as u64;
            item(channel, newest, inputs.iter().map(|(input, _)| &**input))
        });
        let items = items.collect();
        for (_, sent) in &mut self.recent {
            *sent += 1;
        }
        self.recent.retain(|&(_, sent)| sent < RECENT_INPUTS);
        items
    }
}

fn item<'a>(channel: u8, newest: u64, inputs: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<u8> {
    let proved = "numbers and bytes can be serialized";
    let header = (INPUTS, channel, newest, inputs.len() as u8);
    let bytes = postcard::to_allocvec(&header).expect(proved);
    inputs.fold(bytes, |bytes, input| postcard::to_extend(input, bytes).expect(proved))
}

/// Takes the datagrams of a tick: all feedback, and the inputs of all channels. Each has as many items as fit into one packet, or
/// a single longer input.
pub(super) fn take(feedback: &[Feedback], channels: &mut [SentInputs]) -> Vec<Vec<u8>> {
    let feedback = feedback.chunks(MAX_FEEDBACK);
    let mut datagrams: Vec<Vec<u8>> =
        feedback.map(|some| some.iter().flat_map(|feedback| feedback.encode()).collect()).collect();
    let used = datagrams.last().map_or(0, Vec::len);
    let active = channels.iter().filter(|inputs| !inputs.is_empty()).count().max(1);
    let room = ((DATAGRAM_BYTES - used) / active).saturating_sub(HEADER_BYTES);
    let mut runs = 0;
    for (channel, inputs) in channels.iter_mut().enumerate() {
        for item in inputs.take(channel as u8, room) {
            match datagrams.last_mut() {
                Some(last) if last.len() + item.len() <= DATAGRAM_BYTES && runs < MAX_RUNS => {
                    last.extend(item);
                    runs += 1;
                }
                _ => {
                    datagrams.push(item);
                    runs = 1;
                }
            }
        }
    }
    datagrams
}

/// Contents of a datagram from a client.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Upstream<'a> {
    pub(super) feedback: Vec<Feedback>,
    pub(super) inputs: Vec<RecentInputs<'a>>,
}

/// Consecutive inputs of a channel, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecentInputs<'a> {
    pub(super) channel: usize,
    /// Number of the last input.
    pub(super) newest: u64,
    inputs: Vec<&'a [u8]>,
}

impl<'a> Upstream<'a> {
    /// Decodes a datagram. Returns `None` if it is malformed or has more items than a client sends.
    pub(super) fn decode(mut bytes: &'a [u8]) -> Option<Self> {
        let mut upstream = Self::default();
        while !bytes.is_empty() {
            bytes = match Feedback::split(bytes) {
                Some((feedback, rest)) => {
                    upstream.feedback.push(feedback);
                    rest
                }
                None => {
                    let (inputs, rest) = RecentInputs::split(bytes)?;
                    upstream.inputs.push(inputs);
                    rest
                }
            };
            if upstream.feedback.len() > MAX_FEEDBACK || upstream.inputs.len() > MAX_RUNS {
                return None;
            }
        }
        Some(upstream)
    }
}

impl<'a> RecentInputs<'a> {
    fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let ((kind, channel, newest, count), mut rest): ((u8, u8, u64, u8), _) =
            postcard::take_from_bytes(bytes).ok()?;
        if kind != INPUTS || !(1..=RECENT_INPUTS).contains(&count.into()) {
            return None;
        }
        let mut inputs = Vec::with_capacity(count.into());
        for _ in 0..count {
            let (input, after) = postcard::take_from_bytes(rest).ok()?;
            inputs.push(input);
            rest = after;
        }
        Some((Self { channel: channel.into(), newest, inputs }, rest))
    }

    /// Returns the inputs with a number above `seen`, oldest first, with their numbers.
    pub(super) fn after(&self, seen: u64) -> impl ExactSizeIterator<Item = (u64, &'a [u8])> {
        let new = self.newest.saturating_sub(seen).min(self.inputs.len() as u64) as usize;
        let inputs = self.inputs[self.inputs.len() - new..].iter();
        let newest = self.newest;
        (0..new).zip(inputs).map(move |(index, input)| (newest - (new - 1 - index) as u64, *input))
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::Sequence;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Sends inputs of these lengths, one per tick, followed by ticks without input. Returns the number of the newest
    /// input and the lengths, for each datagram.
    fn sent(lengths: &[usize], silence: usize) -> Vec<(u64, Vec<usize>)> {
        let mut channels = [SentInputs::default()];
        let mut sent = Vec::new();
        for tick in 0..lengths.len() + silence {
            if let Some(&length) = lengths.get(tick) {
                channels[0].push(vec![7; length]);
            }
            for datagram in take(&[], &mut channels) {
                let has_one = |length| (length..=length + HEADER_BYTES).contains(&datagram.len());
                assert!(datagram.len() <= 1_200 || lengths.iter().any(|&length| has_one(length)));
                let upstream = Upstream::decode(&datagram).unwrap();
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
    fn long_ones_are_repeated_if_they_fit_and_longer_ones_are_sent_once() {
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
    fn channels_and_acks_share_a_datagram_and_new_inputs_are_always_sent() {
        let mut channels = [(); 3].map(|()| SentInputs::default());
        for channel in &mut channels {
            for _ in 0..12 {
                channel.push(vec![1; 30_000]);
            }
        }
        // The eight most recent inputs of each channel, apart from the acks.
        let feedback = [Feedback::Desync(Sequence(1)); 17];
        assert_eq!(take(&feedback, &mut channels).len(), 2 + 24);
        for channel in &mut channels {
            channel.push(vec![1; 100]);
        }
        let short = take(&feedback[..3], &mut channels);
        let short: Vec<_> = short.iter().map(|bytes| Upstream::decode(bytes).unwrap()).collect();
        assert_eq!((short.len(), &short[0].feedback[..]), (1, &feedback[..3]));
        assert_eq!(short[0].inputs.len(), 3);
        assert!(short[0].inputs.iter().all(|run| run.newest == 13 && run.inputs.len() == 1));
    }

    #[test]
    fn a_datagram_has_a_bounded_number_of_items() {
        let of = |feedback: usize, runs: usize, inputs: usize| {
            let mut bytes = [1, 0, 7].repeat(feedback);
            for _ in 0..runs {
                bytes.extend(item(0, 9, vec![&[][..]; inputs].into_iter()));
            }
            Upstream::decode(&bytes).is_some()
        };
        assert!(of(16, 100, 8) && of(0, 0, 0));
        assert!(!of(17, 1, 1) && !of(1, 101, 1) && !of(1, 1, 0) && !of(1, 1, 9));
    }

    proptest! {
        #[test]
        fn any_bytes_have_few_new_inputs(bytes in vec(any::<u8>(), 0..60), seen in any::<u64>()) {
            for kind in 0..=4 {
                let bytes = [&[kind], &bytes[..]].concat();
                for run in Upstream::decode(&bytes).iter().flat_map(|upstream| &upstream.inputs) {
                    prop_assert!(run.after(seen).len() <= run.inputs.len().min(RECENT_INPUTS));
                    prop_assert!(run.newest > seen || run.after(seen).len() == 0);
                }
            }
        }
    }
}
