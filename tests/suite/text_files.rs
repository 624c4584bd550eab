//! Text files with the line endings and encodings of other systems, for every kind of file that the program reads.

use std::fs;
use std::path::Path;

use cubewire_bevy::udp::Key;

use crate::command_line::cubewire;
use crate::replays::recorded;

/// Files that commands read: name, text, command, and a part of the output if the file was read.
fn kinds(folder: &Path) -> [(&'static str, String, &'static str, &'static str); 4] {
    let script = "(\n  ticks: 60,\n  steps: [\n    (at: 1, hold: [Right]),\n  ],\n)\n";
    let replay = folder.join("replay.ron");
    recorded("katamari", 0, 30).0.save(&replay).unwrap();
    let replay = fs::read_to_string(replay).unwrap();
    let trace = "# a comment\nsent_ms,delay_ms\n0,50\n\n10,\n";
    let key = format!("{}\n", Key::random().to_hex());
    let scripted = "headless --seconds 0.1 --json --script";
    let traced = "headless --seconds 0.1 --json --trace";
    let keyed = "view --headless --timeout 1 --connect 127.0.0.1:1 --key-file";
    [
        ("script.ron", script.to_owned(), scripted, "snapshots"),
        ("copy.ron", replay, scripted, "snapshots"),
        ("trace.csv", trace.to_owned(), traced, "snapshots"),
        ("key", key, keyed, "nothing listens"),
    ]
}

/// Returns the output of the command for a file with these bytes.
fn said(command: &str, path: &Path, bytes: &[u8]) -> String {
    fs::write(path, bytes).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    let path = path.to_str().unwrap();
    let arguments: Vec<_> = command.split(' ').chain([path]).collect();
    let output = cubewire(&arguments).output().unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(String::from_utf8);
    out.unwrap() + &errors.unwrap()
}

fn utf_16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn every_kind_of_file_reads_as_windows_writes_it_and_utf_16_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, command, read) in kinds(folder.path()) {
        let path = folder.path().join(name);
        let windows = text.replace('\n', "\r\n");
        for text in
            [text.clone(), windows.clone(), format!("\u{feff}{text}"), format!("\u{feff}{windows}")]
        {
            let said = said(command, &path, text.as_bytes());
            assert!(said.contains(read), "{name}: {said}");
        }
        let said = said(command, &path, &utf_16(&windows));
        let names_file = said.contains(path.to_str().unwrap());
        assert!(said.contains("UTF-16") && names_file, "{name}: {said}");
    }
}
