//! Seats of a server: which viewer moves the cube of which player.
//!
//! A viewer tells whether it plays, and a number that only it and the server know. The server answers with the player that it is.
//! The number gives the viewer its seat back when it connects again after its connection was lost.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::MessageBuffer;
use cubewire_scene::MAX_PLAYERS;

/// The player whose inputs a lane carries, counted from 0.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat(pub usize);

/// Time for which a seat is kept after its viewer's connection was lost.
const KEPT: Duration = Duration::from_secs(60);

/// The seats of a server.
#[derive(Resource, Debug)]
pub struct Seats {
    /// By player. `None` for a free seat.
    seats: Vec<Option<Occupant>>,
}

#[derive(Clone, Copy, Debug)]
enum Occupant {
    /// The player in the server's process.
    Host,
    Viewer {
        number: u64,
        /// Its last connection.
        viewer: Entity,
        is_present: bool,
        last_seen: Duration,
    },
}

impl Default for Seats {
    fn default() -> Self {
        Self::new(1, 1)
    }
}

impl Seats {
    /// The seats of `1..=`[`MAX_PLAYERS`] players, of which the first `hosts` play in the server's process.
    pub fn new(players: usize, hosts: usize) -> Self {
        let seat = |player| (player < hosts).then_some(Occupant::Host);
        Self { seats: (0..players).map(seat).collect() }
    }

    /// Returns the seat of a viewer, or gives it one. If it `is_new`, it replaces another connection with the same number, and
    /// loses a seat that it had with another number.
    fn take(&mut self, now: Duration, number: u64, entity: Entity, is_new: bool) -> Option<usize> {
        let mut own = None;
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let Some(Occupant::Viewer { number: other, viewer, is_present, last_seen }) = *seat
            else {
                continue;
            };
            if other == number {
                if is_present && viewer != entity && !is_new {
                    return None;
                }
                own = Some(index);
            } else if viewer == entity || !is_present && now > last_seen + KEPT {
                *seat = None;
            }
        }
        let seat = own.or_else(|| self.seats.iter().position(Option::is_none))?;
        let (viewer, is_present, last_seen) = (entity, true, now);
        self.seats[seat] = Some(Occupant::Viewer { number, viewer, is_present, last_seen });
        Some(seat)
    }

    /// Frees the seat of a viewer that ends its connection.
    pub(super) fn leave(&mut self, entity: Entity) {
        for seat in &mut self.seats {
            seat.take_if(|it| matches!(it, Occupant::Viewer { viewer, .. } if *viewer == entity));
        }
    }

    /// Keeps the seats of viewers that are gone, or do not play any more.
    fn keep(&mut self, plays: impl Fn(Entity, u64) -> bool) {
        for seat in self.seats.iter_mut().flatten() {
            if let Occupant::Viewer { number, viewer, is_present, .. } = seat {
                *is_present &= plays(*viewer, *number);
            }
        }
    }
}

/// What a viewer wants: its number if it plays.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish(pub(super) Option<u64>);

impl Wish {
    pub(super) fn encode(self) -> Vec<u8> {
        self.0.map_or_else(|| vec![0], |number| [&[1], &number.to_le_bytes()[..]].concat())
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (0, []) => Some(Self(None)),
            (1, number) => Some(Self(Some(u64::from_le_bytes(number.try_into().ok()?)))),
            _ => None,
        }
    }
}

/// The answer to a wish: the number of the player from 1 on, or 0 if the viewer watches.
pub(super) fn encode_answer(seat: Option<usize>) -> Vec<u8> {
    vec![seat.map_or(0, |seat| seat as u8 + 1)]
}

pub(super) fn decode_answer(bytes: &[u8]) -> Option<Option<usize>> {
    match *bytes {
        [0] => Some(None),
        [player] if usize::from(player) <= MAX_PLAYERS => Some(Some(usize::from(player) - 1)),
        _ => None,
    }
}

type Viewer<'a> = (Entity, Ref<'a, Wish>, Option<&'a Seat>, &'a mut MessageBuffer);

