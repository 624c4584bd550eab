//! Recorded delays and losses of a real link, for playback.

use std::fmt;
use std::io::{self, Read};
use std::time::Duration;

use csv::{ByteRecord, ReaderBuilder, Trim};

use crate::conditions::MAX_DELAY;

/// A recording of a link: for each packet the time of sending, and its delay or that it was lost.
///
/// The text is CSV with a header. Blank lines and lines that begin with `#` are ignored.
///
/// ```text
/// sent_ms,delay_ms
/// 0,48.5
/// 16.7,51.2
/// 33.3,
/// 50,49.9
/// ```
///
/// `sent_ms` must ascend; only differences matter. `delay_ms` is the one-way delay; it is empty if the
/// packet was lost. Both are decimal numbers of milliseconds.
///
/// The newest entry at or before a packet's time of sending applies to it. The trace repeats: the last
/// entry lasts as long as the others on average. A single entry lasts for ever.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// Not empty; the first entry is at zero, and times ascend.
    entries: Vec<Entry>,
    /// Length of the trace, after which it repeats. Zero if there is only one entry.
    period: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// Time since the first entry.
    sent: Duration,
    /// `None` if the packet was lost.
    delay: Option<Duration>,
}

impl Trace {
    /// Maximum number of entries: four and a half hours at 60 packets a second.
    pub const MAX_ENTRIES: usize = 1_000_000;

    /// Maximum size of the text, 64 MiB.
    pub const MAX_BYTES: u64 = 1 << 26;

    /// Parses a trace from CSV text.
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
            // The reader's own count skips blank lines and comments. Its position is behind the last
            // byte of the record, which is the line end if there is one.
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

    /// Length of the trace, after which it repeats. Zero if it has only one entry.
    #[must_use]
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// The delay of a packet that is sent at `since_start`; `None` if it is lost.
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

/// A summary, because a trace may have a million entries.
impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("entries", &self.entries.len())
            .field("period", &self.period)
            .finish()
    }
}

/// Why a text cannot be parsed as a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The text is not CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// The header is wrong.
    #[error("line 1: the header must be sent_ms,delay_ms")]
    Header,
    /// A line does not have two fields.
    #[error("line {line}: a trace has 2 fields, not {fields}")]
    Fields {
        /// Line number, from 1.
        line: usize,
        /// Number of fields in the line.
        fields: usize,
    },
    /// A time of sending is not a number or out of range.
    #[error("line {line}: sent_ms is {value:?}, not a number in 0..={MAX_SENT_MS}")]
    Sent {
        /// Line number, from 1.
        line: usize,
        /// The start of the field.
        value: String,
    },
    /// A delay is not a number or out of range.
    #[error("line {line}: delay_ms is {value:?}, neither empty nor a number in 0..={MAX_DELAY_MS}")]
    Delay {
        /// Line number, from 1.
        line: usize,
        /// The start of the field.
        value: String,
    },
    /// A time of sending is not after the previous one.
    #[error("line {line}: sent_ms is not above that of the previous entry")]
    NotAscending {
        /// Line number, from 1.
        line: usize,
    },
    /// There are more entries than [`Trace::MAX_ENTRIES`].
    #[error("line {line}: a trace has at most {} entries", Trace::MAX_ENTRIES)]
    TooManyEntries {
        /// Line number of the first entry beyond the limit, from 1.
        line: usize,
    },
    /// There are more bytes than [`Trace::MAX_BYTES`].
    #[error("a trace has at most {} bytes", Trace::MAX_BYTES)]
    TooLong,
    /// There is no entry after the header.
    #[error("a trace must have at least one entry after its header")]
    Empty,
}

/// Parses a number of milliseconds in `0..=max`.
fn milliseconds(field: &[u8], max: f64) -> Option<Duration> {
    let ms: f64 = str::from_utf8(field).ok()?.parse().ok()?;
    (0.0..=max)
        .contains(&ms)
        .then(|| Duration::from_secs_f64(ms / 1000.0))
}

/// The start of a field, for an error message.
fn excerpt(field: &[u8]) -> String {
    String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned()
}

/// Large enough for milliseconds since 1970.
const MAX_SENT_MS: f64 = 1e13;

const MAX_DELAY_MS: f64 = MAX_DELAY.as_millis() as f64;

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
    fn the_newest_entry_before_a_packet_applies_to_it() {
        let trace = trace("1000,50\n1010,\n1030,70.5\n").unwrap();
        assert_eq!(trace.entries(), 3);
        assert_eq!(trace.delay(ms(0)), Some(ms(50)));
        assert_eq!(trace.delay(ms(9)), Some(ms(50)));
        assert_eq!(trace.delay(ms(10)), None);
        assert_eq!(trace.delay(ms(29)), None);
        assert_eq!(trace.delay(ms(30)), Some(Duration::from_micros(70_500)));
    }

    #[test]
    fn a_trace_repeats_after_the_mean_interval() {
        let trace = trace("0,50\n10,60\n30,70\n").unwrap();
        assert_eq!(trace.period(), ms(45));
        assert_eq!(trace.delay(ms(44)), Some(ms(70)));
        assert_eq!(trace.delay(ms(45)), Some(ms(50)));
        assert_eq!(trace.delay(ms(45_000_055)), Some(ms(60)));
        assert!(trace.delay(Duration::MAX).is_some());
    }

    #[test]
    fn a_single_entry_lasts_for_ever() {
        let trace = trace("7,50").unwrap();
        for since_start in [ms(0), ms(1), Duration::MAX] {
            assert_eq!(trace.delay(since_start), Some(ms(50)));
        }
    }

    #[test]
    fn spaces_comments_and_both_kinds_of_line_ends_are_accepted() {
        let text = "# of the office\r\nsent_ms , delay_ms\r\n0, 50\r\n\r\n# lost\r\n10,\r\n";
        let trace = Trace::from_csv(text.as_bytes()).unwrap();
        assert_eq!(
            (trace.delay(ms(0)), trace.delay(ms(10))),
            (Some(ms(50)), None)
        );
    }

    #[test]
    fn errors_name_the_line_and_the_reason() {
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
    fn bytes_that_are_not_text_are_rejected() {
        let error = Trace::from_csv(&b"sent_ms,delay_ms\n0,5\n\xff,5\n"[..]).unwrap_err();
        assert!(matches!(error, TraceError::Sent { line: 3, .. }), "{error}");
    }

    #[test]
    fn text_without_the_header_or_without_entries_is_rejected() {
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
    fn the_debug_output_of_a_trace_is_short() {
        let trace = trace("0,50\n10,60\n").unwrap();
        assert_eq!(format!("{trace:?}"), "Trace { entries: 2, period: 20ms }");
    }
}
