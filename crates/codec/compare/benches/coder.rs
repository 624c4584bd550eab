//! The codec's arithmetic coder against the range coders of `constriction`, on the same decisions with the same
//! probabilities, recorded from real play. Each packet is coded on its own and checked to decode again.

#[path = "../../tests/suite/recording.rs"]
mod recording;

use std::hint::black_box;

use constriction::stream::queue::{
    DefaultRangeDecoder, DefaultRangeEncoder, SmallRangeDecoder, SmallRangeEncoder,
};
use constriction::stream::{Decode, Encode};
use criterion::{Criterion, criterion_group, criterion_main};
use cubewire_codec::entropy::Prior;
use cubewire_codec::entropy::coder::{Bits, BitsIn, BitsOut};
use cubewire_codec::entropy::training::Trainer;
use cubewire_codec::ladder::PREDICTED;
use cubewire_codec::{Baseline, Sequence};
use cubewire_codec_compare::Model;

/// A decision and how probable it was to be yes, out of 65536.
type Decision = (bool, u32);

/// Frames between a packet and its baseline.
const AGE: usize = 6;

fn decisions() -> Vec<Vec<Decision>> {
    let frames = recording::frames("dev-mix");
    let mut trainer = Trainer::default().starting_from(Prior::shipped());
    let mut kept: Vec<Baseline> = Vec::new();
    let mut packets = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        let baseline = index.checked_sub(AGE).map(|index| &kept[index]);
        let mut next = Baseline::default();
        next.record(Sequence(index as u16), PREDICTED.stages, frame, baseline);
        if let Some(baseline) = baseline {
            let earlier = [1, 2].map(|more| kept.get(index.checked_sub(AGE + more)?));
            trainer.learn(PREDICTED.stages, frame, baseline, AGE as u16, earlier);
            trainer.teach(PREDICTED.stages.delta, &mut next);
            packets.push(trainer.decisions().to_vec());
        }
        kept.push(next);
    }
    packets
}

fn encode(decisions: &[Decision], bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut out = BitsOut::new(bytes);
    for &(bit, one) in decisions {
        out.bit(bit, one);
    }
    out.finish();
}

fn decode(bytes: &[u8], decisions: &[Decision]) -> bool {
    let mut bits = BitsIn::new(bytes);
    decisions
        .iter()
        .all(|&(bit, one)| bits.bit(false, one) == bit)
}

fn models(decisions: &[Decision]) -> impl Iterator<Item = (bool, Model)> {
    decisions.iter().map(|&(bit, one)| (bit, Model::new(one)))
}

fn coder(criterion: &mut Criterion) {
    let packets = decisions();
    let count = packets.len() as f64;
    let all: usize = packets.iter().map(Vec::len).sum();
    println!("{:.0} decisions a packet", all as f64 / count);

    let mut bytes = [0; 3];
    let mut ours = Vec::new();
    for packet in &packets {
        encode(packet, &mut ours);
        bytes[0] += ours.len();
        assert!(decode(&ours, packet));
        let mut large = DefaultRangeEncoder::new();
        large.encode_symbols(models(packet)).expect("possible");
        bytes[1] += large.num_words() * 4;
        let mut small = SmallRangeEncoder::<Vec<u16>>::new();
        small.encode_symbols(models(packet)).expect("possible");
        bytes[2] += small.num_words() * 2;
    }
    let names = ["ours", "constriction-32", "constriction-16"];
    let [ours, large, small] = bytes;
    for (name, bytes) in names.into_iter().zip(bytes) {
        println!("{name}: {:.1} bytes a packet", bytes as f64 / count);
    }
    assert!(ours <= large && ours <= small);

    // One that is about as long as the mean.
    let packet = packets
        .iter()
        .min_by_key(|packet| packet.len().abs_diff(all / packets.len()))
        .expect("there are packets");
    let mut bytes = Vec::new();
    criterion.bench_function("ours/encode", |bencher| {
        bencher.iter(|| encode(black_box(packet), &mut bytes));
    });
    criterion.bench_function("ours/decode", |bencher| {
        bencher.iter(|| assert!(decode(black_box(&bytes), packet)));
    });
    let mut large = DefaultRangeEncoder::new();
    criterion.bench_function("constriction-32/encode", |bencher| {
        bencher.iter(|| {
            large.clear();
            large.encode_symbols(models(black_box(packet)))
        });
    });
    let words = large.into_compressed().expect("memory does not fail");
    criterion.bench_function("constriction-32/decode", |bencher| {
        bencher.iter(|| {
            let words = black_box(&words[..]);
            let mut decoder = DefaultRangeDecoder::from_compressed(words).expect("as written");
            for (bit, model) in models(packet) {
                assert!(decoder.decode_symbol(model).is_ok_and(|read| read == bit));
            }
        });
    });
    let mut small = SmallRangeEncoder::<Vec<u16>>::new();
    criterion.bench_function("constriction-16/encode", |bencher| {
        bencher.iter(|| {
            small.clear();
            small.encode_symbols(models(black_box(packet)))
        });
    });
    let words = small.into_compressed().expect("memory does not fail");
    criterion.bench_function("constriction-16/decode", |bencher| {
        bencher.iter(|| {
            let words = black_box(&words[..]);
            let mut decoder = SmallRangeDecoder::from_compressed(words).expect("as written");
            for (bit, model) in models(packet) {
                assert!(decoder.decode_symbol(model).is_ok_and(|read| read == bit));
            }
        });
    });
}

criterion_group!(benches, coder);
criterion_main!(benches);
