//! The byte stream of reliable messages. Each message is preceded by its length, in 16 bits.

use std::collections::VecDeque;

/// Stream bytes that renet does not have yet.
#[derive(Debug, Default)]
pub(super) struct OutgoingStream {
    bytes: VecDeque<u8>,
    /// Number of bytes at the front that continue a message of which renet has the first bytes.
    begun: usize,
}

impl OutgoingStream {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn push(&mut self, message: &[u8]) {
        self.bytes.extend((message.len() as u16).to_be_bytes());
        self.bytes.extend(message);
    }

    /// Removes and returns the next bytes, at most [`len`](Self::len).
    pub(super) fn take(&mut self, count: usize) -> Vec<u8> {
        while self.begun < count {
            let length = [self.bytes[self.begun], self.bytes[self.begun + 1]];
            self.begun += 2 + usize::from(u16::from_be_bytes(length));
        }
        self.begun -= count;
        self.bytes.drain(..count).collect()
    }

    /// Drops all messages that renet has not begun to send.
    pub(super) fn drop_unsent(&mut self) {
        self.bytes.truncate(self.begun);
    }
}

/// Received stream bytes, from the first incomplete message on.
#[derive(Debug, Default)]
pub(super) struct IncomingStream(Vec<u8>);

impl IncomingStream {
    /// Adds received bytes, and moves the messages that are complete.
    pub(super) fn push(&mut self, bytes: &[u8], messages: &mut Vec<Vec<u8>>) {
        self.0.extend(bytes);
        let mut taken = 0;
        while let Some((length, rest)) = self.0[taken..].split_first_chunk()
            && let Some(message) = rest.get(..u16::from_be_bytes(*length).into())
        {
            messages.push(message.to_vec());
            taken += 2 + message.len();
        }
        self.0.drain(..taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_and_joined_at_any_byte() {
        let sent: Vec<_> = [0, 1, 5, 300, 0, 70].map(|length| vec![length as u8; length]).into();
        for piece in [1, 2, 7, 400] {
            let (mut out, mut into, mut received) =
                <(OutgoingStream, IncomingStream, Vec<_>)>::default();
            sent.iter().for_each(|message| out.push(message));
            assert_eq!(out.len(), 376 + 6 * 2);
            while out.len() > 0 {
                let piece = piece.min(out.len());
                into.push(&out.take(piece), &mut received);
            }
            assert_eq!(received, sent);
        }
    }

    #[test]
    fn a_message_that_has_begun_is_not_dropped() {
        let (mut out, mut into, mut received) =
            <(OutgoingStream, IncomingStream, Vec<_>)>::default();
        (0..3).for_each(|byte| out.push(&[byte; 10]));
        into.push(&out.take(15), &mut received);
        out.drop_unsent();
        out.push(&[9]);
        let rest = out.take(out.len());
        into.push(&rest, &mut received);
        assert_eq!(received, [vec![0; 10], vec![1; 10], vec![9]]);
        assert_eq!(out.len(), 0);
    }
}
