//! A model that thinks and then streams slowly: how much later the first word comes than when asked directly.

use std::time::{Duration, Instant};

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSet;
use crate::model::direct_client::{AnswerEvent, ModelClient};
use crate::model::directive::AnswerDirective;

pub(super) const NAME: &str = "streamed";

const THINKS: Duration = Duration::from_millis(20);
const GAP: Duration = Duration::from_millis(10);

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let pieces = lab.effort.of(4, 64, 64);
    let directive = AnswerDirective::paced(THINKS, pieces, GAP);
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let floor = lab.floor(folder.path())?;
    let mut relay = floor.connect().await?;
    let times = SampleSet::times;
    let (mut direct, mut least, mut ours, mut whole) = (times(), times(), times(), times());
    daemon.seat().await?.ask(&AnswerDirective::AT_ONCE).await?;
    relay.ask(&AnswerDirective::AT_ONCE).await?;
    for _ in 0..lab.effort.of(1, 6, 60) {
        // Both ways have a connection already; this one is given up after its first word.
        let mut asker = ModelClient::connect(lab.model.address()).await?;
        let begun = Instant::now();
        asker.ask(&directive.question(), 0).await?;
        while !matches!(asker.next().await?, AnswerEvent::Text(_)) {}
        direct.push_time(begun.elapsed());
        drop(asker);
        least.push_time(relay.ask(&directive).await?.first);
        let times = daemon.seat().await?.ask(&directive).await?;
        ours.push_time(times.first);
        whole.push_time(times.total);
    }
    let sent = THINKS + GAP * u32::try_from(pieces - 1).unwrap_or(0);
    let note = format!(
        "floor {:.1} ms; whole answer {:.0} ms; the model sends for {} ms",
        least.median(),
        whole.median(),
        sent.as_millis()
    );
    let what = format!("first token; model takes 20 ms, then {pieces} tokens 10 ms apart");
    let figure = BenchFigure::new(NAME, what, Unit::Ms, ours.summary())
        .beside("direct", direct.summary())
        .goal(FigureGoal::RatioAtMost(1.05))
        .note(note);
    Ok(vec![figure])
}
