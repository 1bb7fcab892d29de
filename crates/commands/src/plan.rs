//! What a command would run, as it is recorded before it runs and looked at again when it does.
//!
//! Invariant: two plans are equal exactly when the same bytes would run with the same words in the same place.

use std::path::{Path, PathBuf};

use palyra_ports::{
    COMMAND_BYTES_MAX, ProcessTier, SandboxError, SandboxOffer, SealedFile, WorkspaceRoot, text_bytes,
};
use serde::{Deserialize, Serialize};

use crate::failure::CommandFailure;
use crate::opened::has_folder;
use crate::program::{Found, find_program, find_script};
use crate::reach::Reach;
use crate::settings::CommandSettings;

/// The words of a command, and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) argv: Vec<String>,
    /// Beneath the workspace; `None` for the workspace itself.
    pub(crate) folder: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) credentials: Vec<String>,
}

/// A command that was looked at. Its members are in order of name, so that its JSON is canonical.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub(crate) argv: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) credentials: Vec<String>,
    pub(crate) environment: Vec<String>,
    pub(crate) folder: PathBuf,
    /// Whom it may speak to; nobody when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<String>,
    pub(crate) program: Bound,
    pub(crate) script: Option<Bound>,
    pub(crate) tier: Tier,
}

/// A file that runs, as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bound {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tier {
    Confined,
    Isolated,
}

impl Tier {
    pub(crate) fn of_process(self) -> ProcessTier {
        match self {
            Self::Confined => ProcessTier::Confined,
            Self::Isolated => ProcessTier::Isolated,
        }
    }
}

/// A plan with the files that it is about.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    pub(crate) workspace: WorkspaceRoot,
    pub(crate) sealed: Vec<SealedFile>,
}

/// Looks at what a command would run.
pub(crate) fn plan(
    settings: &CommandSettings,
    offer: &SandboxOffer,
    workspace_root: &Path,
    wanted: &Wanted,
) -> Result<Planned, CommandFailure> {
    let workspace = WorkspaceRoot::open(workspace_root)?;
    check_length(settings, &wanted.argv)?;
    let folder = folder_of(&workspace, wanted.folder.as_deref())?;
    let word =
        wanted.argv.first().ok_or_else(|| CommandFailure::Arguments("`argv` names no program".to_owned()))?;
    let program = find_program(settings, &workspace, &folder, word)?;
    let script = find_script(settings, &workspace, &folder, &wanted.argv)?;
    let tier = strongest(offer)?;
    let reach = Reach::read(&wanted.hosts, &wanted.credentials)?;
    if !wanted.hosts.is_empty() {
        check_door(offer)?;
    }
    let plan = Plan {
        argv: wanted.argv.clone(),
        credentials: reach.credentials(),
        environment: settings.environment.iter().map(|(name, _)| name.clone()).collect(),
        folder,
        hosts: reach.hosts(),
        program: bound(&program),
        script: script.as_ref().map(bound),
        tier,
    };
    let sealed = [Some(program), script].into_iter().flatten().filter_map(|found| found.sealed).collect();
    Ok(Planned { plan, workspace, sealed })
}

/// Refuses what no program would be given, before anybody is asked about it.
fn check_length(settings: &CommandSettings, argv: &[String]) -> Result<(), CommandFailure> {
    let environment = settings.environment.iter().flat_map(|(name, value)| [name, value]);
    let bytes = text_bytes(argv.iter().chain(environment).map(String::len));
    if bytes > COMMAND_BYTES_MAX { Err(SandboxError::TooLong { bytes }.into()) } else { Ok(()) }
}

/// Commands can do harm, so that they get the strongest tier that there is.
pub(crate) fn strongest(offer: &SandboxOffer) -> Result<Tier, CommandFailure> {
    match (offer.missing_for(ProcessTier::Isolated), offer.missing_for(ProcessTier::Confined)) {
        (None, _) => Ok(Tier::Isolated),
        (Some(_), None) => Ok(Tier::Confined),
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

fn bound(found: &Found) -> Bound {
    let sha256 = found.digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Bound { path: found.path.clone(), sha256 }
}

fn folder_of(workspace: &WorkspaceRoot, inner: Option<&str>) -> Result<PathBuf, CommandFailure> {
    let Some(inner) = inner else { return Ok(workspace.path().to_owned()) };
    let missing = |_| CommandFailure::NotFound(format!("there is no folder `{inner}` in the workspace"));
    let folder = workspace.path().join(inner).canonicalize().map_err(missing)?;
    let Ok(beneath) = folder.strip_prefix(workspace.path()) else {
        return Err(CommandFailure::PathRefused(format!("`{inner}` lies outside of the workspace")));
    };
    if !has_folder(workspace, beneath) {
        return Err(CommandFailure::NotFound(format!("`{inner}` is no folder")));
    }
    Ok(folder)
}
