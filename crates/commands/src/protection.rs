//! What a program may not leave behind in its workspace: names that something runs later, and the daemon's own files.
//!
//! Owns the life of one review: a scan and a record before the program starts, looks while it runs, and a last one
//! after its end. How it is prevented from changing what is there already is the sandbox's work; what it makes anew, or
//! changes where no mount is in the way, is moved to a folder of the daemon. Invariant: the result of a program is told
//! after the last look. Begin at [`ProgramReview::begin`].

mod tree;
mod protected_paths;
mod second_names;
mod git_config;
mod walk;
mod git_folder;
mod scan;
mod review;
mod granted;
mod path_text;
mod saved_nodes;
mod taken_list;
mod store;
mod kept;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use palyra_ports::{GrantedWrites, KeptOwner, WorkspaceRoot, text_bytes};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::failure::CommandFailure;
use crate::quoting::quoted;
use crate::settings::CommandSettings;
use granted::is_granted;
pub use kept::KeptStore;
use protected_paths::ProtectedPaths;
use review::{EntryChange, KnownEntry, ReviewBaseline};
use scan::scan;
use second_names::SecondName;
use store::{LostProgram, ProgramFolder, ProgramRecord};
use tree::WorkspaceTree;
use walk::ScanResult;

/// Paths that are mounted read-only for one program, at most; what is beyond is only looked at.
const MOUNTED_MAX: usize = 512;
/// Bytes of these paths, at most.
const MOUNTED_BYTES_MAX: usize = 32 * 1024;
/// The pause between two looks at a program that runs: at least this, and so many times what a look takes.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_FACTOR: u32 = 20;
/// Beyond this a program counts as one that was not seen any more.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Paths that are named in a result, and bytes of each.
const NAMED_MAX: usize = 6;
const NAME_CHARS_MAX: usize = 80;

/// The review of one program.
#[derive(Debug)]
pub(crate) struct ProgramReview {
    review: Arc<WorkspaceReview>,
    mounted: Vec<PathBuf>,
    is_read_only: bool,
    looks: AbortHandle,
}

/// Where a program works, and what it may not change there beside what is protected anyway.
#[derive(Debug, Clone)]
pub(crate) struct ProtectionScope {
    pub(crate) workspace: WorkspaceRoot,
    /// Whose call it is.
    pub(crate) owner: KeptOwner,
    /// Folders to which it may not write, from the workspace root; `.` is all of it.
    pub(crate) read_only: Vec<String>,
    /// Room for paths that are mounted.
    pub(crate) bytes_left: usize,
}

#[derive(Debug)]
struct WorkspaceReview {
    tree: WorkspaceTree,
    protected: ProtectedPaths,
    writes: GrantedWrites,
    owner: KeptOwner,
    kept: KeptStore,
    state: Mutex<ReviewState>,
    repeated: Notify,
}

#[derive(Debug)]
struct ReviewState {
    baseline: ReviewBaseline,
    folder: ProgramFolder,
    is_over: bool,
    taken: Vec<(PathBuf, EntryChange)>,
    /// What went wrong, once for each path.
    failed: BTreeSet<String>,
}

impl ProgramReview {
    /// Looks at a workspace before a program starts there.
    pub(crate) async fn begin(
        settings: &CommandSettings,
        scope: ProtectionScope,
    ) -> Result<Self, CommandFailure> {
        let settings = settings.clone();
        let begun = tokio::task::spawn_blocking(move || PreparedReview::make(&settings, &scope));
        let lost = |_| Err(CommandFailure::SandboxFailed("the workspace could not be looked at".to_owned()));
        let PreparedReview { review, mounted, is_read_only } = begun.await.unwrap_or_else(lost)?;
        let review = Arc::new(review);
        let looks = tokio::spawn(review_again(Arc::clone(&review))).abort_handle();
        Ok(Self { review, mounted, is_read_only, looks })
    }

    /// Returns what is mounted read-only.
    pub(crate) fn mounted(&self) -> &[PathBuf] {
        &self.mounted
    }

    /// Returns whether the whole workspace belongs to the daemon, so that nothing in it may be changed.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Looks for the last time, once the program has ended.
    pub(crate) async fn finish(&self) {
        self.looks.abort();
        let review = Arc::clone(&self.review);
        let looked = tokio::task::spawn_blocking(move || review.look(true)).await;
        if looked.is_err() {
            self.review.state().failed.insert("the workspace could not be looked at afterwards".to_owned());
        }
    }

