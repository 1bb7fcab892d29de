//! Credentials in a repository, as patterns of paths: git leaves them out, and is asked which ones those were.
//!
//! The patterns are the table of credentials in git's words. Invariant: a path is left out exactly where the table
//! calls it credentials, of those spellings that git can tell apart.

use palyra_types::places::{PlaceKind, place_rows};

/// Returns the patterns of what is left out.
pub(super) fn excluded() -> impl Iterator<Item = String> {
    globs().map(|glob| format!(":(top,exclude,glob,icase){glob}"))
}

/// Returns the patterns of what would be left out.
pub(super) fn included() -> impl Iterator<Item = String> {
    globs().map(|glob| format!(":(top,glob,icase){glob}"))
}

/// A path anywhere in the repository, and what lies below it.
fn globs() -> impl Iterator<Item = String> {
    paths().flat_map(|path| [format!("**/{path}"), format!("**/{path}/**")])
}

fn paths() -> impl Iterator<Item = String> {
    rows(PlaceKind::Credentials).flat_map(|path| match path.strip_suffix('*') {
        Some(begin) => beginning(begin, &readable(begin)),
        None => vec![path.to_owned()],
    })
}

fn rows(kind: PlaceKind) -> impl Iterator<Item = &'static str> {
    place_rows().iter().filter(move |row| row.kind == kind).flat_map(|row| row.paths.iter().copied())
}

/// Returns how names go on that begin like credentials and are none.
fn readable(begin: &str) -> Vec<&'static str> {
    rows(PlaceKind::Readable).filter_map(|path| path.strip_prefix(begin)).collect()
}

/// Returns patterns for all names that begin so and do not go on as one of `readable`.
fn beginning(begin: &str, readable: &[&str]) -> Vec<String> {
    if readable.is_empty() {
        return vec![format!("{begin}*")];
    }
    let mut patterns = Vec::new();
    let ends = readable.iter().flat_map(|name| (0..=name.len()).map(|end| &name[..end]));
    let mut ends: Vec<&str> = ends.collect();
    ends.sort_unstable();
    ends.dedup();
    for end in ends {
        let next: String =
            readable.iter().filter_map(|name| name.strip_prefix(end)?.chars().next()).collect();
        match next.is_empty() {
            true => patterns.push(format!("{begin}{end}?*")),
            false => patterns.push(format!("{begin}{end}[!{next}]*")),
        }
        if !readable.contains(&end) {
            patterns.push(format!("{begin}{end}"));
        }
    }
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_go_on_as_readable_ones_are_no_pattern() {
        assert_eq!(beginning("a", &[]), ["a*"]);
        assert_eq!(beginning("a", &[".b"]), ["a[!.]*", "a", "a.[!b]*", "a.", "a.b?*"]);
    }

    #[test]
    fn no_name_of_the_table_has_letters_that_mean_something_in_a_pattern() {
        for path in rows(PlaceKind::Credentials).chain(rows(PlaceKind::Readable)) {
            assert!(!path.contains(['?', '[', ']', '\\', '!']), "{path}");
        }
    }
}
