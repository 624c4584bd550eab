//! Delays that were recorded on a real link, to be played back.

use std::fmt;
use std::io::{self, Read};
use std::time::Duration;

use csv::{ByteRecord, ReaderBuilder, Trim};

use crate::conditions::LONGEST_DELAY;

/// A recording of what a link did: when a packet was sent, and how long it took or that it was lost.
///
/// The text is CSV with a header. Blank lines and lines that begin with `#` are passed over.
///
/// ```text
/// sent_ms,delay_ms
/// 0,48.5
/// 16.7,51.2
/// 33.3,
/// 50,49.9
/// ```
///
/// `sent_ms` ascends; only its differences count. `delay_ms` is the delay one way; where it is empty,
/// the packet was lost. Both are decimal numbers of milliseconds.
///
/// A packet fares like the newest entry at or before its time of sending. After its end the trace
/// begins again: the last entry holds for as long as the others do on average. A single entry holds
/// for ever.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// Not empty; the first is at zero, and they ascend.
    entries: Vec<Entry>,
    /// Time after which the trace begins again. Zero if there is one entry alone.
    period: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// Since the first entry.
    sent: Duration,
    /// None if the packet was lost.
    delay: Option<Duration>,
}

impl Trace {
    /// Most entries: four and a half hours at 60 packets a second.
    pub const MAX_ENTRIES: usize = 1_000_000;

    /// Most bytes of text, 64 MiB.
    pub const MAX_BYTES: u64 = 1 << 26;

    /// Reads a trace from CSV text.
    ///
    /// # Errors
    /// [`TraceError`] if the text cannot be read or is too long, if the header is not
    /// `sent_ms,delay_ms`, if a number is missing or out of range, if `sent_ms` does not ascend, and if
    /// there is no entry.
    pub fn from_csv(reader: impl Read) -> Result<Self, TraceError> {
        let mut text = Vec::new();
        reader.take(Self::MAX_BYTES + 1).read_to_end(&mut text)?;
        if text.len() as u64 > Self::MAX_BYTES {
            return Err(TraceError::TooLong);
        }
        let mut reader = ReaderBuilder::new()
            .trim(Trim::All)
            .comment(Some(b'#'))
            .flexible(true)
            .from_reader(&*text);
        if *reader.byte_headers()? != ["sent_ms", "delay_ms"][..] {
            return Err(TraceError::Header);
        }
        let mut record = ByteRecord::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut first = None;
        let (mut line, mut counted) = (1, 0);
        while reader.read_byte_record(&mut record)? {
            // The reader's own count passes over blank lines and comments. Its place is behind the
            // last byte of the record: the end of the line, if that has one.
            let end = (reader.position().byte() as usize).saturating_sub(1);
            line += text[counted..end]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            counted = end;
            if record.len() != 2 {
                let fields = record.len();
                return Err(TraceError::Fields { line, fields });
            }
            let sent = milliseconds(&record[0], MAX_SENT_MS).ok_or_else(|| TraceError::Sent {
                line,
                value: excerpt(&record[0]),
            })?;
            let delay =
                match &record[1] {
                    [] => None,
                    delay => Some(milliseconds(delay, MAX_DELAY_MS).ok_or_else(|| {
                        TraceError::Delay {
                            line,
                            value: excerpt(delay),
                        }
                    })?),
                };
            let sent = sent.saturating_sub(*first.get_or_insert(sent));
            if entries.last().is_some_and(|before| before.sent >= sent) {
                return Err(TraceError::NotAscending { line });
            }
            if entries.len() == Self::MAX_ENTRIES {
                return Err(TraceError::TooManyEntries { line });
            }
            entries.push(Entry { sent, delay });
        }
        let last = entries.last().ok_or(TraceError::Empty)?.sent;
        let intervals = (entries.len() - 1).max(1) as u32;
        Ok(Self {
            period: last + last / intervals,
            entries,
        })
    }

    /// Number of entries, at least one.
    #[must_use]
    pub const fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Time after which the trace begins again. Zero if it has one entry alone.
    #[must_use]
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// How long a packet takes that is sent so long after the trace began; None if it is lost.
    #[must_use]
    pub fn delay(&self, since_start: Duration) -> Option<Duration> {
        let into = since_start
            .as_nanos()
            .checked_rem(self.period.as_nanos())
            .unwrap_or(0);
        let after = self
            .entries
            .partition_point(|entry| entry.sent.as_nanos() <= into);
        self.entries[after - 1].delay
    }
}

/// In short, since a trace may have a million entries.
impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("entries", &self.entries.len())
            .field("period", &self.period)
            .finish()
    }
}

/// Text that is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It is no CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// The first line is another.
    #[error("line 1: a trace begins with the header sent_ms,delay_ms")]
    Header,
    /// A line has not two fields.
    #[error("line {line}: a trace has 2 fields, not {fields}")]
    Fields {
        /// Counted from 1.
        line: usize,
        /// How many it has.
        fields: usize,
    },
    /// A time of sending is not a number, or out of range.
    #[error("line {line}: sent_ms is {value:?}, not a number in 0..={MAX_SENT_MS}")]
    Sent {
        /// Counted from 1.
        line: usize,
        /// How the field begins.
        value: String,
    },
    /// A delay is not a number, or out of range.
    #[error("line {line}: delay_ms is {value:?}, neither empty nor a number in 0..={MAX_DELAY_MS}")]
    Delay {
        /// Counted from 1.
        line: usize,
        /// How the field begins.
        value: String,
    },
    /// A time of sending is not later than the one before.
    #[error("line {line}: sent_ms is not above that of the entry before")]
    NotAscending {
        /// Counted from 1.
        line: usize,
    },
    /// There are more than [`Trace::MAX_ENTRIES`].
    #[error("line {line}: a trace has at most {} entries", Trace::MAX_ENTRIES)]
    TooManyEntries {
        /// Of the first that is too many, counted from 1.
        line: usize,
    },
    /// There are more bytes than [`Trace::MAX_BYTES`].
    #[error("a trace has at most {} bytes", Trace::MAX_BYTES)]
    TooLong,
    /// Nothing follows the header.
    #[error("a trace has at least one entry after its header")]
    Empty,
}