/// Gives free seats to the viewers that want to play.
pub(super) fn assign(
    time: Res<Time<Real>>,
    mut seats: ResMut<Seats>,
    mut viewers: Query<Viewer<'_>>,
    mut commands: Commands,
) {
    let now = time.elapsed();
    seats.keep(|viewer, number| {
        viewers.get(viewer).is_ok_and(|(_, wish, ..)| wish.0 == Some(number))
    });
    for (entity, wish, before, mut buffer) in &mut viewers {
        let is_new = wish.is_changed();
        let seat = wish.0.and_then(|number| seats.take(now, number, entity, is_new));
        if !is_new && seat == before.map(|seat| seat.0) {
            continue;
        }
        buffer.outgoing.messages.push(encode_answer(seat));
        let mut viewer = commands.entity(entity);
        match seat {
            Some(seat) => viewer.try_insert(Seat(seat)),
            None => viewer.try_remove::<Seat>(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn entity(index: u32) -> Entity {
        Entity::from_raw_u32(index).unwrap()
    }

    #[test]
    fn a_seat_is_kept_for_a_minute_and_given_back_to_its_player() {
        let mut seats = Seats::new(3, 1);
        let mut now = SECOND;
        let [first, second] =
            [7, 8].map(|number| seats.take(now, number, entity(number as u32), true));
        assert_eq!((first, second), (Some(1), Some(2)), "the host has the first one");
        assert_eq!(seats.take(now, 9, entity(9), true), None, "all are taken");
        seats.keep(|viewer, _| viewer != entity(7));
        now += KEPT;
        assert_eq!(seats.take(now, 9, entity(9), false), None);
        assert_eq!(seats.take(now, 7, entity(70), true), Some(1), "it has come back");
        seats.keep(|viewer, _| viewer != entity(70));
        seats.leave(entity(8));
        assert_eq!(seats.take(now, 10, entity(10), false), Some(2), "one that leaves is not kept");
        now += KEPT + SECOND;
        assert_eq!(seats.take(now, 9, entity(9), false), Some(1));
        assert_eq!(seats.take(now, 7, entity(71), true), None);
    }

    #[test]
    fn of_two_connections_with_one_number_the_newer_has_the_seat() {
        let mut seats = Seats::new(2, 0);
        assert_eq!(seats.take(SECOND, 7, entity(1), true), Some(0));
        assert_eq!(seats.take(SECOND, 7, entity(2), true), Some(0));
        for _ in 0..3 {
            assert_eq!(seats.take(SECOND, 7, entity(1), false), None, "it does not come back");
            assert_eq!(seats.take(SECOND, 7, entity(2), false), Some(0));
        }
        // The other one is free for others.
        assert_eq!(seats.take(SECOND, 8, entity(3), true), Some(1));
    }

    #[test]
    fn a_connection_with_changing_numbers_holds_one_seat() {
        let mut seats = Seats::new(3, 0);
        for number in 0..9 {
            seats.keep(|_, _| false);
            assert!(seats.take(SECOND, number, entity(1), true).is_some());
        }
        let others = [2, 3].map(|it| seats.take(SECOND, 10 + u64::from(it), entity(it), true));
        assert!(others.iter().all(Option::is_some), "{others:?}");
        assert_eq!(seats.take(SECOND, 20, entity(4), true), None);
    }

    #[test]
    fn messages_are_read_as_written_and_others_are_refused() {
        for wish in [Wish(None), Wish(Some(0)), Wish(Some(u64::MAX))] {
            assert_eq!(Wish::decode(&wish.encode()), Some(wish));
        }
        for bytes in [&[][..], &[0, 0], &[1], &[1; 8], &[1; 10], &[2], &[2; 9]] {
            assert_eq!(Wish::decode(bytes), None);
        }
        for seat in [None, Some(0), Some(3)] {
            assert_eq!(decode_answer(&encode_answer(seat)), Some(seat));
        }
        assert_eq!([&[][..], &[5], &[1, 1], &[255]].map(decode_answer), [None; 4]);
    }
}
