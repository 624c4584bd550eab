//! `mutate`.

use cubewire_codec::ladder;
use serde_json::Value;

use crate::{clip, failure, rows};

/// What becomes of a packet.
const OUTCOMES: [&str; 8] = [
    "exact",
    "wrong",
    "end",
    "header",
    "reference",
    "value",
    "bins",
    "check",
];

fn number(row: &Value, name: &str) -> u64 {
    row[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name}: {row}"))
}

#[test]
fn every_damaged_packet_is_counted_and_every_outcome_occurs() {
    let folder = tempfile::tempdir().unwrap();
    let recording = clip(folder.path(), "a.bin", "dev-mix", 800..900);
    // Not a multiple of the rungs or of the jobs.
    let rows = rows(&["mutate", &recording, "--count", "40500", "--seed", "1"]);
    assert_eq!(rows.len(), ladder::all().count() - 1);
    let mut sums = [0; OUTCOMES.len()];
    for row in &rows {
        let counts = OUTCOMES.map(|outcome| number(row, outcome));
        assert_eq!(counts.iter().sum::<u64>(), number(row, "packets"), "{row}");
        let is_arithmetic = ["arithmetic", "predicted"].contains(&row["codec"].as_str().unwrap());
        let [_, wrong, .., check] = counts;
        if is_arithmetic {
            // A check of 14 bits lets few pass.
            assert!(check > 50 && wrong < check / 5, "{row}");
        } else {
            assert!(check < 20 && wrong > 100, "{row}");
        }
        assert!(number(row, "different_passed_check") <= wrong, "{row}");
        assert!(row["slowest_us"].as_f64() > Some(0.0), "{row}");
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    assert_eq!(sums.iter().sum::<u64>(), 40_500);
    assert!(sums.iter().all(|&sum| sum > 0), "{sums:?}");
}

#[test]
fn a_seed_always_gives_the_same_counts_and_another_one_others() {
    let folder = tempfile::tempdir().unwrap();
    let recording = clip(folder.path(), "a.bin", "dev-mix", 800..850);
    let counts = |seed: &str| {
        let args = ["--count", "2000", "--codec", "predicted", "--seed", seed];
        let rows = rows(&[&["mutate", &*recording][..], &args].concat());
        OUTCOMES.map(|outcome| number(&rows[0], outcome))
    };
    assert_eq!(counts("7"), counts("7"));
    assert_ne!(counts("7"), counts("8"));
}

#[test]
fn none_is_not_a_number_of_packets() {
    let error = failure(&["mutate", "a.bin", "--count", "0"]);
    assert!(error.contains("--count"), "{error}");
}
