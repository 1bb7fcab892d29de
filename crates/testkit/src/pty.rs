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
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcsetwinsize};

const PATIENCE: Duration = Duration::from_secs(30);
const LINES: u16 = 24;
/// When a key is pressed again that had no effect.
const AGAIN_AFTER: Duration = Duration::from_secs(8);
const LOOK_SPAN: Duration = Duration::from_millis(100);

/// The terminal; its program ends with it.
pub struct Pty {
    child: Child,
    master: File,
    raw: Vec<u8>,
    /// Where the last expectation ended.
    read_to: usize,
}

impl Pty {
    /// Runs a command at a terminal of so many columns.
    ///
    /// # Panics
    /// Without a pseudo-terminal or `setsid`.
    #[must_use]
    pub fn spawn(command: &Command, columns: u16) -> Self {
        let (master, slave) = pair(columns).expect("the system gives a pseudo-terminal");
        let end = || Stdio::from(slave.try_clone().expect("a descriptor is free"));
        // Makes the terminal the program's own, so that Ctrl-C reaches it.
        let mut within = Command::new("setsid");
        within.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args()).env_clear();
        within.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            within.current_dir(folder);
        }
        let child = within.stdin(end()).stdout(end()).stderr(end()).spawn().expect("`setsid` starts");
        Self { child, master, raw: Vec::new(), read_to: 0 }
    }

    /// Types.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn type_in(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Asks the program to end, as `kill` does.
    ///
    /// # Panics
    /// When it has ended.
    pub fn terminate(&self) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a child has a number");
        kill_process(pid, Signal::TERM).expect("a child can be asked to end");
    }

    /// Returns whether the terminal shows what is typed.
    ///
    /// # Panics
    /// When the terminal is gone.
    #[must_use]
    pub fn echoes(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.master).expect("it is a terminal").local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    /// Returns everything seen, escape sequences too.
    #[must_use]
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// Returns what was seen, as text.
    #[must_use]
    pub fn text(&self) -> String {
        plain(&self.raw())
    }

    /// Waits until `wanted` appears after what was expected before; returns what came up to it.
    ///
    /// # Panics
    /// When it does not appear in time.
    #[track_caller]
    pub fn expect(&mut self, wanted: &str) -> String {
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

    /// Types until `wanted` appears: a key that is pressed right when a prompt is drawn may be dropped.
    ///
    /// # Panics
    /// When it does not appear in time.
    #[track_caller]
    pub fn expect_after(&mut self, keys: &str, wanted: &str) -> String {
        self.type_until(keys, |pty| pty.text()[pty.read_to..].contains(wanted));
        self.expect(wanted)
    }

    /// Types until the program ends; returns its exit code.
    ///
    /// # Panics
    /// When it does not end in time.
    #[track_caller]
    pub fn ended_after(&mut self, keys: &str) -> i32 {
        self.type_until(keys, |pty| pty.child.try_wait().is_ok_and(|status| status.is_some()));
        self.ended()
    }

    fn type_until(&mut self, keys: &str, is_done: impl Fn(&mut Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut press = Instant::now();
        while !is_done(self) && Instant::now() < end {
            if Instant::now() >= press {
                self.type_in(keys);
                press = Instant::now() + AGAIN_AFTER;
            }
            self.read(Instant::now() + LOOK_SPAN);
        }
    }

    /// Waits for the end; returns the exit code.
    ///
    /// # Panics
    /// When it does not end in time.
    #[track_caller]
    pub fn ended(&mut self) -> i32 {
        let deadline = Instant::now() + PATIENCE;
        while self.read(deadline) {}
        assert!(Instant::now() < deadline, "it goes on, having said: {:?}", self.text());
        self.child.wait().ok().and_then(|status| status.code()).expect("it ends by itself")
    }

    /// Reads what comes; returns whether something did before the deadline and the end.
    fn read(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let mut watched = [PollFd::from_borrowed_fd(self.master.as_fd(), PollFlags::IN)];
        if poll(&mut watched, Some(&limit)).expect("one descriptor can be waited for") == 0 {
            return false;
        }
        let mut bytes = [0; 4096];
        // The other end closed is an error here.
        let count = self.master.read(&mut bytes).unwrap_or(0);
        self.raw.extend_from_slice(&bytes[..count]);
        count > 0
    }
}

fn pair(columns: u16) -> std::io::Result<(File, File)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let size = Winsize { ws_row: LINES, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size)?;
    let name = ptsname(&master, Vec::new())?;
    let slave = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((File::from(master), File::from(slave)))
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
