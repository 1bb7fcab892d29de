//! Nothing of a program outlives it, its stop, its keeper, or the daemon: whatever it does to be forgotten.
//!
//! The processes are found in the host's own table, by a number that only they carry in their arguments.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::task::{Context, Waker};

use futures::FutureExt;
use palyra_ports::{ConfinedProcess, LimitRung, ProcessSandbox, ProcessTier, ProgramEnd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::host::{HOLDS, Hold, Host};

/// How many processes [`script`] leaves running, each in its own way.
const SURVIVORS: usize = 4;

/// A tree that wants to be forgotten: sessions of their own, parents that are gone, signals that are not heard.
fn script(mark: &str) -> String {
    let nap = format!("sleep 1000.{mark}");
    format!(
        "trap '' HUP TERM INT; ({nap} &); (setsid {nap} &); (setsid sh -c '(setsid {nap} &); :' &); echo ready; exec {nap}"
    )
}

/// A mark that no other test uses.
fn mark(host: &Host) -> String {
    let folder = host.folder.path().display().to_string();
    folder.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)).to_string()
}

/// Returns a hold of every process that carries the mark.
fn marked(mark: &str) -> Vec<OwnedFd> {
    let nap = format!("1000.{mark}");
    let all = fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|process| {
        let words = fs::read(process.path().join("cmdline")).ok()?;
        words.split(|byte| *byte == 0).any(|word| word == nap.as_bytes()).then_some(())?;
        let pid = process.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        pidfd_open(pid, PidfdFlags::empty()).ok()
    })
    .collect()
}

/// Waits until all of the tree runs.
fn all_of_them(mark: &str) -> Vec<OwnedFd> {
    loop {
        let found = marked(mark);
        if found.len() == SURVIVORS {
            return found;
        }
        std::thread::yield_now();
    }
}

/// Waits for the end of each, and then finds nobody who came since.
#[track_caller]
fn all_end(processes: &[OwnedFd], mark: &str, what: Hold) {
    for process in processes {
        let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
        let mut end = [PollFd::new(process, PollFlags::IN)];
        let ended = retry_on_intr(|| poll(&mut end, Some(&patience))).expect("it is waited for");
        assert_eq!(ended, 1, "{what:?}: one is left");
    }
    assert!(marked(mark).is_empty(), "{what:?}");
}

