//! Recorded delays and losses of a real link, for playback.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::time::Duration;

use crate::conditions::MAX_DELAY;

/// A recording of a link: the time of sending of each packet, and its delay or loss.
///
/// The text is CSV with a header, in UTF-8 with or without a byte-order mark. Blank lines and lines that begin
/// with `#` are ignored.
///
/// ```text
/// sent_ms,delay_ms
/// 0,48.5
/// 16.7,51.2
/// 33.3,
/// 50,49.9
/// ```
///
/// `sent_ms` must ascend; only differences matter. `delay_ms` is the one-way delay, or empty if the
/// packet was lost. Both are decimal numbers of milliseconds.
///
/// The newest entry at or before a packet's time of sending applies to it. The trace repeats. The last
/// entry lasts as long as the mean of the others. A single entry lasts for ever.
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
    /// Maximum number of entries: four and a half hours at 60 packets per second.
    pub const MAX_ENTRIES: usize = 1_000_000;

    /// Maximum size of the text, 64 MiB.
    pub const MAX_BYTES: u64 = 1 << 26;

    /// Maximum size of a line with an entry. Comments may be longer.
    pub const MAX_LINE_BYTES: u64 = 1000;

    /// Parses a trace from CSV text. Reads no further than the first error, and keeps one line in memory.
    ///
    /// # Errors
    /// [`TraceError`] if the text cannot be read or is too long, if the header is not
    /// `sent_ms,delay_ms`, if a number is missing or out of range, if `sent_ms` does not ascend, and if
    /// there is no entry.
    pub fn from_csv(reader: impl Read) -> Result<Self, TraceError> {
        let mut lines = Lines {
            text: cubewire_text::file::reader(reader)?.take(Self::MAX_BYTES + 1),
            line: Vec::new(),
            number: 0,
        };
        let header = lines.next()?.map(|(_, line)| fields(line));
        if header != Some(Ok([b"sent_ms", b"delay_ms"])) {
            return Err(TraceError::Header);
        }
        let mut entries: Vec<Entry> = Vec::new();
        let mut first = None;
        while let Some((line, text)) = lines.next()? {
            let [sent, delay] =
                fields(text).map_err(|fields| TraceError::Fields { line, fields })?;
            let sent = milliseconds(sent, MAX_SENT_MS)
                .ok_or_else(|| TraceError::Sent { line, value: excerpt(sent) })?;
            let delay = match delay {
                [] => None,
                delay => Some(
                    milliseconds(delay, MAX_DELAY_MS)
                        .ok_or_else(|| TraceError::Delay { line, value: excerpt(delay) })?,
                ),
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
        Ok(Self { period: last + last / intervals, entries })
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

    /// Delay of a packet that is sent at `since_start`; `None` if it is lost.
    #[must_use]
    pub fn delay(&self, since_start: Duration) -> Option<Duration> {
        let into = since_start.as_nanos().checked_rem(self.period.as_nanos()).unwrap_or(0);
        let after = self.entries.partition_point(|entry| entry.sent.as_nanos() <= into);
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

/// Error of reading a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The first line that is neither blank nor a comment is not the header.
    #[error("line 1: the header must be sent_ms,delay_ms")]
    Header,
    /// A line is longer than [`Trace::MAX_LINE_BYTES`].
    #[error("line {line}: a line has at most {} bytes", Trace::MAX_LINE_BYTES)]
    LongLine {
        /// Line number, from 1.
        line: usize,
    },
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
        /// Start of the field.
        value: String,
    },
    /// A delay is not a number or out of range.
    #[error("line {line}: delay_ms is {value:?}, neither empty nor a number in 0..={MAX_DELAY_MS}")]
    Delay {
        /// Line number, from 1.
        line: usize,
        /// Start of the field.
        value: String,
    },
    /// A time of sending is not after the previous one.
    #[error("line {line}: sent_ms must be above the value of the previous entry")]
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

/// The lines of a text, without blank lines and comments.
struct Lines<R> {
    /// Limited to one byte more than the maximum size of a text.
    text: io::Take<R>,
    line: Vec<u8>,
    number: usize,
}

impl<R: BufRead> Lines<R> {
    /// Returns the next line, trimmed, and its number, from 1.
    fn next(&mut self) -> Result<Option<(usize, &[u8])>, TraceError> {
        loop {
            // Skips all buffered blank lines at once, because there may be millions.
            let buffered = self.text.fill_buf()?.iter();
            let blank = buffered.take_while(|byte| matches!(byte, b'\r' | b'\n'));
            let (skipped, lines) = blank.fold((0, 0), |(skipped, lines), byte| {
                (skipped + 1, lines + usize::from(*byte == b'\n'))
            });
            self.text.consume(skipped);
            self.number += lines;
            self.line.clear();
            let most = Trace::MAX_LINE_BYTES + 1;
            let read = (&mut self.text).take(most).read_until(b'\n', &mut self.line)?;
            let is_comment = self.line.starts_with(b"#");
            let is_long = read as u64 == most && !self.line.ends_with(b"\n");
            if is_long && is_comment {
                self.text.skip_until(b'\n')?;
            }
            if self.text.limit() == 0 {
                return Err(TraceError::TooLong);
            }
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            let line = self.number;
            match self.line.trim_ascii() {
                _ if is_comment => {}
                [] if !is_long => {}
                _ if is_long => return Err(TraceError::LongLine { line }),
                _ => break,
            }
        }
        Ok(Some((self.number, self.line.trim_ascii())))
    }
}

/// Returns the two fields of a line, which may be quoted. The error is the number of fields if it is not two.
fn fields(line: &[u8]) -> Result<[&[u8]; 2], usize> {
    let mut fields = line.split(|byte| *byte == b',').map(|field| {
        let field = field.trim_ascii();
        let quoted = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
        quoted.map_or(field, <[u8]>::trim_ascii)
    });
    match (fields.next(), fields.next(), fields.count()) {
        (Some(one), Some(other), 0) => Ok([one, other]),
        (_, other, more) => Err(1 + usize::from(other.is_some()) + more),
    }
}

/// Parses a number of milliseconds in `0..=max`.
fn milliseconds(field: &[u8], max: f64) -> Option<Duration> {
    let ms: f64 = str::from_utf8(field).ok()?.parse().ok()?;
    (0.0..=max).contains(&ms).then(|| Duration::from_secs_f64(ms / 1000.0))
}

/// Returns the start of a field for an error message.
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
        let single = self::trace("7,50").unwrap();
        let delays = [ms(0), ms(1), Duration::MAX].map(|at| single.delay(at));
        assert_eq!(delays, [Some(ms(50)); 3]);
    }

    #[test]
    fn spaces_comments_quotes_and_both_kinds_of_line_ends_are_accepted() {
        let comment = format!("# {}", "of the office, ".repeat(1000));
        for text in [
            "sent_ms , delay_ms\r\n0, 50\r\n\r\n# lost\r\n10,\r\n",
            "sent_ms,delay_ms\n0,50\n10,",
            "\"sent_ms\",\"delay_ms\"\n  \n\"0\",\" 50 \"\n10,\"\"\n",
        ] {
            for start in ["", "\r\n", &format!("{comment}\r\n")] {
                for mark in ["", "\u{feff}"] {
                    let text = format!("{mark}{start}{text}");
                    let trace = Trace::from_csv(text.as_bytes()).expect(&text);
                    assert_eq!((trace.delay(ms(0)), trace.delay(ms(10))), (Some(ms(50)), None));
                }
            }
        }
    }

    #[test]
    fn nothing_is_read_after_the_first_error() {
        const START: &[u8] = b"sent_ms,delay_ms\n0,5\n";
        for (start, filler) in [
            (&b""[..], b','),
            (START, b','),
            (START, b'0'),
            (START, b' '),
            (START, b'"'),
            (START, b'('),
            (START, 0),
            (b"sent_ms,delay_ms\n0,5\n0,6\n", b'1'),
            (b"\xff\xfe", b','),
        ] {
            let mut filler = io::repeat(filler).take(Trace::MAX_BYTES);
            let error = Trace::from_csv(start.chain(&mut filler)).unwrap_err();
            let read = Trace::MAX_BYTES - filler.limit();
            assert!(read < 1 << 16, "{read} bytes before: {error}");
        }
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
            ("0,5\n10,5\n10,5", 4, "above the value of the previous entry"),
            ("0,5\n10,5\n\n# comment\n9,5\n20,5", 6, "above the value of the previous entry"),
            ("0,5\r\n\r\n10,5\r\n10,5\r\n", 5, "above the value of the previous entry"),
            ("0,5\n1,5,5", 3, "2 fields, not 3"),
            ("0,5\n1\n", 3, "2 fields, not 1"),
            (&format!("0,5\n1,{}", " ".repeat(1000)), 3, "at most 1000 bytes"),
        ] {
            let error = trace(entries).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: ")), "{error}");
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn text_without_header_entries_or_numbers_is_rejected() {
        assert!(error("").starts_with("line 1"));
        assert!(error("0,5\n1,5\n").starts_with("line 1"));
        assert!(error("sent_ms,delay_ms\n").contains("at least one entry"));
        let error = Trace::from_csv(&b"sent_ms,delay_ms\n0,5\n\xff,5\n"[..]).unwrap_err();
        assert!(matches!(error, TraceError::Sent { line: 3, .. }), "{error}");
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

        let endless = "sent_ms,delay_ms\n0,5\n".as_bytes().chain(io::repeat(b'\n'));
        assert!(matches!(Trace::from_csv(endless), Err(TraceError::TooLong)));
        let comment = b"#".chain(io::repeat(b'#'));
        assert!(matches!(Trace::from_csv(comment), Err(TraceError::TooLong)));
    }

    #[test]
    fn the_debug_output_of_a_trace_is_short() {
        let trace = trace("0,50\n10,60\n").unwrap();
        assert_eq!(format!("{trace:?}"), "Trace { entries: 2, period: 20ms }");
    }
}
