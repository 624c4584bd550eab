//! Snapshots of many connections: equal packets are encoded once, and the processor time is limited.

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot, ladder};
use cubewire_protocol::{
    BaselineChoice, ClientConnection, Contract, EncodeBudget, Extras, PacketOutcome, RateControl,
    SendJob, ServerConnection, Settings, Throttle, TransportState, encode_jobs,
};

use crate::pair::ends;
use crate::world::World;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// A server with some clients, without delay or loss.
struct Many {
    world: World,
    tick: u64,
    ends: Vec<(ServerConnection, ClientConnection)>,
    budget: EncodeBudget,
    /// Time for an encode.
    encode_time: Duration,
    encodes: usize,
}

fn settings() -> Settings {
    Settings {
        stages: ladder::PREDICTED.stages,
        send_interval_ticks: 1,
        baseline: BaselineChoice::Newest,
        budget_kbps: None,
    }
}

impl Many {
    fn new(count: usize, per_tick: Duration) -> Self {
        let world = World::new(Plan::cubes(), 40, 3);
        let contract = Arc::new(Contract::new(Plan::cubes(), String::new()));
        let ends = (0..count).map(|_| join(&contract, 0, &world.snapshot())).collect();
        let budget = EncodeBudget::new(per_tick);
        Self { world, tick: 0, ends, budget, encode_time: MS, encodes: 0 }
    }

    /// Sends the snapshot of the next tick. Returns for each connection the bytes of its packet.
    fn step(&mut self) -> Vec<Option<usize>> {
        self.tick += 1;
        self.world.step();
        let (tick, now) = (self.tick, 17 * MS * self.tick as u32);
        let wanted: Arc<QuantizedSnapshot> = Arc::new(self.world.quantized(settings().stages));
        self.budget.begin_tick(self.ends.iter_mut().map(|(server, _)| server));
        let (mut jobs, mut clients) = (Vec::new(), Vec::new());
        let mut sizes = vec![None; self.ends.len()];
        for (index, (server, client)) in self.ends.iter_mut().enumerate() {
            server.allow(now, tick, &TransportState::default());
            if let Some(job) = server.prepare(tick, Arc::clone(&wanted), Extras::default()) {
                jobs.push(job);
                clients.push((index, client));
            }
        }
        encode_jobs(&mut jobs, |due| {
            for job in due {
                if self.budget.has_time() {
                    job.encode();
                    job.took(self.encode_time);
                    self.budget.spend(self.encode_time);
                    self.encodes += 1;
                } else {
                    job.skip();
                }
            }
        });
        for (job, (index, client)) in jobs.into_iter().zip(clients) {
            if let Some(packet) = job.finish(None).unwrap() {
                let decoded = client.on_datagram(now, &packet.bytes);
                assert!(matches!(decoded, Ok(Some(PacketOutcome::Decoded { .. }))), "{decoded:?}");
                let received = client.receiver().unwrap().get(tick).unwrap();
                assert_eq!(received.snapshot(), &*wanted);
                sizes[index] = Some(packet.bytes.len());
            }
        }
        for (server, client) in &mut self.ends {
            server.check(now, 0, 0).unwrap();
            for datagram in client.datagrams() {
                server.on_datagram(tick, &datagram).unwrap();
            }
        }
        sizes
    }
}

fn join(
    contract: &Arc<Contract>,
    tick: u64,
    initial: &Snapshot,
) -> (ServerConnection, ClientConnection) {
    let now = 17 * MS * tick as u32;
    let (mut server, client) = ends(contract, RateControl::Off, now, tick, initial);
    server.set_settings(settings());
    (server, client)
}

#[test]
fn equal_connections_share_one_encode() {
    let mut many = Many::new(64, Duration::MAX);
    for tick in 1..=40 {
        let sizes = many.step();
        assert!(sizes.iter().all(|size| size.is_some() && *size == sizes[0]), "{sizes:?}");
        assert_eq!(many.encodes, tick);
    }
    // One joins later, one has other stages, and one may choose among older baselines.
    let contract = Arc::new(Contract::new(Plan::cubes(), String::new()));
    many.ends[5] = join(&contract, many.tick, &many.world.snapshot());
    many.ends[3].0.set_settings(Settings { stages: ladder::CHANGED_FLAGS.stages, ..settings() });
    let smallest = Settings { baseline: BaselineChoice::Smallest, ..settings() };
    many.ends[7].0.set_settings(smallest);
    many.encodes = 0;
    many.step();
    assert_eq!(many.encodes, 4);
}

#[test]
fn above_the_limit_all_get_less_and_below_it_everything() {
    let mut many = Many::new(6, 10 * MS);
    let smallest = Settings { baseline: BaselineChoice::Smallest, ..settings() };
    many.ends.iter_mut().for_each(|(server, _)| server.set_settings(smallest));
    let settings_of = |many: &Many| many.ends[4].0.settings().unwrap();
    many.step();
    assert_eq!((many.budget.throttle(), settings_of(&many)), (Throttle::default(), smallest));
    // Six encodes of the smallest baseline in a tick exceed twice the limit, so the rest is skipped.
    many.encode_time = 4 * MS;
    assert_eq!(many.step().iter().flatten().count(), 5);
    for _ in 0..60 {
        many.step();
    }
    // Packets with the newest baseline are shared, so that is enough.
    let throttle = Throttle { newest_only: true, one_in: 1 };
    assert_eq!(many.budget.throttle(), throttle);
    assert_eq!(settings_of(&many).baseline, BaselineChoice::Newest);
    // The cost of the smallest one is tried again after a while.
    many.encode_time = MS / 10;
    for _ in 0..1_200 {
        many.step();
    }
    assert_eq!((many.budget.throttle(), settings_of(&many)), (Throttle::default(), smallest));
}

#[test]
fn throttled_connections_still_share() {
    let mut many = Many::new(6, 10 * MS);
    // One encode alone exceeds the limit.
    many.encode_time = 25 * MS;
    for _ in 0..120 {
        many.step();
    }
    let one_in = many.budget.throttle().one_in;
    assert_eq!(one_in, 3);
    let sent: Vec<_> = (0..one_in).map(|_| many.step()).collect();
    assert_eq!(sent.iter().filter(|sizes| sizes.iter().all(Option::is_some)).count(), 1);
    assert_eq!(sent.iter().flatten().flatten().count(), 6);
    let granted = many.ends[4].0.settings().unwrap();
    assert_eq!(granted, Settings { send_interval_ticks: 3, ..settings() });
    many.encode_time = MS / 10;
    for _ in 0..400 {
        many.step();
    }
    assert_eq!(many.budget.throttle(), Throttle::default());
}

#[test]
fn only_packets_of_the_same_tick_are_shared() {
    let mut many = Many::new(2, SECOND);
    let snapshot = Arc::new(many.world.quantized(settings().stages));
    let ends = many.ends.iter_mut().zip([1, 2]);
    let mut jobs: Vec<_> = ends
        .map(|((server, _), tick)| {
            server.set_settings(Settings { send_interval_ticks: 2, ..settings() });
            let late = server.prepare(3, Arc::clone(&snapshot), Extras::default());
            assert!(late.is_none(), "3 is not due");
            let extras = Extras { must_send: true, ..Extras::default() };
            server.prepare(tick, Arc::clone(&snapshot), extras).unwrap()
        })
        .collect();
    encode_jobs(&mut jobs, |due| due.into_iter().for_each(SendJob::encode));
    for job in jobs {
        assert!(!job.finish(None).unwrap().unwrap().is_shared);
    }
}
