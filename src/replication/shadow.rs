//! The shadow ladder: the cost of a lane on each rung.
//!
//! The lane's [`Shadow`] encodes all ticks in order. The costs are therefore the same as with encoding in the frame, but are
//! [a few ticks old](ShadowLadder::age_ticks). In a browser, which has no threads, the frame encodes for at most a quarter of
//! its time.

pub(super) mod ablation;
mod parts;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bevy::prelude::*;
use cubewire_bevy::shadow::{Encoded, Shadow, ShadowSnapshot, ShadowTick};
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Inputs, Origin, Plan, Snapshot};
use cubewire_protocol::record::{Accounting, PacketRecord, Totals};
use cubewire_scene::TICKS_PER_SECOND;

use super::meter::{LaneMeter, METER_TICKS, Mean, kbps};
use super::quantized::QuantizedWorld;
use crate::clock;
use crate::simulation::CubeWorld;
use ablation::{Ablation, WantsAblation};

/// Limit of the queued ticks: the ticks of a quarter of a second. Above it, the frame waits until all are encoded, so that a
/// slow machine gets the same costs.
const MAX_QUEUED: usize = 15;

/// [`MAX_QUEUED`] without threads: two seconds, 7 MB. Above it, a frame encodes one tick more, because waiting for all would
/// delay the frame.
const MAX_QUEUED_WITHOUT_THREADS: usize = 120;

/// Fraction of a frame's time for encoding without threads.
const SHARE_OF_FRAME: f32 = 0.25;

/// Costs of all rungs for one lane, and the lane's shadow. After a move to another lane, it continues with that lane's packets.
#[derive(Component, Debug)]
pub struct ShadowLadder {
    rungs: Vec<ShadowRung>,
    initial: Snapshot,
    shadow: Shadow,
    /// The newest tick that the costs include.
    newest: Option<u64>,
    /// Time of encoding a tick, in seconds.
    pub mean_seconds: Mean,
}

#[derive(Debug)]
pub struct ShadowRung {
    pub rung: Rung,
    /// Article bytes of each tick of the last minute.
    bytes: VecDeque<u32>,
    /// Sums since the start or since [`ShadowLadder::restart`]. Bytes on the wire are 0, because shadow packets are not sent.
    pub totals: Totals,
}

impl ShadowLadder {
    pub fn new(initial: &Snapshot) -> Self {
        let rungs = ladder::all().map(|rung| ShadowRung {
            rung,
            bytes: VecDeque::new(),
            totals: Totals::default(),
        });
        let stages = ladder::all().map(|rung| rung.stages);
        Self {
            rungs: rungs.collect(),
            initial: initial.clone(),
            shadow: Shadow::new(Plan::cubes(), initial.clone(), stages),
            newest: None,
            mean_seconds: Mean::default(),
        }
    }

    /// Returns a ladder that has counted this number of ticks, with `bytes` by index of the rung and tick.
    #[cfg(test)]
    pub(crate) fn of_bytes(ticks: u64, bytes: impl Fn(usize, u64) -> usize) -> Self {
        let mut shadow = Self::new(CubeWorld::default().current());
        for tick in 0..ticks {
            for (index, rung) in shadow.rungs.iter_mut().enumerate() {
                let payload_bytes = bytes(index, tick) - super::HEADER_BYTES;
                rung.count(Some(&PacketRecord { payload_bytes, ..PacketRecord::default() }));
            }
            shadow.newest = Some(tick);
        }
        shadow
    }

    /// Returns the costs of each rung, in the order of [`ladder::all`], up to [`newest_tick`](Self::newest_tick).
    pub fn rungs(&self) -> &[ShadowRung] {
        &self.rungs
    }

    /// Returns the age of the costs at tick `now`, in ticks. `None` before the first counted tick.
    pub fn age_ticks(&self, now: u64) -> Option<u64> {
        Some(now.saturating_sub(self.newest?))
    }

    /// Returns the cost of a rung in the second up to `tick`, or up to the newest tick, in kilobits per second by article
    /// accounting. `None` before it is known.
    pub fn kbps_until(&self, rung: &Rung, tick: Option<u64>) -> Option<f64> {
        let mut rungs = self.rungs.iter();
        let shadowed = rungs.find(|shadowed| shadowed.rung.stages == rung.stages)?;
        let ticks_ago = tick.map_or(0, |tick| self.newest.unwrap_or(0).saturating_sub(tick));
        Some(shadowed.kbps(ticks_ago as usize)).filter(|&kbps| kbps > 0.0)
    }

    pub const fn newest_tick(&self) -> Option<u64> {
        self.newest
    }

