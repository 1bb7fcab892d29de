//! What people accept of what projects say about work on them, and what a run is given of it.
//!
//! Owns whose acceptances count and when one still fits its file. The journal alone knows them: each question reads it.
//! Invariant: a digest that the caller did not accept for this very root makes no rules. Begin at [`ProjectRules::of_run`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use palyra_journal_core::families::project_rules::of_principal;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::{
    AppendClass, Clock, FoundProjectFile, FoundProjectFiles, NewEntry, ProjectFileExtent, ProjectFiles,
    ReadError, Recorder, Redactor, SecretFound, Workspaces,
};
use palyra_types::access::AccessScope;
use palyra_types::event::PolicyEvent;
use palyra_types::project_file::{
    ACCEPTED_PROJECT_FILES_MAX, AcceptedProjectFile, AcceptedProjectFileRecord, ProjectFile,
    ProjectFileStanding, digest_text,
};
use palyra_types::surface::WorkspaceRootSource;
use palyra_types::{Content, PrincipalId, Redacted, Seq};

use crate::caller::Caller;
use crate::error::AdminError;
use crate::identity::unless_secret;

/// Notes remembered, so that they are made once; beyond it they are made again.
const NOTES_REMEMBERED_MAX: usize = 1_024;
/// The mark at the end of a file of which only the beginning was read.
const CUT: &str = "\n(The rest of this file is left out: it is too long.)\n";

/// Where a project is looked at.
#[derive(Debug, Clone)]
pub struct ProjectPlace {
    /// The root of the workspace.
    pub root: Content<PathBuf>,
    /// The folder in question, at or below the root.
    pub folder: Option<Content<PathBuf>>,
}

/// What a run is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectReading {
    /// The files, from the root down.
    pub files: Vec<ProjectFile>,
    /// What to say to a person at a terminal.
    pub notes: Vec<String>,
}

/// Reads what projects say, and what their people accepted of it.
pub struct ProjectRules {
    project_files: Arc<dyn ProjectFiles>,
    families: Arc<dyn ReadFamilies>,
    redactor: Arc<dyn Redactor>,
    /// Notes that were made since the start, as digests.
    noted: Mutex<BTreeSet<[u8; 32]>>,
}

impl ProjectReading {
    /// Returns whether a file among them is data.
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.files.iter().any(|file| file.standing == ProjectFileStanding::Data)
    }
}

impl ProjectRules {
    pub(crate) fn new(
        project_files: Arc<dyn ProjectFiles>,
        families: Arc<dyn ReadFamilies>,
        redactor: Arc<dyn Redactor>,
    ) -> Self {
        Self { project_files, families, redactor, noted: Mutex::default() }
    }

    /// Returns what a run of the caller is given in a workspace. Nothing that fails here fails the run: it is noted.
    pub async fn of_run(
        &self,
        caller: Caller,
        root: &Redacted<PathBuf>,
        folder: Option<&Path>,
    ) -> ProjectReading {
        let found = self.project_files.read(root.expose(), folder);
        let mut notes = found.refused;
        if found.files.is_empty() {
            return ProjectReading { files: Vec::new(), notes: self.fresh(caller, root, notes) };
        }
        let accepted = self.accepted(caller.actor.principal).await.unwrap_or_else(|error| {
            notes.push(format!("what you accepted of it could not be read, so it is shown as data: {error}"));
            Vec::new()
        });
        let mut files = Vec::new();
        for file in found.files {
            let Some(file) = self.cleaned(file, root, &accepted) else {
                notes.push(
                    "a file of the project is not read: its path looks like it holds a secret".to_owned(),
                );
                continue;
            };
            if file.standing == ProjectFileStanding::Data {
                notes.push(asking(&file, root, folder));
            }
            files.push(file);
        }
        ProjectReading { files, notes: self.fresh(caller, root, notes) }
    }

    async fn accepted(&self, principal: PrincipalId) -> Result<Vec<AcceptedProjectFileRecord>, ReadError> {
        self.families.query(move |rows, log| of_principal(rows, log, principal)).await
    }

