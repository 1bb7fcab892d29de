//! Hosts that lack a mechanism (22): nothing is started there with less.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::{
    ConfinedCommand, NetworkAccess, ProcessLimits, ProcessSandbox, ProcessTier, SandboxOffer, SealedFile,
    WorkspaceAccess, WorkspaceRoot,
};
use palyra_sandbox::Sandbox;
use serde_json::json;

use super::repository::git;
use super::yard::{RAN, ShellYard, owned};
use crate::calls::call;
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

type OfferChange = fn(&mut SandboxOffer);
type CommandStart = fn(&mut ConfinedCommand) -> io::Result<()>;

/// What is missing, for whom, and what else is wanted.
const MISSING: &[(&str, ProcessTier, OfferChange, CommandStart)] = &[
    ("Landlock, tier B", ProcessTier::Confined, |offer| offer.landlock_abi = 0, plain),
    ("Landlock, tier C", ProcessTier::Isolated, |offer| offer.landlock_abi = 0, plain),
    (
        "the filter of system calls, tier B",
        ProcessTier::Confined,
        |offer| offer.syscall_filter = false,
        plain,
    ),
    (
        "the filter of system calls, tier C",
        ProcessTier::Isolated,
        |offer| offer.syscall_filter = false,
        plain,
    ),
    ("namespaces, tier C", ProcessTier::Isolated, |offer| offer.user_namespaces = false, plain),
    ("namespaces and Landlock's signals, tier B", ProcessTier::Confined, old, plain),
    ("everything, tier B", ProcessTier::Confined, nothing, plain),
    ("everything, tier C", ProcessTier::Isolated, nothing, plain),
    ("network namespaces, a way out", ProcessTier::Confined, |offer| offer.user_namespaces = false, guarded),
    (
        "mount namespaces, a sealed program",
        ProcessTier::Confined,
        |offer| offer.user_namespaces = false,
        sealed,
    ),
];

/// Tools that start programs, on a host that has nothing.
const TOOLS: &[(&str, &str)] = &[("run_command", "argv"), ("start_job", "argv"), ("git", "subcommand")];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let missing = MISSING.iter().map(|&(variant, tier, lacking, wanting)| {
        let pair = CasePair::new(22, variant, "a refusal with its name");
        AttackTrial::new(vec![pair], move |place, pairs| lacks(tier, lacking, wanting, place, pairs))
    });
    let tools = TOOLS.iter().map(|&(tool, _)| {
        let pair = CasePair::new(22, format!("everything, {tool}"), "a refusal with its name");
        AttackTrial::new(vec![pair], move |place, pairs| tool_lacks(tool, place, pairs))
    });
    missing.chain(tools).collect()
}

fn plain(_command: &mut ConfinedCommand) -> io::Result<()> {
    Ok(())
}

fn guarded(command: &mut ConfinedCommand) -> io::Result<()> {
    command.network = NetworkAccess::Guarded;
    Ok(())
}

fn sealed(command: &mut ConfinedCommand) -> io::Result<()> {
    let path = command.workspace.path().join("sealed");
    std::fs::write(&path, "")?;
    let bytes = rustix::fs::memfd_create("sealed", rustix::fs::MemfdFlags::CLOEXEC)?;
    command.sealed = vec![SealedFile { path, bytes: Arc::new(bytes) }];
    Ok(())
}

fn old(offer: &mut SandboxOffer) {
    offer.user_namespaces = false;
    offer.landlock_abi = 5;
}

fn nothing(offer: &mut SandboxOffer) {
    *offer = SandboxOffer::default();
}

async fn lacks(
    tier: ProcessTier,
    lacking: OfferChange,
    wanting: CommandStart,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let (control, held) = (ShellYard::new()?, ShellYard::new()?);
        start(&place.sandbox, command(tier, wanting, &control)?).await?;
        // A refusal is what is wanted; the judge looks whether it ran.
        let _ = start(&place.sandbox.without(lacking), command(tier, wanting, &held)?).await;
        Ok(Some((held.touched(""), control.touched(""))))
    })
    .await
}

fn command(tier: ProcessTier, wanting: CommandStart, yard: &ShellYard) -> io::Result<ConfinedCommand> {
    let work: PathBuf = yard.work();
    let mut command = ConfinedCommand {
        tier,
        program: "/bin/sh".into(),
        arguments: ["sh", "-c", "echo > ran"].map(Into::into).to_vec(),
        environment: Vec::new(),
        directory: work.clone(),
        workspace: WorkspaceRoot::open(&work).map_err(io::Error::other)?,
        access: WorkspaceAccess::Change,
        kept: Vec::new(),
        readable: Vec::new(),
        sealed: Vec::new(),
        network: NetworkAccess::None,
        limits: ProcessLimits::default(),
    };
    wanting(&mut command)?;
    Ok(command)
}

async fn start(sandbox: &Sandbox, command: ConfinedCommand) -> io::Result<()> {
    let mut process = sandbox.start(command).await.map_err(io::Error::other)?;
    process.wait().await;
    Ok(())
}

async fn tool_lacks(tool: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async {
        let (control, held) = (ShellYard::new()?, ShellYard::new()?);
        let arguments = match tool {
            "git" => {
                for yard in [&control, &held] {
                    git(yard, &["init", "-q"])?;
                }
                json!({ "subcommand": "rev-parse", "revisions": ["canary-7f3a91"] })
            }
            _ => json!({ "argv": owned(&["touch", RAN]) }),
        };
        let with = control.tools(&place.sandbox);
        let honest = call(&with, tool, &arguments, &control.work()).await;
        if tool == "start_job" {
            wait_for(&control).await;
        }
        let without = held.tools(&place.sandbox.without(nothing));
        let outcome = call(&without, tool, &arguments, &held.work()).await;
        Ok(Some((held.touched(&outcome.text), control.touched(&honest.text))))
    })
    .await
}

/// Waits a little for a job that goes on by itself.
async fn wait_for(yard: &ShellYard) {
    for _ in 0..100 {
        if yard.work().join(RAN).exists() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
