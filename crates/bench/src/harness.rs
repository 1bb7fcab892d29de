//! The whole runtime over the real journal, with a scripted model and a clock that its pauses move.
//!
//! Invariant: time moves only while nothing is on its way to the disk and every task has had its turn, so a
//! count is the same on a slow machine and on a fast one.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::{
    AppendError, AppendTape, Clock, CommitReceipt, JournalAppendRequest, Recorder, WorkspaceChoice,
    WorkspaceError, Workspaces,
};
use palyra_runtime::session::{SessionSelector, SubmitRequest};
use palyra_runtime::tape::TapeFollowEvent;
use palyra_runtime::{
    Caller, GatewayRuntimeConfigSnapshot, GatewayRuntimeState, ModelDirectory, RuntimePorts,
};
use palyra_testkit::PassThrough;
use palyra_testkit::fake_clock::FakeClock;
use palyra_testkit::fixed_entropy::FixedEntropy;
use palyra_testkit::scripted_provider::ScriptedProvider;
use palyra_tools::BuiltinTools;
use palyra_types::model::ModelRef;
use palyra_types::run::UserInput;
use palyra_types::session::SessionRef;
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::{BootTime, Content, SessionId, TapeSeq, Timestamp};
use tokio::sync::{Notify, watch};

/// A pause no longer than this moves the clock; a longer one waits for it.
const MOVING_PAUSE_MAX: Duration = Duration::from_millis(20);
/// Turns given to other tasks before the system counts as settled.
const SETTLING_TURNS: usize = 64;

/// A runtime in a folder of its own.
pub struct Harness {
    /// The handles.
    pub gateway: GatewayRuntimeState,
    /// The model.
    pub model: ScriptedProvider,
    /// The journal.
    pub journal: JournalStore,
    settled: Arc<QuiesceWaiter>,
}

impl Harness {
    /// Starts a runtime whose state is below `folder`, and whose workspace is `folder`/work.
    ///
    /// # Errors
    /// What the journal or the runtime says.
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        let clock = Arc::new(PacedClock::default());
        let entropy = Arc::new(FixedEntropy::new(7));
        let state_dir = folder.join("state");
        let journal = JournalStore::open(&OpenOptions::new(state_dir, clock.clone(), entropy.clone()))?;
        let store = Arc::new(journal.clone());
        let settled = Arc::clone(&clock.settled);
        let append = WatchedAppend { inner: store.clone(), settled: Arc::clone(&settled) };
        let model = ScriptedProvider::new(clock.clone());
        let default = ModelRef::new("scripted", "scripted");
        let directory = ModelDirectory::new(vec![Arc::new(model.clone())], default, Vec::new());
        let (_models, models) = watch::channel(Arc::new(directory));
        let (_config, config) = watch::channel(Arc::new(GatewayRuntimeConfigSnapshot::default()));
        let work = folder.join("work");
        std::fs::create_dir_all(&work)?;
        let ports = RuntimePorts {
            recorder: Recorder::new(Arc::new(append), Arc::new(PassThrough), clock.clone()),
            tapes: store.clone(),
            families: store.clone(),
            maintain: store.clone(),
            proofs: store.clone(),
            backups: Arc::new(palyra_ports::NoBackups),
            spare: Arc::new(palyra_ports::NoSpareFiles),
            artifacts: Arc::new(palyra_ports::NoArtifacts),
            notify: Arc::new(palyra_ports::NoTargets),
            erasures: store,
            tools: Arc::new(BuiltinTools::new()),
            restore: Arc::new(BuiltinTools::new()),
            kept: Arc::new(palyra_ports::NoKeptFiles),
            redactor: Arc::new(PassThrough),
            secrets: Arc::new(palyra_testkit::MemorySecrets::default()),
            components: Arc::new(palyra_testkit::NoComponents),
            skills: Arc::new(palyra_testkit::MemorySkillFolders::default()),
            memories: Arc::new(palyra_testkit::SharedWordSearch),
            workspaces: Arc::new(OneWorkspace(Content::new(work.canonicalize()?))),
            project_files: Arc::new(palyra_ports::NoProjectFiles),
            clock,
            entropy,
            models,
        };
        let gateway = palyra_runtime::gateway::start(ports, config).await?;
        Ok(Self { gateway, model, journal, settled })
    }

    /// Runs one input to its end and returns its tape.
    ///
    /// # Errors
    /// What the runtime says.
    pub async fn run(
        &self,
        session: Option<SessionId>,
        text: &str,
    ) -> anyhow::Result<(SessionId, Vec<Arc<OrchestratorTapeRecord>>)> {
        // Its session hears of a run's end after those who follow it; whoever comes between is queued.
        self.settled.wait().await;
        let caller = Caller::at_socket(self.gateway.admin.access.local_principal());
        let selector = SessionSelector { id: session, ..SessionSelector::default() };
        let request = SubmitRequest::new(selector, UserInput::text(text.into()));
        let submitted = self.gateway.sessions.submit(caller, request).await?;
        let mut follower = self.gateway.tapes.follow(caller, submitted.run, TapeSeq::default()).await?;
        let mut entries = Vec::new();
        while let Some(followed) = follower.next().await? {
            if let TapeFollowEvent::Entry(entry) = followed {
                entries.push(entry);
            }
        }
        Ok((submitted.session, entries))
    }
}

