//! The keyboard while an answer streams: tells that a key was pressed, and reads nothing itself.
//!
//! Keys are neither shown nor gathered into lines in that time, so that the next reader (the line
//! editor) gets every one of them. Invariant: the terminal is as it was once this is dropped, also when
//! the program is left by the second Ctrl-C.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tokio::sync::Notify;

use super::interrupts::{InterruptListener, UndoId};

/// A paste says where it begins and ends.
const PASTE_IS_MARKED: &str = "\u{1b}[?2004h";
const PASTE_IS_PLAIN: &str = "\u{1b}[?2004l";

/// A terminal that is put back as it is now: when this is dropped, and when the program is ended before that.
pub struct AsItIs {
    before: Termios,
    interrupts: InterruptListener,
    undo: UndoId,
}

impl AsItIs {
    /// Remembers the terminal on standard input; `None` where there is none.
    pub fn keep(interrupts: &InterruptListener) -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let at_parting = before.clone();
        let undo = interrupts.at_parting(Box::new(move || restore(&at_parting)));
        Some(Self { before, interrupts: interrupts.clone(), undo })
    }
}

impl Drop for AsItIs {
    fn drop(&mut self) {
        self.interrupts.forget(self.undo);
        restore(&self.before);
    }
}

/// A watched keyboard.
pub struct Keyboard {
    _terminal: AsItIs,
    touched: Arc<Notify>,
    /// A byte has the watcher look again; its end ends the watcher.
    again: OwnedFd,
}

impl Keyboard {
    /// Watches the terminal on standard input; `None` where there is none.
    pub fn watch(interrupts: &InterruptListener) -> Option<Self> {
        let terminal = AsItIs::keep(interrupts)?;
        let (orders, again) = rustix::pipe::pipe().ok()?;
        let mut quiet = terminal.before.clone();
        quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin(), OptionalActions::Now, &quiet).ok()?;
        let touched = Arc::new(Notify::new());
        let tells = Arc::clone(&touched);
        std::thread::spawn(move || watch(&orders, &tells));
        write(PASTE_IS_MARKED);
        Some(Self { _terminal: terminal, touched, again })
    }

    /// Takes the keyboard back after another reader.
    pub fn rearm(&self) {
        write(PASTE_IS_MARKED);
        let _ = rustix::io::write(&self.again, b"r");
    }

    /// Returns once a key waits to be read; then not again before [`rearm`](Self::rearm).
    pub async fn touched(&self) {
        loop {
            self.touched.notified().await;
            // What woke the watcher may have been dropped or read since.
            if input_waits() {
                return;
            }
            let _ = rustix::io::write(&self.again, b"r");
        }
    }
}

/// Tells of a key, then waits to be asked again. A thread, since a terminal cannot be waited for in another
/// way without unsafe code.
fn watch(orders: &OwnedFd, touched: &Notify) {
    loop {
        let stdin = stdin();
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(orders, PollFlags::IN)];
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        if !watched[1].revents().is_empty() {
            // Its end ends the watch; one more order while this one is carried out changes nothing.
            if !rustix::io::read(orders, &mut [0_u8; 1]).is_ok_and(|count| count > 0) {
                return;
            }
            continue;
        }
        if watched[0].revents().is_empty() {
            continue;
        }
        touched.notify_one();
        if !rustix::io::read(orders, &mut [0_u8; 1]).is_ok_and(|count| count > 0) {
            return;
        }
    }
}

fn input_waits() -> bool {
    let stdin = stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    !matches!(poll(&mut watched, Some(&Timespec::default())), Ok(0))
}

fn restore(before: &Termios) {
    let _ = tcsetattr(stdin(), OptionalActions::Now, before);
    write(PASTE_IS_PLAIN);
}

/// The terminal may be gone; then there is no place for an error.
fn write(sequence: &str) {
    let mut terminal = std::io::stdout();
    let _ = terminal.write_all(sequence.as_bytes()).and_then(|()| terminal.flush());
}
