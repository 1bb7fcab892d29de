//! One more round of a tool: model, policy, a small read, model; intent and outcome durable.

use crate::lab::Lab;
use crate::measure::figure::{Figure, Goal, Unit};
use crate::measure::samples::{Better, Samples, milliseconds};
use crate::model::directive::Directive;

pub(super) const NAME: &str = "tool-round";

/// Rounds of the longer run; the difference to none is divided by it.
const ROUNDS: usize = 4;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let floor = lab.floor(folder.path())?;
    let mut client = floor.connect().await?;
    let [plain, tools] = [0, ROUNDS].map(|rounds| Directive::AT_ONCE.with_tools(rounds));
    let (mut least, mut ours) = (Samples::new(Better::Lower), Samples::new(Better::Lower));
    daemon.seat().await?.ask(&tools).await?;
    for _ in 0..lab.effort.of(2, 40, 400) {
        let [without, with] = [client.ask(&plain).await?, client.ask(&tools).await?];
        least.push(per_round(milliseconds(without.total), milliseconds(with.total)));
        let (one, other) = (daemon.seat().await?, daemon.seat().await?);
        let [without, with] = [one.ask(&plain).await?, other.ask(&tools).await?];
        ours.push(per_round(milliseconds(without.total), milliseconds(with.total)));
    }
    let figure = Figure::new(NAME, "one more tool round", Unit::Ms, ours.summary())
        .beside("floor", least.summary())
        .goal(Goal::AtMost(1.5))
        .note(format!("a run with {ROUNDS} rounds less one without, divided by {ROUNDS}"));
    Ok(vec![figure])
}

#[expect(clippy::cast_precision_loss, reason = "four")]
fn per_round(without: f64, with: f64) -> f64 {
    (with - without) / ROUNDS as f64
}
