//! Senders with a slow, fast or changing clock, and ends that hang: the receiver's display and its timing.

use std::time::Duration;

use cubewire_codec::{BodyState, Plan, QuantizedSnapshot, Sequence, Snapshot, Stages, ladder};
use cubewire_link::{Conditions, Link, Loss, Preset};
use cubewire_protocol::{
    Ack, AdaptiveRate, BaselineChoice, Feedback, SnapshotReceiver, SnapshotSender,
};

use crate::play::ends;

/// Duration of a receiver's frame, and of a tick of a sender with a correct clock.
const FRAME: Duration = Duration::from_nanos(16_666_667);
const TICK_SECONDS: f64 = 1.0 / 60.0;

/// Number of steps per frame; the sender can tick in each.
const STEPS: u32 = 4;

const STAGES: Stages = ladder::CHANGED_FLAGS.stages;

/// A sender with its own clock, and a receiver that polls for packets every frame.
struct Show {
    sender: SnapshotSender,
    receiver: SnapshotReceiver,
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    /// The sender's rate, which it learns from acks.
    through: AdaptiveRate,
    snapshot: QuantizedSnapshot,
    now: Duration,
    /// Seconds of the sender's time per second.
    rate: f64,
    /// The sender's time in ticks.
    sender_time: f64,
    tick: u64,
    /// Playout delay, or `None` for the adaptive one.
    delay: Option<Duration>,
}

/// Measurements of some frames.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    starved: Duration,
    /// Mean lag of the displayed tick behind the sender's current tick, seconds of the receiver's time.
    mean_lag: f64,
    /// Minimum and maximum step between frames, relative to the correct one.
    steps: [f64; 2],
}

impl Show {
    fn new(conditions: Conditions, seed: u64) -> Self {
        let initial = Snapshot { bodies: vec![BodyState::default(); 2] };
        let plan = Plan::cubes();
        let (sender, receiver) = ends(&plan, 0, &initial, 5 * FRAME, Duration::ZERO);
        let mut snapshot = QuantizedSnapshot::new(plan, STAGES.precision());
        snapshot.quantize(&initial, STAGES.precision()).unwrap();
        Self {
            sender,
            receiver,
            down: Link::new(conditions.clone(), 2 * seed),
            up: Link::new(conditions, 2 * seed + 1),
            through: AdaptiveRate::new(60),
            snapshot,
            now: Duration::ZERO,
            rate: 1.0,
            sender_time: 0.0,
            tick: 0,
            delay: None,
        }
    }

    fn preset(name: &str, seed: u64) -> Self {
        Self::new(Preset::by_name(name).unwrap().conditions.clone(), seed)
    }

    /// Advances the sender by a frame of the receiver.
    fn send(&mut self) {
        for _ in 0..STEPS {
            self.now += FRAME / STEPS;
            self.sender_time += self.rate * (FRAME / STEPS).as_secs_f64() / TICK_SECONDS;
            while let Some(message) = self.up.receive(self.now) {
                if let Feedback::Ack(ack) = self.sender.on_message(&message).unwrap() {
                    self.through.on_ack(self.tick, &ack);
                }
            }
            while (self.tick + 1) as f64 <= self.sender_time {
                self.tick += 1;
                self.through.update(self.tick);
                let choice = BaselineChoice::Newest;
                let sent = self.sender.send(self.tick, STAGES, &self.snapshot, choice);
                sent.unwrap();
                let packet = self.sender.packet().bytes.clone();
                self.through.on_sent(self.tick, self.tick, packet.len());
                self.down.send(self.now, packet.len() + 40, packet);
            }
        }
    }

    /// The receiver polls for packets.
    fn look(&mut self) {
        while let Some(packet) = self.down.receive(self.now) {
            // Over bad links some packets are too late to be decoded.
            let _ = self.receiver.on_packet(self.now, &packet);
        }
        self.receiver.advance_playout(self.now, self.delay);
        while let Some(feedback) = self.receiver.poll_feedback() {
            let message = feedback.encode();
            self.up.send(self.now, message.len() + 40, message);
        }
    }

    /// Returns the due tick, which may not have arrived.
    fn due(&self) -> Option<f64> {
        Some(self.receiver.playout().sample(self.now)?.due_tick)
    }

    fn frames(&mut self, frames: u64) -> Seen {
        let playout = self.receiver.playout();
        let starved = playout.starved;
        let mut seen = Seen { steps: [f64::MAX, f64::MIN], ..Seen::default() };
        for _ in 0..frames {
            let before = self.due();
            self.send();
            self.look();
            let Some((before, due)) = before.zip(self.due()) else {
                continue;
            };
            let step = (due - before) / self.rate;
            seen.steps = [seen.steps[0].min(step), seen.steps[1].max(step)];
            let lag = (self.sender_time - due) * TICK_SECONDS / self.rate;
            seen.mean_lag += lag / frames as f64;
        }
        let playout = self.receiver.playout();
        seen.starved = playout.starved - starved;
        seen
    }

