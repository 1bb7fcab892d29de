//! A daemon of the test's own: the runtime over doubles, with the OpenAI-compatible surface on a loopback port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::access::TokenRequest;
use palyra_api::DaemonFacts;
use palyra_http::{
    HttpLimits, HttpListener, HttpServer, ListenerReach, PublicOrigin, TransportSecurity, serve,
};
use palyra_openai::{OpenAiSpans, openai_routes};
use palyra_ports::{
    Clock, EmbeddingModelName, GatewayTrail, Recorder, RestoreFiles, RestoreOrder, WorkspaceChoice,
    WorkspaceError, Workspaces,
};
use palyra_runtime::approvals::ApprovalUpdate;
use palyra_runtime::{
    Caller, GatewayRuntimeConfigSnapshot, GatewayRuntimeState, ModelDirectory, RuntimePorts, gateway,
};
use palyra_testkit::{
    FakeClock, FixedEntropy, MemoryJournal, ScriptedEmbeddings, ScriptedProvider, ScriptedTools,
};
use palyra_types::access::{AccessScope, ScopeSet};
use palyra_types::approval::{ApprovalRecord, ApprovalState};
use palyra_types::effect::{RawUndoneFile, RestoreImage, UndoResult, UndoneFile};
use palyra_types::model::ModelRef;
use palyra_types::session::SessionRef;
use palyra_types::{Content, PrincipalId};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::canary_redactor::CanaryRedactor;
use crate::client_program::soon;

/// The longest silence of a stream. No other timer of the daemon has this span, so that a test can await this one.
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(9_700);
/// How long a run goes on after its last client left; no other timer has this span either.
pub(crate) const DISCONNECT_GRACE: Duration = Duration::from_millis(4_900);

/// A daemon that serves until it is dropped.
pub(crate) struct TestDaemon {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) provider: ScriptedProvider,
    pub(crate) tools: ScriptedTools,
    /// The configured model for embeddings, `scripted/vectors`; the embedded one is beside it.
    pub(crate) vectors: ScriptedEmbeddings,
    pub(crate) journal: Arc<MemoryJournal>,
    /// The daemon's clock.
    pub(crate) clock: FakeClock,
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    folder: TempDir,
}

