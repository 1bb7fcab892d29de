//! What it costs to hold a program: both tiers beside a plain start and beside bubblewrap, in turn, in one run.
//!
//! `cargo run --release -p palyra-sandbox --example spawn_overhead [ROUNDS]`; prints a table in Markdown.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use palyra_ports::{
    ConfinedCommand, Ended, Network, ProcessLimits, ProcessSandbox, ProcessTier, WorkspaceAccess,
};
use palyra_sandbox::Sandbox;

const PROGRAM: &str = "/bin/true";
const WAYS: [&str; 5] = ["plain start", "keeper alone", "tier B", "tier C", "bubblewrap"];

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some(palyra_sandbox::KEEP) => drop(palyra_sandbox::keeper::run()),
        Some(palyra_sandbox::PROBE) => std::process::exit(i32::from(
            format!("{:?}", palyra_sandbox::keeper::probe())
                != format!("{:?}", std::process::ExitCode::SUCCESS),
        )),
        rounds => measure(rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(200)),
    }
}

fn measure(rounds: usize) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    let work = std::env::temp_dir().join(format!("palyra-spawn-{}", std::process::id()));
    std::fs::create_dir_all(&work).expect("a folder");
    let sandbox = Sandbox::probe(PathBuf::from("/proc/self/exe"), work.clone());
    println!("{:?}\n", sandbox.offer());
    let mut spans: [Vec<Duration>; WAYS.len()] = Default::default();
    for _ in 0..rounds {
        for (way, spans) in spans.iter_mut().enumerate() {
            let begin = Instant::now();
            let ran = match way {
                0 => plain(Command::new(PROGRAM)),
                1 => plain(Command::new("/proc/self/exe").arg(palyra_sandbox::KEEP)),
                2 => runtime.block_on(held(&sandbox, ProcessTier::Confined, &work)),
                3 => runtime.block_on(held(&sandbox, ProcessTier::Isolated, &work)),
                _ => bubblewrap(&work),
            };
            if ran {
                spans.push(begin.elapsed());
            }
        }
    }
    println!("| way | p50 | p99 | n |\n|---|--:|--:|--:|");
    for (name, mut spans) in WAYS.into_iter().zip(spans) {
        spans.sort();
        let at = |percent: usize| spans.get((spans.len() * percent / 100).min(spans.len().saturating_sub(1)));
        let told = |span: Option<&Duration>| {
            span.map_or("-".to_owned(), |span| format!("{:.2} ms", span.as_secs_f64() * 1e3))
        };
        println!("| {name} | {} | {} | {} |", told(at(50)), told(at(99)), spans.len());
    }
    let _ = std::fs::remove_dir_all(&work);
}

fn plain(command: impl std::borrow::BorrowMut<Command>) -> bool {
    let mut command = command;
    let command: &mut Command = command.borrow_mut();
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn bubblewrap(work: &PathBuf) -> bool {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/usr",
        "/usr",
    ]);
    for link in ["bin", "sbin", "lib", "lib64"] {
        command.args(["--symlink", &format!("usr/{link}"), &format!("/{link}")]);
    }
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
    command.arg("--bind").args([work, work]).arg("--chdir").arg(work).arg(PROGRAM);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

async fn held(sandbox: &Sandbox, tier: ProcessTier, work: &PathBuf) -> bool {
    let command = ConfinedCommand {
        tier,
        program: PROGRAM.into(),
        arguments: vec!["true".into()],
        environment: Vec::new(),
        directory: work.clone(),
        workspace: work.clone(),
        access: WorkspaceAccess::Change,
        kept: Vec::new(),
        readable: Vec::new(),
        sealed: Vec::new(),
        network: Network::None,
        limits: ProcessLimits::default(),
    };
    let mut process = sandbox.start(command).await.expect("it starts");
    process.wait().await == Ended::Exited { code: 0 }
}
