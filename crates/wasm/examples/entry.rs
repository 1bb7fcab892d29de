//! Measures what entering a component costs, beside instantiating it and no more, and what compiling it costs.
//!
//! `cargo run --release -p palyra-wasm --example entry -- FILE.wasm ARGUMENTS`. The component should do next to nothing.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use palyra_ports::CancelFlag;
use palyra_testkit::FakeClock;
use palyra_types::{PrincipalId, Redacted};
use palyra_wasm::{
    CallError, CallLimits, CallReach, CallRequest, CompiledComponent, Engine, MemoryValues, Ports,
};

const ENTRIES: usize = 2_000;
const COMPILATIONS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    let [_, file, call] = arguments.as_slice() else {
        eprintln!("usage: entry FILE.wasm ARGUMENTS");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.expect("a runtime").block_on(measure(&bytes, call)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(bytes: &[u8], arguments: &str) -> Result<(), CallError> {
    let engine = Engine::new().map_err(|error| CallError::Trapped(error.to_string()))?;
    let mut cold = Vec::new();
    let compile = || engine.compile(bytes).map_err(|error| CallError::Trapped(error.to_string()));
    let compiled = compile()?;
    for _ in 0..COMPILATIONS {
        let begun = Instant::now();
        compile()?;
        cold.push(begun.elapsed());
    }
    let (mut bare, mut entered) = (Vec::new(), Vec::new());
    // Taken in turns, so that whatever else the machine does meets both.
    for _ in 0..ENTRIES {
        let begun = Instant::now();
        engine.instantiate(&compiled).await?;
        bare.push(begun.elapsed());
        let begun = Instant::now();
        enter(&engine, &compiled, arguments).await?;
        entered.push(begun.elapsed());
    }
    let (bare, entered) = (summary(bare), summary(entered));
    println!("cold compile of {} bytes: p50 {:?}", bytes.len(), summary(cold)[0]);
    println!("instantiate: p50 {:?}, p95 {:?}", bare[0], bare[1]);
    println!("whole call: p50 {:?}, p95 {:?}", entered[0], entered[1]);
    println!(
        "p50 of a call is {:.2} times that of an instance",
        entered[0].as_secs_f64() / bare[0].as_secs_f64()
    );
    Ok(())
}

async fn enter(engine: &Engine, compiled: &CompiledComponent, arguments: &str) -> Result<(), CallError> {
    let ports = Ports {
        fetch: None,
        secrets: None,
        values: Arc::new(MemoryValues::default()),
        clock: Arc::new(FakeClock::new()),
        cancel: CancelFlag::default(),
    };
    let request = CallRequest {
        arguments: Redacted::cleaned(arguments.to_owned()).into(),
        principal: PrincipalId::from_parts(1, 1),
    };
    engine.call(compiled, request, CallReach::default(), ports, CallLimits::default()).await.map(drop)
}

/// Returns the median and the 95th of a hundred.
fn summary(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort();
    [times[times.len() / 2], times[times.len() * 95 / 100]]
}
