//! What it costs to enter a component, beside making an instance of it and no more; and what compiling it costs.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use palyra_ports::CancelFlag;
use palyra_testkit::FakeClock;
use palyra_types::{PrincipalId, Redacted};
use palyra_wasm::{CallLimits, CallRequest, Compiled, Given, Machine, MemoryValues, Ports};

use crate::lab::Lab;
use crate::measure::figure::{Figure, Goal, Unit};
use crate::measure::samples::Samples;

pub(super) const NAME: &str = "components";

const ECHO: &str = include_str!("components/echo.wat");

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let machine = Machine::new()?;
    let bytes = wat::parse_str(ECHO).context("the component of this row is no component")?;
    let mut cold = Samples::times();
    let mut compiled = machine.compile(&bytes)?;
    for _ in 0..lab.effort.of(1, 5, 20) {
        let begun = Instant::now();
        compiled = machine.compile(&bytes)?;
        cold.push_time(begun.elapsed());
    }
    let (mut bare, mut entered) = (Samples::times(), Samples::times());
    // Taken in turns, so that whatever else the machine does meets both.
    for _ in 0..lab.effort.of(10, 1_000, 10_000) {
        let begun = Instant::now();
        machine.instantiate(&compiled).await?;
        bare.push_time(begun.elapsed());
        let begun = Instant::now();
        enter(&machine, &compiled).await?;
        entered.push_time(begun.elapsed());
    }
    let warm =
        "wasm tool entry, warm: versus a pooled component instantiate with the same imports in the same run";
    Ok(vec![
        Figure::new(NAME, warm, Unit::Ms, entered.summary())
            .beside("a pooled instantiate", bare.summary())
            .goal(Goal::RatioAtMost(2.0)),
        Figure::new(NAME, "cold compile", Unit::Ms, cold.summary())
            .note(format!("of a component of {} bytes, in this process", bytes.len())),
    ])
}

async fn enter(machine: &Machine, compiled: &Compiled) -> anyhow::Result<()> {
    let ports = Ports {
        fetch: None,
        secrets: None,
        values: Arc::new(MemoryValues::default()),
        clock: Arc::new(FakeClock::new()),
        cancel: CancelFlag::default(),
    };
    let request =
        CallRequest { arguments: Redacted::new("told".to_owned()), principal: PrincipalId::from_parts(1, 1) };
    machine.call(compiled, request, Given::default(), ports, CallLimits::default()).await?;
    Ok(())
}
