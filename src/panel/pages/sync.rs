//! Sync state of a lane on the rung `simulated`.

use cubewire_protocol::SyncStatus;

use crate::panel::prelude::*;
use crate::replication::LaneSync;

pub(super) fn state(sync: &LaneSync) -> String {
    match (sync.synced_ticks(), sync.state_progress) {
        (Some(_), _) if sync.silent_ticks > KNOWN_TICKS => {
            let seconds = sync.silent_ticks as f64 / f64::from(TICKS_PER_SECOND);
            format!("In sync at the last report, {seconds:.1} s ago.")
        }
        (Some(ticks), _) => {
            let seconds = ticks as f64 / f64::from(TICKS_PER_SECOND);
            let after = match sync.desyncs {
                0 => String::new(),
                1 => ", after 1 desync".to_owned(),
                desyncs => format!(", after {desyncs} desyncs"),
            };
            format!("In sync for {seconds:.1} s{after}.")
        }
        (None, Some((arrived, chunks))) => {
            format!("Predicted; sending a state: {arrived} of {chunks} chunks.")
        }
        (None, None) if sync.awaits_reset => "Predicted until the scene is reset.".to_owned(),
        (None, None) => "Predicted: waiting for a state.".to_owned(),
    }
}

/// Ticks without feedback after which the sync state is out of date. Longer than the round trip of any preset.
const KNOWN_TICKS: u64 = TICKS_PER_SECOND as u64;

pub(super) const fn about(sync: &LaneSync) -> &'static str {
    match sync.status {
        SyncStatus::Synced { .. } => {
            "Both ends simulate the same world. A packet has the pressed keys since the last acked tick, and a check \
             that has confirmed every snapshot so far."
        }
        SyncStatus::Desynced if sync.awaits_reset => {
            "The receiver's world differs from the sender's. The server does not rebuild its scene for viewers, so until it \
             resets the scene, packets are coded as on the rung predicted."
        }
        SyncStatus::Desynced => {
            "The receiver's world differs from the sender's. Until it has received the sender's state, packets \
             are coded as on the rung predicted."
        }
    }
}

pub(super) fn receiver(ui: &mut Ui, sync: &LaneSync) {
    line(ui, figures(sync), Look::of(ui).muted).on_hover_text(format!(
        "Mean time that the receiver takes for a packet. It simulates {:.1} ticks per packet; in sync, each tick once. A \
         state is the data that a receiver needs, in addition to a snapshot, to continue the simulation.",
        sync.mean_ticks.get(),
    ));
}

fn figures(sync: &LaneSync) -> String {
    let states = match sync.state_kilobits {
        0.0 => "no state sent".to_owned(),
        kilobits => format!("states {} kbit", grouped(kilobits)),
    };
    let took_ms = 1_000.0 * sync.mean_seconds.get();
    format!("receiver {took_ms:.2} ms a packet, {states}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_says_time_in_sync_and_desyncs() {
        let status = SyncStatus::Synced { since: 262 };
        let mut sync = LaneSync { tick: 1000, status, ..LaneSync::default() };
        assert_eq!(state(&sync), "In sync for 12.3 s.");
        sync.desyncs = 2;
        assert_eq!(state(&sync), "In sync for 12.3 s, after 2 desyncs.");
        sync.silent_ticks = 90;
        assert_eq!(state(&sync), "In sync at the last report, 1.5 s ago.");
        sync.status = SyncStatus::Desynced;
        assert_eq!(state(&sync), "Predicted: waiting for a state.");
        sync.awaits_reset = true;
        assert_eq!(state(&sync), "Predicted until the scene is reset.");
    }
}
