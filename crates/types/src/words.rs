//! Words of values: for enumerations whose `ALL` is a table of values and words.

/// Adds the two ways through the table.
macro_rules! words_of_table {
    ($name:ident) => {
        impl $name {
            /// Returns its word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, word)| word)
            }

            /// Returns the value of a word.
            #[must_use]
            pub fn of(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(_, known)| *known == word).map(|(value, _)| *value)
            }
        }
    };
}

pub(crate) use words_of_table;
