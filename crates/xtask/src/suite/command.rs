//! One child process with a deadline.
//!
//! Owns starting it, copying what it says, and ending it when time is up. Invariant: no child outlives
//! the call, since the one we start is told to end and then killed.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long a child that was told to end may tidy up.
const END_GRACE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Where Debian keeps programs of the system; the PATH of an ordinary user lacks them.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// Returns `path` with the folders of the system's programs behind it, where it lacks them.
pub(super) fn with_system_folders(path: &OsStr) -> OsString {
    let mut folders: Vec<PathBuf> =
        std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty()).collect();
    for folder in SYSTEM_FOLDERS.map(PathBuf::from) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    // A folder that came out of a PATH has no separator in its name.
    std::env::join_paths(folders).unwrap_or_else(|_| path.to_owned())
}

/// Lets a child find the system's programs, unless it was given a PATH of its own.
pub(crate) fn find_system_programs(command: &mut Command) {
    if command.get_envs().all(|(name, _)| name != "PATH") {
        command.env("PATH", with_system_folders(&std::env::var_os("PATH").unwrap_or_default()));
    }
}

/// Runs `command` with its output as it is; fails when it does, or at `deadline`.
pub(crate) fn run(mut command: Command, deadline: Instant) -> Result<()> {
    let shown = show(&command);
    find_system_programs(&mut command);
    let child = command.stdin(Stdio::null()).spawn().with_context(|| format!("could not start `{shown}`"))?;
    succeed(&shown, wait(child, &shown, deadline)?)
}

/// Runs `command`, copies its standard error line by line and returns it with whether it succeeded.
pub(super) fn run_and_read_stderr(mut command: Command, deadline: Instant) -> Result<(ExitStatus, String)> {
    let shown = show(&command);
    find_system_programs(&mut command);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("could not start `{shown}`"))?;
    let stderr = child.stderr.take().context("the child has no standard error")?;
    let copier = thread::spawn(move || copy_lines(stderr));
    let status = wait(child, &shown, deadline)?;
    let said = copier.join().unwrap_or_default();
    Ok((status, said))
}

/// Runs `command` silently and returns its standard output.
pub(super) fn read(mut command: Command) -> Result<String> {
    let shown = show(&command);
    find_system_programs(&mut command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn copy_lines(from: impl Read) -> String {
    let mut all = String::new();
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line).into_owned();
        eprint!("{text}");
        all.push_str(&text);
        line.clear();
    }
    all
}

fn wait(mut child: Child, shown: &str, deadline: Instant) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().context("could not wait for a child")? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            end(&mut child)?;
            bail!("the time is up; it was running `{shown}`");
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Asks first, so that a test runner can end its own children, then kills.
fn end(child: &mut Child) -> Result<()> {
    // Ignored: without a `kill` program the killing below still ends the child.
    let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    let last = Instant::now() + END_GRACE;
    while Instant::now() < last {
        if child.try_wait().context("could not wait for a child")?.is_some() {
            return Ok(());
        }
        thread::sleep(LOOK_EVERY);
    }
    child.kill().context("could not kill a child")?;
    child.wait().context("could not wait for a child")?;
    Ok(())
}

fn succeed(shown: &str, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

fn show(command: &Command) -> String {
    let program = command.get_program().to_string_lossy().into_owned();
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    let arguments = command.get_args().map(|a| a.to_string_lossy().into_owned());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    #[test]
    fn a_failing_child_is_a_failure() {
        assert!(run(shell("exit 0"), soon()).is_ok());
        assert!(run(shell("exit 3"), soon()).is_err());
    }

    #[test]
    fn a_child_finds_the_systems_programs_whatever_the_path_of_the_caller() {
        let extended = |path: &str| with_system_folders(path.as_ref()).into_string().expect("text");
        assert_eq!(extended("/usr/local/bin:/usr/bin:/bin"), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        assert_eq!(extended("/sbin:/bin"), "/sbin:/bin:/usr/sbin");
        assert_eq!(extended(""), "/usr/sbin:/sbin");
        let shown = read(shell("printf %s \"$PATH\"")).expect("it starts");
        for folder in SYSTEM_FOLDERS {
            assert!(shown.split(':').any(|listed| listed == folder), "{shown}");
        }
        let mut own = shell("exit 0");
        own.env("PATH", "/nowhere");
        find_system_programs(&mut own);
        assert!(own.get_envs().any(|(name, path)| name == "PATH" && path == Some("/nowhere".as_ref())));
    }

    #[test]
    fn standard_error_is_returned() {
        let (status, said) = run_and_read_stderr(shell("echo one >&2; exit 1"), soon()).expect("it starts");
        assert_eq!((status.code(), said.as_str()), (Some(1), "one\n"));
    }

    #[test]
    fn a_child_past_its_deadline_is_ended_and_named() {
        let error = run(shell("exec sleep 600"), Instant::now()).expect_err("it is over time").to_string();
        assert!(error.contains("the time is up") && error.contains("sleep 600"), "{error}");
    }
}
