//! A daemon of the test's own: the runtime over doubles, served over HTTP on a loopback port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::access::TokenRequest;
use palyra_api::DaemonFacts;
use palyra_http::{
    HttpLimits, HttpListener, HttpServer, ListenerReach, MountedRoutes, PublicOrigin, ServeError,
    TransportSecurity, serve,
};
use palyra_ports::{
    ExecuteToolError, PreparedCall, Recorder, RestoreFiles, RestoreOrder, Supervision, ToolRuntime,
    WorkspaceChoice, WorkspaceError, Workspaces,
};
use palyra_run_core::{Grant, Intent, PrepareRefusal, RawPrepareRefusal};
use palyra_runtime::{Caller, GatewayRuntimeState, ModelDirectory, RuntimePorts, gateway};
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, PassThrough, ScriptedProvider};
use palyra_types::effect::{RawUndoneFile, RestoreImage, UndoResult, UndoneFile};
use palyra_types::model::ModelRef;
use palyra_types::session::SessionRef;
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Isolation, Parallelism, RawToolOutcome, Taints,
    ToolCatalog, ToolConduct, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec,
};
use palyra_types::{Content, ErrorCode};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long a test waits for what must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What a test wants to be different.
#[derive(Default)]
pub(crate) struct DaemonOptions {
    pub(crate) limits: HttpLimits,
    pub(crate) mounted: Vec<MountedRoutes>,
    pub(crate) tls: Option<Arc<tokio_rustls::rustls::ServerConfig>>,
    pub(crate) public_url: Option<&'static str>,
    pub(crate) reach: Option<ListenerReach>,
}

/// A daemon that serves until it is dropped or stopped.
pub(crate) struct TestDaemon {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) provider: ScriptedProvider,
    /// Moves only when a test says so: heartbeats come by it.
    pub(crate) clock: FakeClock,
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) stop_requested: CancellationToken,
    pub(crate) open: watch::Receiver<usize>,
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
    _folder: TempDir,
}

impl TestDaemon {
    pub(crate) async fn start() -> Self {
        Self::start_with(DaemonOptions::default()).await
    }

    pub(crate) async fn start_with(options: DaemonOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = FakeClock::new();
        let provider = ScriptedProvider::new(Arc::new(clock.clone()));
        let ports = ports(folder.path(), &clock, &provider);
        let state = gateway::start(ports, watch::channel(Arc::default()).1).await.unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let stop_requested = CancellationToken::new();
        let (open, open_seen) = watch::channel(0);
        let security = if options.tls.is_some() { TransportSecurity::Tls } else { TransportSecurity::Clear };
        let local = PublicOrigin::local(address.port(), security);
        let listener = HttpListener {
            listener,
            origin: options.public_url.map_or(local, |url| PublicOrigin::parse(url).unwrap()),
            tls: options.tls,
            reach: options.reach.unwrap_or(ListenerReach::Everyone),
            open,
        };
        let daemon =
            DaemonFacts { stop_requested: stop_requested.clone(), ..DaemonFacts::of_test(folder.path()) };
        let (clock, times) = (clock.clone(), Arc::new(clock));
        let server = HttpServer { state: state.clone(), daemon, clock: times, mounted: options.mounted };
        let served = tokio::spawn(serve(server, listener, options.limits, stop.clone()));
        Self {
            state,
            provider,
            clock,
            address,
            stop,
            stop_requested,
            open: open_seen,
            served,
            _folder: folder,
        }
    }

    /// The owner at the daemon's own socket.
    pub(crate) fn owner(&self) -> Caller {
        Caller::at_socket(self.state.admin.access.local_principal())
    }

    /// Makes a token that a program keeps, for a principal.
    pub(crate) async fn token(&self, principal: &str) -> String {
        self.token_of(TokenRequest::program(principal, "test", Duration::from_secs(3_600))).await
    }

    /// Makes a token.
    pub(crate) async fn token_of(&self, request: TokenRequest) -> String {
        let made = self.state.admin.access.create_token(self.owner(), request).await;
        made.unwrap().1.into_exposed()
    }

    /// Revokes the newest token.
    pub(crate) async fn revoke(&self) {
        let access = &self.state.admin.access;
        let newest = access.known().tokens.last().unwrap().id;
        access.revoke_token(self.owner(), newest).await.unwrap();
    }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn ports(folder: &Path, clock: &FakeClock, provider: &ScriptedProvider) -> RuntimePorts {
    let journal = Arc::new(MemoryJournal::new());
    let default = ModelRef::new("scripted", "scripted");
    let directory = ModelDirectory::new(vec![Arc::new(provider.clone())], default, Vec::new());
    RuntimePorts {
        recorder: Recorder::new(journal.clone(), Arc::new(PassThrough), Arc::new(clock.clone())),
        tapes: journal.clone(),
        families: journal.clone(),
        maintain: journal.clone(),
        proofs: journal.clone(),
        backups: Arc::new(palyra_ports::NoBackups),
        spare: Arc::new(palyra_ports::NoSpareFiles),
        artifacts: Arc::new(palyra_ports::NoArtifacts),
        notify: Arc::new(palyra_ports::NoTargets),
        erasures: journal,
        tools: Arc::new(ChangeTool),
        restore: Arc::new(ChangeTool),
        kept: Arc::new(palyra_ports::NoKeptFiles),
        redactor: Arc::new(PassThrough),
        secrets: Arc::new(palyra_testkit::MemorySecrets::default()),
        components: Arc::new(palyra_testkit::NoComponents),
        skills: Arc::new(palyra_testkit::MemorySkillFolders::default()),
        memories: Arc::new(palyra_testkit::SharedWordSearch),
        workspaces: Arc::new(OneFolder(folder.to_owned())),
        project_files: Arc::new(palyra_ports::NoProjectFiles),
        clock: Arc::new(clock.clone()),
        entropy: Arc::new(FixedEntropy::new(7)),
        models: watch::channel(Arc::new(directory)).1,
    }
}

/// Offers `change`, which asks before it runs.
struct ChangeTool;

impl ToolRuntime for ChangeTool {
    fn catalog(&self) -> Arc<ToolCatalog> {
        let change = ToolSpec {
            name: ToolName::new("change"),
            version: 1,
            description: "Changes.".to_owned(),
            schema: serde_json::json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
            contract: EffectContract::Opaque,
            parallelism: Parallelism::Parallel,
            conduct: ToolConduct::Direct,
            capabilities: vec![Capability::WriteFiles],
            taints: Taints::NONE,
            risk: ApprovalRiskLevel::Low,
            deadline: Duration::from_secs(60),
            output_bytes_max: 1_024,
        };
        Arc::new(ToolCatalog::new(vec![change]))
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let message = format!("`{}` needs no preparation", intent.tool()).into();
        async move { Err(PrepareRefusal { code: ErrorCode::Internal, message }) }.boxed()
    }

    fn execute(
        &self,
        _grant: Grant,
        _supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        let outcome = ToolExecutionOutcome {
            failure: None,
            output: "changed".into(),
            output_bytes_total: 7,
            executor: ToolExecutor::Internal,
            isolation: Isolation::DescriptorRelative,
            taints: Taints::NONE,
        };
        async move { Ok(outcome) }.boxed()
    }
}

impl RestoreFiles for ChangeTool {
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
