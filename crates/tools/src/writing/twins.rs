//! Names that look like the one a call would make.

use unicode_security::skeleton;

use crate::workspace::{FileSlot, is_blank, show_path};

/// Names of one folder that are compared, at most.
const NAMES_READ_MAX: usize = 5_000;

/// Returns what to tell the person when a new file would lie beside one that its name could be taken for.
pub(super) fn twin_note(slot: &FileSlot) -> Option<String> {
    let name = slot.name().to_str()?;
    let twin = slot
        .names(NAMES_READ_MAX)
        .into_iter()
        .find(|other| other.to_str().is_some_and(|other| other != name && folded(other) == folded(name)))?;
    Some(format!(
        "`{}`, whose name looks alike, is there already and stays",
        show_path(std::path::Path::new(&twin))
    ))
}

/// Makes one name of those that people cannot tell apart: by case, by letters that look alike, by accents written
/// apart, by characters and spaces that nobody sees.
fn folded(name: &str) -> String {
    let is_unseen =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | ' ') || is_blank(c);
    let lower: String = name.chars().filter(|c| !is_unseen(*c)).flat_map(char::to_lowercase).collect();
    skeleton(&lower).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_when_people_cannot_tell_them_apart() {
        for (one, other) in [
            ("Makefile", "makefile"),
            ("a.txt", "a.txt "),
            ("list", "\u{200b}list"),
            ("\u{212a}", "k"),
            ("caf\u{e9}", "cafe\u{301}"),
            ("token", "t\u{43e}ken"),
            ("a\u{3164}b", "ab"),
        ] {
            assert_eq!(folded(one), folded(other));
        }
        assert_ne!(folded("a-b"), folded("ab"));
    }
}
