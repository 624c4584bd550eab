//! Measures a library.

use std::time::Duration;

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

/// Columns of [`measure`]. Bytes are payload, without UDP and IP headers; `wire` includes 28 bytes of headers per datagram.
/// Times are medians of a server tick, without writing the bodies. `worst` is the maximum distance and angle between a body
/// at the client and in the newest frame that can have arrived, and `wrong bodies` the maximum number of bodies that the
/// client is missing or has too many.
pub const COLUMNS: [&str; 11] = [
    "library",
    "variant",
    "loss %",
    "bytes a tick",
    "datagrams",
    "wire kB/s",
    "acks",
    "server µs",
    "worst mm",
    "worst °",
    "wrong bodies",
];

/// Number of ticks for the client to join and get the first frame. They are not measured.
const JOIN_TICKS: usize = 300;

/// Measures a variant. Returns a row of the table.
pub fn measure(scene: &Scene, variant: &Variant, on: Conditions) -> [String; 11] {
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
    [
        variant.library.to_owned(),
        variant.name.to_owned(),
        format!("{}", on.loss * 100.0),
        format!("{bytes:.1}"),
        format!("{datagrams:.1}"),
        format!("{:.1}", wire / 1e3),
        format!("{acks:.1}"),
        format!("{:.0}", times[times.len() / 2].as_secs_f64() * 1e6),
        format!("{:.1}", f64::from(worst.metres) * 1e3),
        format!("{:.2}", f64::from(worst.radians).to_degrees()),
        worst.bodies.to_string(),
    ]
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
