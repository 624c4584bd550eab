//! Records in the log, as the tests see them.

use std::sync::{Mutex, Once};

use log::{Level, LevelFilter, Log, Metadata, Record};

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

pub(crate) fn assert_record(level: Level, start: &str, end: &str) {
    let records = RECORDS.lock().unwrap();
    let is_wanted = |text: &str| text.starts_with(start) && text.ends_with(end);
    assert!(records.iter().any(|(of, text)| *of == level && is_wanted(text)), "{start} … {end}");
}