    /// Waits until the program makes something again that was taken from it already.
    pub(crate) async fn is_evaded(&self) {
        self.review.repeated.notified().await;
    }

    /// Says what was taken; `None` when nothing was.
    pub(crate) fn describe(&self) -> Option<String> {
        self.review.state().describe(self.review.owner)
    }
}

impl Drop for ProgramReview {
    fn drop(&mut self) {
        self.looks.abort();
    }
}

struct PreparedReview {
    review: WorkspaceReview,
    mounted: Vec<PathBuf>,
    is_read_only: bool,
}

impl PreparedReview {
    fn make(settings: &CommandSettings, scope: &ProtectionScope) -> Result<Self, CommandFailure> {
        let workspace = scope.workspace.path();
        let unseen = |why: &dyn std::fmt::Display| {
            CommandFailure::SandboxFailed(format!(
                "no command is started here, because the workspace cannot be looked through for what runs later: {why}"
            ))
        };
        let own: Vec<PathBuf> = settings.own_paths.iter().flat_map(|path| as_it_lies(path)).collect();
        let is_read_only = own.iter().any(|own| workspace.starts_with(own)) || scope.closes_all();
        let own = own.iter().filter_map(|own| own.strip_prefix(workspace).ok());
        let own: Vec<PathBuf> = own.filter(|own| !own.as_os_str().is_empty()).map(Path::to_owned).collect();
        let tree = WorkspaceTree::open(scope.workspace.clone()).map_err(|error| unseen(&error))?;
        let protected = ProtectedPaths::new(own, &scope.read_only);
        let found = scan(&tree, &protected).map_err(|error| unseen(&error))?;
        if let Some(why) = &found.incomplete {
            return Err(unseen(why));
        }
        let relative = mountable(workspace, &found, scope.bytes_left);
        check_read_only(&found, &relative)?;
        let second = second_names::find(&tree, &found.read_only).map_err(|error| unseen(&error))?;
        check_second_name(second)?;
        let mounted = relative.iter().map(|path| workspace.join(path)).collect();
        let baseline = ReviewBaseline::new(found, &relative);
        let record = ProgramRecord::new(workspace, &protected, &scope.owner, &baseline);
        let folder = ProgramFolder::make(&settings.aside, &record).map_err(|error| {
            CommandFailure::SandboxFailed(format!(
                "no command is started, because `{}` cannot be written to, where its leavings would go: {error}",
                settings.aside.display()
            ))
        })?;
        let state = Mutex::new(ReviewState::new(baseline, folder));
        let (writes, kept) = (settings.writes.clone(), KeptStore::new(settings.aside.clone()));
        let (owner, repeated) = (scope.owner, Notify::new());
        let review = WorkspaceReview { tree, protected, writes, owner, kept, state, repeated };
        Ok(Self { review, mounted, is_read_only })
    }
}

impl ProtectionScope {
    fn closes_all(&self) -> bool {
        self.read_only.iter().any(|folder| folder == ".")
    }
}

/// Refuses a program for which a folder would not be read-only that has to be.
fn check_read_only(found: &ScanResult, mounted: &[PathBuf]) -> Result<(), CommandFailure> {
    if let Some(link) = found.links_to_read_only.first() {
        return Err(CommandFailure::PathRefused(format!(
            "no command is started here, because a rule forbids writing to a folder and {} is a link on the way to it; the person can name the real folder in the rule, without links",
            short(link)
        )));
    }
    found.read_only.iter().find(|folder| !mounted.contains(folder)).map_or(Ok(()), |folder| {
        Err(CommandFailure::SandboxFailed(format!(
            "no command is started here, because {} cannot be made read-only (no space left), and a rule forbids writing to it; the \
             person can name fewer folders",
            short(folder)
        )))
    })
}

/// Refuses a program that could change a file of a read-only folder by another name.
fn check_second_name(found: Option<SecondName>) -> Result<(), CommandFailure> {
    found.map_or(Ok(()), |SecondName { inside, outside }| {
        Err(CommandFailure::PathRefused(format!(
            "no command is started here, because {} is another name of {}, to which a rule forbids writing; the person can \
             put a copy in its place",
            short(&outside),
            short(&inside)
        )))
    })
}

