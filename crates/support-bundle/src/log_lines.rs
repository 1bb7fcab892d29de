//! The end of the daemon's log: lines that the daemon writes at INFO and above, and where it panicked.
//!
//! Lines of other forms are counted only: what is logged below INFO, and what a panic said, may quote a conversation.

use std::path::Path;

use palyra_client::FollowedLog;

const LOG_FILE: &str = "log/palyrad.log";
/// Lines that are looked at.
const LINES: usize = 500;
const LEVELS: [&str; 3] = ["INFO", "WARN", "ERROR"];
const LINE_CHARS_MAX: usize = 4_096;

/// Returns the end of the log; `None` where there is none.
pub(crate) fn log_end(state_dir: &Path) -> Option<String> {
    let mut log = FollowedLog::new(state_dir.join(LOG_FILE));
    let lines = log.last_lines(LINES).ok().filter(|_| log.is_there())?;
    let mut text = String::new();
    let mut left_out = 0;
    for line in &lines {
        let line = String::from_utf8_lossy(line);
        match shown(&line) {
            Some(shown) => {
                text.extend(shown.chars().take(LINE_CHARS_MAX));
                text.push('\n');
            }
            None => left_out += 1,
        }
    }
    text += &format!("({left_out} of the last {} lines are of another form and left out)\n", lines.len());
    Some(text)
}

fn shown(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    let second = words.next()?;
    let is_time = first.ends_with('Z') && first.as_bytes().get(10) == Some(&b'T');
    let is_panic = first == "thread" && line.contains("' panicked at ");
    let is_shown = (is_time && LEVELS.contains(&second)) || is_panic;
    is_shown.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_below_info_and_words_of_a_panic_are_left_out() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(log_end(state.path()), None);
        std::fs::create_dir(state.path().join("log")).unwrap();
        let lines = "2026-11-30T11:32:16.1Z  INFO palyra_daemon: serving\n\
                     2026-11-30T11:32:16.2Z DEBUG palyra: what a person said\n\
                     thread 'main' panicked at crates/x.rs:1:2:\n\
                     what a person said\n\
                     2026-11-30T11:32:16.3Z  WARN palyra: slow\n";
        std::fs::write(state.path().join(LOG_FILE), lines).unwrap();
        let text = log_end(state.path()).unwrap();
        assert!(text.contains("serving") && text.contains("slow") && text.contains("x.rs:1:2"), "{text}");
        assert!(!text.contains("a person") && text.contains("(2 of the last 5 lines"), "{text}");
    }
}
