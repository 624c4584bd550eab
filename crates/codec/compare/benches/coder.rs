//! Compares the codec's arithmetic coder with the range coders of `constriction`, on the same bins with the same
//! probabilities, recorded from real play. Each packet is coded separately and must decode to the same bins.

#[path = "../../tests/suite/recording.rs"]
mod recording;

use std::hint::black_box;

use constriction::stream::queue::{
    DefaultRangeDecoder, DefaultRangeEncoder, SmallRangeDecoder, SmallRangeEncoder,
};
use constriction::stream::{Decode, Encode};
use criterion::{Criterion, criterion_group, criterion_main};
use cubewire_codec::entropy::TrainedModel;
use cubewire_codec::entropy::coder::{BinCoder, BinDecoder, BinEncoder};
use cubewire_codec::ladder::PREDICTED;
use cubewire_codec::training::Trainer;
use cubewire_codec::{Baseline, Sequence};
use cubewire_codec_compare::Model;

/// A bin and the probability that it is set, out of 65536.
type Bin = (bool, u32);

/// Frames between a packet and its baseline.
const AGE: usize = 6;

fn recorded_bins() -> Vec<Vec<Bin>> {
    let frames = recording::frames("dev-mix");
    let mut trainer = Trainer::default().starting_from(TrainedModel::shipped());
    let mut kept: Vec<Baseline> = Vec::new();
    let mut packets = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        let baseline = index.checked_sub(AGE).map(|index| &kept[index]);
        let mut next = Baseline::default();
        next.record(Sequence(index as u16), PREDICTED.stages, frame, baseline);
        if let Some(baseline) = baseline {
            let additional = [1, 2].map(|more| kept.get(index.checked_sub(AGE + more)?));
            trainer.learn(PREDICTED.stages, frame, baseline, AGE as u16, additional);
            trainer.copy_state(PREDICTED.stages.delta, &mut next);
            packets.push(trainer.bins().to_vec());
        }
        kept.push(next);
    }
    packets
}

fn encode(bins: &[Bin], bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut encoder = BinEncoder::new(bytes);
    for &(bin, one) in bins {
        encoder.bin(bin, one);
    }
    encoder.finish();
}

fn decode(bytes: &[u8], bins: &[Bin]) -> bool {
    let mut decoder = BinDecoder::new(bytes);
    bins.iter()
        .all(|&(bin, one)| decoder.bin(false, one) == bin)
}

fn models(bins: &[Bin]) -> impl Iterator<Item = (bool, Model)> {
    bins.iter().map(|&(bin, one)| (bin, Model::new(one)))
}

fn coder(criterion: &mut Criterion) {
    let packets = recorded_bins();
    let count = packets.len() as f64;
    let all: usize = packets.iter().map(Vec::len).sum();
    println!("{:.0} bins a packet", all as f64 / count);

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

    // A packet of about mean length.
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
            for (bin, model) in models(packet) {
                assert!(decoder.decode_symbol(model).is_ok_and(|read| read == bin));
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
            for (bin, model) in models(packet) {
                assert!(decoder.decode_symbol(model).is_ok_and(|read| read == bin));
            }
        });
    });
}

criterion_group!(benches, coder);
criterion_main!(benches);
