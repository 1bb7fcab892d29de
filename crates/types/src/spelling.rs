//! How much two words differ, and the existing name that is most like a mistyped one.
//!
//! Owns the one rule by which every crate suggests a name. Begin at [`nearest_name`].

/// Letters of a typed word that are compared.
const LETTERS_MAX: usize = 32;
/// Longer words are compared with no name.
const COMPARED_CHARS_MAX: usize = 100;
/// One letter in so many may differ.
const LETTERS_PER_SLIP: usize = 3;
/// Letters that are enough to suggest the only name that begins with them.
const BEGINNING_CHARS_MIN: usize = 4;

/// Returns whether a word is another one with a slip of the fingers in every third letter at most.
#[must_use]
pub fn is_alike(typed: &str, name: &str) -> bool {
    strsim::osa_distance(typed, name) <= slips_max(typed, name)
}

/// Returns the name to suggest: the one that differs least, in letters of any size, or the only one that begins
/// with what was typed; `None` where none is alike.
pub fn nearest_name<N: AsRef<str>>(typed: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    let length = typed.chars().count();
    if length == 0 || length > COMPARED_CHARS_MAX {
        return None;
    }
    let typed = typed.to_lowercase();
    let mut nearest: Option<(usize, N)> = None;
    let mut longer = Vec::new();
    for name in names {
        let lower = name.as_ref().to_lowercase();
        let slips = strsim::osa_distance(&typed, &lower);
        if slips <= slips_max(&typed, &lower) {
            if nearest.as_ref().is_none_or(|(least, _)| slips < *least) {
                nearest = Some((slips, name));
            }
        } else if length >= BEGINNING_CHARS_MIN && lower.starts_with(&typed) {
            longer.push(name);
        }
    }
    match nearest {
        Some((_, name)) => Some(name),
        None if longer.len() == 1 => longer.pop(),
        None => None,
    }
}

fn slips_max(typed: &str, name: &str) -> usize {
    (typed.chars().count().max(name.chars().count()) / LETTERS_PER_SLIP).max(1)
}

/// As [`nearest_name`], for names whose use cannot be taken back: one slip of the fingers at most, or the beginning of one name.
pub fn one_slip_away<N: AsRef<str>>(typed: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    let typed = typed.to_lowercase();
    nearest_name(&typed, names).filter(|name| {
        let name = name.as_ref().to_lowercase();
        name.starts_with(&typed) || strsim::osa_distance(&typed, &name) <= 1
    })
}

/// Returns whether a word has exactly the letters of another one, two neighbours of them swapped.
#[must_use]
pub fn is_swapped(typed: &str, name: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().take(COMPARED_CHARS_MAX).collect();
        letters.sort_unstable();
        letters
    };
    strsim::osa_distance(typed, name) == 1 && sorted(typed) == sorted(name)
}

/// Counts the letters that were left out, added, mistaken or swapped with the next.
#[must_use]
pub fn slips(typed: &str, name: &str) -> usize {
    // A word that is far too long is like none.
    let typed: String = typed.chars().take(LETTERS_MAX).collect();
    strsim::osa_distance(&typed, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_alike_in_letters_of_any_size() {
        let long = "x".repeat(COMPARED_CHARS_MAX + 1);
        for (typed, nearest) in [
            ("forg", Some("forge")),
            ("FORGE", Some("forge")),
            ("map", Some("maps")),
            ("wbe", Some("web")),
            ("shop", None),
            ("", None),
            (&long, None),
        ] {
            assert_eq!(nearest_name(typed, ["forge", "maps", "web"]), nearest, "{typed}");
        }
        assert!(is_swapped("rnu", "run") && !is_swapped("rum", "run") && !is_swapped("unr", "run"));
        assert_eq!(nearest_name("limits.turn", ["limits.turns_max", "limits.turns"]), Some("limits.turns"));
        assert_eq!(
            nearest_name("abcd", ["abce", "abcf"]),
            Some("abce"),
            "the first of those that differ alike"
        );
    }

    #[test]
    fn a_beginning_names_the_only_name_that_has_it() {
        for (typed, nearest) in [("read", Some("read_file")), ("Writ", None), ("rea", None)] {
            assert_eq!(nearest_name(typed, ["read_file", "write_file", "write_note"]), nearest, "{typed}");
        }
    }

    #[test]
    fn slips_of_the_fingers_are_counted() {
        for (typed, name, count) in [
            ("list", "list", 0),
            ("lits", "list", 1),
            ("lst", "list", 1),
            ("search", "archive", 5),
            ("", "ab", 2),
        ] {
            assert_eq!(slips(typed, name), count, "{typed} {name}");
        }
        assert!(slips(&"x".repeat(9_000), "list") >= 28);
    }

    #[test]
    fn a_slip_in_every_third_letter_is_alike() {
        for (typed, name, alike) in [
            ("statsu", "status", true),
            ("rum", "run", true),
            ("serve", "resumed", false),
            ("lst", "tail", false),
        ] {
            assert_eq!(is_alike(typed, name), alike, "{typed} {name}");
        }
    }
}
