//! Breaks lines at spaces only, so that names with hyphens stay whole.

/// The text in lines of at most `columns` characters. A longer word has a line of its own. Spaces become
/// line breaks, nothing else changes, so every character keeps its offset.
pub(super) fn wrap(text: &str, columns: usize) -> String {
    let lines = text.split('\n').map(|line| wrap_line(line, columns));
    lines.collect::<Vec<_>>().join("\n")
}

fn wrap_line(line: &str, columns: usize) -> String {
    let mut wrapped = String::with_capacity(line.len());
    let mut used = 0;
    for (index, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 {
            let fits = used + 1 + length <= columns;
            wrapped.push(if fits { ' ' } else { '\n' });
            used = if fits { used + 1 } else { 0 };
        }
        wrapped.push_str(word);
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
    fn a_line_may_be_as_long_as_its_limit() {
        assert_eq!(wrap("there and back", 14), "there and back");
        assert_eq!(wrap("there and back", 13), "there and\nback");
        assert_eq!(wrap("", 0), "");
    }
}
