//! A daemon of the test's own: the runtime over doubles, served on a Unix socket and a loopback port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::Caller;
use palyra_admin::access::TokenRequest;
use palyra_api::{ConfigFact, DaemonFacts, ReloadError, ReloadHandle, ReloadReport};
use palyra_grpc::{Listeners, ServeError, ServeLimits, serve};
use palyra_ports::{
    Clock, ExecuteToolError, PreparedCall, Recorder, RestoreFiles, RestoreOrder, Supervision, ToolRuntime,
    WorkspaceChoice, WorkspaceError, Workspaces,
};
use palyra_run_core::{Grant, Intent, PrepareRefusal, RawPrepareRefusal};
use palyra_runtime::{
    GatewayRuntimeConfigSnapshot, GatewayRuntimeState, ModelDirectory, RuntimePorts, gateway,
};
use palyra_testkit::PassThrough;
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, ScriptedProvider};
use palyra_types::effect::{RawUndoneFile, RestoreImage, UndoResult, UndoneFile};
use palyra_types::model::ModelRef;
use palyra_types::session::SessionRef;
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Isolation, Parallelism, RawToolOutcome, Taints,
    ToolCatalog, ToolConduct, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec,
};
use palyra_types::{Content, ErrorCode, Timestamp};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};

/// How long a test waits for what must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What a test wants to be different.
#[derive(Default)]
pub(crate) struct DaemonSetup {
    pub(crate) limits: ServeLimits,
    pub(crate) config: GatewayRuntimeConfigSnapshot,
    /// What reloads lead to, in order; further ones find the daemon going.
    pub(crate) reloads: Vec<Result<ReloadReport, ReloadError>>,
}

/// A daemon that serves until it is dropped or stopped.
pub(crate) struct TestDaemon {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) provider: ScriptedProvider,
    pub(crate) clock: FakeClock,
    pub(crate) journal: MemoryJournal,
    pub(crate) stop: CancellationToken,
    /// Cancelled when a caller wishes for the stop.
    pub(crate) stop_request: CancellationToken,
    pub(crate) tcp: SocketAddr,
    pub(crate) socket: PathBuf,
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
    folder: TempDir,
}

impl TestDaemon {
    pub(crate) async fn start() -> Self {
        Self::start_with(DaemonSetup::default()).await
    }

    pub(crate) async fn start_with(setup: DaemonSetup) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = FakeClock::new();
        let provider = ScriptedProvider::new(Arc::new(clock.clone()));
        let journal = MemoryJournal::new();
        let ports = ports(folder.path(), &clock, &provider, &journal);
        let state = gateway::start(ports, watch::channel(Arc::new(setup.config)).1).await.unwrap();
        let socket = folder.path().join("daemon.sock");
        let unix = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        let stop = CancellationToken::new();
        let listeners =
            Listeners { unix, tcp: Some(tcp), open: tokio::sync::watch::Sender::new(0), rebound: None };
        let stop_request = CancellationToken::new();
        let facts = facts(folder.path(), stop_request.clone(), reloads(setup.reloads));
        let served = tokio::spawn(serve(state.clone(), facts, listeners, setup.limits, stop.clone()));
        Self { state, provider, clock, journal, stop, stop_request, tcp: address, socket, served, folder }
    }

    /// Returns the folder that is the daemon's own.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Connects as the owner.
    pub(crate) async fn local(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("unix://{}", self.socket.display())).unwrap();
        endpoint.connect().await.unwrap()
    }

    /// Connects as somebody, who has yet to show a token.
    pub(crate) async fn remote(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.tcp)).unwrap().connect().await.unwrap()
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
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn ports(
    folder: &Path,
    clock: &FakeClock,
    provider: &ScriptedProvider,
    journal: &MemoryJournal,
) -> RuntimePorts {
    let journal = Arc::new(journal.clone());
    let default = ModelRef::new("scripted", "scripted");
    let suggestions = vec!["a model server answers on port 11434".to_owned()];
    let directory = ModelDirectory::new(vec![Arc::new(provider.clone())], default, suggestions);
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
        tools: Arc::new(TwoTools),
        restore: Arc::new(TwoTools),
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

/// Answers reloads as a test wants it.
pub(crate) fn reloads(outcomes: Vec<Result<ReloadReport, ReloadError>>) -> ReloadHandle {
    let (handle, mut requests) = ReloadHandle::channel();
    tokio::spawn(async move {
        for outcome in outcomes {
            let Some(request) = requests.recv().await else { return };
            let _ = request.reply.send(outcome);
        }
    });
    handle
}

pub(crate) fn facts(folder: &Path, stop_requested: CancellationToken, reload: ReloadHandle) -> DaemonFacts {
    let fact = ConfigFact {
        key: "limits.turns_max".to_owned(),
        value: "50".to_owned(),
        origin: "default".to_owned(),
    };
    DaemonFacts {
        listening: vec!["unix:daemon.sock".to_owned()],
        config: watch::channel(Arc::new(vec![fact])).1,
        reload,
        stop_requested,
        ..DaemonFacts::of_test(folder)
    }
}

/// Offers `look`, which always sees the same, and `change`, which asks and then always says so.
struct TwoTools;

fn tool(name: &str, contract: EffectContract, capability: Capability) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "Looks, or changes.".to_owned(),
        schema: serde_json::json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        contract,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: vec![capability],
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: Duration::from_secs(60),
        output_bytes_max: 1_024,
    }
}

impl ToolRuntime for TwoTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::new(ToolCatalog::new(vec![
            tool("look", EffectContract::Pure, Capability::ReadFiles),
            tool("change", EffectContract::Opaque, Capability::WriteFiles),
        ]))
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        let message = format!("`{}` needs no preparation", intent.tool()).into();
        async move { Err(PrepareRefusal { code: ErrorCode::Internal, message }) }.boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        _supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        let output = if grant.tool().as_str() == "look" { "a wall" } else { "changed" };
        let outcome = ToolExecutionOutcome {
            failure: None,
            output: output.into(),
            output_bytes_total: output.len() as u64,
            executor: ToolExecutor::Internal,
            isolation: Isolation::DescriptorRelative,
            taints: Taints::NONE,
        };
        async move { Ok(outcome) }.boxed()
    }
}

impl RestoreFiles for TwoTools {
    fn restore(&self, order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        let back = |file: RestoreImage| UndoneFile { path: file.path, result: UndoResult::Restored };
        async move { order.files.into_iter().map(back).collect() }.boxed()
    }
}

/// Takes any folder that is asked for, and its own otherwise.
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

/// Lets the clock of a daemon run ahead.
impl TestDaemon {
    pub(crate) fn pass(&self, span: Duration) -> Timestamp {
        self.clock.advance(span);
        self.clock.wall()
    }
}