impl TestDaemon {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = FakeClock::new();
        let times: Arc<dyn Clock> = Arc::new(clock.clone());
        let provider = ScriptedProvider::new(Arc::clone(&times));
        let tools = ScriptedTools::new();
        let journal = Arc::new(MemoryJournal::new());
        let vectors =
            ScriptedEmbeddings::new(EmbeddingModelName::OfProvider(ModelRef::new("scripted", "vectors")));
        let ports = ports(folder.path(), &times, &provider, &tools, &journal);
        let embedded = ScriptedEmbeddings::new(EmbeddingModelName::Embedded);
        let directory = (**ports.models.borrow()).clone();
        let directory = directory.with_embedders(vec![Arc::new(vectors.clone()), Arc::new(embedded)]);
        let ports = RuntimePorts { models: watch::channel(Arc::new(directory)).1, ..ports };
        let config = GatewayRuntimeConfigSnapshot { heartbeat: HEARTBEAT, ..Default::default() };
        let state = gateway::start(ports, watch::channel(Arc::new(config)).1).await.unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let listener = HttpListener {
            listener,
            origin: PublicOrigin::local(address.port(), TransportSecurity::Clear),
            tls: None,
            reach: ListenerReach::Everyone,
            open: watch::channel(0).0,
        };
        let spans = OpenAiSpans { disconnect_grace: DISCONNECT_GRACE, ..Default::default() };
        let openai =
            openai_routes(state.clone(), spans, Arc::clone(&times), stop.clone(), GatewayTrail::default());
        let daemon = DaemonFacts::of_test(folder.path());
        let server = HttpServer { state: state.clone(), daemon, clock: times, mounted: vec![openai] };
        tokio::spawn(serve(server, listener, HttpLimits::default(), stop.clone()));
        Self { state, provider, tools, vectors, journal, clock, address, stop, folder }
    }

    /// The owner at the daemon's own socket.
    pub(crate) fn owner(&self) -> Caller {
        Caller::at_socket(self.state.admin.access.local_principal())
    }

    /// Lets the time of a heartbeat pass, until a stream awaits the next one.
    pub(crate) async fn pass_heartbeat(&self) {
        self.clock.advance(HEARTBEAT);
        self.heartbeat_is_awaited().await;
    }

    /// Waits until a request awaits its next heartbeat: it is attached to its run.
    pub(crate) async fn heartbeat_is_awaited(&self) {
        let next = self.clock.boot().after(HEARTBEAT);
        soon(self.clock.someone_sleeps_until(next)).await;
    }

    /// Waits until a run waits for a person.
    pub(crate) async fn asked(&self) -> ApprovalRecord {
        let mut watcher = self.state.waiting.approvals.watch(self.owner(), None);
        loop {
            match soon(watcher.next()).await.unwrap().expect("the runtime is there") {
                ApprovalUpdate::Approval(record) if record.state == ApprovalState::Pending => return *record,
                ApprovalUpdate::Approval(_) | ApprovalUpdate::CaughtUp { .. } => {}
            }
        }
    }

    /// Ends the streams, as a daemon does that is asked to stop.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// A folder that is removed with the daemon.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a token for OpenAI's clients; returns whose it is as well.
    pub(crate) async fn token(&self, principal: &str) -> (PrincipalId, String) {
        self.token_for(principal, AccessScope::Openai).await
    }

    /// Makes a token with one scope.
    pub(crate) async fn token_for(&self, principal: &str, scope: AccessScope) -> (PrincipalId, String) {
        let request = TokenRequest::program(principal, "test", Duration::from_secs(3_600));
        let request = TokenRequest { scopes: Some(ScopeSet::of(&[scope])), ..request };
        let made = self.state.admin.access.create_token(self.owner(), request).await;
        let (record, token) = made.unwrap();
        (record.principal, token.into_exposed())
    }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn ports(
    folder: &Path,
    clock: &Arc<dyn Clock>,
    provider: &ScriptedProvider,
    tools: &ScriptedTools,
    journal: &Arc<MemoryJournal>,
) -> RuntimePorts {
    let default = ModelRef::new("scripted", "scripted");
    let directory = ModelDirectory::new(vec![Arc::new(provider.clone())], default, Vec::new());
    RuntimePorts {
        recorder: Recorder::new(journal.clone(), Arc::new(CanaryRedactor), Arc::clone(clock)),
        tapes: journal.clone(),
        families: journal.clone(),
        maintain: journal.clone(),
        proofs: journal.clone(),
        backups: Arc::new(palyra_ports::NoBackups),
        spare: Arc::new(palyra_ports::NoSpareFiles),
        artifacts: Arc::new(palyra_ports::NoArtifacts),
        notify: Arc::new(palyra_ports::NoTargets),
        erasures: journal.clone(),
        tools: Arc::new(tools.clone()),
        restore: Arc::new(NothingToRestore),
        kept: Arc::new(palyra_ports::NoKeptFiles),
        redactor: Arc::new(CanaryRedactor),
        secrets: Arc::new(palyra_testkit::MemorySecrets::default()),
        components: Arc::new(palyra_testkit::NoComponents),
        skills: Arc::new(palyra_testkit::MemorySkillFolders::default()),
        memories: Arc::new(palyra_testkit::SharedWordSearch),
        workspaces: Arc::new(OneFolder(folder.to_owned())),
        project_files: Arc::new(palyra_ports::NoProjectFiles),
        clock: Arc::clone(clock),
        entropy: Arc::new(FixedEntropy::new(7)),
        models: watch::channel(Arc::new(directory)).1,
    }
}

/// Has no files to put back.
struct NothingToRestore;

impl RestoreFiles for NothingToRestore {
    fn restore(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        let back = |file: RestoreImage| UndoneFile { path: file.path, result: UndoResult::Restored };
        async move { order.files.into_iter().map(back).collect() }.boxed()
    }
}

/// Has one folder for every session.
struct OneFolder(PathBuf);

impl Workspaces for OneFolder {
    fn choose(
        &self,
        wanted: Option<&Content<PathBuf>>,
        _session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        let own = Content::new(self.0.clone());
        Ok(WorkspaceChoice { root: wanted.cloned().unwrap_or(own), note: None })
    }

    fn look(
        &self,
        wanted: Option<&Content<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        self.choose(wanted, session)
    }
}
