//! How much two words differ.

const LETTERS_MAX: usize = 32;
/// From so many letters on a word can differ in two.
const TWO_SLIPS_LETTERS_MIN: usize = 6;

/// Returns whether a word is another one with a slip of the fingers or two.
#[must_use]
pub fn is_alike(typed: &str, name: &str) -> bool {
    slips(typed.as_bytes(), name.as_bytes()) <= slips_max(name)
}

/// Returns the name that differs least from what was typed, in letters of any size; `None` where none is alike.
pub fn nearest_name(typed: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let typed = typed.to_lowercase();
    let slips = |name: &String| slips(typed.as_bytes(), name.to_lowercase().as_bytes());
    names.into_iter().filter(|name| slips(name) <= slips_max(name)).min_by_key(slips)
}

fn slips_max(name: &str) -> usize {
    if name.chars().count() < TWO_SLIPS_LETTERS_MIN { 1 } else { 2 }
}

/// Counts the letters that were left out, added, mistaken or swapped with the next.
#[must_use]
pub fn slips(typed: &[u8], name: &[u8]) -> usize {
    // A word that is far too long is like none.
    let typed = &typed[..typed.len().min(LETTERS_MAX)];
    let mut rows: Vec<Vec<usize>> = vec![(0..=name.len()).collect()];
    for (i, letter) in typed.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in name.iter().enumerate() {
            let above = &rows[i];
            let mut least = (above[j] + usize::from(letter != other)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && typed[i - 1] == *other && *letter == name[j - 1] {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_alike_in_letters_of_any_size() {
        for (typed, nearest) in
            [("forg", Some("forge")), ("FORGE", Some("forge")), ("map", Some("maps")), ("shop", None)]
        {
            let names = ["forge", "maps"].map(str::to_owned);
            assert_eq!(nearest_name(typed, names).as_deref(), nearest, "{typed}");
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
            assert_eq!(slips(typed.as_bytes(), name.as_bytes()), count, "{typed} {name}");
        }
        assert!(slips(&[b'x'; 9_000], b"list") >= 28);
    }
}
