//! `walkoff`: its output, and that it is exact on any link.

use serde_json::Value;

use crate::{clip, output, recording};

fn json(args: &[&str]) -> Vec<Value> {
    output(&[&["walkoff", "--json"], args].concat())
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn keys(row: &Value) -> Vec<&str> {
    row.as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn every_rung_is_lossless_and_has_the_documented_keys() {
    let folder = tempfile::tempdir().unwrap();
    let rows = json(&[&clip(folder.path(), "clip.bin", "dev-mix", 1_000..1_100)]);
    let codecs: Vec<&str> = rows
        .iter()
        .map(|row| row["codec"].as_str().unwrap())
        .collect();
    let ladder = cubewire_codec::ladder::LADDER.map(|rung| rung.name);
    let [measured @ .., "simulated"] = &ladder else {
        panic!("{ladder:?}")
    };
    assert_eq!(codecs, [&measured[..], &["affine"]].concat());
    let mut expected = [
        "codec",
        "packets",
        "bytes_per_packet",
        "body_bytes_per_packet",
        "kbps",
        "encode_us",
        "decode_us",
        "lossless",
    ];
    expected.sort_unstable();
    for row in rows {
        let mut keys = keys(&row);
        keys.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(row["packets"], 100);
        assert_eq!(row["lossless"], true);
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!((number("kbps") - number("bytes_per_packet") * 0.48).abs() < 1e-9);
        assert!(number("body_bytes_per_packet") < number("bytes_per_packet"));
        assert!(number("encode_us") > 0.0 && number("decode_us") > 0.0);
    }
}

#[test]
fn packets_that_survive_a_bad_link_decode_exactly() {
    for codec in ["delta", "changed-flags", "predicted-position"] {
        for (loss, reorder, rtt) in [
            ("0.05", "0.05", "6"),
            ("0.3", "0.3", "13"),
            ("0.95", "0", "2"),
        ] {
            let mix = recording("dev-mix");
            let conditions = ["--loss", loss, "--reorder", reorder, "--rtt-frames", rtt];
            let args = [&[&*mix, "--codec", codec, "--seed", "7"][..], &conditions].concat();
            let rows = json(&args);
            let row = &rows[0];
            assert_eq!(row["lossless"], true);
            assert_eq!(row["decoded"], row["delivered"]);
            let delivered = row["delivered"].as_f64().unwrap() / 2831.0;
            let kept = 1.0 - loss.parse::<f64>().unwrap();
            assert!((delivered - kept).abs() < 0.04, "{delivered} of {kept}");
        }
    }
}

#[test]
fn the_seed_determines_which_packets_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = clip(folder.path(), "clip.bin", "dev-mix", 6..506);
    let delivered = |seed: &str| {
        let rows = json(&[&file, "--codec", "index", "--loss", "0.3", "--seed", seed]);
        (
            rows[0]["delivered"].clone(),
            rows[0]["bytes_per_packet"].clone(),
        )
    };
    assert_eq!(delivered("1"), delivered("1"));
    assert_ne!(delivered("1"), delivered("2"));
}

#[test]
fn an_older_baseline_costs_more() {
    let bytes = |rtt: &str| {
        let mix = recording("dev-mix");
        let rows = json(&[&mix, "--codec", "changed-flags", "--rtt-frames", rtt]);
        rows[0]["bytes_per_packet"].as_f64().unwrap()
    };
    assert!(bytes("3") < bytes("6") && bytes("6") < bytes("12"));
}
