//! Clean text: how much of it is spoiled, and how long reading it takes.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use palyra_ports::{CleanedText, Redactor};
use palyra_redaction::SecretScanner;
use palyra_types::Redacted;
use serde_json::json;

/// Files larger than this are not read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a piece of a stream.
const PIECE_BYTES: usize = 5;
/// How often each text is timed.
const TRIES: usize = 3;
/// Bytes read at all, at most.
const BYTES_MAX: usize = 400 * 1024 * 1024;

/// What became of clean text.
#[derive(Default)]
pub(crate) struct Clean {
    files: usize,
    lines: usize,
    changed: usize,
    bytes: usize,
    time: Duration,
    /// How long one piece of a stream takes.
    piece: Duration,
}

impl Clean {
    pub(crate) fn spoiled(&self) -> f64 {
        self.changed as f64 / self.lines.max(1) as f64
    }

    pub(crate) fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.time.as_secs_f64().max(1e-9)
    }

    pub(crate) fn row(&self) -> serde_json::Value {
        json!({
            "files": self.files, "lines": self.lines, "changed": self.changed, "spoiled": self.spoiled(),
            "bytes": self.bytes, "bytes_per_second": self.bytes_per_second(),
            "piece_bytes": PIECE_BYTES, "piece_nanoseconds": self.piece.as_nanos(),
        })
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "clean text: {} of {} lines changed ({:.4} %) in {} files; {:.0} MB/s; a piece of {PIECE_BYTES} bytes: {:?}",
            self.changed,
            self.lines,
            self.spoiled() * 100.0,
            self.files,
            self.bytes_per_second() / 1e6,
            self.piece
        )
    }
}

/// Reads every text below a folder.
pub(crate) fn measure(scanner: &SecretScanner, dir: &str, show: bool) -> Clean {
    let mut texts = Vec::new();
    gather(Path::new(dir), &mut texts, &mut 0);
    let mut clean = Clean::default();
    // Once before the clock starts: rules are compiled at their first use.
    texts.iter().take(200).for_each(|text| drop(scanner.redact(text.as_str().into())));
    clean.piece = piece_time(scanner, &texts);
    for text in texts {
        let (cleaned, time) = timed(scanner, &text);
        clean.time += time;
        clean.files += 1;
        clean.bytes += text.len();
        clean.lines += text.lines().count();
        if cleaned.findings.changed() {
            clean.changed += changed_lines(&text, cleaned.text.expose(), show);
        }
    }
    clean
}

/// Streams some texts in small pieces; returns what one piece costs, the quickest of some tries.
fn piece_time(scanner: &SecretScanner, texts: &[String]) -> Duration {
    let texts = texts.iter().filter(|text| text.is_ascii()).step_by(50).take(100);
    let one = |text: &String| {
        let begun = Instant::now();
        let mut stream = scanner.begin();
        let pieces = text.as_bytes().chunks(PIECE_BYTES).filter_map(|piece| std::str::from_utf8(piece).ok());
        let count = pieces.map(|piece| stream.push(piece.into())).count();
        (begun.elapsed(), count)
    };
    let (mut time, mut count) = (Duration::ZERO, 0);
    for text in texts {
        let tries = std::iter::repeat_with(|| one(text)).take(TRIES);
        let (quickest, pieces) = tries.min_by_key(|(time, _)| *time).unwrap_or_default();
        (time, count) = (time + quickest, count + pieces);
    }
    time / u32::try_from(count.max(1)).unwrap_or(u32::MAX)
}

/// Cleans a text; the quickest of some tries, since other programs run beside this one.
fn timed(scanner: &SecretScanner, text: &str) -> (CleanedText, Duration) {
    let attempt = || {
        let given = Redacted::cleaned(text.to_owned());
        let begun = Instant::now();
        let cleaned = scanner.redact(given.into());
        (cleaned, begun.elapsed())
    };
    let more = std::iter::repeat_with(attempt).take(TRIES);
    more.min_by_key(|(_, time)| *time).expect("there is at least one try")
}

fn gather(dir: &Path, texts: &mut Vec<String>, bytes: &mut usize) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            gather(&entry.path(), texts, bytes);
        } else if kind.is_file()
            && *bytes < BYTES_MAX
            && entry.metadata().is_ok_and(|file| file.len() <= FILE_BYTES_MAX)
            && let Ok(text) = std::fs::read_to_string(entry.path())
        {
            *bytes += text.len();
            texts.push(text);
        }
    }
}

/// Counts the lines that are no longer there.
fn changed_lines(before: &str, after: &str, show: bool) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    after.lines().for_each(|line| *left.entry(line).or_default() += 1);
    let mut changed = 0;
    for line in before.lines() {
        match left.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            Some(_) | None => {
                changed += 1;
                if show && line.len() < 300 {
                    eprintln!("clean: {line}");
                }
            }
        }
    }
    if show {
        for line in left.into_iter().filter(|(_, count)| *count > 0).map(|(line, _)| line) {
            eprintln!("  now: {line:.300}");
        }
    }
    changed
}
