//! Breaks lines at spaces only, so that names with hyphens stay whole.

/// The text in lines of at most `columns` characters. A longer word has a line of its own. Spaces become
/// line breaks, nothing else changes, so every character keeps its offset.
pub(super) fn wrap(text: &str, columns: usize) -> String {
    let lines = text.split('\n').map(|line| wrap_line(line, columns));
    lines.collect::<Vec<_>>().join("\n")
}

/// Breaks behind commas, if that takes no more lines than breaking at any space.
fn wrap_line(line: &str, columns: usize) -> String {
    let [phrases, words] = [", ", " "].map(|separator| pack(line, separator, columns));
    let fit = |text: &str| text.split('\n').all(|line| line.chars().count() <= columns);
    let lines = |text: &str| text.matches('\n').count();
    if fit(&phrases) && lines(&phrases) <= lines(&words) {
        phrases
    } else {
        words
    }
}

/// Breaks only at these separators, which end with a space.
fn pack(line: &str, separator: &str, columns: usize) -> String {
    let mark = separator.trim_end();
    let count = line.matches(separator).count();
    let mut wrapped = String::with_capacity(line.len());
    let mut used = 0;
    for (index, part) in line.split(separator).enumerate() {
        let mark = if index < count { mark } else { "" };
        let length = part.chars().count() + mark.len();
        if index > 0 {
            let fits = used + 1 + length <= columns;
            wrapped.push(if fits { ' ' } else { '\n' });
            used = if fits { used + 1 } else { 0 };
        }
        wrapped.push_str(part);
        wrapped.push_str(mark);
        used += length;
    }
    wrapped
}

/// Characters of the longest word.
pub(super) fn longest_word(text: &str) -> usize {
    let words = text.split_whitespace().map(|word| word.chars().count());
    words.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_never_inside_names() {
        let text = "replica: changed-flags\n100 ms round trip, 10 a second";
        assert_eq!(wrap(text, 80), text);
        assert_eq!(
            wrap(text, 18),
            "replica:\nchanged-flags\n100 ms round trip,\n10 a second"
        );
        assert_eq!(
            wrap(text, 1).replace('\n', " "),
            text.replace('\n', " "),
            "every character keeps its offset"
        );
        assert_eq!(longest_word(text), "changed-flags".len());
    }

    #[test]
    fn a_phrase_stays_whole_where_that_takes_no_more_lines() {
        let text = "10 a second, no interpolation";
        assert_eq!(wrap(text, 16), "10 a second,\nno interpolation");
        assert_eq!(wrap(text, 15), "10 a second, no\ninterpolation");
        let longer = "one, two, three four five six";
        assert_eq!(wrap(longer, 15), "one, two, three\nfour five six");
    }

    #[test]
    fn a_line_may_be_as_long_as_its_limit() {
        assert_eq!(wrap("there and back", 14), "there and back");
        assert_eq!(wrap("there and back", 13), "there and\nback");
        assert_eq!(wrap("", 0), "");
    }
}
