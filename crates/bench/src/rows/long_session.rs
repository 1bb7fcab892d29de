//! The last run of a long session beside the first run of a new one.

use futures::future::try_join_all;

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSet;
use crate::model::directive::AnswerDirective;

pub(super) const NAME: &str = "long-session";

const SESSIONS_AT_ONCE: usize = 8;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let runs = lab.effort.of(4, 200, 200);
    // The last runs of each session are measured, a few to even out noise.
    let measured = lab.effort.of(1, 4, 10);
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let mut sessions = Vec::new();
    for _ in 0..lab.effort.of(1, 4, 24) {
        sessions.push(daemon.seat().await?);
    }
    for group in sessions.chunks(SESSIONS_AT_ONCE) {
        let slots = group.iter().map(|seat| async move {
            for _ in measured..runs {
                seat.ask(&AnswerDirective::AT_ONCE).await?;
            }
            anyhow::Ok(())
        });
        try_join_all(slots).await?;
    }
    let (mut first, mut last) = (SampleSet::times(), SampleSet::times());
    for _ in 0..measured {
        for seat in &sessions {
            last.push_time(seat.ask(&AnswerDirective::AT_ONCE).await?.total);
            first.push_time(daemon.seat().await?.ask(&AnswerDirective::AT_ONCE).await?.total);
        }
    }
    let what = format!("run {runs} of a session, whole run");
    let figure = BenchFigure::new(NAME, what, Unit::Ms, last.summary())
        .beside("first run", first.summary())
        .goal(FigureGoal::RatioAtMost(1.1))
        .note(
            "the model is asked with the whole conversation, which costs it and the way there something too",
        );
    Ok(vec![figure])
}