    fn seconds(&mut self, seconds: u64) -> Seen {
        self.frames(60 * seconds)
    }

    /// The receiver hangs for some frames and then polls.
    fn hang(&mut self, frames: u64) {
        (0..frames).for_each(|_| self.send());
        self.look();
    }

    /// The sender hangs for some frames, then catches up by up to a quarter of a second, as Bevy's clock does.
    fn sender_hangs(&mut self, frames: u64) {
        let rate = std::mem::replace(&mut self.rate, 0.0);
        self.frames(frames);
        self.rate = rate;
        self.sender_time += (frames as f64).min(15.0) * rate;
    }
}

/// Links with little loss, with jitter, and with both.
const LINKS: [&str; 5] = ["perfect", "wi-fi-bad", "3g", "article", "hostile"];

const RATES: [f64; 6] = [0.9, 0.96, 0.97, 1.03, 1.05, 1.1];

#[test]
fn a_slow_or_fast_sender_is_shown_as_well_as_another() {
    for link in LINKS {
        let seen = |rate| {
            let mut show = Show::preset(link, 1);
            show.rate = rate;
            show.seconds(10);
            show.seconds(20)
        };
        let usual = seen(1.0);
        for rate in RATES {
            let seen = seen(rate);
            let at = format!("{link} at {rate}: {seen:?}, usually {usual:?}");
            assert!(seen.starved <= 2 * usual.starved + Duration::from_millis(150), "{at}");
            assert!(seen.mean_lag < 1.25 * usual.mean_lag + 0.03, "{at}");
        }
    }
}

#[test]
fn a_slow_or_fast_sender_is_shown_without_stalls_with_a_fixed_delay() {
    for link in ["perfect", "lan", "wi-fi", "cable"] {
        for rate in RATES {
            let mut show = Show::preset(link, 1);
            (show.rate, show.delay) = (rate, Some(Duration::from_millis(85)));
            show.seconds(10);
            let seen = show.seconds(20);
            // A burst of losses on Wi-Fi is sometimes longer.
            assert!(seen.starved < Duration::from_millis(100), "{link} at {rate}: {seen:?}");
            assert!(seen.steps[0] > 0.9 && seen.steps[1] < 1.1, "{link} at {rate}: {seen:?}");
        }
    }
}

#[test]
fn a_slow_motion_is_smooth_after_three_seconds() {
    for link in ["perfect", "article"] {
        let mut show = Show::preset(link, 3);
        show.seconds(5);
        for rate in [0.25, 1.0, 2.0, 1.0] {
            show.rate = rate;
            show.seconds(3);
            let seen = show.seconds(5);
            assert!(seen.starved < FRAME, "{link} at {rate}: {seen:?}");
            let [shortest, longest] = seen.steps;
            assert!(shortest > 0.4 && longest < 1.6, "{link} at {rate}: {seen:?}");
            let seen = show.seconds(3);
            assert!(seen.mean_lag * rate < 0.3, "{link} at {rate}: {seen:?}");
        }
    }
}

#[test]
fn a_receiver_that_hangs_goes_on_as_before() {
    let check = |mut show: Show, at: &str, hangs: u64, frames: u64, most_lag: f64| {
        show.seconds(10);
        let before = show.seconds(5);
        for _ in 0..hangs {
            show.hang(frames);
            show.frames(20);
        }
        let after = show.seconds(3);
        let at = format!("{at}, {hangs} of {frames}: {after:?}, before {before:?}");
        assert!(after.mean_lag < before.mean_lag + most_lag, "{at}");
        (before.starved, after.starved, at)
    };
    for link in ["perfect", "cable", "article"] {
        for (hangs, frames) in [(1, 30), (1, 120), (5, 12), (3, 30)] {
            let (before, after, at) = check(Show::preset(link, 3), link, hangs, frames, 0.04);
            assert!(after <= before + 2 * FRAME, "{at}");
        }
    }
    // It waits for lost packets only: a burst with a few more packets.
    let conditions = Conditions { loss: Loss::bursts(0.1, 2.0), ..Conditions::PERFECT };
    check(Show::new(conditions, 7), "bursts", 1, 30, 0.1);
}

