//! Components as tools, with a state directory, a compiler that is a process, and a workspace.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    ComponentStore, ComponentStoreError, ConfinedCommand, ConfinedProcess, ProcessLimits, ProcessSandbox,
    ProgramEnd, SandboxError, SandboxOffer, Supervision, ToolRuntime,
};
use palyra_testkit::FakeClock;
use palyra_testkit::grants::GrantRequest;
use palyra_types::component::{AddedComponent, ComponentRecord, ExaminedComponent};
use palyra_types::tool::{EffectContract, RawToolOutcome};
use palyra_types::{ComponentId, PrincipalId, Redacted, Seq, Timestamp};
use palyra_wasm::{COMPILE_LIMITS, ComponentParts, ComponentTools};
use tempfile::TempDir;

use crate::component::{FetchRecorder, Wat};

/// Starts programs with the limits of a shell and nothing else; counts them.
#[derive(Default)]
pub(crate) struct Unheld {
    offer: SandboxOffer,
    pub(crate) started: Mutex<u32>,
    /// While it is held, nothing starts.
    pub(crate) gate: Arc<tokio::sync::Mutex<()>>,
}

impl ProcessSandbox for Unheld {
    fn offer(&self) -> &SandboxOffer {
        &self.offer
    }

    fn start(
        &self,
        command: ConfinedCommand,
    ) -> BoxFuture<'static, Result<Box<dyn ConfinedProcess>, SandboxError>> {
        *self.started.lock().expect("unpoisoned") += 1;
        let gate = Arc::clone(&self.gate);
        async move {
            let _open = gate.lock().await;
            let child = child_of(&command)?;
            Ok(Box::new(Plain(Some(child))) as Box<dyn ConfinedProcess>)
        }
        .boxed()
    }
}

fn child_of(command: &ConfinedCommand) -> Result<Child, SandboxError> {
    let limits = format!(
        "ulimit -v {} && ulimit -t {} && exec \"$0\" \"$@\"",
        command.limits.memory_bytes_max / 1024,
        command.limits.processor_time_max.as_secs(),
    );
    let child = Command::new("/bin/sh")
        .args(["-c", &limits])
        .arg(&command.program)
        .args(&command.arguments[1..])
        .env_clear()
        .envs(command.environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    child.map_err(|error| SandboxError::NotStarted {
        program: command.program.display().to_string(),
        cause: error.to_string(),
    })
}

struct Plain(Option<Child>);

impl ConfinedProcess for Plain {
    fn take_output(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        let child = self.0.as_mut()?;
        Some((child.stdout.take()?.into(), child.stderr.take()?.into()))
    }

    fn take_listener(&mut self) -> Option<OwnedFd> {
        None
    }

    fn wait(&mut self) -> BoxFuture<'_, ProgramEnd> {
        let child = self.0.take();
        async move {
            let waited = tokio::task::spawn_blocking(move || child.map(|mut child| child.wait())).await;
            match waited.expect("it is awaited") {
                Some(Ok(status)) => {
                    status.code().map_or(ProgramEnd::Stopped, |code| ProgramEnd::Exited { code })
                }
                Some(Err(_)) | None => ProgramEnd::Stopped,
            }
        }
        .boxed()
    }

    fn stop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
        }
    }
}

/// A shelf with what lies around it.
pub(crate) struct Shelf {
    pub(crate) components: ComponentTools,
    pub(crate) sandbox: Arc<Unheld>,
    pub(crate) asked: Arc<FetchRecorder>,
    pub(crate) folder: Arc<TempDir>,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a workspace");
        Self::over(Arc::new(folder), COMPILE_LIMITS)
    }

    /// The same state directory, as a daemon finds it that starts anew.
    pub(crate) fn restarted(&self) -> Self {
        Self::over(Arc::clone(&self.folder), COMPILE_LIMITS)
    }

    pub(crate) fn over(folder: Arc<TempDir>, compiling: ProcessLimits) -> Self {
        Self::with_compiler(folder, compiling, env!("CARGO_BIN_EXE_palyra-component-compile").into())
    }

    /// The same, where another program stands in the compiler's place, or none.
    pub(crate) fn with_compiler(folder: Arc<TempDir>, compiling: ProcessLimits, program: PathBuf) -> Self {
        let (sandbox, asked) = (Arc::new(Unheld::default()), Arc::new(FetchRecorder::default()));
        let components = ComponentTools::new(ComponentParts {
            folder: folder.path().join("components"),
            program,
            sandbox: Arc::clone(&sandbox) as _,
            compiling,
            fetch: Some(Arc::clone(&asked) as _),
            secrets: None,
            clock: Arc::new(FakeClock::new()),
        });
        Self { components, sandbox, asked, folder }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) async fn examine(&self, bytes: &[u8]) -> Result<ExaminedComponent, ComponentStoreError> {
        let file = self.folder.path().join("tool.wasm");
        std::fs::write(&file, bytes).expect("a file");
        self.components.examine(Redacted::cleaned(file).into()).await
    }

    /// Looks at a component and offers it, as a person's yes does.
    pub(crate) async fn add(&self, wat: &Wat) -> ExaminedComponent {
        let examined = self.examine(&wat.bytes()).await.expect("a component");
        self.components.offer(vec![record(&examined)]).await.expect("it is offered");
        examined
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &str) -> RawToolOutcome {
        let grant = GrantRequest::new(tool, arguments, &self.work()).contract(EffectContract::Keyed).grant();
        let ran = self.components.execute(grant, supervision()).await;
        ran.expect("an outcome")
    }

    /// The folder in which a component lies.
    pub(crate) fn kept(&self, examined: &ExaminedComponent) -> PathBuf {
        let name: String = examined.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.path().join("components").join(name)
    }
}

pub(crate) fn supervision() -> Supervision {
    Supervision::default()
}

pub(crate) fn record(examined: &ExaminedComponent) -> ComponentRecord {
    let description = examined.description.clone();
    ComponentRecord {
        added: AddedComponent {
            component: ComponentId::from_parts(1, 1),
            sha256: examined.sha256,
            bytes: examined.bytes,
            tool_version: 1,
            contract: description.contract,
            name: Redacted::cleaned(description.name.as_str().to_owned()),
            text: Redacted::cleaned(description.text),
            schema: Redacted::cleaned(description.schema),
            capabilities: description.capabilities,
            source: "/tool.wasm".into(),
        },
        by: PrincipalId::from_parts(1, 1),
        created: Timestamp(1),
        removed: None,
        seq: Seq(1),
    }
}

/// Returns the file of native code beside a component.
pub(crate) fn native(kept: &Path) -> PathBuf {
    let files = std::fs::read_dir(kept).expect("a folder").map(|file| file.expect("a file").path());
    let native =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("native-"));
    files.into_iter().find(native).expect("native code")
}
