//! Damaged and hostile messages, and requests with everything that a header can encode.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use allocation_counter::measure;
use cubewire_codec::{
    Baseline, BitKind, Coverage, Decoder, IllegalStages, Life, Limits, Plan, QuantizedSnapshot,
    Sequence, Stages, ladder,
};
use cubewire_link::{Conditions, Loss};
use cubewire_protocol::{
    Ack, BaselineChoice, ClientMessage, Feedback, FeedbackError, MAX_BASELINE_AGE_TICKS,
    PacketBudget, PacketOutcome, Request, Settings, SnapshotSender,
};
use proptest::collection::vec;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::lives::LIVING;
use crate::pair::Pair;
use crate::random::cases;
use crate::world::World;

proptest! {
    #[test]
    fn any_bytes_are_feedback_or_rejected(bytes in vec(any::<u8>(), 0..12)) {
        if let Ok(feedback) = Feedback::decode(&bytes) {
            prop_assert_eq!(feedback.encode(), bytes);
        }
    }

    #[test]
    fn a_sender_survives_any_feedback(
        messages in vec((any::<bool>(), any::<u16>(), any::<u32>()), 1..60),
    ) {
        // Half of the packets are lost, which makes many acks false.
        let mut pair = Pair::new(rough(), 5);
        for (is_ack, sequence, earlier) in messages {
            let mut message = vec![u8::from(!is_ack)];
            message.extend(sequence.to_be_bytes());
            if is_ack {
                message.extend(earlier.to_be_bytes());
            }
            if let Err(error) = pair.server.sender_mut().unwrap().on_message(&message) {
                prop_assert!(matches!(error, FeedbackError::NeverSent(_)));
            }
            pair.step();
        }
        // At worst the sender names a baseline that the receiver never had, and recovers after the report.
        pair.set_conditions(&Conditions::default());
        pair.run(60);
        prop_assert_eq!(pair.run(20), 20);
    }

    #[test]
    fn damaged_packets_change_no_held_snapshot(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        ticks in 1_u64..40,
    ) {
        let mut pair = Pair::new(Conditions::default(), 6);
        pair.run(ticks);
        let newest = pair.receiver().newest().unwrap();
        let held = pair.receiver().get(newest).cloned();
        for (index, value) in damage {
            let mut packet = pair.sender().packet().bytes.clone();
            let index = index.index(packet.len());
            packet[index] ^= value | 1;
            packet.truncate(index + 7);
            let now = pair.now() + Duration::from_millis(1);
            let outcome = pair.client.on_datagram(now, &packet);
            // These stages have no check: a damaged short packet can be a valid packet of another tick.
            prop_assume!(!matches!(outcome, Ok(Some(PacketOutcome::Decoded { .. }))));
        }
        prop_assert_eq!(pair.receiver().get(newest).cloned(), held);
        // The clock must not follow damaged sequence numbers.
        pair.run(300);
        prop_assert_eq!(pair.run(20), 20);
    }
}

fn rough() -> Conditions {
    Conditions {
        latency: Duration::from_millis(40),
        loss: Loss::Independent { probability: 0.5 },
        ..Conditions::default()
    }
}

#[test]
fn a_sender_recovers_from_a_false_ack() {
    let mut pair = Pair::new(Conditions::default(), 7);
    pair.cut(true);
    pair.run(5);
    let false_ack = Feedback::Ack(Ack { newest: Sequence(5), earlier: 0 });
    pair.server.sender_mut().unwrap().on_message(&false_ack.encode()).unwrap();
    pair.cut(false);
    pair.run(3);
    assert!(!pair.rejected.is_empty());
    assert_eq!(pair.run(20), 20);
}

#[test]
fn a_number_from_far_ahead_does_not_set_the_clock() {
    let mut pair = Pair::new(Conditions::default(), 8);
    pair.run(100);
    let mut packet = pair.sender().packet().bytes.clone();
    packet[0] ^= 0x40;
    let now = pair.now();
    let arrival = pair.client.on_datagram(now, &packet);
    assert!(matches!(arrival, Ok(Some(PacketOutcome::OutOfWindow { .. }))), "{arrival:?}");
    assert_eq!(pair.run(20), 20);
}

#[test]
fn a_clock_that_stood_still_is_corrected() {
    let mut pair = Pair::new(Conditions::default(), 9);
    pair.run(100);
    // The receiver's machine was suspended for a minute, and its clock with it.
    pair.skip(3_600);
    assert_eq!(pair.run(100), 40, "the first 60 packets are ignored");
}

