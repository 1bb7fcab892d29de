//! The counts of the whole runtime on a paced clock, as figures.

use crate::counts;
use crate::lab::Lab;
use crate::measure::figure::{Figure, Goal, Unit};
use crate::measure::samples::Summary;

pub(super) const NAME: &str = "counts";

use super::append::as_f64;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let folder = lab.fresh()?;
    let costs = counts::measure(folder.path()).await?;
    let figures = costs.iter().flat_map(|cost| {
        let count = |what: &str, unit, value, goal| {
            Figure::new(NAME, format!("{}: {what}", cost.run), unit, Summary::single(as_f64(value)))
                .goal(goal)
        };
        [
            count("commits", Unit::Count, cost.commits, Goal::AtMost(as_f64(cost.commits_max))),
            count("entries", Unit::Count, cost.entries, Goal::None),
            count("row writes", Unit::Count, cost.rows, Goal::None),
            count("bytes of envelopes, payloads, chunks", Unit::Bytes, cost.bytes, Goal::None),
        ]
    });
    Ok(figures.collect())
}
