//! Bytes decode as a trained model that encodes to the same bytes, or give an error. With any model, a decoder with
//! the same model decodes the encoder's packets.
//!
//! A model is far longer than a fuzzer's inputs. So the input is also applied as changes to the built-in model: three
//! bytes for the offset of a number and two bytes for its value.

#![no_main]

use std::sync::{Arc, LazyLock};

use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::ladder::{ARITHMETIC, PREDICTED};
use cubewire_codec::{Baseline, Baselines, Decoder, Encoder, Limits, Packet, Plan, Sequence};
use cubewire_fuzz::{CUBES, quantized, world};
use libfuzzer_sys::fuzz_target;

static SHIPPED: LazyLock<Vec<u8>> = LazyLock::new(|| TrainedModel::shipped().to_bytes());

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let mut changed = SHIPPED.clone();
    for change in bytes.as_chunks::<5>().0 {
        let [offset @ .., low, high] = change;
        let [a, b, c] = offset.map(usize::from);
        let offset = (a << 16 | b << 8 | c) % (changed.len() - 1);
        changed[offset..offset + 2].copy_from_slice(&[*low, *high]);
    }
    if let Some(model) = read(&changed) {
        exchange(&Arc::new(model));
    }
});

fn read(bytes: &[u8]) -> Option<TrainedModel> {
    let model = TrainedModel::from_bytes(bytes).ok()?;
    assert_eq!(model.to_bytes(), bytes);
    Some(model)
}

fn exchange(model: &Arc<TrainedModel>) {
    let initial = world(CUBES, 0);
    let encoder = Encoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
    let mut encoder = encoder.with_model(Arc::clone(model));
    let decoder = Decoder::new(Plan::cubes(), initial, Limits::default()).unwrap();
    let mut decoder = decoder.with_model(Arc::clone(model));
    for stages in [ARITHMETIC.stages, PREDICTED.stages] {
        let mut held: Vec<Baseline> = Vec::new();
        for tick in 0..6 {
            let current = quantized(CUBES, 6 * tick + 6, stages);
            let mut newest = held.iter().rev();
            let references = Baselines {
                baseline: newest.next(),
                additional: [newest.next(), newest.next()],
                ..Baselines::default()
            };
            let (mut packet, mut kept) = (Packet::default(), Baseline::default());
            let kept_too = Some(&mut kept);
            encoder
                .encode(Sequence(tick), stages, &current, references, &mut packet, kept_too)
                .unwrap();
            let lookup = |sequence: Sequence| held.get(usize::from(sequence.0));
            let mut out = Baseline::default();
            decoder.decode(&packet.bytes, lookup, &mut out).unwrap();
            assert_eq!(out, kept);
            held.push(out);
        }
    }
}
