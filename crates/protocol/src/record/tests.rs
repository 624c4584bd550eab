use std::sync::Arc;

use cubewire_codec::Sequence;

use super::*;

/// Ticks of a minute.
const MINUTE: usize = Record::SECONDS * 60;

/// Returns a sample with a packet of 97 bytes.
fn sent(tick: u64) -> Sample {
    let packet = PacketRecord { tick, payload_bytes: 97, ..PacketRecord::default() };
    Sample { tick, snapshots: vec![packet], ..Sample::default() }
}

#[test]
fn a_kilobit_is_a_thousand_bits() {
    // The article's example: 36 152.625 + 32 bytes, 60 times a second.
    assert!((kbps(36_185 * 60, 60, 60) - 17_368.8).abs() < 0.05);
    assert_eq!(kbps(0, 0, 60), 0.0);
}

#[test]
fn details_that_come_after_their_tick_has_begun_are_counted_and_bounded() {
    let detailed = |bytes: usize| PacketRecord {
        detail: Some(Arc::new(PacketDetail::new(&[], &vec![0; bytes]))),
        ..PacketRecord::default()
    };
    // Two minutes of small packets, and of packets that reach the limit.
    for bytes in [1, 300, 20_000] {
        let mut record = Record::default();
        for tick in 0..2 * MINUTE as u64 {
            record.begin(Sample {
                tick,
                // Packets in the new sample, like a sender's, and packets added later, like a viewer's.
                snapshots: (tick % 5 == 0).then(|| detailed(bytes)).into_iter().collect(),
                ..Sample::default()
            });
            if tick % 3 > 0 {
                record.current().snapshots.push(detailed(bytes));
            }
            if tick % 100 == 0 {
                let kept: usize = record.samples().iter().map(Sample::detail_bytes).sum();
                assert_eq!(record.detail_bytes(), kept, "{bytes} bytes, tick {tick}");
                let newest = record.samples().back().map_or(0, Sample::detail_bytes);
                assert!(kept <= Record::MAX_DETAIL_BYTES + newest, "{kept}");
            }
        }
        let is_detailed = |sample: &Sample| sample.detail_bytes() > 0;
        assert!(record.newest(100).any(is_detailed), "{bytes}");
        (0..=MINUTE as u64).for_each(|tick| {
            record.begin(Sample { tick, ..Sample::default() });
        });
        assert_eq!(record.detail_bytes(), 0, "{bytes}");
    }
}

#[test]
fn figures_are_of_a_whole_second_with_the_settings_of_the_moment() {
    let sample = |tick, budget_kbps, payload_bytes| Sample {
        tick,
        budget_kbps,
        snapshots: vec![PacketRecord { payload_bytes, ..PacketRecord::default() }],
        ..Sample::default()
    };
    let meter = |ticks| {
        Record::from_samples((0..ticks).map(|tick| match tick {
            ..100 => sample(tick, None, 972),
            _ => sample(tick, Some(64), 97),
        }))
    };
    let kbps = |ticks, moment| {
        let second = meter(ticks).second(moment)?;
        Some(second.kbps(Accounting::PayloadAndUdp).round())
    };
    assert_eq!([kbps(60, None), kbps(61, None)], [None, Some(480.0)]);
    // A budget is set in tick 100. Figures end at a multiple of 15.
    for (ticks, expected) in [(100, Some(480.0)), (101, None), (165, None), (166, Some(60.0))] {
        assert_eq!(kbps(ticks, None), expected, "{ticks}");
    }
    // In the past, figures end at the given tick.
    for (moment, expected) in [(99, Some(480.0)), (100, None), (158, None), (159, Some(60.0))] {
        assert_eq!(kbps(400, Some(moment)), expected, "{moment}");
    }
}

#[test]
fn a_minute_at_240_ticks_a_second_is_kept_and_takes_bounded_memory() {
    let mut record = Record::new(240);
    let kept = 240 * Record::SECONDS;
    for tick in 0..2 * kept as u64 {
        record.begin(sent(tick));
    }
    assert_eq!(record.samples().len(), kept);
    assert_eq!(record.packets().count(), kept);
    assert_eq!(record.totals().ticks, 2 * kept);
    assert_eq!(record.newest(10).map(|sample| sample.tick).min(), Some(2 * kept as u64 - 10));
    assert!((record.kbps(Accounting::PayloadAndUdp) - 240.0).abs() < 1e-9);
    let each = size_of::<Sample>() + size_of::<PacketRecord>();
    assert!(kept * each < 14 << 20, "{each} bytes");
    // A peer that sends more than one packet per tick gets no more memory.
    for tick in 0..kept as u64 {
        let mut sample = sent(2 * kept as u64 + tick);
        sample.snapshots = vec![PacketRecord::default(); 50];
        record.begin(sample);
        if tick % 500 == 0 {
            assert!(record.packets().count() <= 2 * kept + 50, "{tick}");
        }
    }
    assert!(record.samples().len() > 500);
}