    /// Waits until all queued ticks are encoded and counted.
    pub fn finish(&mut self) -> Result {
        let encoded = self.shadow.finish();
        self.count(encoded)
    }

    /// Waits for the task and counts its ticks, without the ticks that were queued after its start.
    pub fn wait(&mut self) -> Result {
        let encoded = self.shadow.wait();
        self.count(encoded)
    }

    /// [Finishes](Self::finish), and clears the totals. Keeps the baselines of the rungs.
    pub fn restart(&mut self) -> Result {
        self.finish()?;
        for rung in &mut self.rungs {
            rung.totals = Totals::default();
        }
        Ok(())
    }

    fn poll(&mut self) -> Result {
        let encoded = self.shadow.poll();
        self.count(encoded)
    }

    /// Starts the task with all queued ticks. `frame` is the real time since the last call. Without threads, encodes at once for
    /// [`SHARE_OF_FRAME`] of this time, at least one tick.
    fn start(&mut self, frame: Duration) -> Result {
        self.poll()?;
        if self.shadow.has_threads {
            self.shadow.start(usize::MAX)?;
            return Ok(());
        }
        self.encode_for(frame.mul_f32(SHARE_OF_FRAME))
    }

    /// Encodes queued ticks until this time is over, at least one.
    fn encode_for(&mut self, time: Duration) -> Result {
        let start = clock::now();
        while self.shadow.queued() > 0 {
            let encoded = self.shadow.start(1);
            self.count(encoded)?;
            if start.elapsed() >= time {
                break;
            }
        }
        Ok(())
    }

    fn count(&mut self, encoded: Result<Vec<Encoded>>) -> Result {
        for encoded in encoded? {
            self.mean_seconds.add(encoded.time.as_secs_f64());
            for (index, rung) in self.rungs.iter_mut().enumerate() {
                rung.count(encoded.packets.get(index));
            }
            self.newest = Some(encoded.tick);
        }
        Ok(())
    }
}

impl ShadowRung {
    /// Returns the mean over the second that ends `ticks_ago` ticks before the newest tick, in kilobits per second by article
    /// accounting.
    pub fn kbps(&self, ticks_ago: usize) -> f64 {
        let second = self.history().rev().skip(ticks_ago);
        let second: Vec<_> = second.take(TICKS_PER_SECOND as usize).collect();
        kbps(second.iter().sum(), second.len())
    }

    /// Returns the article bytes of each tick of the last minute, oldest first, up to [`ShadowLadder::newest_tick`].
    pub fn history(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        self.bytes.iter().map(|&bytes| bytes as usize)
    }

    /// Returns the mean of the totals, in kilobits per second by article accounting.
    pub fn mean_kbps(&self) -> f64 {
        self.totals.kbps(Accounting::PayloadAndUdp)
    }

