//! From the start of the process until it answers: with nothing behind it, with much, and after a crash.

use std::path::Path;
use std::time::Duration;

use futures::future::try_join_all;
use palyra_journal::JournalStore;
use palyra_ports::AppendTape;
use palyra_testkit::journal_suite::samples::{self, SampleRun};

use super::append::options;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSet;
use crate::model::directive::AnswerDirective;

pub(super) const NAME: &str = "cold-start";
pub(super) const RECOVERY_NAME: &str = "recovery";

const MANY_RUNS: u64 = 10_000;
/// A text run has six entries.
const MILLION_ENTRIES_RUNS: u64 = 166_600;
const RUNS_PER_SESSION: u64 = 100;
/// How many runs are appended at once while a database is filled.
const FILL_WIDTH: u64 = 64;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let (mut empty, mut floor) = (SampleSet::times(), SampleSet::times());
    for _ in 0..lab.effort.of(1, 5, 25) {
        let folder = lab.fresh()?;
        floor.push_time(lab.floor(folder.path())?.process.ready_after);
        let daemon = lab.daemon(folder.path()).await?;
        empty.push_time(daemon.healthy_after);
        daemon.stop().await?;
    }
    let mut figures = vec![
        BenchFigure::new(NAME, "cold start to healthy, empty", Unit::Ms, empty.summary())
            .beside("floor", floor.summary())
            .goal(FigureGoal::AtMost(20.0))
            .note("until a status call over the socket was answered; the floor until it listens"),
    ];
    let filled = [
        (lab.effort.of(20, MANY_RUNS, MANY_RUNS), "finished runs", 50.0, lab.effort.of(1, 4, 15)),
        (lab.effort.of(0, 0, MILLION_ENTRIES_RUNS), "runs (1 M entries)", 300.0, 5),
    ];
    for (runs, what, most, times) in filled.into_iter().filter(|(runs, ..)| *runs > 0) {
        let folder = lab.fresh()?;
        let home = lab.home(folder.path())?;
        fill(&home.state(), runs).await?;
        let mut starts = SampleSet::times();
        for _ in 0..times {
            let daemon = home.start(&lab.daemon_program).await?;
            starts.push_time(daemon.healthy_after);
            daemon.stop().await?;
        }
        let what = format!("cold start to healthy, {runs} {what}");
        figures.push(BenchFigure::new(NAME, what, Unit::Ms, starts.summary()).goal(FigureGoal::AtMost(most)));
    }
    Ok(figures)
}

pub(super) async fn measure_recovery(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let runs = lab.effort.of(20, MANY_RUNS, MANY_RUNS);
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    fill(&home.state(), runs).await?;
    let mut starts = SampleSet::times();
    let mut daemon = home.start(&lab.daemon_program).await?;
    for _ in 0..lab.effort.of(1, 4, 15) {
        // Something is in the write-ahead log, and one run is at work.
        let seat = daemon.seat().await?;
        for _ in 0..lab.effort.of(1, 20, 20) {
            seat.ask(&AnswerDirective::AT_ONCE).await?;
        }
        let asked = lab.model.seen().asked;
        let thinking = AnswerDirective::paced(Duration::from_secs(600), 1, Duration::ZERO);
        daemon.client.start_run(seat.request(&thinking)).await?;
        lab.model.wait_until(|seen| seen.asked > asked).await?;
        daemon.process.kill()?;
        daemon = home.start(&lab.daemon_program).await?;
        starts.push_time(daemon.healthy_after);
    }
    let what = format!("kill -9 with {runs} finished runs: start to healthy");
    Ok(vec![
        BenchFigure::new(RECOVERY_NAME, what, Unit::Ms, starts.summary()).goal(FigureGoal::AtMost(300.0)),
    ])
}

/// Fills a new journal with finished text runs, as the runtime writes them.
async fn fill(state_dir: &Path, runs: u64) -> anyhow::Result<()> {
    let journal = JournalStore::open(&options(state_dir))?;
    for from in (0..runs).step_by(usize::try_from(RUNS_PER_SESSION)?) {
        let session = samples::session(samples::principal(0), u128::from(from / RUNS_PER_SESSION));
        let opened = samples::session_opened(session, None, palyra_types::Timestamp(1));
        journal.append(samples::append(vec![opened])).await?;
        let to = (from + RUNS_PER_SESSION).min(runs);
        for lane in (from..to).step_by(usize::try_from(FILL_WIDTH)?) {
            let lanes = (lane..(lane + FILL_WIDTH).min(to)).map(|n| {
                let journal = &journal;
                async move {
                    for request in SampleRun::new(session, n).text_run() {
                        journal.append(request).await?;
                    }
                    anyhow::Ok(())
                }
            });
            try_join_all(lanes).await?;
        }
    }
    journal.close().await;
    Ok(())
}
