//! A person's empty home and a folder to work in; whatever daemon was started there ends with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use palyra_client::{Client, ConnectOptions, DaemonTarget, read_lock_record};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

pub(crate) struct Home {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Panics with all that is known unless the program ended like this.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Returns the lines of standard output as JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() };
        std::fs::create_dir(home.folder.path().join("home")).unwrap();
        std::fs::create_dir(home.work()).unwrap();
        home
    }

    /// Sets a variable for every program started from here.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder.path().join("home/.local/state/palyra")
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.folder.path().join("home/.config/palyra/palyra.toml")
    }

    /// Makes everybody forget how far the journal was: the clients of this home, and the daemon's anchor.
    pub(crate) fn forget_heads(&self) {
        let heads = self.folder.path().join("home/.local/share/palyra/heads");
        for folder in [heads, self.config_file().with_file_name("anchors")] {
            drop(std::fs::remove_dir_all(folder));
        }
    }

    /// Adds lines to the configuration file.
    pub(crate) fn configure(&self, lines: &str) {
        std::fs::create_dir_all(self.config_file().parent().unwrap()).unwrap();
        let before = std::fs::read_to_string(self.config_file()).unwrap_or_default();
        std::fs::write(self.config_file(), format!("{before}\n{lines}")).unwrap();
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.work().join(name), text).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_palyra")), arguments)
    }

    /// The same for a program at another place.
    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `palyra` to its end.
    pub(crate) fn palyra(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments).spawn().unwrap())
    }

    /// Runs `palyra` to its end with something on standard input.
    pub(crate) fn palyra_reading(&self, arguments: &[&str], input: &str) -> Ended {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ended(child)
    }

    pub(crate) fn daemon_pid(&self) -> Pid {
        let record = read_lock_record(&self.state_dir()).expect("a daemon has been there");
        Pid::from_raw(i32::try_from(record.pid).unwrap()).unwrap()
    }

    /// Connects to the daemon of this home, or starts it.
    pub(crate) async fn client(&self) -> Client {
        let mut options = ConnectOptions::new(DaemonTarget::StateDir(self.state_dir()));
        options.program = env!("CARGO_BIN_EXE_palyra").into();
        Client::connect(options).await.unwrap()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(record) = read_lock_record(&self.state_dir())
            && is_ours(record.pid)
            && let Some(pid) = Pid::from_raw(record.pid.cast_signed())
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// A number in a stale lock file may belong to somebody else by now.
fn is_ours(pid: u32) -> bool {
    let program = std::fs::read_link(Path::new("/proc").join(pid.to_string()).join("exe"));
    program.is_ok_and(|program| program == Path::new(env!("CARGO_BIN_EXE_palyra")))
}

/// Waits for a program and takes what it left.
pub(crate) fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Reads until a line holds `wanted`; returns what was read.
#[track_caller]
pub(crate) fn read_until(source: &mut BufReader<impl Read>, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let count = source.read_line(&mut text).unwrap();
        assert!(count > 0, "`{wanted}` never came, but:\n{text}");
    }
    text
}

/// Waits until a process that is not a child has ended.
pub(crate) fn until_ended(pid: Pid) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{PidfdFlags, pidfd_open};
    if let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) {
        let limit = rustix::event::Timespec { tv_sec: 30, tv_nsec: 0 };
        let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit)).unwrap();
        assert_eq!(ended, 1, "process {pid:?} lives on");
    }
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}
