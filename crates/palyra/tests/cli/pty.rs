//! A terminal with a program in it, as a person sits before it.
//!
//! Owns a pseudo-terminal of 24 lines; what the program writes is kept without its escape sequences.
//! Every wait has a deadline and panics with all that was seen.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcsetwinsize};

const PATIENCE: Duration = Duration::from_secs(30);
const LINES: u16 = 24;

pub(crate) struct Pty {
    child: Child,
    master: File,
    raw: Vec<u8>,
    /// Where the last expectation ended.
    read_to: usize,
}

impl Pty {
    /// Runs a command at a terminal of so many columns.
    pub(crate) fn spawn(command: &Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: LINES, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = File::from(
            open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap(),
        );
        let end = || Stdio::from(slave.try_clone().unwrap());
        // Makes the terminal the program's own, so that Ctrl-C reaches it.
        let mut within = Command::new("setsid");
        within.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args()).env_clear();
        within.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        within.current_dir(command.get_current_dir().unwrap());
        let child = within.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        Self { child, master: File::from(master), raw: Vec::new(), read_to: 0 }
    }

    /// Types.
    pub(crate) fn type_in(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Asks the program to end, as `kill` does.
    pub(crate) fn terminate(&self) {
        crate::home::signal(&self.child, rustix::process::Signal::TERM);
    }

    /// Returns whether the terminal shows what is typed.
    pub(crate) fn echoes(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.master).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    /// Returns everything seen, escape sequences too.
    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// Returns what was seen, as text.
    pub(crate) fn text(&self) -> String {
        plain(&self.raw())
    }

    /// Waits until `wanted` appears after what was expected before; returns what came up to it.
    #[track_caller]
    pub(crate) fn expect(&mut self, wanted: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if let Some(at) = text[self.read_to..].find(wanted) {
                let came = text[self.read_to..self.read_to + at].to_owned();
                self.read_to += at + wanted.len();
                return came;
            }
            let more = self.read(deadline);
            assert!(
                more,
                "`{wanted}` never came after {:?}, but: {:?}",
                &text[..self.read_to],
                &text[self.read_to..]
            );
        }
    }

    /// Waits for the end; returns the exit code.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> i32 {
        let deadline = Instant::now() + PATIENCE;
        while self.read(deadline) {}
        assert!(Instant::now() < deadline, "it goes on, having said: {:?}", self.text());
        self.child.wait().unwrap().code().unwrap()
    }

    /// Reads what comes; returns whether something did before the deadline and the end.
    fn read(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let mut watched = [PollFd::from_borrowed_fd(self.master.as_fd(), PollFlags::IN)];
        if poll(&mut watched, Some(&limit)).unwrap() == 0 {
            return false;
        }
        let mut bytes = [0; 4096];
        // The other end closed is an error here.
        let count = self.master.read(&mut bytes).unwrap_or(0);
        self.raw.extend_from_slice(&bytes[..count]);
        count > 0
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes escape sequences and carriage returns out.
fn plain(raw: &str) -> String {
    let mut text = String::new();
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.next_if_eq(&'[').is_some() => {
                while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
            }
            '\u{1b}' => {
                chars.next();
            }
            '\r' => {}
            c => text.push(c),
        }
    }
    text
}
