//! The last steps before the program: from here on nothing can be taken back.
//!
//! Owns their order: limits, privileges, Landlock, the filter, the program. Invariant: the program never runs with one
//! of them missing.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::pipe::PipeFlags;
use rustix::process::Pid;

use crate::failure::StepFailure;
use crate::fork::fork;
use crate::message::{self, KeeperEvent, KeeperOrder, SystemBytes};
use crate::syscall_filter::{self, FilterSurroundings};
use crate::{capabilities, cpu_priority, landlock_rules, process_limits, workspace};

/// Exit code of a program that was not started; the failure was told before.
const NOT_STARTED: i32 = 127;

/// What is added to a program's share of memory, in thousandths, when the kernel looks for somebody to end.
const OUT_OF_MEMORY_SCORE: &str = "500";

/// Starts the program, by its descriptor where one is given, in a process of its own, and tells the daemon that it runs,
/// or why it does not.
pub(crate) fn start(
    order: &KeeperOrder,
    program: Option<&OwnedFd>,
    control: BorrowedFd<'_>,
) -> Result<Pid, StepFailure> {
    let (began, begins) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(StepFailure::at("pipe"))?;
    let pid = fork(|| run(order, program, control, &begins))?;
    drop(begins);
    let mut failed = [0; 1];
    let failed = rustix::io::retry_on_intr(|| rustix::io::read(&began, &mut failed[..]));
    // The pipe closes without a word when the program takes the place of the process.
    if failed.map_err(StepFailure::at("pipe"))? == 0 {
        message::send(control, &KeeperEvent::Started).map_err(StepFailure::at("socket"))?;
    }
    Ok(pid)
}

/// Becomes the program; returns the exit code when it cannot.
fn run(order: &KeeperOrder, program: Option<&OwnedFd>, control: BorrowedFd<'_>, begins: &OwnedFd) -> i32 {
    let failure = confine(order, program).and_then(|()| become_program(order, program));
    let told = match failure {
        Ok(never) => match never {},
        Err(failure) => failure.keeper_event(),
    };
    let _ = message::send(control, &told);
    let _ = rustix::io::write(begins, b"!");
    NOT_STARTED
}

fn confine(order: &KeeperOrder, program: Option<&OwnedFd>) -> Result<(), StepFailure> {
    // Where memory is short on the whole host, what a model wanted goes first. Not every host lets this be said.
    let _ = std::fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE);
    cpu_priority::use_long_slices();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    process_limits::set(order).map_err(StepFailure::at("limits"))?;
    capabilities::drop_all(order.user).map_err(StepFailure::at("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(StepFailure::at("no_new_privs"))?;
    // While the current folder is the workspace.
    landlock_rules::restrict(order, program)?;
    workspace::enter_folder(order)?;
    close_on_exec().map_err(StepFailure::at("descriptors"))?;
    // Last of all: it allows little of what was done so far.
    syscall_filter::apply(FilterSurroundings::of(order))
}

/// Marks every descriptor but the first three, so that the program finds no other.
fn close_on_exec() -> io::Result<()> {
    // SAFETY: closes nothing now; every descriptor keeps its owner until the program starts.
    let marked = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if marked < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn become_program(
    order: &KeeperOrder,
    opened: Option<&OwnedFd>,
) -> Result<std::convert::Infallible, StepFailure> {
    let stage = "program";
    let text = |bytes: &[u8]| CString::new(bytes).map_err(StepFailure::at(stage));
    let program = text(order.program.as_slice())?;
    let arguments = order.arguments.iter().map(|argument| text(argument.as_slice()));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    let pair = |(name, value): &(SystemBytes, SystemBytes)| {
        text(&[name.os().as_bytes(), b"=", value.os().as_bytes()].concat())
    };
    let environment = order.environment.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
    let ended = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments_ended, environment_ended) = (ended(&arguments), ended(&environment));
    let (arguments, environment) = (arguments_ended.as_ptr(), environment_ended.as_ptr());
    // SAFETY: both lists end with a null pointer, and their texts live until the calls return, which is a failure.
    unsafe {
        match opened {
            Some(opened) => {
                let (at, flags) = (opened.as_raw_fd(), libc::AT_EMPTY_PATH);
                libc::syscall(libc::SYS_execveat, at, c"".as_ptr(), arguments, environment, flags);
            }
            None => {
                libc::execve(program.as_ptr(), arguments, environment);
            }
        }
    }
    Err(StepFailure { stage, cause: io::Error::last_os_error() })
}
