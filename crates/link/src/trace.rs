//! Recorded delays and losses of a real link, for playback.

use std::fmt;
use std::time::Duration;

use crate::conditions::MAX_DELAY;

/// A recording of a link: the time of sending of each packet, and its delay or loss.
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

    /// Maximum size of a file that is worth reading, 64 MiB.
    pub const MAX_BYTES: u64 = 1 << 26;

    /// Parses a trace from CSV text.
    ///
    /// # Errors
    /// [`TraceError`] if the header is not `sent_ms,delay_ms`, if a number is missing or out of range, if `sent_ms`
    /// does not ascend, and if there is no entry or more than [`MAX_ENTRIES`](Self::MAX_ENTRIES).
    pub fn from_csv(text: &str) -> Result<Self, TraceError> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let header = lines.next().map(|(_, line)| fields(line));
        if header.as_deref() != Some(&["sent_ms", "delay_ms"]) {
            return Err(TraceError::Header);
        }
        let mut entries: Vec<Entry> = Vec::new();
        let mut first = None;
        for (line, text) in lines {
            let entry = entry(text).map_err(|reason| TraceError::Line { line, reason })?;
            let sent = entry.sent.saturating_sub(*first.get_or_insert(entry.sent));
            let reason = if entries.last().is_some_and(|before| before.sent >= sent) {
                "sent_ms must be above the value of the previous entry".to_owned()
            } else if entries.len() == Self::MAX_ENTRIES {
                format!("a trace has at most {} entries", Self::MAX_ENTRIES)
            } else {
                entries.push(Entry { sent, ..entry });
                continue;
            };
            return Err(TraceError::Line { line, reason });
        }
        let last = entries.last().ok_or(TraceError::Empty)?.sent;
        let intervals = (entries.len() - 1).max(1) as u32;
        Ok(Self { period: last + last / intervals, entries })
    }

    /// Number of entries, at least one.
    pub const fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Length of the trace, after which it repeats. Zero if it has only one entry.
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// Delay of a packet that is sent at `since_start`; `None` if it is lost.
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

/// Error of parsing a trace. Lines are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The first line that is neither blank nor a comment is not the header.
    #[error("line 1: the header must be sent_ms,delay_ms")]
    Header,
    /// A line is not an entry, or must not follow the lines before it.
    #[error("line {line}: {reason}")]
    Line {
        /// Number of the line.
        line: usize,
        /// Description of the error.
        reason: String,
    },
    /// There is no entry after the header.
    #[error("a trace must have at least one entry after its header")]
    Empty,
}

/// Parses a line. `sent` is the number in the text.
fn entry(line: &str) -> Result<Entry, String> {
    let [sent, delay] = fields(line)[..] else {
        return Err(format!("a trace has 2 fields, not {}", fields(line).len()));
    };
    let excerpt = |field: &str| field.chars().take(40).collect::<String>();
    let number = milliseconds(sent, MAX_SENT_MS);
    let sent = number.ok_or_else(|| {
        format!("sent_ms is {:?}, not a number in 0..={MAX_SENT_MS}", excerpt(sent))
    })?;
    let number = milliseconds(delay, MAX_DELAY_MS);
    if number.is_none() && !delay.is_empty() {
        let given = excerpt(delay);
        return Err(format!(
            "delay_ms is {given:?}, neither empty nor a number in 0..={MAX_DELAY_MS}"
        ));
    }
    Ok(Entry { sent, delay: number })
}

/// Returns the fields of a line, which may be quoted.
fn fields(line: &str) -> Vec<&str> {
    let fields = line.split(',').map(|field| {
        let field = field.trim();
        let quoted = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
        quoted.map_or(field, str::trim)
    });
    fields.collect()
}

/// Parses a number of milliseconds in `0..=max`.
fn milliseconds(field: &str, max: f64) -> Option<Duration> {
    let ms: f64 = field.parse().ok()?;
    (0.0..=max).contains(&ms).then(|| Duration::from_secs_f64(ms / 1000.0))
}

/// Large enough for milliseconds since 1970.
const MAX_SENT_MS: f64 = 1e13;

const MAX_DELAY_MS: f64 = MAX_DELAY.as_millis() as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::tests::ms;

    fn trace(entries: &str) -> Result<Trace, TraceError> {
        Trace::from_csv(&format!("sent_ms,delay_ms\n{entries}"))
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
                let text = format!("{start}{text}");
                let trace = Trace::from_csv(&text).expect(&text);
                assert_eq!((trace.delay(ms(0)), trace.delay(ms(10))), (Some(ms(50)), None));
            }
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
        ] {
            let error = trace(entries).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: ")), "{error}");
            assert!(error.contains(reason), "{error}");
        }
        for text in ["", "0,5\n1,5\n"] {
            assert_eq!(Trace::from_csv(text), Err(TraceError::Header));
        }
        assert_eq!(trace(""), Err(TraceError::Empty));
    }

    #[test]
    fn the_size_is_bounded() {
        let mut text = String::from("sent_ms,delay_ms\n");
        for sent in 0..Trace::MAX_ENTRIES {
            text.push_str(&format!("{sent},5\n"));
        }
        assert!(Trace::from_csv(&text).is_ok());
        text.push_str("9999999,5\n");
        let error = Trace::from_csv(&text).unwrap_err().to_string();
        assert!(error.starts_with("line 1000002: "));
    }

    #[test]
    fn the_debug_output_of_a_trace_is_short() {
        let trace = trace("0,50\n10,60\n").unwrap();
        assert_eq!(format!("{trace:?}"), "Trace { entries: 2, period: 20ms }");
    }
}
