use std::time::Duration;

use cubewire_codec::glam::Vec3;
use cubewire_codec::ladder::{ARITHMETIC, CHANGED_FLAGS, UNCOMPRESSED};
use cubewire_codec::{BodyState, Plan, QuantizedSnapshot};

use super::*;
use crate::budget::RateLimiter;
use crate::schedule::{PacketBudget, SendState};

fn sender() -> (SnapshotSender, QuantizedSnapshot) {
    let precision = CHANGED_FLAGS.stages.precision();
    let mut quantized = QuantizedSnapshot::new(Plan::cubes(), precision);
    let initial = put(&mut quantized, [0.0; 3]);
    let sender = SnapshotSender::new(Plan::cubes(), initial, Limits::default()).unwrap();
    (sender, quantized)
}

/// Places the bodies at these positions along the first axis.
fn put(quantized: &mut QuantizedSnapshot, metres: [f32; 3]) -> Snapshot {
    let body = |metres: f32| BodyState { position: Vec3::X * metres, ..BodyState::default() };
    let bodies = metres.map(body).to_vec();
    let snapshot = Snapshot { bodies };
    let precision = CHANGED_FLAGS.stages.precision();
    quantized.quantize(&snapshot, precision).unwrap();
    snapshot
}

/// Returns the tick of the baseline that the packet names.
fn send(sender: &mut SnapshotSender, snapshot: &QuantizedSnapshot, tick: u64) -> Option<u64> {
    let stages = CHANGED_FLAGS.stages;
    let header = sender.send(tick, stages, snapshot, BaselineChoice::Newest).unwrap();
    header.baseline_age().map(|age| tick - u64::from(age))
}

fn ack(sender: &mut SnapshotSender, newest: u64, earlier: u32) {
    let newest = sequence(newest);
    let ack = Feedback::Ack(Ack { newest, earlier });
    sender.on_message(&ack.encode()).unwrap();
}

#[test]
fn packets_are_relative_to_the_newest_ack_until_it_is_too_old_or_wrong() {
    let (mut sender, snapshot) = sender();
    let named = |sender: &mut SnapshotSender, tick| send(sender, &snapshot, tick);
    assert_eq!([1, 2].map(|tick| named(&mut sender, tick)), [None; 2]);
    ack(&mut sender, 1, 0);
    assert_eq!(named(&mut sender, 3), Some(1));
    let oldest = 1 + u64::from(MAX_BASELINE_AGE_TICKS);
    assert_eq!(named(&mut sender, oldest), Some(1));
    assert_eq!(named(&mut sender, oldest + 1), None);
    ack(&mut sender, oldest + 1, 0);
    assert_eq!(named(&mut sender, oldest + 2), Some(oldest + 1));
    // The receiver does not have this snapshot.
    let missing = Feedback::MissingBaseline(sequence(oldest + 1));
    sender.on_message(&missing.encode()).unwrap();
    assert_eq!(named(&mut sender, oldest + 3), None);
    // The number was last sent one wrap ago.
    let later = oldest + 3 + 65_536;
    assert_eq!(named(&mut sender, later + 1), None);
    ack(&mut sender, later, 0);
    assert_eq!(sender.newest_acked(), None);
}

#[test]
fn an_ack_covers_earlier_snapshots_by_its_bits_and_may_be_late() {
    let (mut sender, snapshot) = sender();
    let first = 65_536 - 20;
    for tick in 1..=40 {
        send(&mut sender, &snapshot, first + tick);
    }
    // Tick 40, then 38 and 8 by their bits, and a late ack of 3.
    ack(&mut sender, first + 40, 1 << 1 | 1 << 31);
    ack(&mut sender, first + 3, 0);
    let acked: Vec<_> = sender.history.acked.iter().map(|tick| tick - first).collect();
    assert_eq!(acked, [3, 8, 38, 40]);
}

#[test]
fn an_ack_of_what_was_never_sent_is_an_error() {
    let (mut sender, snapshot) = sender();
    let ack = |number| Feedback::Ack(Ack { newest: sequence(number), earlier: u32::MAX });
    let early = sender.on_message(&ack(1).encode());
    assert_eq!(early, Err(FeedbackError::NeverSent(sequence(1))));
    send(&mut sender, &snapshot, 1);
    let guessed = sender.on_message(&ack(2).encode());
    assert_eq!(guessed, Err(FeedbackError::NeverSent(sequence(2))));
    assert_eq!(sender.newest_acked(), None);
    assert!(sender.on_message(&ack(1).encode()).is_ok());
    assert_eq!(sender.newest_acked(), Some(1));
}

#[test]
fn itemizing_changes_no_byte() {
    let ([mut plain, mut itemized], snapshot) = ([sender().0, sender().0], sender().1);
    itemized.itemize(true);
    for tick in 1..20 {
        for sender in [&mut plain, &mut itemized] {
            send(sender, &snapshot, tick);
            ack(sender, tick, 0);
        }
        assert_eq!(plain.packet().bytes, itemized.packet().bytes);
        assert!(plain.packet().ledger.items().is_none());
        assert!(itemized.packet().ledger.items().is_some());
    }
}

#[test]
fn ticks_must_increase_and_a_rejected_snapshot_changes_nothing() {
    let (mut sender, snapshot) = sender();
    send(&mut sender, &snapshot, 7);
    let newest = BaselineChoice::Newest;
    let error = sender.send(7, CHANGED_FLAGS.stages, &snapshot, newest).unwrap_err();
    assert_eq!(error, SendError::Tick { tick: 7, newest: 7 });
    assert!(sender.send(8, UNCOMPRESSED.stages, &snapshot, newest).is_err());
    send(&mut sender, &snapshot, 8);
}