/// A clock that short pauses move on, once everything has settled.
#[derive(Clone, Default)]
struct PacedClock {
    clock: FakeClock,
    settled: Arc<QuiesceWaiter>,
}

impl Clock for PacedClock {
    fn wall(&self) -> Timestamp {
        self.clock.wall()
    }

    fn boot(&self) -> BootTime {
        self.clock.boot()
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        let this = self.clone();
        async move {
            let span = deadline.since(this.clock.boot());
            if span > MOVING_PAUSE_MAX {
                this.clock.sleep_until(deadline).await;
            } else {
                this.settled.wait().await;
                this.clock.advance(span);
            }
        }
        .boxed()
    }
}

/// Knows whether anything is on its way to the disk.
#[derive(Default)]
struct QuiesceWaiter {
    appending: AtomicUsize,
    done: Notify,
}

impl QuiesceWaiter {
    async fn wait(&self) {
        let mut turns = 0;
        while turns < SETTLING_TURNS {
            if self.appending.load(Ordering::Acquire) > 0 {
                let done = self.done.notified();
                if self.appending.load(Ordering::Acquire) > 0 {
                    done.await;
                }
                turns = 0;
            }
            tokio::task::yield_now().await;
            turns += 1;
        }
    }
}

/// Appends, and tells when something is on its way.
struct WatchedAppend {
    inner: Arc<dyn AppendTape>,
    settled: Arc<QuiesceWaiter>,
}

impl AppendTape for WatchedAppend {
    fn append(
        &self,
        request: JournalAppendRequest,
    ) -> BoxFuture<'static, Result<CommitReceipt, AppendError>> {
        let settled = Arc::clone(&self.settled);
        settled.appending.fetch_add(1, Ordering::AcqRel);
        let appending = self.inner.append(request);
        async move {
            let result = appending.await;
            settled.appending.fetch_sub(1, Ordering::AcqRel);
            settled.done.notify_waiters();
            result
        }
        .boxed()
    }
}

struct OneWorkspace(Content<std::path::PathBuf>);

impl Workspaces for OneWorkspace {
    fn choose(
        &self,
        _wanted: Option<&Content<std::path::PathBuf>>,
        _session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        Ok(WorkspaceChoice { root: self.0.clone(), note: None })
    }

    fn look(
        &self,
        wanted: Option<&Content<std::path::PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        self.choose(wanted, session)
    }
}

/// Runs a future on a runtime of one thread, as the counts need it.
///
/// # Errors
/// What the future says, or that the runtime cannot be made.
pub fn on_one_thread<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}
