//! Looks at a component and calls it once, with a workspace of its own and a network in which every page is the same.
//!
//! For whoever writes a component: `cargo run -p palyra-wasm --example try_component -- FILE.wasm '{"a": 1}'`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    BodyCompleteness, CancelFlag, FetchError, FetchFailure, FetchHttp, FetchReach, FetchRequest,
    FetchResponse, HostScope,
};
use palyra_testkit::FakeClock;
use palyra_types::{PrincipalId, Redacted};
use palyra_wasm::{
    CallLimits, CallReach, CallRequest, DescribedCapability, DescribedComponent, Engine, GivenFiles,
    MemoryValues, Methods, Ports,
};

const PAGE: &str = "<!DOCTYPE html><title>Lamps</title><h1>Lantern 4711</h1><p>It shines.</p>";

/// Says the same page to everybody who asks a host that was declared.
struct OnePage;

impl FetchHttp for OnePage {
    fn fetch(
        &self,
        request: FetchRequest,
        _cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        let url = request.url.expose().clone();
        let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let (name, port) = host.split_once(':').unwrap_or((host, "443"));
        let port = port.parse().unwrap_or(0);
        let covers = match &request.hosts {
            HostScope::AnyPublic => true,
            HostScope::Only(rules) => rules.iter().any(|rule| rule.covers(name, port)),
        };
        if !covers {
            let failure = FetchFailure::HostNotGranted { host: name.to_owned(), port };
            return async { Err(FetchError { failure, reached: FetchReach::Nobody }) }.boxed();
        }
        let answer = FetchResponse {
            url: Redacted::cleaned(url).into(),
            hops: Vec::new(),
            status: 200,
            headers: vec![("content-type".to_owned(), Redacted::cleaned("text/html".to_owned()).into())],
            body: Redacted::cleaned(PAGE.as_bytes().to_vec()).into(),
            completeness: BodyCompleteness::Whole,
        };
        async { Ok(answer) }.boxed()
    }
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    let [_, file, call] = arguments.as_slice() else {
        eprintln!("usage: try_component FILE.wasm ARGUMENTS");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    match runtime.block_on(try_out(Path::new(file), call)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(told) => {
            eprintln!("{told}");
            ExitCode::FAILURE
        }
    }
}

async fn try_out(file: &Path, arguments: &str) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let engine = Engine::new().map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let compiled = engine.compile(&bytes).map_err(|error| error.to_string())?;
    eprintln!("compiled {} bytes in {} ms", bytes.len(), begun.elapsed().as_millis());
    let told = engine.describe(&compiled).await.map_err(|error| error.to_string())?;
    println!("{} ({:?}) asks for {:?}", told.name, told.contract, told.capabilities);
    let workspace = tempfile::tempdir().map_err(|error| error.to_string())?;
    let ports = Ports {
        fetch: Some(Arc::new(OnePage)),
        secrets: None,
        values: Arc::new(MemoryValues::default()),
        clock: Arc::new(FakeClock::new()),
        cancel: CancelFlag::default(),
    };
    let request = CallRequest {
        arguments: Redacted::cleaned(arguments.to_owned()).into(),
        principal: PrincipalId::from_parts(1, 1),
    };
    let given = given(&told, workspace.path());
    let called = engine.call(&compiled, request, given, ports, CallLimits::default()).await;
    println!("{}", called.map_err(|error| error.to_string())?);
    for entry in std::fs::read_dir(workspace.path()).map_err(|error| error.to_string())?.flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        println!(
            "{}: {}",
            entry.file_name().to_string_lossy(),
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
    Ok(())
}

fn given(told: &DescribedComponent, workspace: &Path) -> CallReach {
    let mut given = CallReach { methods: Methods::All, ..CallReach::default() };
    for capability in &told.capabilities {
        match capability {
            DescribedCapability::ReadFiles => given.files = GivenFiles::Read(workspace.to_owned()),
            DescribedCapability::WriteFiles => given.files = GivenFiles::Change(workspace.to_owned()),
            DescribedCapability::Http(host) => drop(given.hosts.insert(host.clone())),
            DescribedCapability::Secret(name) => drop(given.secrets.insert(name.clone())),
            DescribedCapability::KeyValue => given.key_value = Some(told.name.clone()),
        }
    }
    given
}
