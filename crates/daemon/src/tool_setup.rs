//! The tools of a daemon, with what holds them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_admin::health::LiveChecks;
use palyra_commands::{CommandSettings, CommandTools, Jobs, Tapes};
use palyra_policy::ToolPolicyRules;
use palyra_ports::{FetchHttp, FillCredential, ProcessLimits, RestoreFiles, SecretNames, ToolRuntime};
use palyra_tool_kit::ToolSet;
use palyra_tools::{BuiltinTools, MemoryAccess, MemoryTools, ScheduleAccess, ScheduleTools};
use palyra_wasm::{COMPILE_LIMITS, COMPILER_PROGRAM, ComponentParts, ComponentTools};

use crate::config::{self, Config};
use crate::egress::GuardedEgress;
use crate::host_sandbox::HostSandbox;
use crate::system::SystemClock;

/// The folder of the state directory in which programs without a `/tmp` of their own get one.
pub(crate) const SCRATCH_FOLDER: &str = "scratch";
/// The folder of the state directory to which things go that commands may not leave in a workspace.
pub(crate) const ASIDE_FOLDER: &str = "kept-aside";
/// The folder of the state directory in which components lie.
pub(crate) const COMPONENTS_FOLDER: &str = "components";

/// The tools of a daemon and the rules that permit them.
#[derive(Clone)]
pub struct ToolSetup {
    /// Runs the tools.
    pub tools: Arc<dyn ToolRuntime>,
    /// Puts files back that the tools changed.
    pub restore: Arc<dyn RestoreFiles>,
    /// Components that a person added.
    pub components: Arc<palyra_wasm::ComponentTools>,
    /// What calls are judged by, before an operator adds to it.
    pub rules: ToolPolicyRules,
    /// Where outputs of former calls are read, once a journal is open.
    pub tapes: Tapes,
    /// Where the tools of memory are given it, once a gateway is there.
    pub memory: MemoryAccess,
    /// Where the tools of schedules are given them, once a gateway is there.
    pub schedules: ScheduleAccess,
    /// Programs that go on after their calls, where commands are on.
    pub jobs: Option<Jobs>,
    /// What an operator can know about what holds the tools.
    pub checks: LiveChecks,
    /// Asks servers on the daemon's own behalf; `None` where the network is switched off.
    pub fetch: Option<Arc<dyn FetchHttp>>,
}

/// What a daemon knows of itself when it gets its tools.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// Its state directory.
    pub state_dir: &'a Path,
    /// Its configuration.
    pub config: &'a Config,
    /// Where its settings, policies and anchors lie.
    pub own_paths: &'a [PathBuf],
    /// Its environment.
    pub environment: &'a BTreeMap<String, String>,
    /// Fills credentials out of its vault, for what reaches other machines.
    pub credentials: &'a Arc<dyn FillCredential>,
    /// Which secrets there are in that vault.
    pub secrets: &'a Arc<dyn SecretNames>,
}

impl ToolSetup {
    /// Returns what ships: the built-in tools and, unless they are switched off, commands and fetches, under the
    /// shipped rules.
    #[must_use]
    pub fn shipped(place: ToolContext<'_>) -> Self {
        let files = Arc::new(BuiltinTools::new());
        // The most trusted tools first: no later one takes their names.
        let memory = MemoryTools::new();
        let schedules = ScheduleTools::new();
        let mut sets = vec![files.tools(), memory.tools(), schedules.tools()];
        let (mut checks, mut tapes, mut jobs) = (LiveChecks::default(), Tapes::default(), None);
        let sandbox = HostSandbox::new(place.state_dir.join(SCRATCH_FOLDER));
        let looked_at = Arc::clone(&sandbox);
        checks = checks.with(move || looked_at.check());
        let usual = config::default_path(place.environment);
        let egress = GuardedEgress::open(place.config, usual.as_deref(), place.credentials);
        if place.config.commands_enabled() {
            let guard = egress.as_ref().map(GuardedEgress::guard);
            let sandbox = Arc::clone(&sandbox);
            let settings = CommandSettings { writes: files.writes(), ..commands(place) };
            let commands = CommandTools::new(settings, sandbox, Arc::new(SystemClock), guard);
            for moved in commands.recover() {
                tracing::warn!("left by a command that ended with an earlier daemon, and run later: {moved}");
            }
            (tapes, jobs) = (commands.tapes(), Some(commands.jobs()));
            sets.push(commands.tools());
        }
        if let Some(egress) = &egress {
            sets.push(egress.tools().tools());
        }
        let components = Arc::new(components(place, sandbox, egress.as_ref()));
        sets.push(components.tools());
        let tools = Arc::new(ToolSet::join(&sets).checking_secrets(Arc::clone(place.credentials)));
        let rules = ToolPolicyRules::shipped();
        let memory = memory.access();
        let fetch = egress.as_ref().map(GuardedEgress::fetcher);
        let schedules = schedules.access();
        Self { tools, restore: files, components, rules, tapes, memory, schedules, jobs, checks, fetch }
    }
}

