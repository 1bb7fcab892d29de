//! What can be seen of an installation without its daemon.

use std::path::Path;
use std::time::{Duration, SystemTime};

use palyra_wire::v1;

use super::{ERROR, OK, WARNING, check, state_files};
use crate::context::Context;
use palyra_screen_text::{bytes, span};

/// Less space than this is reported, some time before new work is refused.
const FREE_BYTES_MIN: u64 = 200 << 20;
/// How far in the future a file may be changed: two machines that share a disk differ a little.
const CLOCK_SLACK: Duration = Duration::from_secs(120);

/// Makes every check that needs no daemon.
pub(super) fn checks(context: &Context, state_dir: &Path) -> Vec<v1::Check> {
    let mut checks = vec![state_files::state_dir(state_dir), config_file(context)];
    if !state_dir.is_dir() {
        return checks;
    }
    checks.extend([
        state_files::private_files(state_dir),
        state_files::log(state_dir),
        free_space(state_dir),
        clock(state_dir),
    ]);
    if context.global.no_start {
        checks.extend(state_files::stale_lock(state_dir));
    }
    checks.extend(state_files::kept_aside(state_dir));
    checks.extend(state_files::components(state_dir));
    checks
}

/// Looks for mistakes that a daemon would refuse that is started from here.
fn config_file(context: &Context) -> v1::Check {
    let name = "config_file";
    let file = match context.config_file() {
        Ok(file) => file,
        Err(failure) => return check(name, WARNING, failure.to_string(), "set HOME"),
    };
    let verdict = (context.daemon.check_config)(context.global.config.as_deref());
    let Some(first) = verdict.mistakes.first() else {
        let found = if file.is_file() {
            file.display().to_string()
        } else {
            format!("{} does not exist; defaults are used", file.display())
        };
        return check(name, OK, found, "");
    };
    let more = match verdict.mistakes.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let is_key =
        first.key.as_deref().is_some_and(|key| key.starts_with("providers.") && key.ends_with(".key"));
    if is_key {
        let mend = "set it here, then `palyra admin stop`; or name a file: key = \"file:PATH\"";
        return check(name, WARNING, format!("{}{more}", first.message), mend);
    }
    let mend = "correct it; `palyra config check` lists each mistake";
    // A daemon that runs goes on with the configuration that it has; one that cannot start says so itself.
    check(name, WARNING, format!("{}{more}", first.message), mend)
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
