//! Where the daemon's own log goes: standard error, or a bounded file when a client started it.

use std::fs::OpenOptions;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use tracing_subscriber::EnvFilter;

/// A log file larger than this is set aside at start; one old file is kept.
const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Points standard error at STATE/log/palyrad.log.
pub(crate) fn redirect_to_file(state_dir: &Path) -> std::io::Result<()> {
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
pub(crate) fn start() {
    let filter = EnvFilter::try_from_env("PALYRA_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    // Tests start several daemons in one process; the first one wins.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        // Told on standard error, which is what just failed: a reader that left must not end the daemon.
        .log_internal_errors(false)
        .try_init();
}
