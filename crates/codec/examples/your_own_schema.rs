//! Encodes and decodes a scene of one's own: `cargo run -p cubewire-codec --example your_own_schema`

use cubewire_codec::schema::Schema;
use cubewire_codec::{
    Baseline, BodyState, Decoder, Encoder, Life, Limits, Packet, Plan, QuantizedSnapshot, Sequence,
    Snapshot, ladder,
};

const SCHEMA: &str = "scene arena\nticks 60\nup y\nposition x -500 500 128\nposition y 0 100 128\nposition z -500 500 128
orientation 9\nkind crate box 0.5 0.5 0.5\nkind hero capsule 0.6 0.4\nfield burning flag\nfield health int 0 100
gravity 9.81\nfloor 0\nmax-speed 40\nslots living 2000";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Both ends have the schema, and start from a world of empty slots.
    let plan = Plan::new(Schema::parse(SCHEMA)?)?;
    let mut encoder = Encoder::new(plan.clone(), Snapshot::default(), Limits::default())?;
    let mut decoder = Decoder::new(plan.clone(), Snapshot::default(), Limits::default())?;
    let stages = plan.legal(*ladder::PREDICTED.stages)?;

    let mut world = QuantizedSnapshot::new(plan.clone(), stages.precision());
    world.clear_slots(2000);
    let (hero, mut body) = (
        Life {
            kind: 1,
            generation: 0,
        },
        BodyState::default(),
    );
    let (mut packet, mut received) = (Packet::default(), Baseline::default());
    let mut acked: Option<Baseline> = None;
    for tick in 1..=10 {
        // A hero rises, and loses health.
        body.position.y += 0.1;
        let health = plan.schema().fields[1]
            .form
            .quantize(100.0 - f64::from(tick));
        world.put(7, hero, &body, &[0, health])?;
        let sequence = Sequence(tick);
        encoder.encode(sequence, stages, &world, acked.as_ref(), &mut packet, None)?;
        decoder.decode(&packet.bytes, |_| acked.as_ref(), &mut received)?;
        assert_eq!(received.snapshot(), &world);
        println!(
            "tick {tick}: {} bytes, {:?}",
            packet.bytes.len(),
            received.snapshot().body(7).position
        );
        acked = Some(received.clone());
    }
    Ok(())
}
