//! Variables of the daemon that would make a command run something else (4), or find something else (5).
//!
//! The command is run by a process of its own that has the variable, because one's own are not changed. Begin at
//! [`trials`]; [`inside`] is what that process does.

use std::fs;
use std::io;
use std::process::Stdio;

use palyra_sandbox::Sandbox;
use tokio::process::Command;

use super::yard::{SHELL, ShellYard};
use crate::pair::{AttackerUser, CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::TrialFolder;

/// The hidden word with which this executable runs one command as a tool and prints what the model would read.
pub const INSIDE: &str = "run-as-tool";

/// A variable, what it says, and the command that minds it.
struct Variable {
    case: u8,
    name: &'static str,
    value: &'static str,
    argv: &'static [&'static str],
}

const fn at(name: &'static str, value: &'static str, argv: &'static [&'static str]) -> Variable {
    Variable { case: 4, name, value, argv }
}

const VARIABLES: &[Variable] = &[
    at("BASH_ENV", "{WORK}/evil.sh", &["bash", "-c", ":"]),
    at("ENV", "{WORK}/evil.sh", &["sh", "-i", "-c", ":"]),
    at("PS4", "$(touch {WORK}/ran)", &["bash", "-xc", ":"]),
    at("BASH_FUNC_echo%%", "() { touch {WORK}/ran; }", &["bash", "-c", "echo hello"]),
    at("LD_PRELOAD", "{WORK}/evil.so", &["cat", "/dev/null"]),
    at("LD_AUDIT", "{WORK}/evil.so", &["cat", "/dev/null"]),
    at("GLIBC_TUNABLES", "canary-7f3a91", &["env"]),
    at("AWS_SECRET_ACCESS_KEY", "canary-7f3a91", &["env"]),
    at("SSH_AUTH_SOCK", "canary-7f3a91", &["sh", "-c", "echo $SSH_AUTH_SOCK"]),
    at("PYTHONPATH", "{WORK}/evil", &["python3", "-c", "0"]),
    at("PYTHONSTARTUP", "{WORK}/evil.py", &["python3", "-i"]),
    at("PERL5LIB", "{WORK}/evil", &["perl", "-e", "require evil"]),
    at("PERL5OPT", "-Mlib={WORK}/evil -Mevil", &["perl", "-e", "0"]),
    at("NODE_OPTIONS", "--require {WORK}/evil.js", &["node", "-e", "0"]),
    at("NODE_PATH", "{WORK}/evil", &["node", "-e", "require('evil')"]),
    at("MAKEFLAGS", "--eval=$(shell touch {WORK}/ran)", &["make", "-f", "/dev/null"]),
    at("MAKEFILES", "{WORK}/evil.mk", &["make", "-f", "/dev/null"]),
    at(
        "TAR_OPTIONS",
        "--checkpoint=1 --checkpoint-action=exec={WORK}/evil.sh",
        &["tar", "cf", "/dev/null", "evil.sh"],
    ),
    at("GIT_SSH_COMMAND", "touch {WORK}/ran;", &["git", "ls-remote", "ssh://example/x"]),
    at("GIT_EXEC_PATH", "{WORK}/evil", &["git", "evil"]),
    at("GIT_CONFIG_GLOBAL", "{WORK}/evil.config", &["git", "x"]),
    at("GIT_CONFIG_PARAMETERS", "'alias.x=!touch {WORK}/ran'", &["git", "x"]),
    at("GIT_TRACE", "{OUT}/new", &["git", "version"]),
    at("HOME", "{WORK}/home", &["git", "x"]),
    at("XDG_CONFIG_HOME", "{WORK}/config", &["git", "x"]),
    Variable { case: 5, name: "PATH", value: "{WORK}/bin:/usr/bin:/bin", argv: &["uname"] },
    Variable { case: 5, name: "PATH", value: ".:/usr/bin:/bin", argv: &["whoami"] },
    Variable { case: 5, name: "PATH", value: ":/usr/bin:/bin", argv: &["arch"] },
];

/// A library that minds only the command: whoever sets such a variable for the daemon has the daemon.
const LIBRARY: &str = r#"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void evil(void) {
    char name[16] = "";
    int fd = open("/proc/self/comm", O_RDONLY);
    if (fd < 0 || read(fd, name, sizeof name - 1) < 0) return;
    if (strncmp(name, "cat", 3) == 0) creat("{WORK}/ran", 0644);
}
unsigned la_version(unsigned version) { return version; }
"#;

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    VARIABLES.iter().map(trial).collect()
}

