//! Encodes and decodes a scene with a custom schema: `cargo run -p cubewire-codec --example your_own_schema`

use cubewire_codec::{Baseline, BodyState, Decoder, Encoder, Life, Limits, Packet, Plan};
use cubewire_codec::{QuantizedSnapshot, Sequence, Snapshot, ladder};

const SCHEMA: &str = r#"(
    name: "arena", ticks_per_second: 60, up: Y,
    position: (
        (min: -500, max: 500, steps_per_unit: 128),
        (min: 0, max: 100, steps_per_unit: 128),
        (min: -500, max: 500, steps_per_unit: 128),
    ),
    component_bits: 9, levels: Odd, anchor: None,
    kinds: [
        (name: "crate", shape: Box((0.5, 0.5, 0.5))),
        (name: "hero", shape: Capsule(half: 0.6, radius: 0.4)),
    ],
    fields: [(name: "burning", form: Flag), (name: "health", form: Int(min: 0, max: 100))],
    world: (gravity: 9.81, floor: Some(0), max_speed: 40, linear: None),
    slots: Living(max: 2000), support: (), seats: 1,
)"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Both ends know the schema, here from RON, and start from a world of empty slots.
    let plan = Plan::new(ron::from_str(SCHEMA)?)?;
    let mut encoder = Encoder::new(plan.clone(), Snapshot::default(), Limits::default())?;
    let mut decoder = Decoder::new(plan.clone(), Snapshot::default(), Limits::default())?;
    let stages = plan.legal(*ladder::PREDICTED.stages)?;
    let mut world = QuantizedSnapshot::new(plan.clone(), stages.precision());
    world.clear_slots(2000);

    let [kind, generation] = [1, 0];
    let health = &plan.schema().fields[1].form;
    let (mut hero, mut packet) = (BodyState::default(), Packet::default());
    let (mut received, mut acked) = (Baseline::default(), None::<Baseline>);
    for tick in 1..=10 {
        // The hero rises, and loses health.
        hero.position.y += 0.1;
        let values = [0, health.quantize(100.0 - f64::from(tick))];
        world.put(7, Life { kind, generation }, &hero, &values)?;
        encoder.encode(Sequence(tick), stages, &world, acked.as_ref(), &mut packet, None)?;
        decoder.decode(&packet.bytes, |_| acked.as_ref(), &mut received)?;
        assert_eq!(received.snapshot(), &world);
        let position = received.snapshot().body(7).position;
        println!("tick {tick}: {} bytes, {position}", packet.bytes.len());
        acked = Some(received.clone());
    }
    Ok(())
}