    fn cleaned(
        &self,
        found: FoundProjectFile,
        root: &Redacted<PathBuf>,
        accepted: &[AcceptedProjectFileRecord],
    ) -> Option<ProjectFile> {
        let redactor = &*self.redactor;
        let path = unless_secret(redactor, found.path.expose())?;
        let sha256 = Redacted::from(found.sha256);
        let this = AcceptedProjectFile { root: root.clone(), path, sha256 };
        let is_accepted = accepted.iter().any(|record| record.file == this);
        let mut text = redactor.redact(found.text).text;
        if found.extent == ProjectFileExtent::Beginning {
            text.push(&CUT.into());
        }
        Some(ProjectFile {
            path: this.path,
            sha256: this.sha256,
            text: text.map(Into::into),
            standing: if is_accepted { ProjectFileStanding::Accepted } else { ProjectFileStanding::Data },
        })
    }

    /// Returns those of the notes that a person at a terminal has not read since the start.
    fn fresh(&self, caller: Caller, root: &Redacted<PathBuf>, mut notes: Vec<String>) -> Vec<String> {
        if !names_folder(caller) {
            return Vec::new();
        }
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        notes.retain(|note| {
            let place = format!("{} {:?} {note}", caller.actor.principal, root.expose());
            let is_fresh = noted.insert(palyra_ledger::sha256(place.as_bytes()));
            if noted.len() > NOTES_REMEMBERED_MAX {
                noted.clear();
            }
            is_fresh
        });
        notes
    }
}

/// Lists what the caller accepted, accepts more, and withdraws it.
#[derive(Clone)]
pub struct ProjectRulesHandle {
    rules: Arc<ProjectRules>,
    recorder: Recorder,
    workspaces: Arc<dyn Workspaces>,
    clock: Arc<dyn Clock>,
}

impl ProjectRulesHandle {
    /// Makes a handle of what runs are given.
    #[must_use]
    pub fn new(
        rules: &Arc<ProjectRules>,
        recorder: &Recorder,
        workspaces: &Arc<dyn Workspaces>,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        Self {
            rules: Arc::clone(rules),
            recorder: recorder.clone(),
            workspaces: Arc::clone(workspaces),
            clock: Arc::clone(clock),
        }
    }

    /// Returns what the caller accepted, oldest first.
    ///
    /// # Errors
    /// [`AdminError::Read`].
    pub async fn accepted(&self, caller: Caller) -> Result<Vec<AcceptedProjectFileRecord>, AdminError> {
        Ok(self.rules.accepted(caller.actor.principal).await?)
    }

    /// Returns the files of a folder as a run of the caller would be given them, and why others are not read.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] for a folder that may not be a workspace, or that the caller may not name;
    /// [`AdminError::Read`].
    pub async fn look(&self, caller: Caller, place: ProjectPlace) -> Result<FolderRules, AdminError> {
        let (root, found) = self.read(caller, place)?;
        let accepted = self.accepted(caller).await?;
        let cleaned = |file| self.rules.cleaned(file, &root, &accepted);
        let files = found.files.into_iter().filter_map(cleaned).collect();
        Ok(FolderRules { root, files, refused: found.refused })
    }

    /// Accepts the files of a folder that have this digest now, in place of what was accepted of them before.
    ///
    /// # Errors
    /// [`AdminError::ProjectRulesChanged`] when none has it; [`AdminError::NotAnApprover`] for a credential that may not
    /// decide approvals; [`AdminError::InvalidArgument`], also for one file too many; [`AdminError::SecretInIdentity`];
    /// [`AdminError::Append`], [`AdminError::Read`].
    pub async fn accept(
        &self,
        caller: Caller,
        place: ProjectPlace,
        sha256: [u8; 32],
    ) -> Result<Vec<AcceptedProjectFileRecord>, AdminError> {
        check_approver(caller)?;
        let (root, found) = self.read(caller, place)?;
        let accepted = self.accepted(caller).await?;
        let same = |file: &FoundProjectFile| file.sha256 == sha256;
        let paths: Vec<Redacted<String>> = found
            .files
            .iter()
            .filter(|file| same(file))
            .filter_map(|file| unless_secret(&*self.rules.redactor, file.path.expose()))
            .collect();
        if paths.is_empty() {
            return Err(AdminError::ProjectRulesChanged);
        }
        let sha256 = Redacted::from(sha256);
        let mut events = Vec::new();
        let mut more = 0;
        for path in &paths {
            let file = AcceptedProjectFile { root: root.clone(), path: path.clone(), sha256: sha256.clone() };
            let (same, before): (Vec<_>, Vec<_>) =
                accepted.iter().filter(|one| is_at(one, &root, path)).partition(|one| one.file == file);
            if same.is_empty() {
                events.extend(before.iter().map(|one| PolicyEvent::ProjectRulesWithdrawn(one.seq)));
                events.push(PolicyEvent::ProjectRulesAccepted(file));
                more += usize::from(before.is_empty());
            }
        }
        if accepted.len() + more > ACCEPTED_PROJECT_FILES_MAX {
            let what = format!("you accepted {ACCEPTED_PROJECT_FILES_MAX} files already; withdraw one first");
            return Err(AdminError::InvalidArgument { what });
        }
        self.record(caller, events, AppendClass::Normal).await?;
        let mut now = self.accepted(caller).await?;
        now.retain(|one| paths.iter().any(|path| is_at(one, &root, path)));
        Ok(now)
    }