#[test]
fn a_body_waits_behind_more_urgent_ones_and_is_in_flight_until_its_ack() {
    let (mut sender, mut snapshot) = sender();
    let stages = CHANGED_FLAGS.stages;
    put(&mut snapshot, [0.25, 0.5, 0.0]);
    let after = |sender: &mut SnapshotSender, tick: u64, bytes: usize, gains: &[f32]| {
        let packet_budget = PacketBudget { bytes, gains, ..PacketBudget::default() };
        sender.send_within(tick, stages, &snapshot, packet_budget).unwrap();
        let mut send_states = Vec::new();
        sender.send_states(tick + 1, &mut send_states);
        assert_eq!(send_states, [], "of another tick");
        sender.send_states(tick, &mut send_states);
        send_states
    };
    let never_sent = SendState::UpToDate { sent: None };

    // No body fits.
    let [nearer, further, still] = after(&mut sender, 7, 0, &[])[..] else {
        panic!("three bodies");
    };
    let (SendState::Waiting(nearer), SendState::Waiting(further)) = (nearer, further) else {
        panic!("{nearer:?}, {further:?}");
    };
    assert_eq!(still, never_sent);
    assert_eq!((nearer.since, nearer.error, nearer.more_urgent), (7, 0.25, 1));
    assert_eq!((further.since, further.error, further.more_urgent), (7, 0.5, 0));
    assert!(further.priority > nearer.priority);

    // One body fits.
    let send_states = after(&mut sender, 8, 11, &[]);
    assert_eq!(send_states[0].waiting_ticks(8), Some(1));
    assert_eq!(send_states[1..], [SendState::InFlight { sent: 8 }, never_sent]);
    ack(&mut sender, 8, 0);
    let send_states = after(&mut sender, 9, 0, &[0.0]);
    assert_eq!(
        send_states,
        [SendState::Withheld { since: 7 }, SendState::UpToDate { sent: Some(8) }, never_sent]
    );
}

/// Bodies first move independently and then identically, which makes complete packets much shorter than estimated.
#[test]
fn a_scene_that_fits_is_soon_sent_whole() {
    let stages = ARITHMETIC.stages;
    let mut bodies = vec![BodyState::default(); 901];
    let initial = Snapshot { bodies: bodies.clone() };
    let mut sender = SnapshotSender::new(Plan::cubes(), initial, Limits::default()).unwrap();
    let mut wanted = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    let mut budget = RateLimiter::new(3125, 60);
    let mut complete = 0;
    for tick in 1..=300 {
        for (slot, body) in bodies[..200].iter_mut().enumerate() {
            let turned = (slot as u64 * tick) as f32;
            body.position += match tick < 60 {
                true => Vec3::new(turned.sin(), 0.0, turned.cos()) / 4.0,
                false => Vec3::X / 32.0,
            };
        }
        let snapshot = Snapshot { bodies: bodies.clone() };
        wanted.quantize(&snapshot, stages.precision()).unwrap();
        let now = Duration::from_secs(1) * tick as u32 / 60;
        let packet_budget = budget.packet_budget(now, 1200, 14);
        let sent = sender.send_within(tick, stages, &wanted, packet_budget).unwrap();
        if sent.is_some() {
            budget.spend(now, sender.packet().bytes.len() + 14);
            let is_complete = sender.get(tick).unwrap().carried_bodies().count() == 901;
            complete += u32::from(tick > 240 && is_complete);
            ack(&mut sender, tick, 0);
        }
    }
    assert!(complete > 12, "{complete} of 60 ticks");
}

#[test]
fn no_acks_merge_more_packets_than_a_mask_names() {
    let (mut sender, mut snapshot) = sender();
    let stages = CHANGED_FLAGS.stages;
    let packet_budget = PacketBudget { bytes: 24, ..PacketBudget::default() };
    for tick in 1..=300 {
        put(&mut snapshot, [tick as f32 / 16.0; 3]);
        sender.send_within(tick, stages, &snapshot, packet_budget).unwrap();
    }
    for tick in (1..=300).chain(1..=300) {
        ack(&mut sender, tick, u32::MAX);
    }
    assert!(sender.history.acked.len() <= usize::from(MAX_BASELINE_AGE_TICKS) + 1);
    assert_eq!(sender.history.merged().len(), 31);
}

/// With any acks, similar senders send the same packets, and one can send for the other.
#[test]
fn senders_that_are_alike_send_the_same() {
    let (mut senders, mut snapshot) = ([(); 3].map(|()| sender().0), sender().1);
    let mut alike = 0;
    for tick in 1..60_u64 {
        put(&mut snapshot, [tick as f32, 0.0, 0.0]);
        let [first, second, third] = &mut senders;
        let is_like = first.is_like(second);
        assert!(!is_like || first.sharing_key() == second.sharing_key());
        send(first, &snapshot, tick);
        send(third, &snapshot, tick);
        let expected = third.packet().bytes.clone();
        match is_like {
            true => {
                alike += 1;
                second.send_same(tick, first).unwrap();
                assert!(second.send_same(tick, first).is_err());
                assert_eq!(second.get(tick), first.get(tick));
            }
            false => {
                send(second, &snapshot, tick);
            }
        }
        assert_eq!(first.packet().bytes, expected);
        ack(first, tick, 0);
        ack(third, tick, 0);
        // Some acks are late: a later one covers their packets.
        if tick % 10 < 7 {
            ack(second, tick, u32::MAX >> (32 - tick.min(32)) >> 1);
        }
    }
    assert!((10..59).contains(&alike), "{alike} of 59");
}
