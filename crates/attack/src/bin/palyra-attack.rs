//! Carries out the attack suite and tells what it found.
//!
//! The same executable is the keeper of the programs that it starts, and carries out one half when it is told to.
#![expect(clippy::print_stdout, reason = "a command-line tool speaks on standard output")]

use std::fs::Permissions;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use palyra_attack::half::{self, ChosenPairs, NetworkPlace};
use palyra_attack::pair::{AttackerUser, PairDivision, PairResult};
use palyra_attack::tally::{CASES_MIN, SuiteTally};
use palyra_attack::trial::TrialContext;
use palyra_attack::trial_folder::TrialFolder;
use palyra_sandbox::Sandbox;

/// This executable, whatever becomes of its file.
const ITSELF: &str = "/proc/self/exe";
/// The user and the group that have nothing.
const NOBODY: u32 = 65534;

#[derive(Debug, Parser)]
#[command(name = "palyra-attack", about = "The attack suite: every case with its canary and its control")]
struct CliArguments {
    /// Prints a line of JSON for each pair, and one with the counts.
    #[arg(long)]
    json: bool,
    /// Carries out only the pairs whose text holds this, such as `36/` or `tier C`.
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// Does not fail because the half as root was not carried out.
    #[arg(long)]
    as_user_only: bool,
    /// Carries out each pair as one of the two users, where both could; another number divides them in another way.
    #[arg(long, value_name = "SEED")]
    each_once: Option<u64>,
    /// Carries out one half in this process.
    #[arg(long, hide = true)]
    half: Option<String>,
    /// The program that ships, for one half.
    #[arg(long, hide = true)]
    palyra: Option<PathBuf>,
    /// Is in a network of its own.
    #[arg(long, hide = true)]
    own_network: bool,
}

fn main() -> ExitCode {
    // Before there is a second thread.
    match std::env::args().nth(1).as_deref() {
        Some(palyra_sandbox::KEEP) => return palyra_sandbox::keeper::run(),
        Some(palyra_sandbox::PROBE) => return palyra_sandbox::keeper::probe(),
        Some(palyra_attack::RUN_AS_TOOL) => return run_as_tool(),
        Some(palyra_attack::COMPONENT_HOST) => return palyra_attack::call_component(&attack_words()),
        Some(palyra_attack::READ_PAGE) => return palyra_attack::read_as(&attack_words()),
        Some(palyra_wasm::COMPILE) => return palyra_wasm::compile(std::env::args_os().skip(2)),
        _ => {}
    }
    let arguments = CliArguments::parse();
    let done = match &arguments.half {
        Some(half) => carry_out_half(half, &arguments),
        None => carry_out(&arguments),
    };
    done.unwrap_or_else(|error| {
        eprintln!("palyra-attack: {error:#}");
        ExitCode::FAILURE
    })
}

fn attack_words() -> Vec<String> {
    std::env::args().skip(2).collect()
}

fn run_as_tool() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let run = || palyra_attack::with_variables(std::env::args().skip(2));
    match runtime.and_then(|runtime| runtime.block_on(run())) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn carry_out_half(half: &str, arguments: &CliArguments) -> Result<ExitCode> {
    let half = if half == "root" { AttackerUser::Root } else { AttackerUser::User };
    let scratch = TrialFolder::new().context("there is no folder to work in")?;
    let program = PathBuf::from(ITSELF);
    let sandbox = Sandbox::probe(program.clone(), scratch.scratch());
    let without_namespaces = sandbox.without(|offer| offer.user_namespaces = false);
    let palyra = arguments.palyra.clone();
    let place = TrialContext { half, program, palyra, sandbox, without_namespaces };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let inside = if arguments.own_network { NetworkPlace::OwnNetwork } else { NetworkPlace::Host };
    let division = arguments.each_once.map(PairDivision::new);
    let chosen = ChosenPairs { only: arguments.only.clone(), division };
    runtime.block_on(half::carry_out(place, inside, &chosen))?;
    Ok(ExitCode::SUCCESS)
}

fn carry_out(arguments: &CliArguments) -> Result<ExitCode> {
    let root = rustix::process::geteuid().is_root();
    let mut tally = SuiteTally::default();
    let progress = ProgressLine { shown: std::io::stderr().is_terminal() };
    let shipped = ShippedProgram::copy().context("could not copy the program that ships")?;
    for half in [AttackerUser::User, AttackerUser::Root] {
        if half == AttackerUser::User || root {
            let mut command = half_of(half, root, arguments.only.as_deref());
            // Without the second half each pair of the first is carried out.
            if let Some(seed) = arguments.each_once.filter(|_| root) {
                command.arg("--each-once").arg(seed.to_string());
            }
            if let Some(shipped) = &shipped {
                command.arg("--palyra").arg(shipped.path());
            }
            listen(command, &mut tally, &progress)?;
        }
    }
    progress.clear();
    let counts = tally.counts();
    if arguments.json {
        for line in tally.lines()? {
            println!("{line}");
        }
    } else {
        print!("{}", tally.table());
    }
    let whole = arguments.only.is_some() || counts.cases >= CASES_MIN;
    if !whole {
        eprintln!("palyra-attack: {} pairs are fewer than {CASES_MIN}", counts.cases);
    }
    if !root {
        eprintln!("palyra-attack: the half as root was not carried out; it needs that user");
    }
    println!("{}", serde_json::to_string(&counts)?);
    let good = counts.hold() && whole && (root || arguments.as_user_only);
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns what carries out one half, as its user.
fn half_of(half: AttackerUser, root: bool, only: Option<&str>) -> Command {
    let mut command = Command::new(ITSELF);
    command.args(["--half", if half == AttackerUser::Root { "root" } else { "user" }]);
    if let Some(only) = only {
        command.args(["--only", only]);
    }
    if root && half == AttackerUser::User {
        command.uid(NOBODY).gid(NOBODY).env("HOME", "/nonexistent");
    }
    command
}

/// `palyra` of the same build, in a folder of its own that every user may enter; gone when dropped.
struct ShippedProgram {
    folder: tempfile::TempDir,
}

impl ShippedProgram {
    /// Copies it; none where it was not built.
    fn copy() -> std::io::Result<Option<Self>> {
        let built = std::env::current_exe()?.with_file_name("palyra");
        if !built.is_file() {
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix("palyra-attack-program-").tempdir_in("/var/tmp")?;
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
        let shipped = Self { folder };
        std::fs::copy(built, shipped.path())?;
        Ok(Some(shipped))
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("palyra")
    }
}

/// Has one half carried out by a process of its user, and gathers what it finds.
fn listen(mut command: Command, tally: &mut SuiteTally, progress: &ProgressLine) -> Result<()> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .current_dir("/")
        .spawn()
        .context("could not start one half")?;
    let output = child.stdout.take().context("one half has no output")?;
    for line in BufReader::new(output).lines() {
        let found: PairResult = serde_json::from_str(&line?).context("one half does not make sense")?;
        progress.tell(&found);
        tally.add(found);
    }
    ensure!(child.wait()?.success(), "one half ended before its end");
    Ok(())
}

/// One line on a terminal that says what was done last.
struct ProgressLine {
    shown: bool,
}

impl ProgressLine {
    fn tell(&self, found: &PairResult) {
        if self.shown {
            eprint!("\r\x1b[2K{} {}", if found.holds() { "holds" } else { "FAILS" }, found.pair.text());
            let _ = std::io::stderr().flush();
        }
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[2K");
        }
    }
}
