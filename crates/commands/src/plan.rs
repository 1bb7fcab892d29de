//! What a command would run, as it is recorded before it runs and looked at again when it does.
//!
//! Invariant: two plans are equal exactly when the same bytes would run with the same words in the same place.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use palyra_ports::{
    COMMAND_BYTES_MAX, ProcessTier, SandboxError, SandboxOffer, SealedFile, WorkspaceRoot, text_bytes,
};
use palyra_types::path_reading::PathReading;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::CommandFailure;
use crate::named_files::{FileRole, NamedFiles, find_named};
use crate::opened::{FolderProblem, check_folder};
use crate::program::{ProgramFile, find_program, find_script};
use crate::quoting::quoted_path;
use crate::reach::NetworkReach;
use crate::settings::CommandSettings;

/// The words of a command, and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandRequest {
    pub(crate) argv: Vec<String>,
    /// Beneath the workspace; `None` for the workspace itself.
    pub(crate) folder: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) credentials: Vec<String>,
    /// Folders to which it may not write, from the workspace root.
    pub(crate) read_only: Vec<String>,
}

/// A command that was looked at. Its members are in order of name, so that its JSON is canonical.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommandPlan {
    pub(crate) argv: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) credentials: Vec<String>,
    pub(crate) environment: Vec<String>,
    /// Files of the workspace that its words name, beside program and script.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<BoundFile>,
    pub(crate) folder: PathBuf,
    /// Whom it may speak to; nobody when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<String>,
    pub(crate) program: BoundFile,
    /// Folders to which it may not write, from the workspace root; `.` is all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) read_only: Vec<String>,
    pub(crate) script: Option<BoundFile>,
    pub(crate) tier: PlanTier,
    /// Files that it names and that were not looked at: too large, or too many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unbound: Vec<PathBuf>,
}

/// A file that runs, as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundFile {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlanTier {
    Confined,
    Isolated,
}

impl PlanTier {
    pub(crate) fn of_process(self) -> ProcessTier {
        match self {
            Self::Confined => ProcessTier::Confined,
            Self::Isolated => ProcessTier::Isolated,
        }
    }
}

/// A plan with the files that it is about.
#[derive(Debug)]
pub(crate) struct PlannedCommand {
    pub(crate) plan: CommandPlan,
    pub(crate) workspace: WorkspaceRoot,
    pub(crate) sealed: Vec<SealedFile>,
    /// Digest of the workspace's files that it may run; `None` when it names none.
    pub(crate) programs: Option<[u8; 32]>,
}

/// Looks at what a command would run.
pub(crate) fn plan(
    settings: &CommandSettings,
    offer: &SandboxOffer,
    workspace_root: &Path,
    wanted: &CommandRequest,
) -> Result<PlannedCommand, CommandFailure> {
    let workspace = WorkspaceRoot::open(workspace_root)?;
    check_length(settings, &wanted.argv)?;
    let folder = folder_of(&workspace, wanted.folder.as_deref())?;
    let word =
        wanted.argv.first().ok_or_else(|| CommandFailure::Arguments("`argv` names no program".to_owned()))?;
    let program = find_program(settings, &workspace, &folder, word)?;
    let script = find_script(settings, &workspace, &folder, &wanted.argv)?;
    let known: Vec<&Path> =
        [Some(&program), script.as_ref()].into_iter().flatten().map(|found| &*found.path).collect();
    let named = find_named(&workspace, &folder, &wanted.argv, &known);
    let tier = strongest(offer)?;
    let reach = NetworkReach::read(&wanted.hosts, &wanted.credentials)?;
    if !wanted.hosts.is_empty() {
        check_door(offer)?;
    }
    let plan = CommandPlan {
        argv: wanted.argv.clone(),
        credentials: reach.credentials(),
        environment: settings.environment.iter().map(|(name, _)| name.clone()).collect(),
        files: named.files.iter().map(|(_, found)| bound(found)).collect(),
        folder,
        hosts: reach.hosts(),
        program: bound(&program),
        read_only: wanted.read_only.clone(),
        script: script.as_ref().map(bound),
        tier,
        unbound: named.unbound.clone(),
    };
    let programs = programs_of(&workspace, [Some(&program), script.as_ref()], &named);
    let sealed = [Some(program), script].into_iter().flatten().filter_map(|found| found.sealed).collect();
    Ok(PlannedCommand { plan, workspace, sealed, programs })
}

