//! Running tools.

use std::future::poll_fn;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use futures::future::BoxFuture;
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_types::effect::{FileBefore, RawPreImage, RawUndoneFile, RestoreImage, UndoResult, UndoneFile};
use palyra_types::tool::{Isolation, RawToolOutcome, ToolCatalog, ToolName};
use palyra_types::{Content, ErrorCode, Redacted};

use crate::bound_credential::BoundCredential;
use crate::hear_output::OutputSink;

/// Runs exactly what a grant permits.
pub trait ToolRuntime: Send + Sync {
    /// Returns the tools on offer.
    fn catalog(&self) -> Arc<ToolCatalog>;

    /// Returns what would keep a call of this tool from reaching more than it is given, as this host can.
    fn isolation(&self, _tool: &ToolName) -> Isolation {
        Isolation::DescriptorRelative
    }

    /// Works out what a call would do, and changes nothing. Only tools of
    /// [`ToolConduct::Prepared`](palyra_types::tool::ToolConduct) are asked.
    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>>;

    /// Runs the granted call. A failure *of the tool* is an outcome; an error means the outcome is not known
    /// or nothing was started. The caller keeps the deadline and raises the flag; work stops soon after.
    ///
    /// A grant of [`ExecutionAttempt::Again`](palyra_run_core::Execution) comes after a restart, by the tool's contract:
    /// a keyed call is made again with the same key, a probing one looks at the world before it goes on.
    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>>;
}

/// What a call would do, as its tool works it out; the caller adds digests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PreparedCall {
    /// The tool's own record of the plan, in canonical JSON, with all that it found and depends on.
    pub body: Content<String>,
    /// What the files were before; at most [`palyra_types::effect::PRE_IMAGE_BYTES_MAX`] together.
    pub pre_images: Vec<RawPreImage>,
    /// One line that says what the call does.
    pub summary: Content<String>,
    /// What it would change, as a unified diff where there is one; at most
    /// [`palyra_types::effect::PREVIEW_BYTES_MAX`].
    pub preview: Content<String>,
    /// What an approval does not bind; empty when all is bound.
    pub unbound: Content<String>,
    /// What the model reads of a call that would change nothing: no person is asked about it. Empty when it would change
    /// something.
    pub unchanged: Content<String>,
    /// Digest of the workspace's files that the call runs, by which a stored grant knows them again; `None` when it
    /// runs none.
    pub programs: Option<[u8; 32]>,
    /// Folders to which the call cannot write: those of the [`Intent`], where the tool can see to it. A call whose tool
    /// leaves any out is refused.
    pub read_only: Vec<String>,
    /// The secrets that the call carries, each with its one server. A call is refused before a person is asked where the
    /// vault would refuse one of them.
    pub secrets: Vec<BoundCredential>,
}

/// What a running call is given beside its grant.
#[derive(Debug, Clone, Default)]
pub struct Supervision {
    /// Raised when it should stop.
    pub cancel: CancelFlag,
    /// The key of this very effect, the same each time it is made.
    pub key: EffectKey,
    /// Where to say what it prints while it runs; a tool that prints nothing leaves it alone.
    pub output: OutputSink,
}

/// SHA-256 of "palyra/effect/v1\n", log id, run and effect number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EffectKey(pub [u8; 32]);

/// Puts files back as they were before a run changed them.
pub trait RestoreFiles: Send + Sync {
    /// Puts back each file, in order, that is still what the run left; says of each what became of it. What was put
    /// back already is left alone, so that it can be repeated after a restart.
    fn restore(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>>;

    /// Says what [`restore`](Self::restore) would do; changes nothing.
    fn preview(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        let why = || UndoResult::Failed("files cannot be looked at here".into());
        let files =
            order.files.into_iter().map(|file| UndoneFile { path: file.path, result: why() }).collect();
        Box::pin(async move { files })
    }

    /// Returns what [`restore`](Self::restore) would change in each file, whatever is there now; changes nothing.
    fn compare(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<ComparedFile>> {
        let refused = ComparedFile::refused("files cannot be compared here".to_owned());
        let compared = vec![refused; order.files.len()];
        Box::pin(async move { compared })
    }
}

/// A file as it is, beside what it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedFile {
    /// What is there.
    pub now: FileBefore<Content<Vec<u8>>>,
    /// The whole difference, as a unified diff.
    pub difference: Content<String>,
    /// Why it cannot be put there, or cannot be shown whole.
    pub refusal: Option<String>,
}

impl ComparedFile {
    /// Refuses to compare a file.
    #[must_use]
    pub fn refused(refusal: String) -> Self {
        Self { now: FileBefore::Absent, difference: Content::default(), refusal: Some(refusal) }
    }
}

/// What to put back.
#[derive(Debug, Clone)]
pub struct RestoreOrder {
    /// The folder of the run.
    pub workspace_root: Redacted<PathBuf>,
    /// The files: of several changes to one path, from the last to the first.
    pub files: Vec<RestoreImage>,
}

/// A flag that is raised once: blocking work looks at it between steps, other work waits for it.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag(Arc<RaisedFlag>);

#[derive(Debug, Default)]
struct RaisedFlag {
    raised: AtomicBool,
    /// Who waits; one entry for each task, as it polls anew.
    waiting: Mutex<Vec<Waker>>,
}

impl CancelFlag {
    /// Raises the flag.
    pub fn cancel(&self) {
        self.0.raised.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut *self.waiting());
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Returns whether it was raised.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.raised.load(Ordering::Acquire)
    }

    /// Waits until it is raised.
    pub async fn cancelled(&self) {
        poll_fn(|context| {
            let mut waiting = self.waiting();
            // Looked at under the lock, so that it is not raised in between.
            if self.is_cancelled() {
                return Poll::Ready(());
            }
            waiting.retain(|waker| !waker.will_wake(context.waker()));
            waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a granted call has no known outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteToolError {
    /// The runtime has no such tool: nothing was started.
    #[error("tool `{tool}` is not in the catalogue")]
    Unknown {
        /// The tool.
        tool: ToolName,
    },
    /// It was started and lost.
    #[error("tool `{tool}` may or may not have taken effect")]
    OutcomeUnknown {
        /// The tool.
        tool: ToolName,
    },
}

impl ExecuteToolError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. } => ErrorCode::ToolUnknown,
            Self::OutcomeUnknown { .. } => ErrorCode::ToolOutcomeUnknown,
        }
    }
}
