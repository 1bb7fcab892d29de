//! The engine in which components are tried, and hosts that answer; their text is written by the testkit.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    BodyCompleteness, CancelFlag, FetchError, FetchFailure, FetchHttp, FetchReach, FetchRequest,
    FetchResponse,
};
use palyra_testkit::FakeClock;
pub(crate) use palyra_testkit::component_text::{ComponentAbout, ECHO, Wat};
use palyra_types::{PrincipalId, Redacted};
use palyra_wasm::{
    CallError, CallLimits, CallReach, CallRequest, CompiledComponent, Engine, MemoryValues, Ports,
};

/// Answers every fetch alike, and remembers what it was asked.
#[derive(Default)]
pub(crate) struct FetchRecorder(pub(crate) Mutex<Vec<FetchRequest>>);

impl FetchHttp for FetchRecorder {
    fn fetch(
        &self,
        request: FetchRequest,
        _cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        let granted = match &request.hosts {
            palyra_ports::HostScope::AnyPublic => true,
            palyra_ports::HostScope::Only(rules) => {
                rules.iter().any(|rule| request.url.expose().contains(&rule.host))
            }
        };
        let url = request.url.clone();
        self.0.lock().expect("unpoisoned").push(request);
        async move {
            if !granted {
                let failure = FetchFailure::HostNotGranted { host: "elsewhere".into(), port: 443 };
                return Err(FetchError { failure, reached: FetchReach::Nobody });
            }
            Ok(FetchResponse {
                url,
                hops: Vec::new(),
                status: 200,
                headers: Vec::new(),
                body: Redacted::cleaned(b"the page".to_vec()).into(),
                completeness: BodyCompleteness::Whole,
            })
        }
        .boxed()
    }
}

pub(crate) struct Bench {
    pub(crate) engine: Engine,
    pub(crate) ports: Ports,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let ports = Ports {
            fetch: Some(Arc::new(FetchRecorder::default())),
            secrets: None,
            values: Arc::new(MemoryValues::default()),
            clock: Arc::new(FakeClock::new()),
            cancel: CancelFlag::default(),
        };
        Self { engine: Engine::new().expect("an engine"), ports }
    }

    pub(crate) fn compile(&self, wat: &Wat) -> CompiledComponent {
        self.engine.compile(&wat.bytes()).expect("it compiles")
    }

    pub(crate) async fn run(
        &self,
        wat: &Wat,
        given: CallReach,
        limits: CallLimits,
    ) -> Result<String, CallError> {
        self.call(&self.compile(wat), given, limits).await
    }

    pub(crate) async fn call(
        &self,
        compiled: &CompiledComponent,
        given: CallReach,
        limits: CallLimits,
    ) -> Result<String, CallError> {
        let request = CallRequest {
            arguments: Redacted::cleaned("told".to_owned()).into(),
            principal: PrincipalId::from_parts(1, 1),
        };
        self.engine.call(compiled, request, given, self.ports.clone(), limits).await
    }
}