#[test]
fn a_sender_that_hangs_is_shown_again_at_once() {
    for link in ["perfect", "article"] {
        for frames in [12, 30, 60] {
            let mut show = Show::preset(link, 3);
            show.seconds(10);
            let before = show.seconds(5);
            show.sender_hangs(frames);
            show.seconds(1);
            let after = show.seconds(9);
            assert!(after.starved <= before.starved + 2 * FRAME, "{link}, {frames}: {after:?}");
            let later = show.seconds(5);
            let at = format!("{link}, {frames}: {later:?}, before {before:?}");
            assert!(later.mean_lag < before.mean_lag + 0.04, "{at}");
        }
    }
}

#[test]
fn acks_cover_all_that_arrived_while_a_receiver_hung_and_no_loss_is_reported() {
    let mut show = Show::new(Conditions::PERFECT, 1);
    show.seconds(2);
    for frames in [33, 34, 66, 100, 200] {
        show.hang(frames);
        show.seconds(2);
        assert_eq!(show.through.loss(), 0.0, "after {frames} frames");
    }
}

#[test]
fn acks_go_from_the_oldest_to_the_newest_and_are_as_few_as_cover_all() {
    let mut show = Show::new(Conditions::PERFECT, 1);
    show.seconds(2);
    for (frames, acks) in [(1, 1), (33, 1), (34, 2), (66, 2), (67, 3), (200, 7)] {
        (0..frames).for_each(|_| show.send());
        let oldest = show.receiver.newest().unwrap() + 1;
        while let Some(packet) = show.down.receive(show.now) {
            show.receiver.on_packet(show.now, &packet).unwrap();
        }
        let feedback: Vec<_> = std::iter::from_fn(|| show.receiver.poll_feedback()).collect();
        assert_eq!(feedback.len(), acks, "after {frames} frames");
        let mut acked = Vec::new();
        for feedback in feedback {
            let Feedback::Ack(ack) = feedback else {
                panic!("{feedback:?}");
            };
            let earlier = (0..32).rev().filter(|bit| ack.earlier >> bit & 1 == 1);
            acked.extend(earlier.map(|bit| ack.newest.0 - 1 - bit));
            acked.push(ack.newest.0);
            show.sender.on_message(&feedback.encode()).unwrap();
        }
        assert!(acked.is_sorted(), "{acked:?}");
        let all = (oldest..=show.tick).all(|tick| acked.contains(&(tick as u16)));
        assert!(all, "{oldest} to {}: {acked:?}", show.tick);
    }
}

#[test]
fn a_packet_that_is_very_late_is_acked_as_well() {
    let mut show = Show::new(Conditions::PERFECT, 1);
    show.seconds(1);
    show.send();
    let late = show.down.receive(show.now).unwrap();
    let tick = show.tick;
    show.frames(50);
    show.receiver.on_packet(show.now, &late).unwrap();
    let acked: Vec<_> = std::iter::from_fn(|| show.receiver.poll_feedback()).collect();
    let Feedback::Ack(first) = acked[0] else {
        panic!("{acked:?}");
    };
    assert_eq!((acked.len(), first.newest.0), (2, tick as u16));
}

#[test]
fn a_receiver_that_hangs_is_sent_as_much_as_before_and_one_that_is_cut_off_is_not() {
    let mut show = Show::new(Conditions::PERFECT, 1);
    show.seconds(5);
    show.hang(150);
    assert!(show.through.kbps().is_some_and(|kbps| kbps < 100));
    show.frames(5);
    assert_eq!(show.through.kbps(), None);

    let cut = Conditions { cut: true, ..Conditions::PERFECT };
    show.down.set_conditions(cut);
    show.frames(150);
    show.down.set_conditions(Conditions::PERFECT);
    show.frames(5);
    assert!(show.through.kbps().is_some_and(|kbps| kbps < 100));
}

#[test]
fn jitter_is_no_loss_and_a_round_trip_takes_as_long_at_any_tick_rate() {
    for ticks_per_second in [20, 60, 240] {
        let mut rate = AdaptiveRate::new(ticks_per_second);
        // Each ack is for one packet, and every tenth ack is 100 ms late.
        let late = u64::from(ticks_per_second) / 10;
        for tick in 0..20 * u64::from(ticks_per_second) {
            rate.on_sent(tick, tick, 100);
            for (packet, is_due) in [(tick, tick % 10 > 0), (tick.wrapping_sub(late), true)] {
                let is_late = packet % 10 == 0;
                if is_due && is_late == (packet != tick) && packet <= tick {
                    let newest = Sequence(packet as u16);
                    rate.on_ack(tick, &Ack { newest, earlier: 0 });
                }
            }
            rate.update(tick);
        }
        assert_eq!(rate.loss(), 0.0, "at {ticks_per_second}");
        // A tenth of the acks take 100 ms.
        let round_trip = rate.round_trip().unwrap().as_millis();
        assert!((5..20).contains(&round_trip), "{round_trip} ms at {ticks_per_second}");
    }
}
