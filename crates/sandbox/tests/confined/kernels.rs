//! Kernels that really lack a mechanism: a process that is refused it probes, and holds programs, as a daemon there would.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use palyra_ports::ProcessSandbox;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use crate::host::Host;

const SECRET: &str = "canary-7f3a91";
const HOLDS: [&str; 3] = ["C", "B", "B without namespaces"];
/// What this kernel calls the processor.
const PROCESSOR: TargetArch =
    if cfg!(target_arch = "aarch64") { TargetArch::aarch64 } else { TargetArch::x86_64 };

/// A file outside of the workspace and a process, both of the same user.
struct Canaries {
    host: Host,
    victim: Child,
}

impl Canaries {
    fn new() -> Self {
        let host = Host::new();
        fs::create_dir(host.folder.path().join("outside")).expect("a folder");
        fs::write(host.folder.path().join("outside/file"), SECRET).expect("a file");
        let victim = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("a process");
        Self { host, victim }
    }

    /// Goes for all of them, and says that it was there.
    fn attack(&self) -> String {
        let file = self.host.folder.path().join("outside/file").display().to_string();
        format!("echo began; touch here; cat {file}; echo evil >{file}; kill -9 {}; true", self.victim.id())
    }

    /// Hands the attack to a program as a line, and returns what it prints.
    fn told_to(&self, program: &mut Command) -> String {
        let mut program = program
            .current_dir(self.host.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut input = program.stdin.take().expect("its input");
        writeln!(input, "{}", self.attack()).expect("it reads");
        drop(input);
        let output = program.wait_with_output().expect("it ends");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Says which were touched: the file by a look, the file by a change, the process.
    fn touched(&mut self, printed: &str) -> [bool; 3] {
        let file = fs::read_to_string(self.host.folder.path().join("outside/file")).expect("the file");
        let ended = self.victim.try_wait().expect("its state").is_some();
        [printed.contains(SECRET), file != SECRET, ended]
    }

    fn began(&self) -> bool {
        self.host.work().join("here").exists()
    }
}

impl Drop for Canaries {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// What takes user namespaces away from what it starts, and sees that they are gone.
const NO_NAMESPACES: &str =
    "echo 0 >/proc/sys/user/max_user_namespaces && ! unshare --user true && exec \"$0\" \"$@\"";

/// Starts a program where nobody gets user namespaces: below one of its own, whose number of others is none.
fn without_namespaces(program: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c", NO_NAMESPACES, program]);
    command
}

#[test]
fn where_nobody_gets_user_namespaces_tier_c_is_refused_and_tier_b_holds() {
    let keeper = env!("CARGO_BIN_EXE_palyra-sandbox-exec");
    let held_as = |hold: &str| {
        let mut canaries = Canaries::new();
        let work = canaries.host.work();
        let printed = canaries.told_to(without_namespaces(keeper).args(["parent", hold]).arg(work));
        let touched = canaries.touched(&printed);
        (printed, touched, canaries.began())
    };
    let (printed, touched, began) = held_as("C");
    assert!(printed.contains("this host has no user namespaces,"), "{printed}");
    assert!(!began, "{printed}");
    assert_eq!(touched, [false; 3], "{printed}");

    let (printed, touched, began) = held_as("B");
    assert_eq!(touched, [false; 3], "{printed}");
    if Host::new().sandbox.offer().landlock_abi < 6 {
        assert!(printed.contains("this host has no user namespaces or Landlock 6,") && !began, "{printed}");
    } else {
        assert!(printed.contains("began") && began, "{printed}");
    }

    // The control: there, unheld, all are touched.
    let mut canaries = Canaries::new();
    let printed = canaries.told_to(&mut without_namespaces("sh"));
    assert!(canaries.began(), "{printed}");
    canaries.victim.wait().expect("it ends");
    assert_eq!(canaries.touched(&printed), [true; 3], "{printed}");
}

/// Returns a filter that answers one system call as a kernel does that does not have it, or has it switched off.
fn refusing(call: libc::c_long, errno: i32) -> BpfProgram {
    let refusal = SeccompAction::Errno(errno.cast_unsigned());
    let rules = BTreeMap::from([(call, Vec::new())]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, PROCESSOR).expect("a filter");
    filter.try_into().expect("its program")
}

#[test]
fn where_the_kernel_refuses_landlock_or_seccomp_nothing_is_started() {
    for (call, errno, mechanism) in [
        (libc::SYS_landlock_create_ruleset, libc::ENOSYS, "Landlock"),
        (libc::SYS_landlock_create_ruleset, libc::EOPNOTSUPP, "Landlock"),
        (libc::SYS_seccomp, libc::ENOSYS, "seccomp"),
    ] {
        for hold in HOLDS {
            let told = |refused: bool| {
                let mut canaries = Canaries::new();
                let mut parent = Command::new(env!("CARGO_BIN_EXE_palyra-sandbox-exec"));
                parent.args(["parent", hold]).arg(canaries.host.work());
                let filter = refusing(call, errno);
                if refused {
                    let put = move || apply_filter(&filter).map_err(|_| std::io::ErrorKind::Other.into());
                    // SAFETY: makes two system calls with memory that is there already.
                    unsafe { parent.pre_exec(put) };
                }
                let printed = canaries.told_to(&mut parent);
                assert_eq!(canaries.touched(&printed), [false; 3], "{mechanism} {hold}: {printed}");
                (canaries.began(), printed)
            };
            let (began, printed) = told(true);
            assert!(printed.contains(&format!("this host has no {mechanism},")), "{hold}: {printed}");
            assert!(!began, "{mechanism} {hold}: {printed}");
            let (began, printed) = told(false);
            assert!(began && printed.contains("began"), "the control, {hold}: {printed}");
        }
    }
}