async fn started(host: &Host, hold: Hold) -> (Box<dyn ConfinedProcess>, Vec<OwnedFd>, String) {
    let mark = mark(host);
    let command = host.command(hold.tier(), "/bin/sh", &["-c", &script(&mark)]);
    let process = host.start(command).await.expect("it starts");
    let all = all_of_them(&mark);
    (process, all, mark)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_leaves_nothing() {
    for hold in HOLDS {
        let (host, _) = Host::new().held_as(hold);
        let (mut process, all, mark) = started(&host, hold).await;
        process.stop();
        assert_eq!(process.wait().await, ProgramEnd::Stopped);
        // The end is told when nothing is left, so that nobody has to be waited for.
        assert!(marked(&mark).is_empty(), "{hold:?}");
        all_end(&all, &mark, hold);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_nobody_asks_for_any_more_leaves_nothing() {
    for hold in HOLDS {
        let (host, _) = Host::new().held_as(hold);
        let (process, all, mark) = started(&host, hold).await;
        drop(process);
        all_end(&all, &mark, hold);
    }
}

// On one thread that never lets go: nothing is heard of the program, so that its start is never over.
#[tokio::test]
async fn a_start_that_nobody_waits_for_any_more_leaves_nothing() {
    for hold in HOLDS {
        let (host, _) = Host::new().held_as(hold);
        let mark = mark(&host);
        let mut start = host.sandbox.start(host.command(hold.tier(), "/bin/sh", &["-c", &script(&mark)]));
        while marked(&mark).len() < SURVIVORS {
            let polled = start.poll_unpin(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending(), "{hold:?}");
        }
        let all = all_of_them(&mark);
        drop(start);
        all_end(&all, &mark, hold);
    }
}

#[test]
fn a_descriptor_that_a_daemon_was_started_with_is_in_nobodys_way() {
    for hold in HOLDS {
        let host = Host::new();
        let mut daemon = Daemon::start_by(&host, hold, "exec \"$0\" \"$@\" 3</dev/null 4</dev/null");
        daemon.run("echo well");
        assert_eq!(daemon.printed(), "well", "{hold:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_by_itself_leaves_nothing() {
    for hold in HOLDS {
        let (host, tier) = Host::new().held_as(hold);
        let mark = mark(&host);
        let script = format!("(setsid sleep 1000.{mark} &); (sleep 1000.{mark} &); exit 3");
        assert_eq!(host.shell(tier, &script).await.ended, ProgramEnd::Exited { code: 3 });
        assert!(marked(&mark).is_empty(), "{hold:?}");
    }
}

#[test]
fn a_daemon_that_is_killed_leaves_nothing() {
    for hold in HOLDS {
        let host = Host::new();
        let mark = mark(&host);
        let mut daemon = Daemon::start(&host, hold);
        daemon.run(&script(&mark));
        assert_eq!(daemon.printed(), "ready", "{hold:?}");
        let mut all = all_of_them(&mark);
        // Its keepers too, the one that waits among them.
        all.extend(daemon.children().into_iter().map(|(_, child)| child));
        daemon.process.kill().expect("it is killed");
        all_end(&all, &mark, hold);
    }
}

#[test]
fn a_keeper_that_is_killed_leaves_nothing() {
    for hold in HOLDS {
        let host = Host::new();
        if hold == Hold::WithoutNamespaces && host.sandbox.offer().limits == LimitRung::ProcessLimits {
            // Where nothing holds a tree together but its keeper, as docs/sandbox.md says.
            continue;
        }
        let mark = mark(&host);
        let mut daemon = Daemon::start(&host, hold);
        daemon.run(&script(&mark));
        assert_eq!(daemon.printed(), "ready", "{hold:?}");
        let all = all_of_them(&mark);
        for (keeper, _) in daemon.children() {
            let _ = kill_process(keeper, Signal::KILL);
        }
        all_end(&all, &mark, hold);
    }
}

#[test]
fn a_keeper_that_is_lost_while_it_waits_is_replaced() {
    let host = Host::new();
    let mut daemon = Daemon::start(&host, HOLDS[0]);
    for _ in 0..3 {
        daemon.run("echo well");
        assert_eq!(daemon.printed(), "well");
        // The program's own keeper goes, and another waits.
        let waiting = loop {
            if let [(pid, _)] = daemon.children().as_slice() {
                break *pid;
            }
            std::thread::yield_now();
        };
        let process = pidfd_open(waiting, PidfdFlags::empty()).expect("it waits");
        kill_process(waiting, Signal::KILL).expect("it is killed");
        retry_on_intr(|| poll(&mut [PollFd::new(&process, PollFlags::IN)], None)).expect("its end");
    }
}

/// A process that holds programs as the daemon does, and can be killed.
struct Daemon {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Daemon {
    fn start(host: &Host, hold: Hold) -> Self {
        Self::start_by(host, hold, "exec \"$0\" \"$@\"")
    }

    /// Has a shell start it.
    fn start_by(host: &Host, hold: Hold, script: &str) -> Self {
        let word = match hold {
            Hold::Tier(ProcessTier::Isolated) => "C",
            Hold::Tier(ProcessTier::Confined) => "B",
            Hold::WithoutNamespaces => "none",
        };
        let mut process = Command::new("/bin/sh");
        process
            .args(["-c", script, env!("CARGO_BIN_EXE_palyra-sandbox-exec"), "parent", word])
            .arg(host.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = process.spawn().expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("its output"));
        Self { process, output }
    }

    fn run(&mut self, script: &str) {
        writeln!(self.process.stdin.as_ref().expect("its input"), "{script}").expect("it is told");
    }

    fn printed(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Its keepers.
    fn children(&self) -> Vec<(Pid, OwnedFd)> {
        let threads =
            fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("its threads").flatten();
        let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        let lists: Vec<String> = lists.collect();
        let pids = lists.iter().flat_map(|list| list.split_ascii_whitespace());
        let pids = pids.filter_map(|pid| pid.parse().ok().and_then(Pid::from_raw));
        pids.filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?))).collect()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
