//! Choices by name: on the command line and in the address of a page.

/// An enum whose variants have names for people to type.
pub trait Named: Copy + PartialEq + 'static {
    /// Every variant with its name and what it is.
    const NAMES: &'static [(Self, &'static str, &'static str)];

    /// The next variant, in a cycle.
    #[must_use]
    fn next(self) -> Self {
        let index = Self::NAMES.iter().position(|(value, ..)| *value == self);
        Self::NAMES[index.map_or(0, |index| (index + 1) % Self::NAMES.len())].0
    }

    /// The variant of this name.
    ///
    /// # Errors
    /// If there is none: a sentence with all of the names.
    fn by_name(name: &str) -> Result<Self, String> {
        let named = Self::NAMES.iter().find(|(_, known, _)| *known == name);
        named.map(|(value, ..)| *value).ok_or_else(|| {
            let names: Vec<_> = Self::NAMES.iter().map(|(_, known, _)| *known).collect();
            format!("`{name}` is none of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Side(char);

    impl Named for Side {
        const NAMES: &'static [(Self, &'static str, &'static str)] = &[
            (Self('l'), "left", "Where the heart is"),
            (Self('r'), "right", "The other one"),
        ];
    }

    #[test]
    fn variants_are_found_by_name_and_follow_each_other() {
        assert_eq!(Side::by_name("right"), Ok(Side('r')));
        let error = Side::by_name("Right").unwrap_err();
        assert_eq!(error, "`Right` is none of left, right");
        assert_eq!(
            [Side('l'), Side('r')].map(Side::next),
            [Side('r'), Side('l')]
        );
    }
}