    fn count(&mut self, packet: Option<&PacketRecord>) {
        let bytes = packet.map_or(0, PacketRecord::article_bytes);
        if self.bytes.len() == METER_TICKS {
            self.bytes.pop_front();
        }
        self.bytes.push_back(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.totals.add_tick(packet.map_or(&[], std::slice::from_ref));
    }
}

/// Returns the newest tick of a lane for its shadow. `sent` is the lane's packet.
fn newest(
    world: &CubeWorld,
    quantized: &mut QuantizedWorld,
    sent: Option<&PacketRecord>,
) -> Result<ShadowTick> {
    let tick = world.tick();
    let snapshot = |sent: &PacketRecord| -> Result<_> {
        let (current, precision) = (world.current(), sent.stages.precision());
        Ok(ShadowSnapshot {
            acked_ages_ticks: sent.acked_ages_ticks,
            quantized: quantized.get(tick, current, precision)?,
            floats: Some(current.clone()),
            inputs: inputs(world, sent.acked_ages_ticks[0]),
        })
    };
    Ok(ShadowTick { tick, sent: sent.map(snapshot).transpose()? })
}

/// Returns the simulation inputs of a receiver in sync: since the baseline, or since the scene's start without a baseline.
fn inputs(world: &CubeWorld, acked_age_ticks: Option<u16>) -> Option<Inputs> {
    let (tick, history) = (world.tick(), world.inputs());
    let age = match acked_age_ticks {
        Some(age) => age.into(),
        None => tick - history.started()?,
    };
    let age = u8::try_from(age).ok()?;
    let origin = match acked_age_ticks {
        Some(_) => Origin::Continued(age),
        None => Origin::FromSceneStart(age),
    };
    let mut inputs = Vec::new();
    history.since(tick - u64::from(age), &mut inputs);
    Inputs::new(origin, &inputs)
}

type ShadowedLane =
    (Entity, &'static mut ShadowLadder, Option<&'static mut Ablation>, &'static LaneMeter);

/// Queues the newest tick of each lane with a shadow. Adds an [`Ablation`] of the present stages if [`WantsAblation`] is set.
pub(super) fn queue(
    world: Res<CubeWorld>,
    wants: Res<WantsAblation>,
    mut quantized: ResMut<QuantizedWorld>,
    mut lanes: Query<ShadowedLane>,
    mut commands: Commands,
) -> Result {
    for (lane, mut shadow, mut ablation, meter) in &mut lanes {
        let Some(sample) = meter.samples().back() else {
            continue;
        };
        shadow.poll()?;
        let sent = sample.snapshots.first();
        let tick = Arc::new(newest(&world, &mut quantized, sent)?);
        shadow.shadow.push(&tick);
        match &mut ablation {
            Some(ablation) if wants.0 && ablation.present() == sample.stages => {
                ablation.costs.poll()?;
                ablation.costs.push(&tick);
            }
            _ if wants.0 => {
                let ablation = Ablation::new(sample.stages, &shadow.initial);
                commands.entity(lane).try_insert(ablation);
            }
            Some(_) => {
                commands.entity(lane).try_remove::<Ablation>();
            }
            None => {}
        }
        let queued = shadow.shadow.queued();
        if !shadow.shadow.has_threads {
            // Encodes one tick for each new one. Encoding the whole queue would take a second.
            if queued > MAX_QUEUED_WITHOUT_THREADS {
                shadow.encode_for(Duration::ZERO)?;
            }
        } else if queued > MAX_QUEUED {
            shadow.finish()?;
        }
    }
    Ok(())
}

/// Removes the ablation of a lane after its shadow has moved to another lane.
pub(super) fn forget_ablation(moved: On<Remove, ShadowLadder>, mut commands: Commands) {
    if let Ok(mut lane) = commands.get_entity(moved.entity) {
        lane.try_remove::<Ablation>();
    }
}

/// Starts the tasks. Runs at the end of a frame, because tasks would delay the frame on a single core.
pub(super) fn start(
    time: Res<Time<Real>>,
    mut lanes: Query<(&mut ShadowLadder, Option<&mut Ablation>)>,
) -> Result {
    for (mut shadow, ablation) in &mut lanes {
        shadow.start(time.delta())?;
        if let Some(mut ablation) = ablation {
            ablation.costs.go_on(time.delta())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_keeps_every_tick_of_the_last_minute() {
        let ticks = METER_TICKS as u64 + 100;
        let shadow = ShadowLadder::of_bytes(ticks, |index, tick| 1_000 + index + tick as usize);
        assert_eq!(shadow.newest_tick(), Some(ticks - 1));
        assert_eq!(shadow.rungs().len(), ladder::all().count());
        for (index, rung) in shadow.rungs().iter().enumerate() {
            let history = rung.history();
            assert_eq!(history.len(), METER_TICKS);
            assert!(history.eq((0..METER_TICKS).map(|tick| 1_100 + index + tick)));
        }
    }

    #[test]
    fn the_past_has_the_figures_of_its_own_second() {
        // A packet of 1000 bytes in the first second, of 2000 bytes from then on.
        let bytes = |_, tick| if tick < 60 { 1_000 } else { 2_000 };
        let shadow = ShadowLadder::of_bytes(180, bytes);
        let at = |tick| shadow.kbps_until(&ladder::LADDER[3], tick).unwrap();
        assert_eq!(at(None), 960.0);
        assert_eq!(at(Some(179)), at(None));
        assert_eq!(at(Some(59)), 480.0);
        assert_eq!(at(Some(89)), 720.0);
        assert_eq!(at(Some(500)), at(None), "what is not encoded yet");
    }

    #[test]
    fn without_threads_a_frame_encodes_only_as_long_as_it_may() {
        let world = CubeWorld::default();
        let mut shadow = ShadowLadder::new(world.current());
        shadow.shadow.has_threads = false;
        let push = |shadow: &mut ShadowLadder| {
            let sent = Some(&PacketRecord::default());
            let tick = newest(&world, &mut QuantizedWorld::default(), sent).unwrap();
            shadow.shadow.push(&Arc::new(tick));
        };
        (0..3).for_each(|_| push(&mut shadow));
        // Encodes one tick although no time is left.
        shadow.start(Duration::ZERO).unwrap();
        assert_eq!(shadow.shadow.queued(), 2);
        assert_eq!(shadow.rungs()[0].history().len(), 1);
        shadow.start(Duration::MAX).unwrap();
        assert_eq!(shadow.shadow.queued(), 0);
        push(&mut shadow);
        shadow.finish().unwrap();
        assert_eq!(shadow.rungs()[0].history().len(), 4);
    }
}