/// A number of milliseconds in `0..=most`.
fn milliseconds(field: &[u8], most: f64) -> Option<Duration> {
    let ms: f64 = str::from_utf8(field).ok()?.parse().ok()?;
    (0.0..=most)
        .contains(&ms)
        .then(|| Duration::from_secs_f64(ms / 1000.0))
}

/// As much of a field as an error message can take.
fn excerpt(field: &[u8]) -> String {
    String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned()
}

/// Room for the milliseconds since 1970.
const MAX_SENT_MS: f64 = 1e13;

const MAX_DELAY_MS: f64 = LONGEST_DELAY.as_millis() as f64;

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn trace(entries: &str) -> Result<Trace, TraceError> {
        Trace::from_csv(format!("sent_ms,delay_ms\n{entries}").as_bytes())
    }

    fn error(text: &str) -> String {
        Trace::from_csv(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_packet_fares_like_the_newest_entry_before_it() {
        let trace = trace("1000,50\n1010,\n1030,70.5\n").unwrap();
        assert_eq!(trace.entries(), 3);
        assert_eq!(trace.delay(ms(0)), Some(ms(50)));
        assert_eq!(trace.delay(ms(9)), Some(ms(50)));
        assert_eq!(trace.delay(ms(10)), None);
        assert_eq!(trace.delay(ms(29)), None);
        assert_eq!(trace.delay(ms(30)), Some(Duration::from_micros(70_500)));
    }

    #[test]
    fn a_trace_begins_again_after_the_mean_interval() {
        let trace = trace("0,50\n10,60\n30,70\n").unwrap();
        assert_eq!(trace.period(), ms(45));
        assert_eq!(trace.delay(ms(44)), Some(ms(70)));
        assert_eq!(trace.delay(ms(45)), Some(ms(50)));
        assert_eq!(trace.delay(ms(45_000_055)), Some(ms(60)));
        assert!(trace.delay(Duration::MAX).is_some());
    }

    #[test]
    fn a_single_entry_holds_for_ever() {
        let trace = trace("7,50").unwrap();
        for since_start in [ms(0), ms(1), Duration::MAX] {
            assert_eq!(trace.delay(since_start), Some(ms(50)));
        }
    }

    #[test]
    fn spaces_comments_and_line_ends_of_either_kind_do_no_harm() {
        let text = "# of the office\r\nsent_ms , delay_ms\r\n0, 50\r\n\r\n# lost\r\n10,\r\n";
        let trace = Trace::from_csv(text.as_bytes()).unwrap();
        assert_eq!(
            (trace.delay(ms(0)), trace.delay(ms(10))),
            (Some(ms(50)), None)
        );
    }

    #[test]
    fn an_error_names_the_line_and_the_reason() {
        for (entries, line, reason) in [
            ("0,5\nsoon,5", 3, "sent_ms is \"soon\""),
            ("0,5\n,5", 3, "sent_ms is \"\""),
            ("-1,5", 2, "sent_ms is \"-1\""),
            ("1e14,5", 2, "sent_ms is \"1e14\""),
            ("0,5\n1,NaN", 3, "delay_ms is \"NaN\""),
            ("0,-0.1", 2, "delay_ms is \"-0.1\""),
            ("0,60001", 2, "neither empty nor a number in 0..=60000"),
            ("0,5\n10,5\n10,5", 4, "not above"),
            ("0,5\n10,5\n\n# comment\n9,5\n20,5", 6, "not above"),
            ("0,5\r\n\r\n10,5\r\n10,5\r\n", 5, "not above"),
            ("0,5\n1,5,5", 3, "2 fields, not 3"),
            ("0,5\n1\n", 3, "2 fields, not 1"),
        ] {
            let error = trace(entries).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: ")), "{error}");
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let error = Trace::from_csv(&b"sent_ms,delay_ms\n0,5\n\xff,5\n"[..]).unwrap_err();
        assert!(matches!(error, TraceError::Sent { line: 3, .. }), "{error}");
    }

    #[test]
    fn text_without_the_header_or_without_entries_is_refused() {
        assert!(error("").starts_with("line 1"));
        assert!(error("0,5\n1,5\n").starts_with("line 1"));
        assert!(error("sent_ms,delay_ms\n").contains("at least one entry"));
    }

    #[test]
    fn the_size_is_bounded() {
        let mut text = String::from("sent_ms,delay_ms\n");
        for sent in 0..Trace::MAX_ENTRIES {
            text.push_str(&format!("{sent},5\n"));
        }
        assert!(Trace::from_csv(text.as_bytes()).is_ok());
        text.push_str("9999999,5\n");
        assert!(error(&text).starts_with("line 1000002: "));

        let endless = "sent_ms,delay_ms\n0,5\n"
            .as_bytes()
            .chain(io::repeat(b'\n'));
        assert!(matches!(Trace::from_csv(endless), Err(TraceError::TooLong)));
    }

    #[test]
    fn a_trace_shows_itself_in_short() {
        let trace = trace("0,50\n10,60\n").unwrap();
        assert_eq!(format!("{trace:?}"), "Trace { entries: 2, period: 20ms }");
    }
}
