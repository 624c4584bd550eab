//! Inputs that a server uses one per tick, from clients with clocks and links of all kinds.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::{Plan, ladder};
use cubewire_link::{Conditions, Jitter, Link, Loss};
use cubewire_protocol::{
    BaselineChoice, ClientConnection, Contract, Extras, MAX_OWN_BYTES, PacketOutcome, RateControl,
    SendJob, ServerConnection, Settings, encode_jobs,
};

use crate::pair::ends;
use crate::world::World;

const TICK: f64 = 1.0 / 60.0;

/// A server and a client, which run in separate loops. The inputs of the client are their own numbers.
struct Play {
    world: World,
    server: ServerConnection,
    client: ClientConnection,
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    /// Seconds.
    now: f64,
    /// Next time of the server's loop and of the client's, and their intervals; infinite if they stand still.
    at: [f64; 2],
    intervals: [f64; 2],
    /// Seconds of the client's clock per second.
    client_rate: f64,
    tick: u64,
    pushed: u64,
    /// The number that the server used in each tick after `first`.
    first: u64,
    used: Vec<Option<u64>>,
    /// Inputs that waited at each tick, as the client was told.
    queued: Vec<u8>,
    /// Ages of the inputs that the client had an answer to, by the client's clock, milliseconds.
    ages: Vec<f64>,
    own: Vec<u8>,
    sent_bytes: usize,
    /// Reliable messages of the server, with the times of their arrival.
    messages: VecDeque<(f64, Vec<u8>)>,
    /// Decoded snapshots.
    decoded: u64,
}

fn network(latency_ms: u64, jitter_ms: u64, loss: f64) -> Conditions {
    Conditions {
        latency: Duration::from_millis(latency_ms),
        jitter: Jitter::Uniform { spread: Duration::from_millis(jitter_ms) },
        loss: Loss::Independent { probability: loss },
        ..Conditions::PERFECT
    }
}

/// A round trip of 150 ms, two frames of jitter and 2 % loss.
fn usual() -> Conditions {
    network(75, 33, 0.02)
}

impl Play {
    fn over(conditions: &Conditions) -> Self {
        let world = World::new(Plan::cubes(), 12, 7);
        let contract = Contract::new(Plan::cubes(), String::new()).with_tick_inputs();
        let initial = world.snapshot();
        let (server, client) =
            ends(&Arc::new(contract), RateControl::Off, Duration::ZERO, 0, &initial);
        Self {
            world,
            server,
            client,
            down: Link::new(conditions.clone(), 1),
            up: Link::new(conditions.clone(), 2),
            now: 0.0,
            at: [0.0, 0.003],
            intervals: [TICK; 2],
            client_rate: 1.0,
            tick: 0,
            pushed: 0,
            first: 0,
            used: Vec::new(),
            queued: Vec::new(),
            ages: Vec::new(),
            own: Vec::new(),
            sent_bytes: 0,
            messages: VecDeque::new(),
            decoded: 0,
        }
    }

    fn seconds(mut self, seconds: f64) -> Self {
        self.run(seconds);
        self
    }

    fn run(&mut self, seconds: f64) {
        let end = self.now + seconds;
        loop {
            let next = usize::from(self.at[1] < self.at[0]);
            if self.at[next] > end {
                break;
            }
            self.now = self.at[next];
            self.at[next] += self.intervals[next];
            match next {
                0 => self.server_tick(),
                _ => self.client_frame(),
            }
        }
        self.now = end;
    }

    /// Stops an end for some seconds while the other one goes on.
    fn pause(&mut self, end: usize, seconds: f64) {
        let at = std::mem::replace(&mut self.at[end], f64::INFINITY);
        self.run(seconds);
        self.at[end] = at + seconds;
    }

