//! Plays a recording within byte budgets, and measures the error of the displayed positions.

use std::io::Write;
use std::time::Duration;

use cubewire_cli::{Table, number};
use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::Rung;
use cubewire_codec::{Life, Limits, Plan, QuantizedSnapshot};
use cubewire_link::Link;
use cubewire_protocol::{
    BaselineChoice, Interpolation, PacketOutcome, RateLimiter, SnapshotReceiver, SnapshotSender,
    Urgency, Welcome,
};
use cubewire_recording::{BASELINE_FRAMES, Recording};
use glam::Vec3;

use crate::cli::BudgetArgs;
use crate::error::LabError;
use crate::frames::Frames;
use crate::path::{Path, time};
use crate::progress;

/// Bytes of the IPv4 and UDP headers of a datagram.
const OVERHEAD: usize = 28;

/// Maximum payload of a datagram, bytes.
const DATAGRAM: usize = 1200;

/// A body counts in the mean error for this number of frames after it moved.
const MOVING_FRAMES: usize = 60;

/// How packets are sent.
#[derive(Clone, Copy, Debug)]
enum Sending {
    /// Sends a packet every frame within a budget in bytes a second. It is partial if not everything fits.
    Partial(u32),
    /// Sends complete packets as often as a budget in bytes a second allows.
    Complete(u32),
    /// Sends a complete packet every n frames, without a budget.
    Every(u16),
}

pub(crate) fn run(args: &BudgetArgs, out: &mut impl Write) -> Result<(), LabError> {
    let recording = Recording::read(&args.file)?;
    if TrainedModel::shipped()
        .trained_on()
        .contains(&recording.hash())
    {
        let path = args.file.clone();
        return Err(LabError::Trained { path });
    }
    let path = args.link;
    let budgets = || args.kbps.iter().map(|kbps| kbps * 1000 / 8);
    let mut plays = Vec::new();
    for rung in args.codec.in_scene(&recording.plan)? {
        if rung.stages.can_be_partial() {
            plays.extend(budgets().map(|rate| (rung, Sending::Partial(rate))));
        }
        plays.extend(budgets().map(|rate| (rung, Sending::Complete(rate))));
        plays.extend(args.every.map(|frames| (rung, Sending::Every(frames))));
    }
    let mut table = Table::new([
        "codec",
        "packets",
        "budget",
        "busiest second",
        "packets a second",
        "bodies a packet",
        "longest wait",
        "delay ms",
        "mean error mm",
        "worst",
        "% absent",
    ]);
    let bar = progress(plays.len() * recording.frames.len(), "frames");
    for (rung, sending) in plays {
        let tally =
            Play::new(&recording, &rung, path, sending, args.urgency).run(args.skip, || bar.inc(1));
        if tally.wrong > 0 {
            return Err(LabError::Lossy { codec: rung.name });
        }
        table.row(tally.cells(rung.name, sending, &recording.plan));
    }
    bar.finish_and_clear();
    let packets = number(recording.packets() as f64, 0);
    writeln!(out, "{}: {packets} frames{path}\n", args.file.display())?;
    Ok(writeln!(out, "{table}")?)
}

/// A sender and a receiver that play a recording over a link.
struct Play<'a> {
    recording: &'a Recording,
    rung: &'a Rung,
    sending: Sending,
    budget: RateLimiter,
    frames: Frames<'a>,
    sender: SnapshotSender,
    receiver: SnapshotReceiver,
    down: Link<Vec<u8>>,
    up: Link<Vec<u8>>,
    /// Last frame that moved each body.
    moved_in: Vec<Option<usize>>,
    tally: Tally,
}

#[derive(Debug, Default)]
struct Tally {
    /// Bytes on the wire, per frame.
    sent: Vec<usize>,
    packets: usize,
    carried: usize,
    longest_wait: u64,
    wrong: usize,
    /// Sum of errors in metres, and the number of errors.
    error: (f64, usize),
    worst: f32,
    /// Sum of the playout delays over all frames.
    delay: Duration,
    /// Number of bodies at the displayed ticks, and how many of these bodies were not displayed.
    bodies: usize,
    unseen: usize,
}