    /// Withdraws an acceptance of the caller by the number of its entry: runs that are admitted from now on read its file as
    /// data.
    ///
    /// # Errors
    /// [`AdminError::InvalidArgument`] where there is none; [`AdminError::Append`], [`AdminError::Read`].
    pub async fn withdraw(&self, caller: Caller, accepted: Seq) -> Result<(), AdminError> {
        if !self.accepted(caller).await?.iter().any(|one| one.seq == accepted) {
            let what = "nothing is accepted by this number; `palyra approve rules` lists what is".to_owned();
            return Err(AdminError::InvalidArgument { what });
        }
        self.record(caller, vec![PolicyEvent::ProjectRulesWithdrawn(accepted)], AppendClass::Ending).await
    }

    fn read(
        &self,
        caller: Caller,
        ProjectPlace { root, folder }: ProjectPlace,
    ) -> Result<(Redacted<PathBuf>, FoundProjectFiles), AdminError> {
        let refused = |what: String| AdminError::InvalidArgument { what };
        if !names_folder(caller) {
            return Err(refused("a folder is named at the daemon's own socket only".to_owned()));
        }
        let real = self.workspaces.real_folder(root.expose());
        let real = real.map_err(|refusal| refused(format!("the folder cannot be a workspace: {refusal}")))?;
        let checked = self.recorder.check(caller.actor.principal, Content::new(real));
        let field = "the path of the workspace";
        let root = checked.map_err(|SecretFound { .. }| AdminError::SecretInIdentity { field })?;
        let found =
            self.rules.project_files.read(root.expose(), folder.as_ref().map(|at| at.expose().as_path()));
        Ok((root, found))
    }

    async fn record(
        &self,
        caller: Caller,
        events: Vec<PolicyEvent>,
        class: AppendClass,
    ) -> Result<(), AdminError> {
        if events.is_empty() {
            return Ok(());
        }
        let time = self.clock.wall();
        let principal = caller.actor.principal;
        let entry =
            |event: PolicyEvent| NewEntry { time, principal, session: None, run: None, event: event.into() };
        let entries = events.into_iter().map(entry).collect();
        self.recorder.record_act(caller.actor, entries, class, Vec::new()).await?;
        Ok(())
    }
}

/// The files of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderRules {
    /// The real path of the workspace.
    pub root: Redacted<PathBuf>,
    /// The files, from the root down.
    pub files: Vec<ProjectFile>,
    /// Why others are not read.
    pub refused: Vec<String>,
}

/// Returns whether the caller names folders of this machine.
fn names_folder(caller: Caller) -> bool {
    caller.actor.surface.profile().workspace_root == WorkspaceRootSource::Client
}

fn check_approver(caller: Caller) -> Result<(), AdminError> {
    if caller.scopes.contains(AccessScope::Approve) { Ok(()) } else { Err(AdminError::NotAnApprover) }
}

fn is_at(one: &AcceptedProjectFileRecord, root: &Redacted<PathBuf>, path: &Redacted<String>) -> bool {
    one.file.root == *root && one.file.path == *path
}

/// Says that a file is data, and what accepts it.
fn asking(file: &ProjectFile, root: &Redacted<PathBuf>, folder: Option<&Path>) -> String {
    let sha256 = digest_text(file.sha256.expose());
    let is_plain = |root: &&str| root.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let place = match root.expose().to_str().filter(is_plain) {
        _ if folder == Some(root.expose()) => String::new(),
        Some(root) => format!(" --workspace {root}"),
        None => " --workspace DIR".to_owned(),
    };
    format!(
        "the model reads {} as data, for it is new or has changed; `palyra approve rules --accept {sha256}{place}` makes \
         it rules of the project",
        file.path.expose()
    )
}
