//! A daemon of the test's own with the console mounted: the runtime over doubles, served over HTTP on a loopback port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_api::DaemonFacts;
use palyra_console::console_routes;
use palyra_http::{
    HttpLimits, HttpListener, HttpServer, ListenerReach, PublicOrigin, TransportSecurity, serve,
};
use palyra_ports::{
    Clock, Recorder, RestoreFiles, RestoreOrder, WorkspaceChoice, WorkspaceError, Workspaces,
};
use palyra_runtime::{GatewayRuntimeState, ModelDirectory, RuntimePorts, gateway};
use palyra_testkit::{FakeClock, FixedEntropy, MemoryJournal, PassThrough, ScriptedProvider, ScriptedTools};
use palyra_types::Content;
use palyra_types::effect::RawUndoneFile;
use palyra_types::model::ModelRef;
use palyra_types::session::SessionRef;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A daemon that serves until it is dropped.
pub(crate) struct TestDaemon {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) clock: FakeClock,
    pub(crate) address: SocketAddr,
    stop: CancellationToken,
    _folder: TempDir,
}

impl TestDaemon {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = FakeClock::new();
        let state = gateway::start(ports(folder.path(), &clock), watch::channel(Arc::default()).1);
        let state = state.await.unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let origin = PublicOrigin::local(address.port(), TransportSecurity::Clear);
        let times: Arc<dyn Clock> = Arc::new(clock.clone());
        let facts = || DaemonFacts::of_test(folder.path());
        let mounted = vec![console_routes(state.clone(), facts(), &origin, Arc::clone(&times), stop.clone())];
        let open = watch::channel(0).0;
        let reach = ListenerReach::Everyone;
        let listener = HttpListener { listener, origin, tls: None, reach, open };
        let server = HttpServer { state: state.clone(), daemon: facts(), clock: times, mounted };
        tokio::spawn(serve(server, listener, HttpLimits::default(), stop.clone()));
        Self { state, clock, address, stop, _folder: folder }
    }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn ports(folder: &Path, clock: &FakeClock) -> RuntimePorts {
    let journal = Arc::new(MemoryJournal::new());
    let provider = ScriptedProvider::new(Arc::new(clock.clone()));
    let default = ModelRef::new("scripted", "scripted");
    let directory = ModelDirectory::new(vec![Arc::new(provider)], default, Vec::new());
    RuntimePorts {
        recorder: Recorder::new(journal.clone(), Arc::new(PassThrough), Arc::new(clock.clone())),
        tapes: journal.clone(),
        families: journal.clone(),
        maintain: journal.clone(),
        proofs: journal.clone(),
        backups: Arc::new(palyra_ports::NoBackups),
        notify: Arc::new(palyra_ports::NoTargets),
        spare: Arc::new(palyra_ports::NoSpareFiles),
        artifacts: Arc::new(palyra_ports::NoArtifacts),
        erasures: journal,
        tools: Arc::new(ScriptedTools::new()),
        restore: Arc::new(NoFiles),
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

/// Has no file to restore.
struct NoFiles;

impl RestoreFiles for NoFiles {
    fn restore(&self, _order: RestoreOrder) -> BoxFuture<'static, Vec<RawUndoneFile>> {
        async move { Vec::new() }.boxed()
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
