//! Compares decoded snapshots with the sent ones. Needs both ends in one process.

use bevy::prelude::*;

use super::Replica;
use super::lane::Sender;
use super::receive::{Decoded, DecodedPacket};

/// Results of the comparison since this component was added to a lane.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCheck {
    pub compared: u64,
    pub wrong: u64,
}

pub(super) fn check(mut lanes: Query<(&Sender, &Replica, &Decoded, &mut LaneCheck)>) {
    for (sender, replica, decoded, mut check) in &mut lanes {
        for &DecodedPacket { tick, .. } in &decoded.0 {
            // The sender drops its copy after a while.
            if let Some(sent) = sender.0.get(tick) {
                let received = replica.0.get(tick).map(|held| held.snapshot());
                check.compared += 1;
                check.wrong += u64::from(received != Some(sent.snapshot()));
            }
        }
    }
}
