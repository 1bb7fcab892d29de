//! Late runs of a session whose window has long been full, beside runs of a session whose window has just become full.
//!
//! Both send requests of equal size, so a difference is what the length of the session costs.

use super::one_turn::ProcessUsage;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{BetterDirection, SampleSet};
use crate::model::directive::AnswerDirective;
use crate::process::daemon::{DaemonProcess, SessionClient};

pub(super) const NAME: &str = "full-window";

/// Tokens of the model's window: about 30 of these questions and answers beside the tools.
const WINDOW_TOKENS: u32 = 16_384;
const QUESTION_BYTES: usize = 1_000;
/// Runs after which a window is full.
const FULL_AFTER: usize = 50;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    home.limit_window(WINDOW_TOKENS)?;
    let daemon = home.start(&lab.daemon_program).await?;
    let long = daemon.seat().await?.with_long_questions(QUESTION_BYTES);
    let pairs = lab.effort.of(1, 10, 50);
    let places = [(lab.effort.of(4, 200, 200), 1.1), (lab.effort.of(8, 1_000, 10_000), 1.2)];
    let mut asked = 0;
    let mut figures = Vec::new();
    for (place, ratio_max) in places {
        let fresh = daemon.seat().await?.with_long_questions(QUESTION_BYTES);
        ask_times(&fresh, lab.effort.of(1, FULL_AFTER, FULL_AFTER)).await?;
        ask_times(&long, place - asked).await?;
        let mut late = SampleSet::new(BetterDirection::Lower);
        let mut early = SampleSet::new(BetterDirection::Lower);
        for _ in 0..pairs {
            late.push(processor_time_of_run(&daemon, &long).await?);
            early.push(processor_time_of_run(&daemon, &fresh).await?);
        }
        asked = place + pairs;
        figures.push(
            BenchFigure::new(
                NAME,
                format!("run {place} of a session, processor time"),
                Unit::CpuUs,
                late.summary(),
            )
            .beside("run 50 of a new one", early.summary())
            .goal(FigureGoal::RatioAtMost(ratio_max)),
        );
    }
    daemon.stop().await?;
    Ok(figures)
}

async fn ask_times(seat: &SessionClient, runs: usize) -> anyhow::Result<()> {
    for _ in 0..runs {
        seat.ask(&AnswerDirective::AT_ONCE).await?;
    }
    Ok(())
}

async fn processor_time_of_run(daemon: &DaemonProcess, seat: &SessionClient) -> anyhow::Result<f64> {
    let pid = daemon.process.pid();
    let before = ProcessUsage::of(pid)?;
    seat.ask(&AnswerDirective::AT_ONCE).await?;
    Ok(ProcessUsage::of(pid)?.since(before, 1).cpu_us)
}
