//! Formatting of numbers for the screen.

/// Returns a rounded number with thin spaces between thousands: `17 369`.
pub fn grouped(value: f64) -> String {
    let sign = if value <= -0.5 { "\u{2212}" } else { "" };
    sign.to_owned() + &thousands(&format!("{:.0}", value.abs()))
}

pub fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// Returns a number for a table: with one decimal below 100, otherwise rounded.
pub fn rounded(value: f64) -> String {
    if value.abs() < 99.95 {
        format!("{value:.1}").replace('-', "\u{2212}")
    } else {
        grouped(value)
    }
}

/// Returns a short number for an axis: in thousands from 10 000 on, `10k`.
pub fn short(value: f64) -> String {
    match value {
        10_000.0.. => grouped(value / 1_000.0) + "k",
        _ => grouped(value),
    }
}

/// Returns a factor with one decimal below 10: `2.5×`, `579×`.
pub fn factor(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}×") } else { grouped(factor) + "×" }
}

/// Returns a number of ticks with its noun: `1 tick`, `2 ticks`.
pub fn ticks(count: u64) -> String {
    match count {
        1 => "1 tick".to_owned(),
        _ => format!("{} ticks", grouped(count as f64)),
    }
}

pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_can_be_read() {
        assert_eq!(grouped(17_368.8), "17\u{2009}369");
        assert_eq!([grouped(999.6), grouped(-1234.0)], ["1\u{2009}000", "\u{2212}1\u{2009}234"]);
        assert_eq!([rounded(15.84), rounded(99.96)], ["15.8", "100"]);
        assert_eq!([1_000.0, 1e4, 1e5].map(short), ["1\u{2009}000", "10k", "100k"]);
        assert_eq!([factor(2.46), factor(9.96), factor(1091.7)], ["2.5×", "10×", "1\u{2009}092×"]);
    }
}
