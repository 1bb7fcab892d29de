//! The counts of the whole runtime on a paced clock, as figures.

use crate::counts;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSummary;

pub(super) const NAME: &str = "counts";

use super::append::as_f64;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let costs = counts::measure(folder.path()).await?;
    let figures = costs.iter().flat_map(|cost| {
        let count = |what: &str, unit, value, goal| {
            BenchFigure::new(
                NAME,
                format!("{}: {what}", cost.run),
                unit,
                SampleSummary::single(as_f64(value)),
            )
            .goal(goal)
        };
        [
            count("commits", Unit::Count, cost.commits, FigureGoal::AtMost(as_f64(cost.commits_max))),
            count("entries", Unit::Count, cost.entries, FigureGoal::None),
            count("row writes", Unit::Count, cost.rows, FigureGoal::None),
            count("bytes of envelopes, payloads, chunks", Unit::Bytes, cost.bytes, FigureGoal::None),
        ]
    });
    Ok(figures.collect())
}