    fn server_tick(&mut self) {
        let now = Duration::from_secs_f64(self.now);
        self.tick += 1;
        while let Some(datagram) = self.up.receive(now) {
            self.server.on_datagram(self.tick, &datagram).unwrap();
        }
        self.server.check(now, 0, 0).unwrap();
        self.server.on_tick(now, self.tick);
        let input = self.server.take_tick_input();
        self.used.push(input.map(|input| u64::from_le_bytes(input.try_into().unwrap())));
        while let Some(message) = self.server.poll_message() {
            let latency = self.down.conditions().latency.as_secs_f64();
            self.messages.push_back((self.now + latency, message));
        }
        self.world.step();
        let stages = ladder::CHANGED_FLAGS.stages;
        self.server.set_settings(Settings {
            stages,
            send_interval_ticks: 1,
            baseline: BaselineChoice::Newest,
            budget_kbps: None,
        });
        let snapshot = Arc::new(self.world.quantized(stages));
        let extras = Extras { own: &self.own, ..Extras::default() };
        let mut jobs = [self.server.prepare(self.tick, snapshot, extras).unwrap()];
        encode_jobs(&mut jobs, |due| due.into_iter().for_each(SendJob::encode));
        let [job] = jobs;
        let packet = job.finish(None).unwrap().unwrap().bytes;
        self.sent_bytes += packet.len();
        self.down.send(now, packet.len(), packet);
    }

    fn client_frame(&mut self) {
        let now = Duration::from_secs_f64(self.now);
        let own_now = now.mul_f64(self.client_rate);
        // A message takes as long as it does without loss.
        while self.messages.front().is_some_and(|&(at, _)| at <= self.now) {
            let (_, message) = self.messages.pop_front().unwrap();
            self.client.on_message(own_now, &message).unwrap();
        }
        while let Some(packet) = self.down.receive(now) {
            let outcome = self.client.on_datagram(own_now, &packet).unwrap();
            let Some(PacketOutcome::Decoded { tick, .. }) = outcome else { continue };
            self.decoded += 1;
            let sent = self.server.sender().unwrap().get(tick);
            let held = self.client.receiver().unwrap().get(tick);
            assert!(sent.is_none() || sent == held, "tick {tick}");
            let report = self.client.input_report(tick).filter(|report| report.tick == tick);
            if let Some(report) = report {
                let until = tick.saturating_sub(self.first) as usize;
                let used = self.used[..until].iter().rev().flatten().next();
                assert!(used.is_none_or(|used| report.used == *used));
                let own = if self.own.len() <= MAX_OWN_BYTES { &*self.own } else { &[] };
                assert_eq!(report.own, own);
                self.queued.push(report.queued);
                let later = self.client.tick_inputs_after(report.used).count() as u64;
                assert_eq!(later, (self.pushed - report.used).min(256));
            }
            let age = self.client.input_age(own_now, tick);
            self.ages.extend(age.map(|age| 1e3 * age.as_secs_f64()));
        }
        for _ in 0..self.client.tick_inputs_due(own_now) {
            self.pushed += 1;
            let input = self.pushed.to_le_bytes().to_vec();
            assert_eq!(self.client.push_tick_input(own_now, input), self.pushed);
        }
        for datagram in self.client.datagrams() {
            self.up.send(now, datagram.len(), datagram);
        }
    }

    /// Forgets the measurements so far.
    fn settled(mut self) -> Self {
        (self.used, self.queued, self.ages) = Default::default();
        self.first = self.tick;
        self
    }

    /// Checks that inputs were used in order, each one once apart from repetitions. Returns the shares of ticks with a repeated
    /// input and without one, and of inputs that were dropped, in percent.
    #[track_caller]
    fn shares(&self) -> [f64; 3] {
        let mut repeated_for = 0;
        let [mut repeated, mut without, mut dropped] = [0; 3];
        let mut last = None;
        let first = self.used.iter().position(Option::is_some).unwrap();
        for used in &self.used[first..] {
            let Some(used) = *used else {
                without += 1;
                continue;
            };
            let last = last.replace(used).unwrap_or(used - 1);
            assert!(used >= last, "{used} after {last}");
            repeated_for = if used == last { repeated_for + 1 } else { 0 };
            assert!(repeated_for <= 6);
            repeated += u64::from(used == last);
            dropped += (used - last).saturating_sub(1);
        }
        let ticks = (self.used.len() - first) as f64;
        [repeated, without, dropped].map(|count| 100.0 * count as f64 / ticks)
    }

