//! One more round of a tool: model, policy, a small read, model; intent and outcome durable. And the same with a
//! person who is asked before the read: question, yes and outcome durable.

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{BetterDirection, SampleSet, SampleSummary, milliseconds};
use crate::model::directive::AnswerDirective;
use crate::process::daemon::{DaemonProcess, SessionClient};
use crate::rows::as_f64;

pub(super) const NAME: &str = "tool-round";
pub(super) const APPROVAL_NAME: &str = "approval-round";

/// Rounds of the longer run; the difference to none is divided by it.
const ROUNDS: u32 = 4;
/// Commits of a round of the floor: the text with the intent, and the outcome.
const FLOOR_COMMITS: f64 = 2.0;
/// The yes is one more.
const FLOOR_COMMITS_ASKED: f64 = 3.0;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let rounds = ToolRounds::measure(lab, &AnswerDirective::AT_ONCE).await?;
    let ToolRounds { ours, least, commits } = &rounds;
    let time = BenchFigure::new(NAME, "one more tool round", Unit::Ms, ours.summary())
        .beside("floor", least.summary())
        .goal(FigureGoal::AtMost(1.5))
        .note(note());
    let commits = BenchFigure::new(NAME, "commits of one more tool round", Unit::Count, commits.summary())
        .beside("floor", SampleSummary::single(FLOOR_COMMITS))
        .goal(FigureGoal::AtMost(2.0))
        .note("told by the journal's own counter");
    Ok(vec![time, commits])
}

pub(super) async fn measure_approval(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let rounds = ToolRounds::measure(lab, &AnswerDirective::AT_ONCE.asked()).await?;
    let ToolRounds { ours, least, commits } = &rounds;
    let time =
        BenchFigure::new(APPROVAL_NAME, "one more tool round that is asked about", Unit::Ms, ours.summary())
            .beside("floor", least.summary())
            .note(format!("{}; the client says yes as soon as it is asked", note()));
    let commits = BenchFigure::new(APPROVAL_NAME, "commits of such a round", Unit::Count, commits.summary())
        .beside("floor", SampleSummary::single(FLOOR_COMMITS_ASKED))
        .goal(FigureGoal::AtMost(3.0))
        .note("the call with its question, the yes with the start, the outcome");
    Ok(vec![time, commits])
}

fn note() -> String {
    format!("a run with {ROUNDS} rounds less one without, divided by {ROUNDS}")
}

/// What a round comes to, for the daemon and for the floor.
struct ToolRounds {
    ours: SampleSet,
    least: SampleSet,
    commits: SampleSet,
}

impl ToolRounds {
    async fn measure(lab: &Lab, directive: &AnswerDirective) -> anyhow::Result<Self> {
        let folder = lab.fresh()?;
        let daemon = lab.daemon(folder.path()).await?;
        let floor = lab.floor(folder.path())?;
        let mut client = floor.connect().await?;
        let [plain, tools] = [0, ROUNDS as usize].map(|rounds| directive.with_tools(rounds));
        let [mut least, mut ours, mut commits] = [(); 3].map(|()| SampleSet::new(BetterDirection::Lower));
        daemon.seat().await?.ask(&tools).await?;
        for _ in 0..lab.effort.of(2, 40, 400) {
            let [without, with] = [client.ask(&plain).await?, client.ask(&tools).await?];
            least.push(per_round(milliseconds(without.total), milliseconds(with.total)));
            let (one, other) = (daemon.seat().await?, daemon.seat().await?);
            let [without, with] =
                [counted(&daemon, &one, &plain).await?, counted(&daemon, &other, &tools).await?];
            ours.push(per_round(without.0, with.0));
            commits.push(per_round(without.1, with.1));
        }
        Ok(Self { ours, least, commits })
    }
}

/// Asks, and returns the milliseconds and the commits that it took.
async fn counted(
    daemon: &DaemonProcess,
    seat: &SessionClient,
    directive: &AnswerDirective,
) -> anyhow::Result<(f64, f64)> {
    let before = daemon.client.journal_status().await?.commits;
    let times = seat.ask(directive).await?;
    let after = daemon.client.journal_status().await?.commits;
    Ok((milliseconds(times.total), as_f64(after - before)))
}

fn per_round(without: f64, with: f64) -> f64 {
    (with - without) / f64::from(ROUNDS)
}
