//! What it costs to enter a component, beside making an instance of it and no more; and what compiling it costs.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use palyra_ports::CancelFlag;
use palyra_testkit::FakeClock;
use palyra_types::{Content, PrincipalId};
use palyra_wasm::{CallLimits, CallReach, CallRequest, CompiledComponent, Engine, MemoryValues, Ports};

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSet;

pub(super) const NAME: &str = "components";

const ECHO: &str = include_str!("components/echo.wat");

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let engine = Engine::new()?;
    let bytes = wat::parse_str(ECHO).context("the component of this row is no component")?;
    let mut cold = SampleSet::times();
    let mut compiled = engine.compile(&bytes)?;
    for _ in 0..lab.effort.of(1, 5, 20) {
        let begun = Instant::now();
        compiled = engine.compile(&bytes)?;
        cold.push_time(begun.elapsed());
    }
    let (mut bare, mut entered) = (SampleSet::times(), SampleSet::times());
    // Taken in turns, so that whatever else the machine does meets both.
    for _ in 0..lab.effort.of(10, 1_000, 10_000) {
        let begun = Instant::now();
        engine.instantiate(&compiled).await?;
        bare.push_time(begun.elapsed());
        let begun = Instant::now();
        enter(&engine, &compiled).await?;
        entered.push_time(begun.elapsed());
    }
    let warm =
        "wasm tool entry, warm: versus a pooled component instantiate with the same imports in the same run";
    Ok(vec![
        BenchFigure::new(NAME, warm, Unit::Ms, entered.summary())
            .beside("a pooled instantiate", bare.summary())
            .goal(FigureGoal::RatioAtMost(2.0)),
        BenchFigure::new(NAME, "cold compile", Unit::Ms, cold.summary())
            .note(format!("of a component of {} bytes, in this process", bytes.len())),
    ])
}

async fn enter(engine: &Engine, compiled: &CompiledComponent) -> anyhow::Result<()> {
    let ports = Ports {
        fetch: None,
        secrets: None,
        values: Arc::new(MemoryValues::default()),
        clock: Arc::new(FakeClock::new()),
        cancel: CancelFlag::default(),
    };
    let request =
        CallRequest { arguments: Content::new("told".to_owned()), principal: PrincipalId::from_parts(1, 1) };
    engine.call(compiled, request, CallReach::default(), ports, CallLimits::default()).await?;
    Ok(())
}
