//! The daemon's runtime with the real journal and a scripted model, on threads of its own, served on loopback.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::Caller;
use palyra_admin::access::TokenRequest;
use palyra_api::DaemonFacts;
use palyra_grpc::{Listeners, ServeLimits, serve};
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::{Clock, Recorder, WorkspaceChoice, WorkspaceError, Workspaces};
use palyra_runtime::{
    GatewayRuntimeConfigSnapshot, GatewayRuntimeState, ModelDirectory, RuntimePorts, gateway,
};
use palyra_testkit::PassThrough;
use palyra_testkit::{FixedEntropy, Script, ScriptedProvider, ScriptedTools};
use palyra_types::model::ModelRef;
use palyra_types::session::SessionRef;
use palyra_types::{BootTime, Content, Timestamp};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long the model takes for an answer: long enough that others find its run active.
const ANSWER_SPAN: Duration = Duration::from_millis(2);

/// Each start throws other dice, for ids must not come twice.
static STARTS: AtomicU64 = AtomicU64::new(1);

/// Everything that a kill takes away.
pub(crate) struct FireHome {
    inside: Option<Runtime>,
    journal: JournalStore,
    state: GatewayRuntimeState,
}

impl FireHome {
    /// Opens the journal in a folder and serves. The listener outlives the house, so that nobody else gets its port
    /// and who knocks meanwhile waits.
    pub(crate) fn open(folder: &Path, tcp: &TcpListener) -> Self {
        let inside =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let clock: Arc<dyn Clock> = Arc::new(RealClock(Instant::now()));
        let entropy = Arc::new(FixedEntropy::new(STARTS.fetch_add(1, Ordering::SeqCst) * 1_000_003));
        let options = OpenOptions::new(folder.to_owned(), Arc::clone(&clock), entropy.clone());
        let journal = JournalStore::open(&options).unwrap();
        let tcp = tcp.try_clone().unwrap();
        let socket = folder.join("fire.sock");
        let _ = std::fs::remove_file(&socket);
        let unix = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let model = ScriptedProvider::new(Arc::clone(&clock));
        model.otherwise(Script::new().text("o").pause(ANSWER_SPAN).text("k"));
        let default = ModelRef::new("scripted", "scripted");
        let directory = ModelDirectory::new(vec![Arc::new(model)], default, Vec::new());
        let store = Arc::new(journal.clone());
        let ports = RuntimePorts {
            recorder: Recorder::new(store.clone(), Arc::new(PassThrough), Arc::clone(&clock)),
            tapes: store.clone(),
            families: store.clone(),
            maintain: store.clone(),
            proofs: store.clone(),
            backups: Arc::new(palyra_ports::NoBackups),
            spare: Arc::new(palyra_ports::NoSpareFiles),
            artifacts: Arc::new(palyra_ports::NoArtifacts),
            notify: Arc::new(palyra_ports::NoTargets),
            erasures: store,
            tools: Arc::new(ScriptedTools::new()),
            restore: Arc::new(palyra_tools::BuiltinTools::new()),
            kept: Arc::new(palyra_ports::NoKeptFiles),
            redactor: Arc::new(PassThrough),
            secrets: Arc::new(palyra_testkit::MemorySecrets::default()),
            components: Arc::new(palyra_testkit::NoComponents),
            skills: Arc::new(palyra_testkit::MemorySkillFolders::default()),
            memories: Arc::new(palyra_testkit::SharedWordSearch),
            workspaces: Arc::new(OneFolder(folder.to_owned())),
            project_files: Arc::new(palyra_ports::NoProjectFiles),
            clock,
            entropy,
            models: watch::channel(Arc::new(directory)).1,
        };
        let config = watch::channel(Arc::new(GatewayRuntimeConfigSnapshot::default())).1;
        // Entered from outside any runtime, for it is started on threads of its own.
        let (told, started) = std::sync::mpsc::channel();
        let facts = DaemonFacts::of_test(folder);
        inside.spawn(async move {
            let state = gateway::start(ports, config).await.unwrap();
            told.send(state.clone()).unwrap();
            let listeners = Listeners { unix, tcp: Some(tcp), open: watch::Sender::new(0), rebound: None };
            drop(serve(state, facts, listeners, ServeLimits::default(), CancellationToken::new()).await);
        });
        let state = started.recv().unwrap();
        Self { inside: Some(inside), journal, state }
    }

    pub(crate) async fn token(&self, principal: &str) -> Content<String> {
        let life = Duration::from_secs(3_600);
        let access = &self.state.admin.access;
        let owner = Caller::at_socket(access.local_principal());
        access.create_token(owner, TokenRequest::program(principal, "fire", life)).await.unwrap().1
    }

    /// Drops every task wherever it is; what the journal's own thread has queued is still written, as the disk
    /// of a killed daemon may hold what nobody was told.
    pub(crate) async fn tear_down(mut self) {
        let inside = self.inside.take().unwrap();
        let down = std::thread::spawn(move || inside.shutdown_timeout(Duration::from_secs(30)));
        tokio::task::spawn_blocking(move || down.join().unwrap()).await.unwrap();
        self.journal.close().await;
    }
}

/// The time as it is.
struct RealClock(Instant);

impl Clock for RealClock {
    fn wall(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp(i64::try_from(since.as_micros()).unwrap())
    }

    fn boot(&self) -> BootTime {
        BootTime::default().after(self.0.elapsed())
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        let span = deadline.since(self.boot());
        tokio::time::sleep(span).boxed()
    }
}

struct OneFolder(PathBuf);

impl Workspaces for OneFolder {
    fn choose(
        &self,
        _wanted: Option<&Content<PathBuf>>,
        _session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        Ok(WorkspaceChoice { root: Content::new(self.0.clone()), note: None })
    }

    fn look(
        &self,
        wanted: Option<&Content<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        self.choose(wanted, session)
    }
}
