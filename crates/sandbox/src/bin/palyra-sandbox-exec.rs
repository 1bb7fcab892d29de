//! A keeper by itself, and a parent of one that can be killed: for the tests of this crate.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Write, copy};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palyra_ports::{
    ConfinedCommand, NetworkAccess, ProcessLimits, ProcessSandbox, ProcessTier, WorkspaceAccess,
    WorkspaceRoot,
};
use palyra_sandbox::Sandbox;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(palyra_sandbox::KEEP) => palyra_sandbox::keeper::run(),
        Some(palyra_sandbox::PROBE) => palyra_sandbox::keeper::probe(),
        Some("parent") => match arguments.collect::<Vec<_>>().as_slice() {
            [hold, folder] => parent(hold, &PathBuf::from(folder)),
            _ => ExitCode::FAILURE,
        },
        _ => ExitCode::FAILURE,
    }
}

/// Holds each line that it is told as a shell script in a folder, and hands on what they print, until it is killed.
fn parent(hold: &str, folder: &Path) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let sandbox = Sandbox::probe(PathBuf::from("/proc/self/exe"), folder.to_owned());
    let (sandbox, tier) = match hold {
        "C" => (sandbox, ProcessTier::Isolated),
        "B" => (sandbox, ProcessTier::Confined),
        _ => (sandbox.without(|offer| offer.user_namespaces = false), ProcessTier::Confined),
    };
    let held = |script: &str| -> std::io::Result<()> {
        runtime.as_ref().map_err(|error| error.kind())?.block_on(async {
            let started = sandbox.start(command(tier, folder, script)?).await;
            let mut process = started.map_err(std::io::Error::other)?;
            let (output, _errors) = process.take_output().ok_or(std::io::ErrorKind::BrokenPipe)?;
            let printed = std::thread::spawn(move || copy(&mut File::from(output), &mut std::io::stdout()));
            process.wait().await;
            printed.join().map_or(Ok(()), |copied| copied.map(drop))
        })
    };
    for line in std::io::stdin().lines() {
        if let Err(error) = line.and_then(|line| held(&line)) {
            let _ = writeln!(std::io::stdout(), "{error}");
        }
    }
    ExitCode::SUCCESS
}

fn command(tier: ProcessTier, folder: &Path, script: &str) -> std::io::Result<ConfinedCommand> {
    Ok(ConfinedCommand {
        tier,
        program: "/bin/sh".into(),
        arguments: ["sh", "-c", script].map(OsString::from).to_vec(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: folder.to_owned(),
        workspace: WorkspaceRoot::open(folder).map_err(std::io::Error::other)?,
        access: WorkspaceAccess::Change,
        kept: Vec::new(),
        readable: Vec::new(),
        sealed: Vec::new(),
        network: NetworkAccess::None,
        limits: ProcessLimits::default(),
    })
}