/// Removes a body and adds one elsewhere.
pub(crate) fn turn_over(world: &mut World, tick: usize) {
    let life = Life { kind: (tick % 2) as u8, generation: tick as u8 };
    world.remove(tick * 7 % world.len());
    world.add(tick * 5 % world.len(), life);
}

/// Answer of a receiver to a packet.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Nothing,
    /// An ack of the packet of `.0` ticks ago, with the bits `.1` for earlier ones.
    Ack(u64, u32),
    /// A report that the packet of `.0` ticks ago is missing.
    Missing(u64),
}

fn answer() -> impl Strategy<Value = Answer> {
    let age = || prop_oneof![Just(0), 0..40_u64, 0..400_u64];
    prop_oneof![
        3 => Just(Answer::Ack(0, u32::MAX)),
        2 => Just(Answer::Nothing),
        2 => (age(), any::<u32>()).prop_map(|(age, earlier)| Answer::Ack(age, earlier)),
        1 => age().prop_map(Answer::Missing),
    ]
}

/// A sender within a budget, and a decoder of everything that it has sent.
struct Budgeted {
    world: World,
    stages: Stages,
    sender: SnapshotSender,
    decoder: Decoder,
    held: BTreeMap<u64, Baseline>,
    tick: u64,
    /// Memory that the sender has allocated since its creation, bytes.
    taken_bytes: i64,
}

impl Budgeted {
    /// Shortly before sequence numbers wrap.
    const FIRST: u64 = 65_536 - 300;

    const BYTES: usize = 40;

    fn new(rung: ladder::Rung, seed: u64) -> Self {
        let plan = Plan::new(ron::from_str(LIVING).unwrap()).unwrap();
        let world = World::new(Arc::clone(&plan), 0, seed);
        let (initial, limits) = (world.snapshot(), Limits::default());
        Self {
            stages: plan.legal(*rung.stages).unwrap(),
            sender: SnapshotSender::new(Arc::clone(&plan), initial.clone(), limits).unwrap(),
            decoder: Decoder::new(plan, initial, limits).unwrap(),
            world,
            held: BTreeMap::new(),
            tick: Self::FIRST,
            taken_bytes: 0,
        }
    }

    /// Sends the world and decodes the packet. Every sent snapshot is stored, so every ack is true and every packet
    /// can be decoded. Returns the wanted snapshot.
    fn send(&mut self) -> QuantizedSnapshot {
        self.tick += 1;
        let wanted = self.world.quantized(self.stages);
        let packet_budget = PacketBudget { bytes: Self::BYTES, ..PacketBudget::default() };
        let (tick, stages) = (self.tick, self.stages);
        let mut is_sent = false;
        let memory = measure(|| {
            let sent = self.sender.send_within(tick, stages, &wanted, packet_budget);
            is_sent = sent.unwrap().is_some();
        });
        self.taken_bytes += memory.bytes_current;
        if is_sent {
            let packet = self.sender.packet();
            assert!(packet.bytes.len() <= Self::BYTES, "tick {tick}");
            // A header with stages, and the mask.
            let bits = packet.ledger.kind(BitKind::Header);
            assert!(bits <= f64::from(16 + 2 + 16 + 21 + 31), "{bits}");
            let age = |number: Sequence| u64::from(Sequence(tick as u16).ticks_since(number));
            let lookup = |number| self.held.get(&(tick - age(number)));
            let mut received = Baseline::default();
            let decoded = self.decoder.decode(&packet.bytes, lookup, &mut received);
            decoded.unwrap_or_else(|error| panic!("tick {tick}: {error}"));
            assert_eq!(self.sender.get(tick), Some(&received), "tick {tick}");
            self.held.insert(tick, received);
        }
        wanted
    }

