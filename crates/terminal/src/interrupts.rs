//! Ctrl-C: the first of a phase is a request to the verb, the second ends the program. Before the first phase begins there
//! is nothing to stop in good order, and the first press ends the program.
//!
//! The second works even while the verb is stuck writing to a pipe that is not read.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use super::output::{NoteKind, Output};

/// The exit code of a program that Ctrl-C ended: 128 and the number of SIGINT, as shells have it.
pub const INTERRUPTED_EXIT: u8 = 130;

#[derive(Default)]
struct InterruptState {
    presses: AtomicU32,
    /// Another program at the terminal gets them.
    paused: AtomicBool,
    pressed: Notify,
    parting: Mutex<String>,
    undo: Mutex<UndoStack>,
}

/// What is undone when the program is left, newest first.
#[derive(Default)]
struct UndoStack {
    last: u64,
    steps: Vec<(UndoId, Undo)>,
}

/// Names a step that is undone when the program is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoId(u64);

/// Puts the terminal back as it was.
pub(crate) type Undo = Box<dyn Fn() + Send>;

/// Listens for Ctrl-C.
#[derive(Clone, Default)]
pub struct InterruptListener {
    shared: Arc<InterruptState>,
}

impl InterruptListener {
    /// Takes Ctrl-C over from the system; must be called within the runtime.
    pub fn listen(output: &Output) -> Self {
        let interrupts = Self::default();
        interrupts.shared.presses.store(1, Ordering::SeqCst);
        let (heard, output) = (interrupts.clone(), output.clone());
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if heard.press() {
                    let parting = heard.shared.parting.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    if !parting.is_empty() {
                        output.note(NoteKind::Info, &parting);
                    }
                    heard.leave(INTERRUPTED_EXIT);
                }
            }
        });
        for (kind, code) in [(SignalKind::terminate(), 143), (SignalKind::hangup(), 129)] {
            let heard = interrupts.clone();
            if let Ok(mut asked) = signal(kind) {
                tokio::spawn(async move {
                    if asked.recv().await.is_some() {
                        heard.leave(code);
                    }
                });
            }
        }
        interrupts
    }

    /// Ends the program, with the terminal as it was.
    fn leave(&self, code: u8) -> ! {
        let stack = self.shared.undo.lock().unwrap_or_else(PoisonError::into_inner);
        stack.steps.iter().rev().for_each(|(_, undo)| undo());
        std::process::exit(i32::from(code))
    }

    /// Counts a press; returns whether it is the second of the phase.
    pub fn press(&self) -> bool {
        if self.shared.paused.load(Ordering::SeqCst) {
            return false;
        }
        let second = self.shared.presses.fetch_add(1, Ordering::SeqCst) > 0;
        self.shared.pressed.notify_one();
        second
    }

    /// Leaves every press to a program that has the terminal during `work`.
    pub fn paused<T>(&self, work: impl FnOnce() -> T) -> T {
        self.shared.paused.store(true, Ordering::SeqCst);
        let done = work();
        self.shared.paused.store(false, Ordering::SeqCst);
        done
    }

    /// Begins a phase: the next press is a first one again, and `parting` is said at the second.
    pub fn begin(&self, parting: &str) {
        self.shared.presses.store(0, Ordering::SeqCst);
        self.say_at_parting(parting);
    }

    /// Replaces what is said at the second press.
    pub fn say_at_parting(&self, parting: &str) {
        parting.clone_into(&mut self.shared.parting.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Has something undone before the second press ends the program, until it is [forgotten](Self::forget).
    pub fn at_parting(&self, undo: Undo) -> UndoId {
        let mut stack = self.shared.undo.lock().unwrap_or_else(PoisonError::into_inner);
        stack.last += 1;
        let id = UndoId(stack.last);
        stack.steps.push((id, undo));
        id
    }

    /// Takes back what [`at_parting`](Self::at_parting) registered.
    pub fn forget(&self, id: UndoId) {
        let mut stack = self.shared.undo.lock().unwrap_or_else(PoisonError::into_inner);
        stack.steps.retain(|(other, _)| *other != id);
    }

    /// Returns at the next press.
    pub async fn pressed(&self) {
        loop {
            self.shared.pressed.notified().await;
            // A press of an earlier phase may have left its mark.
            if self.shared.presses.load(Ordering::SeqCst) > 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_press_of_a_phase_ends_the_program() {
        let interrupts = InterruptListener::default();
        assert!(!interrupts.press());
        interrupts.pressed().await;
        assert!(interrupts.press());
        interrupts.begin("bye");
        assert!(!interrupts.press(), "a new phase begins anew");
        interrupts.pressed().await;
    }

    #[test]
    fn another_program_at_the_terminal_gets_the_presses() {
        let interrupts = InterruptListener::default();
        assert!(!interrupts.paused(|| interrupts.press() || interrupts.press()));
        assert!(!interrupts.press() && interrupts.press());
    }
}
