//! How much two words differ.

const LETTERS_MAX: usize = 32;

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