    /// Answers the last packet `count` times.
    fn answer(&mut self, answer: Answer, count: u32) {
        let number = |age| Sequence((self.tick - age) as u16);
        let message = match answer {
            Answer::Nothing => return,
            Answer::Ack(age, earlier) => Feedback::Ack(Ack { newest: number(age), earlier }),
            Answer::Missing(age) => Feedback::MissingBaseline(number(age)),
        };
        let message = message.encode();
        let memory = measure(|| {
            for _ in 0..count {
                let taken = self.sender.on_message(&message);
                // If the sender chose to wait, no packet can be acked.
                assert!(matches!(taken, Ok(_) | Err(FeedbackError::NeverSent(_))));
            }
        });
        self.taken_bytes += memory.bytes_current;
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn no_answers_grow_the_packets_or_the_memory_of_a_sender_within_a_budget(
        rung in prop::sample::select(&[ladder::CHANGED_FLAGS, ladder::PREDICTED]),
        answers in vec((answer(), 1..100_u32, 1..30_usize), 1..40),
        seed in any::<u64>(),
    ) {
        let mut budgeted = Budgeted::new(rung, seed);
        let answers = answers.iter().flat_map(|&(answer, count, ticks)| vec![(answer, count); ticks]);
        let mut partial = 0;
        for (answer, count) in answers.cycle().take(600) {
            turn_over(&mut budgeted.world, budgeted.tick as usize);
            budgeted.world.step();
            budgeted.send();
            budgeted.answer(answer, count);
            let sent = budgeted.sender.get(budgeted.tick);
            let is_partial = |sent: &Baseline| sent.stages().coverage() == Coverage::Partial;
            partial += u32::from(sent.is_some_and(is_partial));
        }
        // Rarely, every complete packet fits the budget. Such a case tests little.
        prop_assume!(partial > 0);
        // The ring of sent snapshots, and about as much working memory.
        let sizes = budgeted.held.values().map(|held| Baseline::memory_bytes_of([held]));
        let largest = sizes.max().unwrap();
        let most = (usize::from(MAX_BASELINE_AGE_TICKS) + 1) * largest;
        prop_assert!(budgeted.sender.memory_bytes() <= most);
        prop_assert!(budgeted.taken_bytes < 2 * most as i64, "{} of {most}", budgeted.taken_bytes);
        // The sender serves an honest receiver as before.
        for _ in 0..200 {
            budgeted.send();
            budgeted.answer(Answer::Ack(0, 0), 1);
        }
        let wanted = budgeted.send();
        let (_, newest) = budgeted.held.last_key_value().unwrap();
        prop_assert_eq!(newest.snapshot(), &wanted);
    }
}

/// Number of ticks that each request is sent: the first packet, one with a baseline, and one within a budget.
const TICKS: u64 = 3;

#[test]
fn every_readable_request_is_sent_or_refused_with_a_reason_and_the_sender_goes_on() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut world = World::new(Plan::cubes(), 8, seed);
    let sender = SnapshotSender::new(Plan::cubes(), world.snapshot(), Limits::default());
    let mut sender = sender.unwrap();
    let mut others = ChaCha8Rng::seed_from_u64(seed);
    let packet_budget = PacketBudget { bytes: 40, ..PacketBudget::default() };
    let [mut tick, mut admitted, mut partial, mut other] = [0; 4];
    for stages in Stages::every_readable(|most| others.random_range(0..most)) {
        let settings = Settings {
            stages,
            send_interval_ticks: 1,
            baseline: match random.random_ratio(1, 4) {
                true => BaselineChoice::Smallest,
                false => BaselineChoice::Newest,
            },
            budget_kbps: None,
        };
        let request = Request { number: 7, settings };
        let message = ClientMessage::Request(request);
        assert_eq!(ClientMessage::decode(&message.encode()), Some(message));
        let reason = Plan::cubes().check_complete(stages).err();
        match reason {
            None => admitted += 1,
            Some(IllegalStages::PartialWanted) => partial += 1,
            Some(_) => other += 1,
        }
        for turn in 0..TICKS {
            tick += 1;
            world.step();
            let current = world.quantized(stages);
            let is_within = turn + 1 == TICKS;
            let sent = match is_within {
                false => sender.send(tick, stages, &current, settings.baseline).map(Some),
                true => sender.send_within(tick, stages, &current, packet_budget),
            };
            assert!(sent.is_ok() || reason.is_some(), "{stages:?}: {sent:?}");
            // Within a budget, the sender chooses partial packets itself, or waits.
            assert!(sent.is_err() || reason.is_none() || is_within, "{stages:?}");
            // The newest packet, if it was sent.
            let ack = Feedback::Ack(Ack { newest: Sequence(tick as u16), earlier: 0 });
            let _ = sender.on_message(&ack.encode());
        }
    }
    println!("{admitted} admitted, {partial} partial, {other} that the scene does not have");
    assert!(admitted > 10_000 && partial > 10_000 && other > 10);
    // An honest request is served as before.
    for _ in 0..3 {
        tick += 1;
        let stages = ladder::PREDICTED.stages;
        let current = world.quantized(stages);
        sender.send(tick, stages, &current, BaselineChoice::Newest).unwrap();
    }
}
