//! Where the daemon's own log goes: standard error, or a bounded file when a client started it.
//!
//! Invariant: no line is written, not even of a panic, that has not passed the scanner.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::Arc;

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;
use tracing_subscriber::EnvFilter;

/// A log file larger than this is set aside at start; one old file is kept.
const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of one line, at most; what is beyond is left out before it is scanned.
const LINE_BYTES_MAX: usize = 256 * 1024;

/// Points standard error at STATE/log/palyrad.log.
pub(crate) fn redirect_to_file(state_dir: &Path) -> io::Result<()> {
    let dir = state_dir.join("log");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
    let path = dir.join("palyrad.log");
    if std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LOG_BYTES_MAX) {
        std::fs::rename(&path, dir.join("palyrad.log.1"))?;
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    rustix::stdio::dup2_stderr(&file)?;
    Ok(())
}

/// Starts logging; `PALYRA_LOG` chooses what, in the syntax of `tracing-subscriber`.
pub(crate) fn start(scanner: &Arc<SecretScanner>) {
    let filter = EnvFilter::try_from_env("PALYRA_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = Arc::clone(scanner);
    // Tests start several daemons in one process; the first one wins.
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(move || LogLines { scanner: Arc::clone(&lines), to: io::stderr() })
        .with_ansi(false)
        // Told on standard error, which is what just failed: a reader that left must not end the daemon.
        .log_internal_errors(false)
        .try_init();
    if started.is_ok() {
        tell_panics(scanner);
    }
}

/// Lets panics be told like lines of the log.
fn tell_panics(scanner: &Arc<SecretScanner>) {
    let scanner = Arc::clone(scanner);
    std::panic::set_hook(Box::new(move |panic| tell_panic(&scanner, panic)));
}

/// Writes a panic as a line of the log would be written.
fn tell_panic(scanner: &SecretScanner, panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let trace = std::backtrace::Backtrace::capture();
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let said = panic.payload_as_str().unwrap_or("something that is not text");
    let mut told =
        format!("thread '{}' panicked at {place}:\n{said}\n", thread.name().unwrap_or("<unnamed>"));
    if trace.status() == std::backtrace::BacktraceStatus::Captured {
        told.push_str(&format!("{trace}\n"));
    }
    // Nobody may be reading any more.
    let _ = io::stderr().write_all(clean(scanner, told.as_bytes()).as_bytes());
}

/// Writes what is left of each line once the scanner has seen it.
///
/// The formatter hands over one event with one call.
struct LogLines<W> {
    scanner: Arc<SecretScanner>,
    to: W,
}

impl<W: Write> Write for LogLines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.to.write_all(clean(&self.scanner, line).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn clean(scanner: &SecretScanner, line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let end = text.floor_char_boundary(LINE_BYTES_MAX);
    let cut = if end < text.len() { format!("{} (cut off)\n", &text[..end]) } else { text.into_owned() };
    scanner.redact(cut.into()).text.into_exposed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_shows_a_secret() {
        let scanner = Arc::new(SecretScanner::new());
        scanner.register(&["a value that nobody may see".into()]).unwrap();
        let token = ["gh", "p_", &"a1B2c3D4e5F6".repeat(3)].concat();
        let mut lines = LogLines { scanner, to: Vec::new() };
        let line = format!("INFO told of {token} and of a value that nobody may see\n");
        assert_eq!(lines.write(line.as_bytes()).unwrap(), line.len());
        lines.flush().unwrap();
        let written = String::from_utf8(lines.to).unwrap();
        assert_eq!(written, "INFO told of <secret:github-token> and of <secret:vault>\n");
    }

    /// Set for the process that panics.
    const PANICS: &str = "PALYRA_TEST_PANICS";

    #[test]
    fn no_panic_shows_a_secret() {
        if std::env::var_os(PANICS).is_some() {
            let scanner = Arc::new(SecretScanner::new());
            scanner.register(&["a value that nobody may see".into()]).unwrap();
            tell_panics(&scanner);
            // Put together here, so that no line of this file has it.
            panic!("told of {}", ["a value ", "that nobody ", "may see"].concat());
        }
        let itself = std::env::current_exe().unwrap();
        let mut child = std::process::Command::new(itself);
        child.args(["--exact", "logging::tests::no_panic_shows_a_secret", "--nocapture"]);
        let ended = child.env(PANICS, "1").env("RUST_BACKTRACE", "1").output().unwrap();
        let told = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
        assert!(!ended.status.success() && told.contains("told of <secret:vault>\n"), "{told}");
        assert!(told.contains("logging.rs") && !told.contains("that nobody may see"), "{told}");
    }

    #[test]
    fn a_line_has_an_end() {
        let scanner = Arc::new(SecretScanner::new());
        let mut lines = LogLines { scanner, to: Vec::new() };
        lines.write_all("ä".repeat(LINE_BYTES_MAX).as_bytes()).unwrap();
        assert!(lines.to.len() <= LINE_BYTES_MAX + 16);
    }
}