/// Returns one digest over the files of the workspace that a command may run, by which a grant knows them again. One
/// that could not be looked at is known by its name and size.
fn programs_of(
    workspace: &WorkspaceRoot,
    started: [Option<&ProgramFile>; 2],
    named: &NamedFiles,
) -> Option<[u8; 32]> {
    let code = named.files.iter().filter(|(role, _)| *role == FileRole::Code).map(|(_, found)| found);
    let started = started.into_iter().flatten().filter(|found| found.path.starts_with(workspace.path()));
    let mut lines: Vec<Vec<u8>> = started
        .chain(code)
        .map(|found| [found.path.as_os_str().as_bytes(), b"\0bytes\0", &found.digest].concat())
        .collect();
    lines.extend(named.unbound.iter().map(|path| {
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        [path.as_os_str().as_bytes(), b"\0size\0", &bytes.to_be_bytes()].concat()
    }));
    lines.sort();
    let mut hash = Sha256::new();
    for line in &lines {
        hash.update((line.len() as u64).to_be_bytes());
        hash.update(line);
    }
    (!lines.is_empty()).then(|| hash.finalize().into())
}

/// Refuses what no program would be given, before anybody is asked about it.
fn check_length(settings: &CommandSettings, argv: &[String]) -> Result<(), CommandFailure> {
    let environment = settings.environment.iter().flat_map(|(name, value)| [name, value]);
    let bytes = text_bytes(argv.iter().chain(environment).map(String::len));
    if bytes > COMMAND_BYTES_MAX { Err(SandboxError::TooLong { bytes }.into()) } else { Ok(()) }
}

/// Commands can do harm, so that they get the strongest tier that there is.
pub(crate) fn strongest(offer: &SandboxOffer) -> Result<PlanTier, CommandFailure> {
    match (offer.missing_for(ProcessTier::Isolated), offer.missing_for(ProcessTier::Confined)) {
        (None, _) => Ok(PlanTier::Isolated),
        (Some(_), None) => Ok(PlanTier::Confined),
        (Some(_), Some(mechanism)) => Err(CommandFailure::SandboxMissing(format!(
            "this host has no {mechanism}, without which no command is started; the person can look at `palyra doctor`"
        ))),
    }
}

/// A door leads out of a network of one's own, which only the strongest tier has.
fn check_door(offer: &SandboxOffer) -> Result<(), CommandFailure> {
    let missing = offer.missing_for(ProcessTier::Isolated);
    missing.map_or(Ok(()), |mechanism| {
        Err(CommandFailure::SandboxMissing(format!(
            "this host has no {mechanism}, without which no command reaches another host; leave `hosts` out"
        )))
    })
}

fn bound(found: &ProgramFile) -> BoundFile {
    let sha256 = found.digest.iter().map(|byte| format!("{byte:02x}")).collect();
    BoundFile { path: found.path.clone(), sha256 }
}

/// Returns where a command starts: a folder beneath the workspace, to which no link leads.
fn folder_of(workspace: &WorkspaceRoot, inner: Option<&str>) -> Result<PathBuf, CommandFailure> {
    let Some(inner) = inner else { return Ok(workspace.path().to_owned()) };
    let reading = PathReading::read(inner, workspace.path().to_str());
    let names = reading.below_root().map_err(|problem| {
        CommandFailure::PathRefused(format!(
            "`cwd` {problem}; name a folder from the workspace root, without `..`"
        ))
    })?;
    let beneath: PathBuf = names.iter().collect();
    match check_folder(workspace, &beneath) {
        Ok(()) => Ok(workspace.path().join(beneath)),
        Err(FolderProblem::Link { link, target }) => Err(CommandFailure::PathRefused(format!(
            "`cwd` is or goes through {}, a link to {}, and links are not followed; name the real folder",
            quoted_path(&link),
            quoted_path(&target)
        ))),
        Err(FolderProblem::NoFolder) => Err(CommandFailure::NotFound(format!("`{inner}` is not a folder"))),
        Err(FolderProblem::Missing) => {
            Err(CommandFailure::NotFound(format!("there is no folder `{inner}` in the workspace")))
        }
        Err(FolderProblem::Unusable(error)) => {
            Err(CommandFailure::NotFound(format!("`{inner}` cannot be entered: {error}")))
        }
    }
}
