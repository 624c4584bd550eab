//! Events in the log.

use std::sync::{Mutex, Once};

use cubewire_bevy::Server;
use log::{Level, LevelFilter, Log, Metadata, Record};

use super::*;

/// Records of all tests in this process.
static RECORDS: Mutex<Vec<(Level, String)>> = Mutex::new(Vec::new());

struct Collector;

impl Log for Collector {
    fn enabled(&self, record: &Metadata<'_>) -> bool {
        record.target().starts_with("cubewire_")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let text = format!("{}: {}", record.target(), record.args());
            RECORDS.lock().unwrap().push((record.level(), text));
        }
    }

    fn flush(&self) {}
}

/// Collects the log from now on.
pub(crate) fn collect() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Collector).unwrap();
        log::set_max_level(LevelFilter::Debug);
    });
}

/// Whether there is a record with this level, start and end.
pub(crate) fn has_record(level: Level, start: &str, end: &str) -> bool {
    let records = RECORDS.lock().unwrap();
    let is_wanted = |text: &str| text.starts_with(start) && text.ends_with(end);
    records.iter().any(|(of, text)| *of == level && is_wanted(text))
}

#[test]
fn a_refused_client_leaves_events_at_both_ends() {
    collect();
    let mut net = TestNet::new(|app| _ = poses(app, Shape::capsule(0.6, 0.4)));
    let client = net.add_client_with(|app| _ = poses(app, Shape::capsule(0.75, 0.4)));
    net.run_until(|net| net.count::<Server>(client) == 0);
    let reason = "but the client has `kind hero: Capsule { half: 0.75, radius: 0.4 }`";
    for start in [
        "cubewire_protocol::session::server: client refused: ",
        "cubewire_bevy::server::receive: client ",
        "cubewire_bevy::body: connection ",
    ] {
        assert!(has_record(Level::Debug, start, reason), "{start}");
    }
}
