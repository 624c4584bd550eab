//! Requests with everything that a header can encode. The plan accepts some, which can be sent; the others give an
//! error.

use cubewire_codec::{IllegalStages, Limits, Plan, QuantizedSnapshot, Sequence, Stages, ladder};
use cubewire_protocol::{
    Ack, BaselineChoice, ClientMessage, Feedback, PacketBudget, Request, Settings, SnapshotSender,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::world::World;

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
                true => sender.send_within(tick, stages, &current, packet_budget()),
            };
            assert!(sent.is_ok() || reason.is_some(), "{stages:?}: {sent:?}");
            // Within a budget, the sender chooses partial packets itself, or waits.
            assert!(sent.is_err() || reason.is_none() || is_within, "{stages:?}");
            acknowledge(&mut sender, tick);
        }
    }
    println!("{admitted} admitted, {partial} partial, {other} that the scene does not have");
    assert!(admitted > 10_000 && partial > 10_000 && other > 10);
    // An honest request is served as before.
    for _ in 0..3 {
        tick += 1;
        let stages = ladder::PREDICTED.stages;
        let current: QuantizedSnapshot = world.quantized(stages);
        sender.send(tick, stages, &current, BaselineChoice::Newest).unwrap();
    }
}

fn packet_budget() -> PacketBudget<'static> {
    PacketBudget { bytes: 40, ..PacketBudget::default() }
}

/// Acks the newest packet if it was sent.
fn acknowledge(sender: &mut SnapshotSender, tick: u64) {
    let ack = Feedback::Ack(Ack { newest: Sequence(tick as u16), earlier: 0 });
    let _ = sender.on_message(&ack.encode());
}