/// Returns a path as it is named and as it really lies.
fn as_it_lies(path: &Path) -> Vec<PathBuf> {
    let real = path.canonicalize().ok().filter(|real| real != path);
    std::iter::once(path.to_owned()).chain(real).collect()
}

/// Returns what there is room to mount, what lies highest first.
fn mountable(workspace: &Path, found: &ScanResult, bytes_left: usize) -> Vec<PathBuf> {
    let mut left = bytes_left.min(MOUNTED_BYTES_MAX);
    let workspace_bytes = workspace.as_os_str().len() + 1;
    let mut mounted = Vec::new();
    // First what a rule closes; whatever else there is no room for is only looked at.
    for path in found.read_only.iter().chain(&found.mounted).take(MOUNTED_MAX) {
        let bytes = text_bytes(std::iter::once(workspace_bytes + path.as_os_str().len()));
        let Some(rest) = left.checked_sub(bytes) else { break };
        left = rest;
        mounted.push(path.clone());
    }
    mounted
}

/// Looks again and again while a program runs.
async fn review_again(review: Arc<WorkspaceReview>) {
    let mut pause = PAUSE_MIN;
    loop {
        tokio::time::sleep(pause).await;
        let begun = Instant::now();
        let looks = Arc::clone(&review);
        let _ = tokio::task::spawn_blocking(move || looks.look(false)).await;
        pause = (begun.elapsed() * PAUSE_FACTOR).clamp(PAUSE_MIN, PAUSE_MAX);
    }
}

impl WorkspaceReview {
    fn state(&self) -> MutexGuard<'_, ReviewState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks through the workspace, and takes what may not be there.
    fn look(&self, is_last: bool) {
        let mut state = self.state();
        if state.is_over {
            return;
        }
        state.folder.touch();
        let wrong = match scan(&self.tree, &self.protected) {
            Ok(found) => {
                if let Some(why) = found.incomplete.as_ref().filter(|_| is_last) {
                    state
                        .failed
                        .insert(format!("not all of the workspace could be looked at afterwards: {why}"));
                }
                self.ungranted(&mut state.baseline, &found)
            }
            Err(error) => {
                state.failed.insert(format!("the workspace could not be looked at: {error}"));
                Vec::new()
            }
        };
        for (path, change) in wrong {
            if state.taken.iter().any(|(taken, _)| *taken == path) {
                self.repeated.notify_one();
            }
            match state.take(&self.tree, &path, change) {
                Ok(_) => state.taken.push((path, change)),
                Err(error) => {
                    let name = short(&path);
                    state.failed.insert(format!(
                        "{name} is something that runs later and could not be moved: {error}"
                    ));
                }
            }
        }
        if is_last {
            state.is_over = true;
            state.folder.close();
            if !state.taken.is_empty() {
                self.kept.prune();
            }
        }
    }

    /// Returns what has to leave the workspace. What a tool wrote under a grant stays, and is known from now on.
    fn ungranted(&self, baseline: &mut ReviewBaseline, found: &ScanResult) -> Vec<(PathBuf, EntryChange)> {
        let mut wrong = baseline.review(found);
        wrong.retain(|(path, _)| {
            let Some(entry) = found.findings.get(path) else { return true };
            let before = baseline.known.get(path).and_then(|known| known.saved.as_ref());
            let whole = self.tree.path().join(path);
            let granted =
                entry.saved.as_ref().is_some_and(|now| is_granted(&self.writes, &whole, before, now));
            if granted {
                baseline.known.insert(path.clone(), KnownEntry::adopted(entry));
            }
            !granted
        });
        wrong
    }
}

impl ReviewState {
    fn new(baseline: ReviewBaseline, folder: ProgramFolder) -> Self {
        Self { baseline, folder, is_over: false, taken: Vec::new(), failed: BTreeSet::new() }
    }

    /// Moves an entry out of the workspace, and puts back what it took the place of. Returns whether that was possible.
    fn take(&mut self, tree: &WorkspaceTree, path: &Path, change: EntryChange) -> io::Result<bool> {
        let (folder, item) = self.folder.next_item(tree.path(), path, change)?;
        tree.move_out(path, &folder, &item.to_string())?;
        let Some(before) = self.baseline.known.get(path).and_then(|known| known.saved.as_ref()) else {
            return Ok(false);
        };
        tree.restore(path, before)?;
        self.folder.note_restored(item)?;
        Ok(true)
    }

