//! `walkoff`: its output, and exact results on any link.

use cubewire_codec::ladder::{AFFINE, LADDER, SIMULATED};

use crate::{clip, codecs, mean_bytes, output, recording, walkoff};

#[test]
fn every_rung_is_lossless_and_from_position_on_no_larger_than_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let rows = walkoff(&[&clip(folder.path(), "clip.bin", "dev-mix", 6..1_006)]);
    let rungs = LADDER.iter().filter(|rung| **rung != SIMULATED);
    let rungs: Vec<&str> = rungs.chain([&AFFINE]).map(|rung| rung.name).collect();
    assert_eq!(codecs(&rows), rungs);
    let mut before = f64::INFINITY;
    for row in &rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        let bytes = number("bytes_per_packet");
        assert!((number("kbps") - bytes * 0.48).abs() < 1e-9);
        assert!(number("body_bytes_per_packet") < bytes);
        assert_eq!(row["delivered"], row["packets"]);
        if row["codec"] != AFFINE.name {
            assert!(bytes < before, "{row}");
            before = bytes;
        }
    }
    // The rungs of the article together reduce the size by a factor of 100. Prediction halves it again.
    let bytes = |rung: &str| mean_bytes(&rows, rung);
    assert!(bytes("changed-flags") < bytes("uncompressed") / 100.0);
    assert!(bytes("predicted") < bytes("changed-flags") / 1.9);
}

#[test]
fn the_table_names_the_conditions_and_is_repeatable() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip(folder.path(), "clip.bin", "dev-mix", 1_000..1_020);
    let args = ["walkoff", &clip, "--loss", "0.3", "--codec", "delta,index"];
    let table = output(&args);
    assert!(table.contains("20 packets, 0.3 lost, 0 late, seed 0"), "{table}");
    assert_eq!(table, output(&args));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_cubewire-lab"))
        .args(["walkoff", &recording("dev-mix"), "--codec", "delta"])
        .stdout(full.unwrap())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn packets_that_survive_a_bad_link_decode_exactly() {
    let mix = recording("dev-mix");
    for (loss, reorder, rtt) in [("0.05", "0.05", "6"), ("0.3", "0.3", "13"), ("0.95", "0", "2")] {
        let conditions = ["--loss", loss, "--reorder", reorder, "--rtt-frames", rtt];
        let rungs = [&mix, "--codec", "delta,changed-flags,predicted-position", "--seed", "7"];
        for row in walkoff(&[&rungs[..], &conditions].concat()) {
            let delivered = row["delivered"].as_f64().unwrap() / row["packets"].as_f64().unwrap();
            let kept = 1.0 - loss.parse::<f64>().unwrap();
            assert!((delivered - kept).abs() < 0.04, "{delivered} of {kept}");
        }
    }
}
