//! Reliable components that wait until the connection to a client has room.
//!
//! A transport delivers messages in order, even outdated ones. It is therefore given components only while its backlog
//! is small. The others wait here, where a newer value replaces an older one of the same component. The body that has
//! waited longest is sent first. Memory is bounded by the number of slots, each with one value per component; the bytes
//! are shared between clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use cubewire_codec::Life;

use crate::wire::{BodyId, MAX_TO_CLIENT_BYTES, Part, ReliableToClient, encode};

/// Queued components for one client.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// By slot.
    bodies: BTreeMap<usize, Waiting>,
    /// Slots in order of queueing, by [`Waiting::place`].
    order: BTreeMap<u64, usize>,
    next: u64,
}

#[derive(Debug)]
struct Waiting {
    place: u64,
    body: BodyId,
    /// Whether these are all components of the body, so that the client removes any other.
    is_all: bool,
    /// By component; `None` if it was removed.
    values: BTreeMap<u8, Value>,
}

/// Encoded component, shared between clients; `None` if it was removed.
pub(super) type Value = Option<Arc<[u8]>>;

/// Largest overhead of a component in its message, in bytes.
const AROUND_BYTES: usize = 5;

impl Outbox {
    /// Queues a value of a component, replacing an older one.
    pub(super) fn change(&mut self, slot: usize, life: Life, component: usize, value: Value) {
        self.waiting(slot, life).values.insert(component as u8, value);
    }

    /// Queues all components of a body, replacing the queued ones.
    pub(super) fn replace(
        &mut self,
        slot: usize,
        life: Life,
        components: impl IntoIterator<Item = Value>,
    ) {
        let waiting = self.waiting(slot, life);
        waiting.is_all = true;
        let components = components.into_iter().enumerate().filter(|(_, value)| value.is_some());
        waiting.values = components.map(|(index, value)| (index as u8, value)).collect();
    }

    pub(super) fn forget(&mut self, slot: usize) {
        if let Some(waiting) = self.bodies.remove(&slot) {
            self.order.remove(&waiting.place);
        }
    }

    /// Takes messages while `room`, in bytes, is left. The last body may exceed it.
    pub(super) fn take(&mut self, mut room: usize, messages: &mut Vec<Vec<u8>>) {
        while room > 0
            && let Some((_, slot)) = self.order.pop_first()
        {
            let Some(waiting) = self.bodies.remove(&slot) else {
                continue;
            };
            let first = messages.len();
            waiting.write(messages);
            let bytes = messages[first..].iter().map(Vec::len).sum();
            room = room.saturating_sub(bytes);
        }
    }

    fn waiting(&mut self, slot: usize, life: Life) -> &mut Waiting {
        let body = BodyId::new(slot, life);
        if self.bodies.get(&slot).is_some_and(|waiting| waiting.body != body) {
            self.forget(slot);
        }
        self.bodies.entry(slot).or_insert_with(|| {
            let place = self.next;
            self.next += 1;
            self.order.insert(place, slot);
            Waiting { place, body, is_all: false, values: BTreeMap::new() }
        })
    }
}

impl Waiting {
    /// Encodes the components in as few messages as hold them.
    fn write(&self, messages: &mut Vec<Vec<u8>>) {
        let mut parts = vec![Vec::new()];
        let mut room = MAX_TO_CLIENT_BYTES;
        for (&component, value) in &self.values {
            let value = value.as_deref();
            let bytes = value.map_or(0, <[u8]>::len);
            if bytes + AROUND_BYTES > room && !parts[parts.len() - 1].is_empty() {
                parts.push(Vec::new());
                room = MAX_TO_CLIENT_BYTES;
            }
            room = room.saturating_sub(bytes + AROUND_BYTES);
            let last = parts.len() - 1;
            parts[last].push((component, value));
        }
        let last = parts.len() - 1;
        for (index, components) in parts.into_iter().enumerate() {
            let part = match (self.is_all, index) {
                (true, 0) if last == 0 => Part::All,
                (true, 0) => Part::Begin,
                (true, index) if index == last => Part::End,
                _ => Part::Change,
            };
            messages.push(encode(&ReliableToClient::Components {
                body: self.body,
                part,
                components,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::decode;

    const LIFE: Life = Life { kind: 0, generation: 3 };

    fn value(length: usize, byte: u8) -> Value {
        Some(Arc::from(vec![byte; length]))
    }

    /// Slot and part of a message, and the index, length and first byte of each component.
    type Taken = (u16, Part, Vec<(u8, usize, u8)>);

    fn taken(outbox: &mut Outbox, room: usize) -> Vec<Taken> {
        let mut messages = Vec::new();
        outbox.take(room, &mut messages);
        let read = messages.iter().map(|bytes| {
            let Some(ReliableToClient::Components { body, part, components }) = decode(bytes)
            else {
                panic!("{bytes:?}");
            };
            assert!(bytes.len() <= cubewire_protocol::renet_guard::MAX_RELIABLE_BYTES);
            let component = |(number, bytes): (u8, Option<&[u8]>)| {
                let bytes = bytes.unwrap_or_default();
                (number, bytes.len(), bytes.first().copied().unwrap_or(0))
            };
            (body.slot, part, components.into_iter().map(component).collect())
        });
        read.collect()
    }

    #[test]
    fn a_newer_value_takes_the_place_of_one_that_waits() {
        let mut outbox = Outbox::default();
        outbox.change(7, LIFE, 2, value(10, 1));
        outbox.change(4, LIFE, 0, value(10, 2));
        outbox.change(7, LIFE, 2, value(10, 3));
        outbox.change(7, LIFE, 1, None);
        assert_eq!(taken(&mut outbox, 0), []);
        let expected = (7, Part::Change, vec![(1, 0, 0), (2, 10, 3)]);
        assert_eq!(taken(&mut outbox, 1), [expected]);
        // Slot 7 queues behind slot 4 again.
        outbox.change(7, LIFE, 2, value(10, 4));
        let expected = [(4, Part::Change, vec![(0, 10, 2)]), (7, Part::Change, vec![(2, 10, 4)])];
        assert_eq!(taken(&mut outbox, 1_000), expected);
        assert!(outbox.bodies.is_empty() && outbox.order.is_empty());
    }

    #[test]
    fn a_body_that_is_gone_waits_no_more() {
        let mut outbox = Outbox::default();
        outbox.replace(7, LIFE, [value(3, 1), None]);
        outbox.forget(7);
        outbox.replace(8, LIFE, [value(3, 1), None]);
        let next = Life { generation: 4, ..LIFE };
        outbox.replace(8, next, [None, None]);
        outbox.change(8, next, 1, value(3, 2));
        assert_eq!(taken(&mut outbox, 1_000), [(8, Part::All, vec![(1, 3, 2)])]);
        assert!(outbox.order.is_empty());
    }

    #[test]
    fn what_is_too_long_for_one_message_is_sent_in_several() {
        let mut outbox = Outbox::default();
        let longest = MAX_TO_CLIENT_BYTES;
        let long = [longest, 30_000, 30_000, 30_000].map(|length| value(length, 9));
        outbox.replace(65_535, LIFE, long);
        let parts = taken(&mut outbox, 1);
        let counts: Vec<_> = parts.iter().map(|part| (part.1, part.2.len())).collect();
        assert_eq!(counts, [(Part::Begin, 1), (Part::Change, 2), (Part::End, 1)]);
        for component in [0, 1] {
            outbox.change(0, LIFE, component, value(longest, 9));
        }
        let parts = taken(&mut outbox, 1);
        assert!(parts.iter().all(|part| part.1 == Part::Change) && parts.len() == 2);
    }
}
