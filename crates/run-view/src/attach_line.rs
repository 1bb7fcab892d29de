//! Files that a line of a chat names.

use std::path::{Path, PathBuf};

use palyra_screen_text::clean_line;

/// Names of files that are not there, in a note about them.
const ABSENT_NAMES_MAX: usize = 3;
const NAME_CHARS_MAX: usize = 60;

/// Returns the files that are named behind `/attach`: separated by blanks, in quotation marks, or one whose name has blanks
/// where `exists` knows it. A leading `~/` is the home directory.
pub fn attached_files(line: &str, home: Option<&Path>, exists: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let line = line.trim();
    let whole = at_home(&line.replace("\\ ", " "), home);
    if exists(&whole) { vec![whole] } else { names(line).iter().map(|name| at_home(name, home)).collect() }
}

/// Returns a path with the home directory in the place of a leading `~/`.
pub fn at_home(name: &str, home: Option<&Path>) -> PathBuf {
    match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(name),
    }
}

/// Says of names behind `/attach` that no file has them, where others may have been attached.
pub fn absent_files_note(absent: &[PathBuf], attached: &[PathBuf]) -> String {
    let names = absent.iter().take(ABSENT_NAMES_MAX);
    let names = names.map(|name| format!("\"{}\"", clean_line(&name.display().to_string(), NAME_CHARS_MAX)));
    let names = names.collect::<Vec<_>>().join(", ");
    let more = match absent.len().saturating_sub(ABSENT_NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let begin = if attached.is_empty() { "nothing was attached: " } else { "" };
    format!(
        "{begin}no file is at {names}{more}; /attach takes files only, and the question comes in the next line"
    )
}

/// Cuts a line at blanks outside of quotation marks; a mark counts at the beginning of a name, and a backslash keeps a
/// blank.
fn names(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = Some(first).filter(|c| matches!(c, '"' | '\'')).and_then(|mark| {
            let (name, behind) = rest[1..].split_once(mark)?;
            (behind.is_empty() || behind.starts_with(char::is_whitespace)).then_some((name, behind))
        });
        let (name, behind) = quoted.map_or_else(
            || {
                let (name, behind) = rest.split_at(end_of_name(rest));
                (name.replace("\\ ", " "), behind)
            },
            |(name, behind)| (name.to_owned(), behind),
        );
        out.push(name);
        rest = behind.trim_start();
    }
    out
}

fn end_of_name(text: &str) -> usize {
    let mut before = ' ';
    let end = text.char_indices().find(|(_, c)| {
        let ends = c.is_whitespace() && before != '\\';
        before = *c;
        ends
    });
    end.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_behind_the_files_are_named_as_such() {
        let absent = ["what", "is", "in", "it?"].map(PathBuf::from);
        assert_eq!(
            absent_files_note(&absent, &absent),
            "no file is at \"what\", \"is\", \"in\" and 1 more; /attach takes files only, and the question comes in \
             the next line"
        );
        let none = absent_files_note(&absent[..1], &[]);
        assert!(none.starts_with("nothing was attached: no file is at \"what\"; "), "{none}");
    }

    #[test]
    fn quotes_blanks_and_the_home_directory_are_read() {
        let files = |line: &str| {
            let exists = |path: &Path| path == Path::new("two words.txt");
            let files = attached_files(line, Some(Path::new("/home/ann")), exists);
            files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(files("a.png  b.md"), ["a.png", "b.md"]);
        assert_eq!(files("two words.txt"), ["two words.txt"]);
        assert_eq!(files("\"my file.txt\" 'it is'.md"), ["my file.txt", "'it", "is'.md"]);
        assert_eq!(files("\"my file.txt\" ~/x 'a b'"), ["my file.txt", "/home/ann/x", "a b"]);
        assert_eq!(files("my\\ file.txt ~other/x"), ["my file.txt", "~other/x"]);
        assert_eq!(files("\"open"), ["\"open"]);
        assert_eq!(attached_files("~/x", None, |_| false), [PathBuf::from("~/x")]);
    }
}
