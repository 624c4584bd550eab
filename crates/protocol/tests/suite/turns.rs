//! Bodies take turns within a budget. No body waits longer than the bound, and the bodies of a group are sent together.

use cubewire_codec::glam::Vec3;
use cubewire_codec::{
    BodyState, Coverage, Limits, Plan, QuantizedSnapshot, Sequence, Snapshot, ladder,
};
use cubewire_protocol::{Ack, Feedback, MAX_WEIGHT_RATIO, PacketBudget, SnapshotSender};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::random::cases;

/// A sender with packets that are acked at once.
struct Turns {
    sender: SnapshotSender,
    bodies: Snapshot,
    snapshot: QuantizedSnapshot,
    tick: u64,
    random: ChaCha8Rng,
}

impl Turns {
    fn new(bodies: usize, seed: u64) -> Self {
        let bodies = Snapshot { bodies: vec![BodyState::default(); bodies] };
        let stages = ladder::PREDICTED.stages;
        Self {
            sender: SnapshotSender::new(Plan::cubes(), bodies.clone(), Limits::default()).unwrap(),
            bodies,
            snapshot: QuantizedSnapshot::new(Plan::cubes(), stages.precision()),
            tick: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Moves the first `far` bodies far and the others a little, and sends them. Returns the sent bodies if the
    /// packet is partial.
    fn step(&mut self, far: usize, packet_budget: PacketBudget<'_>) -> Option<Vec<usize>> {
        self.tick += 1;
        for (index, body) in self.bodies.bodies.iter_mut().enumerate() {
            let metres = if index < far { 20.0 } else { 0.01 };
            let mut random = || self.random.random_range(-metres..metres);
            body.position = Vec3::new(random(), random(), 5.0 + random() / 8.0);
        }
        let stages = ladder::PREDICTED.stages;
        let precision = stages.precision();
        self.snapshot.quantize(&self.bodies, precision).unwrap();
        let sent = self.sender.send_within(self.tick, stages, &self.snapshot, packet_budget);
        sent.unwrap()?;
        let ack = Feedback::Ack(Ack { newest: Sequence(self.tick as u16), earlier: 0 });
        self.sender.on_message(&ack.encode()).unwrap();
        let sent = self.sender.get(self.tick).unwrap();
        (sent.stages().coverage() == Coverage::Partial).then(|| {
            let slots = 0..self.bodies.bodies.len();
            slots.filter(|&slot| sent.carried(slot)).collect()
        })
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn no_body_waits_for_longer_than_the_bound(
        bodies in 20..120_usize,
        far in 0.0..1.0_f64,
        bytes in 60..300_usize,
        seed in any::<u64>(),
    ) {
        let mut turns = Turns::new(bodies, seed);
        let far = (bodies as f64 * far) as usize;
        let (mut least, mut longest) = (bodies, 0);
        for _ in 0..400 {
            let packet_budget = PacketBudget { bytes, ..PacketBudget::default() };
            if let Some(sent) = turns.step(far, packet_budget) {
                least = least.min(sent.len());
            }
            longest = longest.max(turns.sender.longest_wait(turns.tick));
        }
        prop_assert!(least > 0);
        let bound = 4.0 * MAX_WEIGHT_RATIO * bodies as f32 / least as f32;
        prop_assert!(longest as f32 <= bound, "{longest} ticks, {least} of {bodies} bodies at least");
    }

    #[test]
    fn those_of_a_group_that_wait_are_sent_together(
        groups in prop::collection::vec(0..12_u32, 0..60),
        bytes in 60..300_usize,
        seed in any::<u64>(),
    ) {
        let mut turns = Turns::new(60, seed);
        for _ in 0..60 {
            let packet_budget = PacketBudget { bytes, groups: &groups, ..PacketBudget::default() };
            let Some(sent) = turns.step(30, packet_budget) else { continue };
            let group = |slot: usize| groups.get(slot).copied();
            let mut send_states = Vec::new();
            turns.sender.send_states(turns.tick, &mut send_states);
            let waiting = (0..60).filter(|&slot: &usize| send_states[slot].waiting_ticks(turns.tick).is_some());
            for waiting in waiting.filter_map(group) {
                let with = sent.iter().filter(|&&slot| group(slot) == Some(waiting));
                let count = with.count();
                prop_assert!(count == 0 || count == sent.len(), "group {waiting}: {count} of {sent:?}");
            }
        }
    }
}
