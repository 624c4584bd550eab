//! Measures a library.

use std::time::Duration;

use serde::Serialize;

use crate::scene::{Body, Frame, Scene};
use crate::wire::{Conditions, OneWayLink};

/// A server and a client of a library.
pub trait Engine {
    /// Runs a tick. The server applies the frame and sends it down. The client handles received messages and sends acks
    /// up. Returns the server's time.
    fn step(
        &mut self,
        now: u64,
        frame: &Frame,
        down: &mut OneWayLink,
        up: &mut OneWayLink,
    ) -> Duration;

    /// Writes the client's bodies to `frame`, by slot of the scene.
    fn shown(&mut self, frame: &mut Frame);
}

/// A library with one configuration.
pub struct Variant {
    pub library: &'static str,
    pub name: &'static str,
    pub start: fn(&Scene) -> Box<dyn Engine>,
}

/// Result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub scene: String,
    pub library: &'static str,
    pub variant: &'static str,
    pub round_trip_ticks: u64,
    pub loss: f64,
    /// Payload from the server to the client, without UDP and IP headers.
    pub bytes_a_tick: f64,
    pub datagrams_a_tick: f64,
    /// Including 28 bytes of headers per datagram.
    pub wire_kilobytes_a_second: f64,
    /// Payload from the client to the server.
    pub ack_bytes_a_tick: f64,
    /// Median time of a server tick, without writing the bodies.
    pub server_us: f64,
    /// Maximum distance and angle between a body at the client and in the newest frame that can have arrived.
    pub worst_error_mm: f64,
    pub worst_error_degrees: f64,
    /// Maximum number of bodies that the client is missing or has too many.
    pub wrong_bodies: usize,
}

/// Number of ticks for the client to join and get the first frame. They are not measured.
const JOIN_TICKS: usize = 300;

pub fn measure(scene: &Scene, variant: &Variant, on: Conditions) -> Outcome {
    let mut engine = (variant.start)(scene);
    let there = on.round_trip / 2;
    let (mut down, mut up) =
        (OneWayLink::new(there, on, 1), OneWayLink::new(on.round_trip - there, on, 2));
    for now in 0..JOIN_TICKS {
        engine.step(now as u64, &scene.frames[0], &mut down, &mut up);
    }
    let mut shown = vec![None; scene.slots()];
    let before = [down.bytes, down.count, up.bytes];
    let mut times = Vec::new();
    let mut worst = Worst::default();
    for (tick, frame) in scene.frames.iter().enumerate() {
        times.push(engine.step((JOIN_TICKS + tick) as u64, frame, &mut down, &mut up));
        shown.fill(None);
        engine.shown(&mut shown);
        worst.add(&scene.frames[tick.saturating_sub(there as usize)], &shown);
    }
    times.sort_unstable();
    let (after, ticks) = ([down.bytes, down.count, up.bytes], scene.frames.len() as f64);
    let [bytes, datagrams, acks] = [0, 1, 2].map(|i| (after[i] - before[i]) as f64 / ticks);
    let wire = (bytes + 28.0 * datagrams) * f64::from(scene.schema.ticks_per_second);
    Outcome {
        scene: scene.name.clone(),
        library: variant.library,
        variant: variant.name,
        round_trip_ticks: on.round_trip,
        loss: on.loss,
        bytes_a_tick: bytes,
        datagrams_a_tick: datagrams,
        wire_kilobytes_a_second: wire / 1e3,
        ack_bytes_a_tick: acks,
        server_us: times[times.len() / 2].as_secs_f64() * 1e6,
        worst_error_mm: f64::from(worst.metres) * 1e3,
        worst_error_degrees: f64::from(worst.radians).to_degrees(),
        wrong_bodies: worst.bodies,
    }
}

#[derive(Debug, Default)]
struct Worst {
    metres: f32,
    radians: f32,
    bodies: usize,
}

impl Worst {
    fn add(&mut self, sent: &[Option<Body>], shown: &[Option<Body>]) {
        let pairs = sent.iter().zip(shown);
        let wrong = pairs.clone().filter(|(a, b)| a.is_some() != b.is_some());
        self.bodies = self.bodies.max(wrong.count());
        for (sent, shown) in pairs.filter_map(|(a, b)| a.zip(*b)) {
            let metres = sent.position.distance(shown.position);
            let sign = sent.rotation.dot(shown.rotation).signum();
            // The angle from the chord is exact for small angles too.
            let chord = (sent.rotation * sign - shown.rotation).length();
            self.metres = self.metres.max(metres);
            self.radians = self.radians.max(4.0 * (chord / 2.0).min(1.0).asin());
        }
    }
}
