//! What can be seen of a state directory without its daemon: its files, the space there, and the clock.

use std::path::Path;
use std::time::{Duration, SystemTime};

use palyra_screen_text::{bytes, span};
use palyra_wire::v1;

use crate::{ERROR, OK, WARNING, check, state_files};

/// Less space than this is reported, some time before new work is refused.
const FREE_BYTES_MIN: u64 = 200 << 20;
/// How far in the future a file may be changed: two machines that share a disk differ a little.
const CLOCK_SLACK: Duration = Duration::from_secs(120);

/// Whether a daemon may be started from here, which takes the place of one that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DaemonStart {
    /// It may.
    Allowed,
    /// It may not, so what a daemon left that is gone is reported.
    Forbidden,
}

/// Checks what is in a state directory that exists.
#[must_use]
pub fn check_state_folder(state_dir: &Path, start: DaemonStart) -> Vec<v1::Check> {
    let mut checks = vec![
        state_files::private_files(state_dir),
        state_files::log(state_dir),
        free_space(state_dir),
        clock(state_dir),
    ];
    if start == DaemonStart::Forbidden {
        checks.extend(state_files::stale_lock(state_dir));
    }
    checks.extend(state_files::kept_aside(state_dir));
    checks.extend(state_files::components(state_dir));
    checks
}

fn free_space(state_dir: &Path) -> v1::Check {
    let name = "free_space";
    match rustix::fs::statvfs(state_dir) {
        Ok(found) => {
            let free = found.f_bavail.saturating_mul(found.f_frsize);
            let notice = format!("{} free where {} is", bytes(free), state_dir.display());
            if free < FREE_BYTES_MIN {
                return check(name, WARNING, notice, "free some space: new work is refused when it is full");
            }
            check(name, OK, notice, "")
        }
        Err(error) => check(name, WARNING, error.to_string(), "look at the disk"),
    }
}

/// A clock that was set back shows in files that were changed in its future.
fn clock(state_dir: &Path) -> v1::Check {
    let name = "clock";
    let entries = std::fs::read_dir(state_dir).into_iter().flatten().flatten();
    let changed =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.file_name())));
    let Some((newest, file)) = changed.max() else { return check(name, OK, "no file tells", "") };
    match newest.duration_since(SystemTime::now()) {
        Ok(ahead) if ahead > CLOCK_SLACK => {
            let found = format!(
                "the clock of this machine is behind: {} was changed {} from now",
                file.display(),
                span(ahead)
            );
            check(name, ERROR, found, "set the clock: `timedatectl set-ntp true`")
        }
        Ok(_) | Err(_) => check(name, OK, "not behind the files of the state directory", ""),
    }
}
