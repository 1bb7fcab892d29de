//! Where a call may be stopped: by its run between two steps, and by a test at any of them.

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;

use palyra_ports::CancelFlag;

use super::end::WriteEnd;
use crate::failure::ToolFailure;

/// Watches the steps of a call.
pub(crate) trait StepWatch {
    /// A step is reached; `Break` ends the work there and then, as a crash would.
    fn reached(&self) -> ControlFlow<()>;
}

/// Lets every call run to its end.
#[derive(Debug)]
pub(crate) struct NoWatch;

impl StepWatch for NoWatch {
    fn reached(&self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What a call asks between its steps.
pub(crate) struct CallPace<'p> {
    cancel: &'p CancelFlag,
    watch: &'p dyn StepWatch,
    is_halted: Cell<bool>,
}

impl<'p> CallPace<'p> {
    /// Makes the pace of a call that nothing but its run can stop.
    pub(crate) fn new(cancel: &'p CancelFlag) -> Self {
        Self::watched(cancel, &NoWatch)
    }

    /// Makes the pace of a call that is watched.
    pub(crate) fn watched(cancel: &'p CancelFlag, watch: &'p dyn StepWatch) -> Self {
        Self { cancel, watch, is_halted: Cell::new(false) }
    }

    /// Fails once the run was cancelled.
    pub(super) fn check_cancel(&self) -> Result<(), WriteEnd> {
        if self.cancel.is_cancelled() { Err(ToolFailure::Cancelled.into()) } else { Ok(()) }
    }

    /// Marks a step.
    pub(super) fn step(&self) -> Result<(), WriteEnd> {
        match self.watch.reached() {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                self.is_halted.set(true);
                Err(WriteEnd::Halted)
            }
        }
    }

    /// Marks a step inside of file work.
    pub(super) fn midway(&self) -> io::Result<()> {
        self.step().map_err(|_| io::Error::other("halted"))
    }

    /// Returns whether the work was ended at a step.
    pub(super) fn is_halted(&self) -> bool {
        self.is_halted.get()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Halts at one step, and counts them.
    #[derive(Debug)]
    pub(crate) struct HaltAt {
        left: Cell<usize>,
    }

    impl HaltAt {
        /// Halts after `steps` more steps.
        pub(crate) fn after(steps: usize) -> Self {
            Self { left: Cell::new(steps) }
        }
    }

    impl StepWatch for HaltAt {
        fn reached(&self) -> ControlFlow<()> {
            match self.left.get() {
                0 => ControlFlow::Break(()),
                left => {
                    self.left.set(left - 1);
                    ControlFlow::Continue(())
                }
            }
        }
    }
}
