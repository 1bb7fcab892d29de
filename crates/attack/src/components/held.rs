//! A component as a daemon calls it: our engine, with what a call is given and no more.

use std::path::Path;
use std::sync::Arc;

use palyra_egress::{Dialer, Fetcher, PrivateHosts, SystemResolver, Tls, UpstreamConnector};
use palyra_ports::{CancelFlag, ComponentStore, FetchHttp, ProcessLimits};
use palyra_sandbox::Sandbox;
use palyra_types::{Content, PrincipalId};
use palyra_wasm::{
    COMPILE_LIMITS, CallLimits, CallReach, CallRequest, ComponentParts, ComponentTools, Engine, GivenFiles,
    KeepValues, MemoryValues, Methods, Ports,
};

use super::call::{CallAction, ComponentCall, FileAccess, SetupResult, begin, end, tell};
use crate::calls::{NoCredentials, SystemClock};
use crate::trial_folder::SECRET;

/// Calls a component on one thread, so that whoever keeps it keeps it from all others.
pub(super) fn call(spec: &ComponentCall) -> SetupResult<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        match spec.ask {
            CallAction::Run | CallAction::Describe => run(spec).await,
            CallAction::Add => add(spec).await,
        }
    });
    // What still waits there is nobody's any more.
    runtime.shutdown_background();
    done
}

async fn run(spec: &ComponentCall) -> SetupResult<()> {
    let engine = Engine::new()?;
    let beside = match &spec.beside {
        Some(honest) => Some(engine.compile(&std::fs::read(honest)?)?),
        None => None,
    };
    let compiled = match engine.compile(&std::fs::read(&spec.component)?) {
        Ok(compiled) => compiled,
        Err(refused) => {
            begin()?;
            end(&refused.to_string());
            return Ok(());
        }
    };
    let limits = CallLimits { fuel: spec.fuel, time_max: spec.time_max };
    let ports = ports(spec)?;
    let ask = async |arguments: &str| match spec.ask {
        CallAction::Run => {
            engine.call(&compiled, request(arguments), given(spec), ports.clone(), limits).await
        }
        CallAction::Describe | CallAction::Add => engine.describe(&compiled).await.map(|told| told.name),
    };
    begin()?;
    let attack = async {
        let answer = ask(&spec.arguments).await;
        end(&answer.unwrap_or_else(|error| error.to_string()));
        if let Some(again) = &spec.again
            && let Ok(answer) = ask(again).await
        {
            tell(&format!("then {answer}"));
            tell("beside");
        }
    };
    let honest = async {
        let Some(honest) = &beside else { return };
        let call =
            engine.call(honest, request("told"), CallReach::default(), ports.clone(), CallLimits::default());
        if call.await.is_ok() {
            tell("beside");
        }
    };
    futures::future::join(attack, honest).await;
    Ok(())
}

fn request(arguments: &str) -> CallRequest {
    CallRequest { arguments: Content::new(arguments.to_owned()), principal: me() }
}

fn me() -> PrincipalId {
    PrincipalId::from_parts(1, 1)
}

fn given(spec: &ComponentCall) -> CallReach {
    CallReach {
        files: match spec.files {
            FileAccess::None => GivenFiles::None,
            FileAccess::Read => GivenFiles::Read(spec.work.clone()),
            FileAccess::Change => GivenFiles::Change(spec.work.clone()),
        },
        hosts: spec.hosts.iter().cloned().collect(),
        methods: Methods::Safe,
        key_value: spec.arguments.starts_with("key").then(|| "attack".to_owned()),
        ..CallReach::default()
    }
}

fn ports(spec: &ComponentCall) -> SetupResult<Ports> {
    let lifted = PrivateHosts::read(spec.lifted.iter().map(String::as_str));
    let lifted = lifted.map_err(|(host, _)| format!("{host} is no host"))?;
    let dialer = Dialer::new(Arc::new(SystemResolver::default()), lifted);
    let fetch: Arc<dyn FetchHttp> =
        Arc::new(Fetcher::new(UpstreamConnector::new(dialer, Tls::trusting([])?), Arc::new(NoCredentials)));
    let values = MemoryValues::default();
    // What another tool keeps for this person, and this tool for another one.
    values.set("another", me(), "key", Some(SECRET.into()))?;
    values.set("attack", PrincipalId::from_parts(2, 2), "key", Some(SECRET.into()))?;
    Ok(Ports {
        fetch: Some(fetch),
        secrets: None,
        values: Arc::new(values),
        clock: Arc::new(SystemClock),
        cancel: CancelFlag::default(),
    })
}

/// Looks at a component as before a person adds it, with a compiler that is held to two seconds and to half a gibibyte.
async fn add(spec: &ComponentCall) -> SetupResult<()> {
    let program = std::env::current_exe()?;
    let sandbox = Sandbox::probe("/proc/self/exe".into(), spec.scratch.clone());
    let processor_time_max = std::time::Duration::from_secs(2);
    let compiling = ProcessLimits { processor_time_max, memory_bytes_max: 512 << 20, ..COMPILE_LIMITS };
    let shelf = ComponentTools::new(ComponentParts {
        folder: spec.scratch.join("components"),
        program,
        sandbox: Arc::new(sandbox),
        compiling,
        fetch: None,
        secrets: None,
        clock: Arc::new(SystemClock),
    });
    let examine = async |path: &Path| shelf.examine(Content::new(path.to_owned())).await;
    begin()?;
    let answer = examine(&spec.component).await;
    end(&answer.map_or_else(|error| error.to_string(), |told| told.description.name.to_string()));
    if let Some(honest) = &spec.beside {
        match examine(honest).await {
            Ok(_) => tell("beside"),
            Err(error) => tell(&error.to_string()),
        }
    }
    Ok(())
}
