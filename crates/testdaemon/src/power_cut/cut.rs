//! The cut itself: `EXT4_IOC_SHUTDOWN` without flushing the log.
//!
//! Rust reaches an ioctl of no library only by unsafe code, which this workspace forbids; Python does it in two
//! lines and is needed by the suite anyway.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// `_IOR('X', 125, u32)` with the flag 2 (`EXT4_GOING_FLAGS_NOLOGFLUSH`), see `fs/ext4/ext4.h` in Linux.
const SCRIPT: &str = "import fcntl, os, struct, sys, time
mount = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
print('armed', flush=True)
sys.stdin.readline()
before = time.monotonic_ns()
fcntl.ioctl(mount, 0x8004587D, struct.pack('I', 2))
print(before, flush=True)
";

/// A cut that waits for its moment.
pub(super) struct PowerCut {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl PowerCut {
    /// Prepares to cut the file system mounted at `mount`.
    pub(super) async fn arm(mount: &Path) -> Result<Self> {
        let mut command = Command::new("python3");
        command
            .arg("-c")
            .arg(SCRIPT)
            .arg(mount)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().context("could not start python3")?;
        let out = child.stdout.take().context("no standard output")?;
        let mut lines = BufReader::new(out).lines();
        let line = lines.next_line().await.context("could not hear python3")?;
        ensure!(line.as_deref() == Some("armed"), "python3 cannot open the file system: {line:?}");
        Ok(Self { child, lines })
    }

    /// Cuts, and returns the last moment before, as `CLOCK_MONOTONIC` counts nanoseconds.
    pub(super) async fn now(mut self) -> Result<u64> {
        let mut stdin = self.child.stdin.take().context("no standard input")?;
        stdin.write_all(b"now\n").await.context("could not tell python3")?;
        let line = self.lines.next_line().await.context("could not hear python3")?;
        let before = line.context("the file system was not cut: the ioctl failed")?;
        let status = self.child.wait().await.context("could not wait for python3")?;
        ensure!(status.success(), "the file system was not cut: {status}");
        before.parse().context("python3 did not say when it cut")
    }
}