    fn describe(&self, owner: KeptOwner) -> Option<String> {
        if self.taken.is_empty() && self.failed.is_empty() {
            return None;
        }
        let mut lines: Vec<String> = self.failed.iter().take(2).cloned().collect();
        let paths: BTreeSet<_> = self.taken.iter().collect();
        if !paths.is_empty() {
            let mut text = String::from("kept aside, because something runs it later or a rule forbids it: ");
            for (at, (path, change)) in paths.iter().take(NAMED_MAX).enumerate() {
                let change = match change {
                    EntryChange::New => "new",
                    EntryChange::Replaced | EntryChange::Displaced => "changed, and as before again",
                };
                let _ = write!(text, "{}{} ({change})", if at == 0 { "" } else { ", " }, short(path));
            }
            if paths.len() > NAMED_MAX {
                let _ = write!(text, " and {} more", paths.len() - NAMED_MAX);
            }
            let _ = write!(
                text,
                "; to have one in the workspace, propose it with a file tool, or ask the person to look at it: \
                 `palyra runs kept list {}`",
                owner.run
            );
            lines.push(text);
        }
        Some(lines.join("\n"))
    }
}

/// Returns a path as a word that is not too long.
fn short(path: &Path) -> String {
    let text = path.to_string_lossy();
    let left_out = text.chars().count().saturating_sub(NAME_CHARS_MAX);
    if left_out == 0 {
        return quoted(&text);
    }
    quoted(&format!("...{}", text.chars().skip(left_out).collect::<String>()))
}

/// Reviews what programs left behind whose end an earlier daemon did not see. Returns what was taken, for the log.
pub(crate) fn recover(settings: &CommandSettings) -> Vec<String> {
    let lines = store::lost(&settings.aside).into_iter().flat_map(recover_one).collect();
    KeptStore::new(settings.aside.clone()).prune();
    lines
}

fn recover_one(lost: LostProgram) -> Vec<String> {
    let LostProgram { folder, record, active_until_secs } = lost;
    let (workspace, protected) = (record.workspace.clone(), record.protected());
    let mut state = ReviewState::new(record.into_baseline(), folder);
    let mut lines = Vec::new();
    if let Ok(root) = WorkspaceRoot::open(&workspace)
        && let Ok(tree) = WorkspaceTree::open(root)
    {
        lines.extend(put_back(&state, &tree));
        lines.extend(take_left(&mut state, &tree, &protected, active_until_secs));
    }
    state.is_over = true;
    state.folder.close();
    lines
}

/// Puts back what was being put back when the daemon ended, where its place is still free.
fn put_back(state: &ReviewState, tree: &WorkspaceTree) -> Vec<String> {
    let mut lines = Vec::new();
    for (item, path) in state.folder.unrestored() {
        let before = state.baseline.known.get(&path).and_then(|known| known.saved.as_ref());
        let is_moved = std::fs::symlink_metadata(state.folder.path.join(item.to_string())).is_ok();
        let is_free = tree.stat(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if let (Some(before), true, true) = (before, is_moved, is_free) {
            let whole = tree.path().join(&path);
            let restored = tree.restore(&path, before).and_then(|()| state.folder.note_restored(item));
            lines.push(match restored {
                Ok(()) => format!("{} is as before again", whole.display()),
                Err(error) => format!("{} could not be put back: {error}", whole.display()),
            });
        }
    }
    lines
}

/// Takes what the program left.
fn take_left(
    state: &mut ReviewState,
    tree: &WorkspaceTree,
    protected: &ProtectedPaths,
    active_until_secs: i64,
) -> Vec<String> {
    let Ok(found) = scan(tree, protected) else { return Vec::new() };
    let is_its = |path: &Path| {
        found.findings.get(path).is_some_and(|found| found.mark.changed_secs <= active_until_secs)
    };
    let left = state.baseline.review(&found);
    let mut lines = Vec::new();
    for (path, change) in left.into_iter().filter(|(path, _)| is_its(path)) {
        let whole = tree.path().join(&path);
        let aside = state.folder.path.display().to_string();
        lines.push(match state.take(tree, &path, change) {
            Ok(true) => format!("{} was moved to {aside}, and is as before again", whole.display()),
            Ok(false) => format!("{} was moved to {aside}", whole.display()),
            Err(error) => format!("{} could not be moved, or not be put back: {error}", whole.display()),
        });
    }
    lines
}

#[cfg(test)]
mod root_tests;
#[cfg(test)]
mod unfinished_tests;
