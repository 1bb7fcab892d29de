//! The lines that were typed in chats, in the file that keeps them: which there are, and taking some out again.
//!
//! Invariant: lines that stay, stay in their order, and the file remains the person's alone.

use std::path::Path;

use rustyline::Config;
use rustyline::history::{FileHistory, History};

use super::line_editor::{HISTORY_LINES_MAX, joined};

/// The file beside the daemon's state that keeps the lines typed in chats.
pub const HISTORY_FILE_NAME: &str = "chat_history";

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
    for line in old.iter().filter(|line| !said_one_of(line, texts)) {
        kept.add(line).map_err(std::io::Error::other)?;
    }
    let forgotten = old.len() - kept.len();
    if forgotten > 0 {
        overwrite(file)?;
        kept.save(file).map_err(std::io::Error::other)?;
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

/// Returns whether a line is one of these texts, or a command of the chat that ends with it.
fn said_one_of(line: &str, texts: &[String]) -> bool {
    let said = joined(line);
    let said = said.trim();
    texts
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
        .any(|text| said == text || (said.starts_with('/') && said.ends_with(text)))
}

/// Writes zeros over the file, so that its old bytes do not stay on the disk where it is written in place.
fn overwrite(file: &Path) -> std::io::Result<()> {
    use std::io::Write;
    let length = usize::try_from(std::fs::metadata(file)?.len()).map_err(std::io::Error::other)?;
    let mut old = std::fs::OpenOptions::new().write(true).open(file)?;
    old.write_all(&vec![0; length])?;
    old.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

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