    /// Checks that the [shares](Self::shares) and the mean queue are below these limits.
    #[track_caller]
    fn assert_below(&self, limits: [f64; 3], queue: f64, what: &str) {
        let shares = self.shares();
        assert!(
            shares.iter().zip(limits).all(|(share, limit)| *share < limit),
            "{what}: {shares:?}"
        );
        assert!(self.mean_queue() < queue, "{what}: {}", self.mean_queue());
    }

    fn mean_queue(&self) -> f64 {
        self.queued.iter().map(|&queued| f64::from(queued)).sum::<f64>() / self.queued.len() as f64
    }

    fn age_ms(&self, percentile: usize) -> f64 {
        let mut ages = self.ages.clone();
        ages.sort_by(f64::total_cmp);
        ages[(ages.len() - 1) * percentile / 100]
    }
}

#[test]
fn every_input_is_used_once_and_soon() {
    let play = Play::over(&network(50, 0, 0.0)).seconds(5.0).settled().seconds(60.0);
    assert_eq!(play.shares(), [0.0; 3]);
    assert!(play.mean_queue() <= 3.0, "{}", play.mean_queue());
    // The round trip, two frames, and the queue.
    assert!(play.age_ms(99) < 100.0 + 5.0 * 17.0, "{}", play.age_ms(99));

    let play = Play::over(&usual()).seconds(5.0).settled().seconds(120.0);
    play.assert_below([1.0, f64::MIN_POSITIVE, 1.0], 5.0, "usual");
}

#[test]
fn inputs_go_on_over_a_bad_network() {
    let play = Play::over(&network(125, 40, 0.2)).seconds(5.0).settled().seconds(120.0);
    play.assert_below([5.0, 0.5, 1.0], 8.0, "bad");
}

#[test]
fn a_fast_or_slow_client_keeps_the_pace_of_the_server() {
    for client_rate in [0.8, 0.98, 1.02, 1.2] {
        let mut play = Play::over(&usual());
        play.client_rate = client_rate;
        let play = play.seconds(15.0).settled().seconds(60.0);
        play.assert_below([1.0, f64::MIN_POSITIVE, 1.0], 6.0, &client_rate.to_string());
    }
}

#[test]
fn slow_motion_of_the_server_fills_no_queue() {
    let mut play = Play::over(&usual()).seconds(10.0);
    play.intervals[0] *= 4.0;
    let play = play.seconds(20.0).settled().seconds(60.0);
    play.assert_below([1.0, f64::MIN_POSITIVE, 1.0], 5.0, "slow motion");
}

#[test]
fn after_a_pause_of_either_end_the_queue_is_short_again() {
    for (end, pauses) in
        [(0, &[0.3, 1.0, 10.0, 100.0, 300.0, 550.0][..]), (1, &[0.3, 1.0, 10.0, 200.0])]
    {
        for &seconds in pauses {
            let mut play = Play::over(&usual()).seconds(10.0);
            play.pause(end, seconds);
            let play = play.seconds(3.0).settled().seconds(10.0);
            play.assert_below([3.0, 1.0, 1.0], 6.0, &format!("{end}, {seconds}"));
        }
    }
}

#[test]
fn a_client_that_stands_still_lets_go_of_its_keys() {
    let mut play = Play::over(&usual()).seconds(10.0);
    play.pause(1, 5.0);
    assert!(play.used[play.used.len() - 240..].iter().all(Option::is_none));
    // And there are no reports any more.
    play.client_frame();
    let newest = play.client.receiver().unwrap().newest().unwrap();
    assert!(play.client.input_report(newest).unwrap().tick < newest);
}