/// Returns the components that were added, and what it takes to add more.
fn components(
    place: ToolContext<'_>,
    sandbox: Arc<HostSandbox>,
    egress: Option<&GuardedEgress>,
) -> ComponentTools {
    ComponentTools::new(ComponentParts {
        folder: place.state_dir.join(COMPONENTS_FOLDER),
        program: compiler(),
        sandbox,
        compiling: COMPILE_LIMITS,
        fetch: egress.map(GuardedEgress::fetcher),
        secrets: Some(Arc::clone(place.secrets)),
        clock: Arc::new(SystemClock),
    })
}

/// Returns where the compiler of components is looked for: beside this program, which a link may have led to.
fn compiler() -> PathBuf {
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).unwrap_or_default();
    program.with_file_name(COMPILER_PROGRAM)
}

/// Returns what every command gets: the operator's folders before the system's, and Rust's toolchain where there is one,
/// which lies in a home that commands do not see.
fn commands(place: ToolContext<'_>) -> CommandSettings {
    let home = place.environment.get("HOME").map(PathBuf::from);
    let at_home = |text: &String| at_home(text, home.as_deref());
    let mut settings = CommandSettings::new(place.state_dir.join(ASIDE_FOLDER));
    let mut search: Vec<_> = place.config.commands_path().iter().map(at_home).collect();
    settings.readable = place.config.commands_readable().iter().map(at_home).collect();
    settings.readable.extend(search.iter().cloned());
    let named = |name: &str, folder: &str| {
        place.environment.get(name).map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(folder)))
    };
    if let (Some(cargo), Some(rustup)) = (named("CARGO_HOME", ".cargo"), named("RUSTUP_HOME", ".rustup"))
        && cargo.join("bin").is_dir()
    {
        // The rest of the folder may hold a registry's token.
        search.push(cargo.join("bin"));
        settings.readable.extend([cargo.join("bin"), rustup.clone()]);
        let rustup = rustup.to_string_lossy().into_owned();
        settings
            .environment
            .extend([("RUSTUP_HOME".to_owned(), rustup), ("CARGO_HOME".to_owned(), "/tmp/cargo".to_owned())]);
    }
    settings.search.splice(0..0, search);
    let path: Vec<_> = settings.search.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
    let own = place.config.commands_environment().iter().filter_map(|pair| pair.split_once('='));
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let set = std::iter::once(("PATH".to_owned(), path.join(":"))).chain(own);
    for (name, value) in set {
        settings.environment.retain(|(known, _)| *known != name);
        settings.environment.push((name, value));
    }
    settings.limits = limits(place.config);
    settings.own_paths = place.own_paths.to_vec();
    settings
}

fn at_home(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        (Some(inner), Some(home)) => home.join(inner),
        (Some(_), None) | (None, _) => PathBuf::from(text),
    }
}

fn limits(config: &Config) -> ProcessLimits {
    let (memory_mib, processes) = config.commands_limits();
    ProcessLimits { memory_bytes_max: memory_mib << 20, processes_max: processes, ..ProcessLimits::default() }
}

#[cfg(test)]
mod tests;
