//! What strace wrote: the calls that change files, in the order in which they began.

use std::path::Path;

use anyhow::{Context, Result};

/// A system call as it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemCall {
    /// The thread that made it.
    pub thread: u32,
    /// Its name, such as `pwrite64`.
    pub kind: String,
    /// The file behind its descriptor; `None` where it takes names instead.
    pub path: Option<String>,
}

/// All calls of a run, and whether it was killed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallRecording {
    /// The calls.
    pub calls: Vec<SystemCall>,
    /// Whether a fault was injected: the process was killed, or a call was made to fail.
    pub injected: bool,
    /// How many calls had begun when the process was told to stop, if it was.
    pub stopped_after: Option<usize>,
}

impl CallRecording {
    /// Reads strace's output.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(file: &Path) -> Result<Self> {
        let bytes = std::fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
        Ok(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    fn parse(text: &str) -> Self {
        let mut recording = Self::default();
        for line in text.lines() {
            if line.contains("+++ killed by SIGKILL") || line.contains("(INJECTED)") {
                recording.injected = true;
            }
            if line.contains("--- SIGTERM") {
                recording.stopped_after.get_or_insert(recording.calls.len());
            }
            recording.calls.extend(call(line));
        }
        recording
    }
}

/// Reads `17  write(3</a/file>, ...`; the other half of a call that was interrupted is none.
fn call(line: &str) -> Option<SystemCall> {
    let (thread, rest) = line.split_once(' ')?;
    let (kind, arguments) = rest.trim_start().split_once('(')?;
    if kind.is_empty() || !kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    let descriptor = arguments.trim_start_matches(|c: char| c.is_ascii_digit());
    let path =
        descriptor.strip_prefix('<').and_then(|rest| rest.split_once('>')).map(|(path, _)| path.to_owned());
    Some(SystemCall { thread: thread.parse().ok()?, kind: kind.to_owned(), path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_where_they_begin() {
        let recording = CallRecording::parse(
            "7  write(4</tmp/a b>, \"\"..., 2) = 2\n\
             8  fsync(5</tmp/wal> <unfinished ...>\n\
             7  rename(\"/a\", \"/b\")  = 0\n\
             8  <... fsync resumed>)  = 0\n\
             7  --- SIGTERM {si_signo=SIGTERM} ---\n\
             7  write(3<anon_inode:[eventfd]>, \"\"..., 8) = ?\n\
             7  +++ killed by SIGKILL +++\n",
        );
        let seen: Vec<_> =
            recording.calls.iter().map(|c| (c.thread, c.kind.as_str(), c.path.as_deref())).collect();
        assert_eq!(
            seen,
            [
                (7, "write", Some("/tmp/a b")),
                (8, "fsync", Some("/tmp/wal")),
                (7, "rename", None),
                (7, "write", Some("anon_inode:[eventfd]")),
            ]
        );
        assert!(recording.injected);
        assert_eq!(recording.stopped_after, Some(3));
    }
}
