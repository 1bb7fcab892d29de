//! From the wish to stop until the model server sees the request go.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSet;
use crate::model::direct_client::ModelClient;
use crate::model::directive::AnswerDirective;
use crate::model::server::MockModel;

pub(super) const NAME: &str = "cancel";

const RUNS_PER_SESSION: usize = 10;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let (mut direct, mut ours) = (SampleSet::times(), SampleSet::times());
    let mut seat = daemon.seat().await?;
    // A model that says nothing yet, and one that is talking.
    let silent = AnswerDirective::paced(Duration::from_secs(600), 1, Duration::ZERO);
    let talking = AnswerDirective::paced(Duration::ZERO, 60_000, Duration::from_millis(10));
    for at in 0..lab.effort.of(2, 40, 400) {
        let directive = if at % 2 == 0 { silent } else { talking };
        let before = lab.model.seen();
        let mut asker = ModelClient::connect(lab.model.address()).await?;
        asker.ask(&directive.question(), 0).await?;
        lab.model.wait_until(|seen| seen.asked > before.asked).await?;
        let begun = Instant::now();
        drop(asker);
        direct.push_time(dropped(&lab.model, before.dropped, begun).await?);

        if at % RUNS_PER_SESSION == 0 {
            seat = daemon.seat().await?;
        }
        let before = lab.model.seen();
        let run = daemon.client.start_run(seat.request(&directive)).await?;
        let run = run.run_id.parse().map_err(|_| anyhow::anyhow!("a run's id is not an id"))?;
        lab.model.wait_until(|seen| seen.asked > before.asked).await?;
        let begun = Instant::now();
        daemon.client.cancel_run(run).await?;
        ours.push_time(dropped(&lab.model, before.dropped, begun).await?);
    }
    let figure = BenchFigure::new(
        NAME,
        "cancel requested until the model request is dropped",
        Unit::Ms,
        ours.summary(),
    )
    .beside("direct", direct.summary())
    .goal(FigureGoal::TailAtMost(2.0))
    .note("half of them while the model is silent, half while it is talking");
    Ok(vec![figure])
}

/// Returns when the model saw the next request go, counted from `begun`.
async fn dropped(model: &MockModel, before: u64, begun: Instant) -> anyhow::Result<Duration> {
    let seen = model.wait_until(|seen| seen.dropped > before).await?;
    Ok(seen.last_drop.context("a drop without its time")?.saturating_duration_since(begun))
}
