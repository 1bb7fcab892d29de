//! A process of the same user that nobody may end, change or look into.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::written::ProgramAttack;
use crate::trial_folder::SECRET;

const SHARING: &str = include_str!("../../cases/victim.py");

/// The process; ended when dropped.
pub(crate) struct VictimProcess {
    child: Child,
    /// Held open, so that it can speak.
    _said: BufReader<ChildStdout>,
    before: String,
    /// Of its shared memory, semaphores and messages.
    shared: Option<u32>,
}

/// A shell; without capabilities where an attacker has none, for the kernel lets nobody into a process that has more.
fn shell(attack: &ProgramAttack) -> Command {
    let shell = "/bin/sh";
    if !attack.has("user") || !rustix::process::geteuid().is_root() {
        return Command::new(shell);
    }
    let mut command = Command::new("/usr/bin/setpriv");
    command.args(["--inh-caps=-all", "--bounding-set=-all", shell]);
    command
}

impl VictimProcess {
    /// Starts it; it holds `file` open as its descriptor 9, and has the secret in its arguments and its environment.
    pub(crate) fn start(attack: &ProgramAttack, file: &Path, number: u32) -> io::Result<Self> {
        let key = 0x5041_0000 + (std::process::id() & 0xff) * 0x100 + (number & 0xff);
        let shares = attack.has("shared");
        let mut command = if shares {
            let mut command = Command::new("/usr/bin/python3");
            command.args(["-I", "-S", "-c", SHARING, SECRET]);
            command
        } else {
            let mut command = shell(attack);
            command.args(["-c", "exec 9< \"$0\"; echo ready; read -r end"]).arg(file).arg(SECRET);
            command
        };
        command
            .env_clear()
            .env("SECRET", SECRET)
            .env("SHARED", key.to_string())
            .process_group(0)
            .current_dir(file.parent().unwrap_or(file));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut said = BufReader::new(child.stdout.take().ok_or_else(|| io::Error::other("no output"))?);
        said.read_line(&mut String::new())?;
        let mut victim = Self { child, _said: said, before: String::new(), shared: shares.then_some(key) };
        victim.before = victim.look();
        Ok(victim)
    }

    /// Returns its number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the key of what it shares.
    pub(crate) fn shared_key(&self) -> u32 {
        self.shared.unwrap_or_default()
    }

    /// Says what became of it.
    pub(crate) fn touched(&mut self) -> Vec<String> {
        if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
            return vec!["the victim ended".to_owned()];
        }
        if self.look() == self.before { Vec::new() } else { vec!["the victim changed".to_owned()] }
    }

    /// Describes its limits, its priority, its scheduler and where it runs.
    fn look(&self) -> String {
        let read =
            |name: &str| fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap_or_default();
        let (limits, status, stat) = (read("limits"), read("status"), read("stat"));
        let processors = status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap_or_default();
        let stopped =
            status.lines().any(|line| line.starts_with("State:\tT") || line.starts_with("State:\tt"));
        let after_name: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
        let field = |number: usize| after_name.get(number - 3).copied().unwrap_or_default();
        // Of proc(5): priority, nice, real-time priority, policy.
        format!("{limits}{processors}{stopped} {} {} {} {}", field(18), field(19), field(40), field(41))
    }
}

impl Drop for VictimProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(key) = self.shared {
            let key = format!("{key:#x}");
            let mut remove = Command::new("ipcrm");
            remove.args(["-M", &key, "-S", &key, "-Q", &key]).stdout(Stdio::null()).stderr(Stdio::null());
            let _ = remove.status();
        }
    }
}
