//! The conditions that have a value, with their formatters and parsers.

use std::time::Duration;

use crate::{Bandwidth, Conditions, Jitter, Loss, Reordering};

/// A condition with a value.
pub(super) struct Part {
    pub(super) name: &'static str,
    /// An example of each form, for error messages.
    pub(super) examples: &'static str,
    pub(super) write: fn(&Conditions) -> String,
    /// Returns `None` if the text is not a value of this condition.
    pub(super) read: fn(&mut Conditions, &str) -> Option<()>,
}

/// In the order of the fields.
pub(super) const PARTS: [Part; 6] = [
    Part {
        name: "latency",
        examples: "`latency=50ms`",
        write: |conditions| time(conditions.latency),
        read: |conditions, text| {
            conditions.latency = read_time(text)?;
            Some(())
        },
    },
    Part {
        name: "jitter",
        examples: "`jitter=none`, `jitter=uniform/20ms`, `jitter=log-normal/5ms/0.8`",
        write: |conditions| match conditions.jitter {
            Jitter::None => NONE.to_owned(),
            Jitter::Uniform { spread } => format!("uniform/{}", time(spread)),
            Jitter::LogNormal { median, sigma } => {
                format!("log-normal/{}/{}", time(median), number(sigma))
            }
        },
        read: |conditions, text| {
            conditions.jitter = match values(text)[..] {
                [NONE] => Jitter::None,
                ["uniform", spread] => Jitter::Uniform {
                    spread: read_time(spread)?,
                },
                ["log-normal", median, sigma] => Jitter::LogNormal {
                    median: read_time(median)?,
                    sigma: read_number(sigma)?,
                },
                _ => return None,
            };
            Some(())
        },
    },
    Part {
        name: "loss",
        examples: "`loss=none`, `loss=0.05`, `loss=bursts/0.05/3`, `loss=gilbert-elliott/0.01/0.5/0/1`",
        write: |conditions| match conditions.loss {
            Loss::None => NONE.to_owned(),
            Loss::Independent { probability } => number(probability),
            Loss::GilbertElliott {
                to_bad,
                to_good,
                loss_in_good,
                loss_in_bad,
            } => {
                let values = [to_bad, to_good, loss_in_good, loss_in_bad].map(number);
                format!("gilbert-elliott/{}", values.join("/"))
            }
        },
        read: |conditions, text| {
            conditions.loss = match values(text)[..] {
                [NONE] => Loss::None,
                [probability] => Loss::Independent {
                    probability: read_number(probability)?,
                },
                ["bursts", fraction, packets] => {
                    Loss::bursts(read_number(fraction)?, read_number(packets)?)
                }
                ["gilbert-elliott", to_bad, to_good, in_good, in_bad] => Loss::GilbertElliott {
                    to_bad: read_number(to_bad)?,
                    to_good: read_number(to_good)?,
                    loss_in_good: read_number(in_good)?,
                    loss_in_bad: read_number(in_bad)?,
                },
                _ => return None,
            };
            Some(())
        },
    },
    Part {
        name: "duplicate",
        examples: "`duplicate=0.01`",
        write: |conditions| number(conditions.duplicate_probability),
        read: |conditions, text| {
            conditions.duplicate_probability = read_number(text)?;
            Some(())
        },
    },
    Part {
        name: "reordering",
        examples: "`reordering=none`, `reordering=0.05/20ms/200ms`",
        write: |conditions| match conditions.reordering {
            None => NONE.to_owned(),
            Some(Reordering {
                probability,
                min_delay,
                max_delay,
            }) => {
                let delays = [min_delay, max_delay].map(time);
                format!("{}/{}", number(probability), delays.join("/"))
            }
        },
        read: |conditions, text| {
            conditions.reordering = match values(text)[..] {
                [NONE] => None,
                [probability, min_delay, max_delay] => Some(Reordering {
                    probability: read_number(probability)?,
                    min_delay: read_time(min_delay)?,
                    max_delay: read_time(max_delay)?,
                }),
                _ => return None,
            };
            Some(())
        },
    },
    Part {
        name: "bandwidth",
        examples: "`bandwidth=none`, `bandwidth=1500000/64000`",
        write: |conditions| match conditions.bandwidth {
            None => NONE.to_owned(),
            Some(Bandwidth {
                bits_per_second,
                queue_bytes,
            }) => format!("{bits_per_second}/{queue_bytes}"),
        },
        read: |conditions, text| {
            conditions.bandwidth = match values(text)[..] {
                [NONE] => None,
                [bits_per_second, queue_bytes] => Some(Bandwidth {
                    bits_per_second: plain(bits_per_second)?.parse().ok()?,
                    queue_bytes: plain(queue_bytes)?.parse().ok()?,
                }),
                _ => return None,
            };
            Some(())
        },
    },
];

/// The value of a condition that is off.
const NONE: &str = "none";

fn values(text: &str) -> Vec<&str> {
    text.split('/').collect()
}

/// Formats a time in milliseconds, exact to the nanosecond.
pub(crate) fn time(time: Duration) -> String {
    let nanos = time.as_nanos();
    let text = format!("{}.{:06}", nanos / NANOS_PER_MILLI, nanos % NANOS_PER_MILLI);
    format!("{}ms", text.trim_end_matches('0').trim_end_matches('.'))
}

fn read_time(text: &str) -> Option<Duration> {
    let text = plain(text.strip_suffix("ms")?)?;
    let (millis, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > DECIMALS {
        return None;
    }
    let nanos = format!("{decimals:0<DECIMALS$}").parse().ok()?;
    Duration::from_millis(millis.parse().ok()?).checked_add(Duration::from_nanos(nanos))
}

const NANOS_PER_MILLI: u128 = 1_000_000;

/// Decimals of a millisecond down to nanoseconds.
const DECIMALS: usize = 6;

fn number(value: f64) -> String {
    // Adding zero removes the sign of negative zero, which is in range but would not parse.
    (value + 0.0).to_string()
}

fn read_number(text: &str) -> Option<f64> {
    let value: f64 = plain(text)?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// The text, if it consists of digits and points between digits. This excludes signs, exponents, NaN
/// and infinity, which the standard library would parse.
fn plain(text: &str) -> Option<&str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split('.').all(digits).then_some(text)
}

#[cfg(test)]
mod tests {
    use crate::{Conditions, ConditionsTextError};

    #[test]
    fn malformed_numbers_are_rejected() {
        let large = "9".repeat(400);
        for value in [
            "", "-0", "-1", "NaN", "inf", "1e-3", "1.", ".5", "0.1.2", "٣", &large,
        ] {
            for text in [
                format!("duplicate={value}"),
                format!("latency={value}ms"),
                format!("bandwidth={value}/1000"),
                format!("bandwidth=1000/{value}"),
            ] {
                let error = text.parse::<Conditions>().unwrap_err();
                assert!(matches!(error, ConditionsTextError::Value { .. }), "{text}");
            }
        }
        for text in ["latency=0.0000001ms", "bandwidth=1000.5/1"] {
            let error = text.parse::<Conditions>().unwrap_err();
            assert!(matches!(error, ConditionsTextError::Value { .. }), "{text}");
        }
    }
}