#[test]
fn a_report_takes_few_bytes_and_only_where_inputs_are_sent() {
    let bytes = |own: usize, plays: bool| {
        let mut play = Play::over(&network(50, 0, 0.0));
        play.own = vec![9; own];
        if !plays {
            // Acks alone.
            play.client = ends(
                &Arc::new(Contract::new(Plan::cubes(), String::new())),
                RateControl::Off,
                Duration::ZERO,
                0,
                &play.world.snapshot(),
            )
            .1;
        }
        play.seconds(20.0).sent_bytes
    };
    let without = bytes(9, false);
    let [short, long, too_long] = [0, 9, MAX_OWN_BYTES + 1].map(|own| bytes(own, true) - without);
    assert_eq!(short, too_long);
    let packets = 20 * 60;
    assert!((4 * packets - 200..=4 * packets).contains(&short), "{short}");
    assert!((13 * packets - 400..=13 * packets).contains(&long), "{long}");
}

#[test]
fn numbers_and_lengths_of_strangers_do_no_harm() {
    let contract = Arc::new(Contract::new(Plan::cubes(), String::new()).with_tick_inputs());
    let world = World::new(Plan::cubes(), 12, 7);
    let (mut server, _) = ends(&contract, RateControl::Off, Duration::ZERO, 0, &world.snapshot());
    // Kind, channel, newest, count, and inputs with their lengths.
    let item = |newest: u64, inputs: &[&[u8]]| {
        let header = postcard::to_allocvec(&(3u8, 0u8, newest, inputs.len() as u8)).unwrap();
        let inputs = inputs.iter().map(|input| postcard::to_allocvec(input).unwrap());
        [header, inputs.collect::<Vec<_>>().concat()].concat()
    };
    let mut used = |datagrams: &[Vec<u8>]| {
        for datagram in datagrams {
            server.on_datagram(1, datagram).unwrap();
        }
        let used: Vec<_> =
            (0..40).map_while(|_| server.take_tick_input().map(<[u8]>::to_vec)).collect();
        used
    };
    // Long ago and far ahead, in one flood. The last one is repeated.
    let flood: Vec<_> = (1..=200u64).map(|number| item(number, &[&[number as u8]])).collect();
    let flood = used(&flood);
    assert_eq!((flood.len(), flood[0][0], flood[35][0]), (36, 171, 200));
    assert!(used(&[item(100, &[&[1], &[2]])]).is_empty());
    assert_eq!(used(&[item(u64::MAX, &[&[7], &[8]])])[..2], [[7], [8]]);
    assert!(used(&[item(201, &[&[1]])]).is_empty());
    // A long input is invalid, and is not used.
    let (mut server, _) = ends(&contract, RateControl::Off, Duration::ZERO, 0, &world.snapshot());
    for number in 1..=16 {
        server.on_datagram(1, &item(number, &[&[0; MAX_OWN_BYTES + 1]])).unwrap();
        assert_eq!(server.take_tick_input(), None);
    }
    server.on_datagram(1, &item(17, &[&[0; MAX_OWN_BYTES + 1]])).unwrap_err();
}

#[test]
fn reports_are_told_from_packets_at_any_tick() {
    for start in [0, 5, 20_000, 32_700, 40_000, 65_500, 81_900, 90_000, 114_000, 1 << 40] {
        let mut play = Play::over(&network(50, 0, 0.0));
        let contract = Contract::new(Plan::cubes(), String::new()).with_tick_inputs();
        let initial = play.world.snapshot();
        let contract = Arc::new(contract);
        (play.server, play.client) =
            ends(&contract, RateControl::Off, Duration::ZERO, start, &initial);
        play.tick = start;
        play.first = start;
        let play = play.seconds(5.0);
        assert!(play.decoded > 290 && play.queued.len() > 260, "{start}");
    }
}
