//! Ends whose trained models differ.

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::entropy::{Fingerprint, TrainedModel};
use cubewire_codec::glam::Vec3;
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED_POSITION};
use cubewire_codec::{
    CubeState, DecodeError, Header, Limits, QuantizedSnapshot, Reference, Sequence, Snapshot,
    Stages,
};
use cubewire_protocol::{
    Arrival, BaselineChoice, FallbackReason, SnapshotReceiver, SnapshotSender, Welcome,
};

/// The shipped model with one weight changed: of whether cube 0 changes.
fn other_model() -> Arc<TrainedModel> {
    let shipped = TrainedModel::shipped();
    let mut bytes = shipped.to_bytes();
    bytes[9 + 8 * shipped.trained_on().len() + 1] ^= 0x60;
    Arc::new(TrainedModel::from_bytes(&bytes).unwrap())
}

fn world(tick: u64) -> Snapshot {
    let cube = |place: u64| CubeState {
        position: Vec3::new(place as f32 + (tick % 200) as f32 * 0.01, 0.0, 0.5),
        ..CubeState::default()
    };
    Snapshot {
        cubes: (0..8).map(cube).collect(),
    }
}

struct Ends {
    sender: SnapshotSender,
    receiver: SnapshotReceiver,
    tick: u64,
    decoded: usize,
}

impl Ends {
    /// The sender says that it has that model, and the receiver has it.
    fn new(said: &TrainedModel, model: Arc<TrainedModel>) -> Self {
        let welcome = Welcome {
            ticks_per_second: 60,
            tick: 0,
            fingerprint: Fingerprint::of(said),
            initial: world(0),
        };
        let limits = Limits::default();
        let receiver = SnapshotReceiver::new(welcome, limits, Duration::ZERO, Duration::ZERO);
        Self {
            sender: SnapshotSender::new(world(0), limits).unwrap(),
            receiver: receiver.unwrap().with_model(model),
            tick: 0,
            decoded: 0,
        }
    }

    fn now(&self) -> Duration {
        Duration::from_secs(self.tick) / 60
    }

    fn reason(&mut self) -> Option<FallbackReason> {
        let now = self.now();
        self.receiver.fallback(now)
    }

    /// Sends one snapshot, of which `damage` changes the packet.
    fn send(&mut self, stages: Stages, damage: impl Fn(&mut Vec<u8>)) -> Result<(), DecodeError> {
        self.tick += 1;
        let mut quantized = QuantizedSnapshot::new(stages.precision());
        quantized
            .quantize(&world(self.tick), stages.precision())
            .unwrap();
        let choice = BaselineChoice::Newest;
        self.sender
            .send(self.tick, stages, &quantized, choice)
            .unwrap();
        let mut bytes = self.sender.packet().bytes.clone();
        damage(&mut bytes);
        let arrival = self.receiver.on_packet(self.now(), &bytes);
        if let Ok(Arrival::Decoded { .. }) = arrival {
            self.decoded += 1;
        }
        while let Some(feedback) = self.receiver.poll_feedback() {
            // Of damaged packets, it may ack what was never sent.
            let _ = self.sender.on_message(&feedback.encode());
        }
        arrival.map(|_| ())
    }
}

#[test]
fn models_that_are_said_to_differ_are_not_tried() {
    let (shipped, other) = (TrainedModel::shipped(), other_model());
    let mut same = Ends::new(&other, Arc::clone(&other));
    assert_eq!(same.reason(), None);
    let mut differ = Ends::new(&shipped, other);
    assert_eq!(differ.reason(), Some(FallbackReason::Model));
    let instead = FallbackReason::instead_of(ARITHMETIC.stages);
    assert_eq!(instead, Some(PREDICTED_POSITION.stages));
    for _ in 0..200 {
        differ.send(PREDICTED_POSITION.stages, |_| {}).unwrap();
        assert_eq!(differ.reason(), Some(FallbackReason::Model));
    }
    assert_eq!(FallbackReason::instead_of(PREDICTED_POSITION.stages), None);
}

#[test]
fn models_that_differ_all_the_same_are_given_up_and_tried_again() {
    let mut ends = Ends::new(&other_model(), other_model());
    let (mut without, mut changes) = (false, Vec::new());
    for _ in 0..60 * 120 {
        let is = ends.reason() == Some(FallbackReason::Failures);
        if is != without {
            changes.push(ends.tick);
        }
        without = is;
        let stages = match is {
            true => PREDICTED_POSITION.stages,
            false => ARITHMETIC.stages,
        };
        let sent = ends.send(stages, |_| {});
        assert_eq!(sent.is_ok(), is, "{sent:?}");
    }
    // After 10, 20 and 40 s.
    assert_eq!(changes.len(), 7, "{changes:?}");
    assert!(changes[0] < 90 && ends.decoded > 60 * 110, "{changes:?}");
}

/// The header of a packet, but relative to a baseline that nobody holds.
fn with_another_baseline(bytes: &[u8]) -> Vec<u8> {
    let Header { sequence, .. } = Header::decode(bytes).unwrap();
    let reference = Reference::Baseline {
        sequence: Sequence(sequence.0.wrapping_sub(10_000)),
        stages: Some(ARITHMETIC.stages),
    };
    let header = Header {
        sequence,
        reference,
    };
    header.encode()
}

#[test]
fn losses_damage_and_missing_baselines_are_no_reason() {
    let shipped = TrainedModel::shipped();
    let mut ends = Ends::new(&shipped, Arc::clone(&shipped));
    let (mut failures, mut missing) = (0, 0);
    for tick in 0..60 * 60 {
        let sent = ends.send(ARITHMETIC.stages, |bytes| match tick % 10 {
            // Lost, as far as the decoder knows.
            0 | 1 => bytes.clear(),
            // Its last byte, or its baseline.
            2 => *bytes.last_mut().unwrap() ^= 0x55,
            7 => *bytes = with_another_baseline(bytes),
            4 if tick % 600 == 4 => *bytes = vec![0xA5; 40],
            _ => {}
        });
        match sent {
            Err(DecodeError::UnknownBaseline(_)) => missing += 1,
            Err(_) => failures += 1,
            Ok(()) => {}
        }
        assert_eq!(ends.reason(), None, "{tick}");
    }
    assert!(failures > 360 && missing > 300, "{failures} {missing}");
}
