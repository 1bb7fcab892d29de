//! The lines that were typed in chats, in the file that keeps them: which there are, and taking some out again.
//!
//! Invariant: lines that stay, stay in their order; the file remains the person's alone, and is the old or the new one
//! whole when the program is killed in between.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustyline::Config;
use rustyline::history::{FileHistory, History};

use super::line_editor::{HISTORY_LINES_MAX, joined};

/// The file beside the daemon's state that keeps the lines typed in chats.
pub const HISTORY_FILE_NAME: &str = "chat_history";

/// How a placeholder begins that a text has in the place of a secret.
const SECRET_BEGINS: &str = "<secret:";
/// A text with fewer other characters is hardly more than a placeholder.
const KNOWN_CHARS_MIN: usize = 6;

/// Takes the lines that said one of these texts out of a history; returns how many those were.
///
/// # Errors
/// When the file cannot be read or written.
pub fn forget_lines(file: &Path, texts: &[String]) -> std::io::Result<usize> {
    if !file.exists() {
        return Ok(0);
    }
    let mut old = opened()?;
    old.load(file).map_err(std::io::Error::other)?;
    let mut kept = opened()?;
    for line in old.iter().filter(|line| !is_echo_of(line, texts)) {
        kept.add(line).map_err(std::io::Error::other)?;
    }
    let forgotten = old.len() - kept.len();
    if forgotten > 0 {
        replace(file, &mut kept)?;
    }
    Ok(forgotten)
}

fn opened() -> std::io::Result<FileHistory> {
    let config = Config::builder()
        .max_history_size(HISTORY_LINES_MAX)
        .and_then(|config| config.history_ignore_dups(false))
        .map_err(std::io::Error::other)?;
    Ok(FileHistory::with_config(&config.build()))
}

/// Returns whether a line is one of these texts, or a command of the chat that ends with it. A text as it was recorded may have
/// placeholders where the line has secrets.
fn is_echo_of(line: &str, texts: &[String]) -> bool {
    let said = joined(line);
    let said = said.trim();
    let mut texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    texts.any(|text| {
        said == text || (said.starts_with('/') && said.ends_with(text)) || says_masked(said, text)
    })
}

/// Returns whether a line is a text with placeholders, each of which may be any words. A text that is hardly more than
/// placeholders fits no line.
fn says_masked(said: &str, text: &str) -> bool {
    let parts = parts_around_secrets(text);
    let known: usize = parts.iter().map(|part| part.trim().chars().count()).sum();
    let [first, between @ .., last] = &parts[..] else { return false };
    if known < KNOWN_CHARS_MIN {
        return false;
    }
    let begin = if said.starts_with('/') { said.find(first) } else { said.starts_with(first).then_some(0) };
    let Some(rest) = begin.and_then(|at| said.get(at + first.len()..)) else { return false };
    let Some(mut rest) = rest.strip_suffix(last) else { return false };
    for part in between {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    true
}

/// Returns the words before, between and behind the placeholders of a text; the whole text where it has none.
fn parts_around_secrets(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(SECRET_BEGINS)
        && let Some((_, after)) = behind.split_once('>')
    {
        parts.push(before);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Puts a history in the place of the old one, and writes zeros over the old bytes, so that they do not stay on the disk
/// where it is written in place.
fn replace(file: &Path, kept: &mut FileHistory) -> std::io::Result<()> {
    let mut old = File::options().write(true).open(file)?;
    let new = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")))?;
    kept.save(new.path()).map_err(std::io::Error::other)?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    let length = old.metadata()?.len();
    std::io::copy(&mut std::io::repeat(0).take(length), &mut old)?;
    old.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_file_is_there_before_the_old_bytes_go() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let (file, old) = (folder.path().join("history"), folder.path().join("old"));
        let mut history = opened().unwrap();
        for line in ["hello", "my key is x"] {
            history.add(line).unwrap();
        }
        history.save(&file).unwrap();
        std::fs::hard_link(&file, &old).unwrap();
        assert_eq!(forget_lines(&file, &["my key is x".to_owned()]).unwrap(), 1);
        assert!(std::fs::read_to_string(&file).unwrap().ends_with("hello\n"));
        assert!(std::fs::read(&old).unwrap().iter().all(|byte| *byte == 0), "the old bytes are on the disk");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_line_goes_whose_text_was_recorded_without_its_secrets() {
        let texts = ["read it with X-Api-Key: <secret:api-key> and <secret:token> twice".to_owned()];
        for line in [
            "read it with X-Api-Key: sk-test-abcdefghij and tok-1 twice",
            "/steer read it with X-Api-Key: sk-test-abcdefghij and tok-1 twice",
        ] {
            assert!(is_echo_of(line, &texts), "{line}");
        }
        for line in [
            "read it with X-Api-Key: sk-test-abcdefghij and tok-1",
            "please read it with X-Api-Key: a and b twice",
            "read it with X-Api-Key: sk-test-abcdefghij twice",
        ] {
            assert!(!is_echo_of(line, &texts), "{line}");
        }
        assert!(!is_echo_of("anything at all", &["<secret:api-key>".to_owned()]));
    }

    #[test]
    fn only_the_lines_that_said_it_go() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let mut history = opened().unwrap();
        for line in ["hello", "my key is x", "two\\\nlines", "hello", "/steer my key is x", "my key is xy"] {
            history.add(line).unwrap();
        }
        history.save(&file).unwrap();
        let texts = ["my key is x".to_owned(), "two\nlines".to_owned(), String::new()];
        assert_eq!(forget_lines(&file, &texts).unwrap(), 3);
        let mut left = opened().unwrap();
        left.load(&file).unwrap();
        let left: Vec<&String> = left.iter().collect();
        assert_eq!(left, ["hello", "hello", "my key is xy"]);
        assert_eq!(forget_lines(&file, &texts).unwrap(), 0);
        assert_eq!(forget_lines(&folder.path().join("none"), &texts).unwrap(), 0);
    }
}