fn trial(variable: &'static Variable) -> AttackTrial {
    let variant = match variable.case {
        5 => format!("`{}` by PATH={}", variable.argv[0], variable.value),
        _ => variable.name.to_owned(),
    };
    let pair = CasePair::new(variable.case, variant, "the environment of run_command");
    AttackTrial::new(vec![pair], move |place, pairs| carry_out(variable, place, pairs))
}

async fn carry_out(
    variable: &'static Variable,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let control = prepare()?;
        if variable.name.starts_with("LD_") && !control.work().join("evil.so").exists() {
            // Nobody here makes libraries.
            return Ok(None);
        }
        if (variable.name, place.half) == ("PS4", AttackerUser::Root) {
            // A shell of root does not take it from its environment (since bash 4.4).
            return Ok(None);
        }
        let own = (variable.name.to_owned(), control.word(variable.value));
        // `env` looks for the program by the variable that it is given.
        let by_env = [format!("env {}={}", own.0, own.1)];
        let by_env = by_env.iter().filter(|_| variable.case == 5).flat_map(|words| words.split(' '));
        let argv = by_env.chain(variable.argv.iter().copied()).map(|word| control.word(word));
        let Some(printed) = control.as_is(&argv.collect::<Vec<_>>(), &[own]).await? else { return Ok(None) };
        let touched_by_control = control.touched(&printed);

        let held = prepare()?;
        let mut process = Command::new(&place.program);
        process
            .arg(INSIDE)
            .arg(held.work())
            .args(variable.argv)
            .env("SHELL", SHELL)
            .env(variable.name, held.word(variable.value));
        let output = process.stdin(Stdio::null()).output().await?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Err(io::Error::other(format!("{printed}{}", String::from_utf8_lossy(&output.stderr))));
        }
        Ok(Some((held.touched(&printed), touched_by_control)))
    })
    .await
}

/// Makes a workspace in which every variable finds what it asks for.
fn prepare() -> io::Result<ShellYard> {
    let yard = ShellYard::new()?;
    let touch = yard.word("touch {WORK}/ran");
    yard.program("evil.sh", &format!("#!/bin/sh\n{touch}\n"))?;
    yard.write("evil.py", &yard.word("open('{WORK}/ran', 'w')\n"))?;
    yard.write("evil/sitecustomize.py", &yard.word("open('{WORK}/ran', 'w')\n"))?;
    yard.write("evil/evil.pm", &yard.word("package evil; open(my $f, '>', '{WORK}/ran'); 1;\n"))?;
    yard.write("evil.js", &yard.word("require('fs').writeFileSync('{WORK}/ran', '')\n"))?;
    yard.write("evil/evil.js", &yard.word("require('fs').writeFileSync('{WORK}/ran', '')\n"))?;
    yard.write("evil.mk", &format!("x := $(shell {touch})\n"))?;
    let config = format!("[alias]\n\tx = !{touch}\n");
    for name in ["evil.config", "home/.gitconfig", "config/git/config"] {
        yard.write(name, &config)?;
    }
    for name in ["evil/git-evil", "bin/uname", "whoami", "arch"] {
        yard.program(name, &format!("#!/bin/sh\n{touch}\n"))?;
    }
    yard.write("evil.c", &yard.word(LIBRARY))?;
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o", "evil.so", "evil.c"]).current_dir(yard.work());
    // Where there is no compiler the two variables that want a library are left out.
    let _ = compiler.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(yard)
}

/// Runs one command as a tool in this process, whose environment is the attack.
///
/// # Errors
/// When there is no folder to work in, or the call was refused before it began.
pub async fn inside(mut arguments: impl Iterator<Item = String>) -> io::Result<String> {
    let work = arguments.next().unwrap_or_default();
    let argv: Vec<String> = arguments.collect();
    let trial_folder = TrialFolder::new()?;
    let sandbox = Sandbox::probe("/proc/self/exe".into(), trial_folder.scratch());
    let tools = super::yard::tools(&trial_folder, &sandbox);
    let root = fs::canonicalize(work)?;
    let outcome =
        crate::calls::call(&tools, "run_command", &serde_json::json!({ "argv": argv }), &root).await;
    if outcome.shown.is_empty() { Err(io::Error::other(outcome.text)) } else { Ok(outcome.text) }
}