impl<'a> Play<'a> {
    fn new(
        recording: &'a Recording,
        rung: &'a Rung,
        path: Path,
        sending: Sending,
        urgency: Urgency,
    ) -> Self {
        let frames = Frames::new(recording, rung.stages.precision());
        let checked = "values are checked when a recording is read";
        let limits = Limits::default();
        let welcome = Welcome {
            plan: recording.plan.clone(),
            tick: recording.first_sent() as u64,
            initial: frames.state().clone(),
        };
        let rate = u32::from(recording.plan.schema().ticks_per_second);
        let bytes_per_second = match sending {
            Sending::Partial(rate) | Sending::Complete(rate) => rate,
            Sending::Every(_) => u32::MAX,
        };
        let sender = SnapshotSender::new(welcome.plan.clone(), welcome.initial.clone(), limits);
        let mut sender = sender.expect(checked);
        sender.set_urgency(urgency);
        let start = time(recording.first_sent());
        let delay = time(path.rtt_frames.into());
        let receiver = SnapshotReceiver::new(welcome, limits, delay, start);
        Self {
            recording,
            rung,
            sending,
            budget: RateLimiter::new(bytes_per_second, rate as u16),
            frames,
            sender,
            receiver: receiver.expect(checked),
            down: path.forward(),
            up: path.backward(),
            moved_in: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Plays the recording. Frames before `first` are not counted.
    fn run(mut self, first: usize, frame_done: impl Fn()) -> Tally {
        for frame in self.recording.first_sent()..self.recording.frames.len() {
            if frame == first {
                let wrong = self.tally.wrong;
                self.tally = Tally {
                    wrong,
                    ..Tally::default()
                };
            }
            self.step(frame);
            frame_done();
        }
        self.tally
    }

    fn step(&mut self, frame: usize) {
        let (now, tick) = (time(frame), frame as u64);
        while let Some(message) = self.up.receive(now) {
            self.sender
                .on_message(&message)
                .expect("messages of the receiver are valid");
        }
        let mut size = 0;
        if self.send(frame) {
            let bytes = self.sender.packet().bytes.clone();
            size = bytes.len() + bytes.len().div_ceil(DATAGRAM) * OVERHEAD;
            self.budget.spend(now, size);
            self.tally.packets += 1;
            self.down.send(now, size, bytes);
        }
        self.tally.sent.push(size);
        self.tally.longest_wait = self.tally.longest_wait.max(self.sender.longest_wait(tick));
        while let Some(bytes) = self.down.receive(now) {
            let arrival = self.receiver.on_packet(now, &bytes);
            let is_right = match arrival {
                Ok(PacketOutcome::Decoded { tick, .. }) => {
                    let (sent, received) = (self.sender.get(tick), self.receiver.get(tick));
                    sent.is_none_or(|sent| received == Some(sent))
                }
                Ok(_) => true,
                Err(_) => false,
            };
            self.tally.wrong += usize::from(!is_right);
        }
        while let Some(feedback) = self.receiver.poll_feedback() {
            let message = feedback.encode().to_vec();
            self.up.send(now, message.len(), message);
        }
        self.moved(frame);
        self.receiver.advance_playout(now, None);
        self.tally.delay += self.receiver.playout().delay();
        if frame >= BASELINE_FRAMES {
            self.compare(now);
        }
    }

    /// Sends a frame. Returns whether a packet was produced.
    fn send(&mut self, frame: usize) -> bool {
        let (stages, tick) = (self.rung.stages, frame as u64);
        let wanted = self.frames.quantize(frame);
        let valid = "rungs are legal and frames are quantized for them";
        let complete = |sender: &mut SnapshotSender| {
            let sent = sender.send(tick, stages, wanted, BaselineChoice::Newest);
            sent.expect(valid);
            true
        };
        match self.sending {
            Sending::Partial(_) => {
                let packet_budget = self.budget.packet_budget(time(frame), DATAGRAM, OVERHEAD);
                let sent = self.sender.send_within(tick, stages, wanted, packet_budget);
                let is_sent = sent.expect(valid).is_some();
                if is_sent {
                    self.tally.carried += self.sender.packet().sent_bodies;
                }
                is_sent
            }
            Sending::Complete(_) => {
                self.budget.available(time(frame)) > OVERHEAD && complete(&mut self.sender)
            }
            Sending::Every(frames) => {
                tick.is_multiple_of(frames.into()) && complete(&mut self.sender)
            }
        }
    }

    /// Records which bodies moved since the frame before.
    fn moved(&mut self, frame: usize) {
        let Some(before) = frame.checked_sub(1) else {
            return;
        };
        let (current, before) = (
            &self.recording.frames[frame],
            &self.recording.frames[before],
        );
        self.moved_in.resize(current.len(), None);
        for (slot, moved_in) in self.moved_in.iter_mut().enumerate() {
            if current.differs(before, slot) {
                *moved_in = Some(frame);
            }
        }
    }

    /// Compares the displayed state with the recording.
    fn compare(&mut self, now: Duration) {
        let Some(playout) = self.receiver.playout().sample(now) else {
            return;
        };
        let due = playout.due_tick.max(0.0);
        let frame = due as usize;
        let Some(true_frames) = self.recording.frames.get(frame..frame + 2) else {
            return;
        };
        let is_moving = |slot: usize| {
            let moved_in = self.moved_in[slot];
            moved_in.is_some_and(|moved_in| frame < moved_in + MOVING_FRAMES)
        };
        for slot in 0..true_frames[0].len() {
            let Some((truth, life)) = between(true_frames, slot, due.fract() as f32) else {
                continue;
            };
            self.tally.bodies += 1;
            let lives = [playout.from, playout.to].map(|shown| shown.lives.get(slot));
            if lives
                .into_iter()
                .flatten()
                .any(|shown| *shown != Some(life))
            {
                self.tally.unseen += 1;
                continue;
            }
            let shown = Interpolation::Linear.body(&playout, slot);
            let error = shown.position.distance(truth);
            self.tally.worst = self.tally.worst.max(error);
            if is_moving(slot) {
                self.tally.error.0 += f64::from(error);
                self.tally.error.1 += 1;
            }
        }
    }
}

/// Returns the interpolated position of a body and its kind and generation, if both frames have the same body in the
/// slot.
fn between(frames: &[QuantizedSnapshot], slot: usize, fraction: f32) -> Option<(Vec3, Life)> {
    let [from, to] = frames else { return None };
    let life = from
        .life(slot)
        .filter(|_| from.life(slot) == to.life(slot))?;
    let (from, to) = (from.body(slot).position, to.body(slot).position);
    Some((from.lerp(to, fraction), life))
}

impl Tally {
    fn cells(&self, codec: &str, sending: Sending, plan: &Plan) -> Vec<String> {
        let second = usize::from(plan.schema().ticks_per_second);
        let kbps = |bytes: usize| bytes as f64 * 8.0 / 1000.0;
        let busiest = self.sent.windows(second).map(|sent| sent.iter().sum());
        let (kind, budget) = match sending {
            Sending::Partial(rate) => ("partial", number(kbps(rate as usize), 0)),
            Sending::Complete(rate) => ("complete", number(kbps(rate as usize), 0)),
            Sending::Every(_) => ("complete", "-".to_owned()),
        };
        let is_partial = matches!(sending, Sending::Partial(_));
        let if_partial = |figure: String| if is_partial { figure } else { "-".to_owned() };
        let per_second = (self.packets * second) as f64 / self.sent.len() as f64;
        let millimetres = |metres: f64| number(1000.0 * metres, 1);
        let (sum, count) = self.error;
        vec![
            codec.to_owned(),
            kind.to_owned(),
            budget,
            number(kbps(busiest.max().unwrap_or(0)), 1),
            format!("{per_second:.1}"),
            if_partial(format!(
                "{:.1}",
                self.carried as f64 / self.packets.max(1) as f64
            )),
            if_partial(number(self.longest_wait as f64, 0)),
            number(
                1000.0 * self.delay.as_secs_f64() / self.sent.len() as f64,
                0,
            ),
            millimetres(sum / count.max(1) as f64),
            millimetres(self.worst.into()),
            format!(
                "{:.2}",
                100.0 * self.unseen as f64 / self.bodies.max(1) as f64
            ),
        ]
    }
}