#[test]
fn totals_since_a_mark_are_of_any_length_and_agree_with_those_of_the_samples() {
    let mut record = Record::new(30);
    assert_eq!(record.totals(), Totals::new(30));
    record.mark();
    for tick in 0..5_000 {
        record.begin(Sample::default());
        // Packets are also added after their tick has begun.
        *record.current() = sent(tick);
        if tick == 99 {
            let all = record.sum(record.samples());
            assert_eq!(record.totals(), all);
            record.mark();
            assert_eq!(record.totals(), Totals::new(30));
        }
        if tick == 100 {
            assert_eq!(record.totals().ticks, 1);
        }
    }
    let totals = record.totals();
    assert_eq!((totals.ticks, totals.snapshots), (4_900, 4_900));
    assert_eq!(totals.payload_bytes, 4_900 * 97);
    assert_eq!(totals.kbps(Accounting::PayloadAndUdp), 30.0);
}

#[test]
fn what_is_left_out_has_empty_ticks_and_a_long_pause_forgets() {
    let mut record = Record::default();
    for tick in [7, 10, 11] {
        record.begin(sent(tick));
    }
    let ticks = |record: &Record| -> Vec<_> {
        let samples = record.samples().iter();
        samples.map(|sample| (sample.tick, sample.snapshots.len())).collect()
    };
    assert_eq!(ticks(&record), [(7, 1), (8, 0), (9, 0), (10, 1), (11, 1)]);
    assert_eq!(record.at(9).unwrap().tick, 9);
    record.begin(sent(1_000_000));
    assert_eq!(record.samples().len(), MINUTE);
    // Counts from before the first tick do not create a gap.
    let mut early = Record::default();
    early.current().traffic.wire_bytes = 40;
    early.begin(sent(500));
    assert_eq!(ticks(&early), [(0, 0), (500, 1)]);
    assert_eq!(record.packets().count(), 1);
    assert!(record.at(11).is_none());
}

#[test]
fn acks_tell_what_has_arrived_and_what_is_lost() {
    let mut record = Record::default();
    // Across the wrap of sequence numbers.
    let first = 0xFFF0;
    (first..first + 100).for_each(|tick| record.begin(sent(tick)));
    let ack = |tick: u64, earlier| Ack { newest: Sequence(tick as u16), earlier };
    let now = first + 99;
    // The newest, the one before, and the oldest that an ack can cover.
    record.on_ack(now, &ack(first + 60, 1 << 31 | 1));
    let after = |record: &Record, tick| record.at(tick).unwrap().snapshots[0].acked_after_ticks;
    for (tick, acked) in
        [(27, None), (28, Some(71)), (29, None), (59, Some(40)), (60, Some(39)), (61, None)]
    {
        assert_eq!(after(&record, first + tick), acked, "{tick}");
    }
    assert_eq!(record.settled_tick(), first + 28);
    let counts = ArrivalCounts::of(&record, record.samples());
    assert_eq!(counts.0, [3, 0, 28]);
    // A second ack only adds its new packets.
    record.on_ack(now + 5, &ack(first + 61, 1));
    assert_eq!(after(&record, first + 60), Some(39));
    assert_eq!(after(&record, first + 61), Some(43));
    // An old ack arrives late. It does not move the settled tick back.
    record.on_ack(now + 6, &ack(first + 27, 0));
    assert_eq!(after(&record, first + 27), Some(78));
    assert_eq!(record.settled_tick(), first + 29);
}

#[test]
fn without_acks_what_has_not_arrived_for_a_second_is_lost() {
    let mut record = Record::default();
    (0..100).for_each(|tick| record.begin(sent(tick)));
    record.on_arrival(20, true);
    record.on_arrival(98, false);
    let packet = |tick| &record.at(tick).unwrap().snapshots[0];
    let fate = |tick| packet(tick).fate(tick, record.settled_tick());
    let late = PacketArrival { after_ticks: 79, is_late: true };
    assert_eq!(fate(20), Fate::Arrived(late));
    assert_eq!([fate(38), fate(39)], [Fate::Lost, Fate::InFlight]);
    let counts = ArrivalCounts::of(&record, record.samples());
    assert_eq!(counts.0, [1, 1, 38]);
    assert!(record.arrives(None) && !record.arrives(Some(19)));
}
