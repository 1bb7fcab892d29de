//! A question and its answer, alone on the machine: what is added to asking the model directly.

use std::time::{Duration, Instant};

use crate::floor::client::{FloorClient, TurnTimes};
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{SampleSet, SampleSummary};
use crate::model::direct_client::{AnswerEvent, ModelClient};
use crate::model::directive::AnswerDirective;
use crate::process::daemon::SessionClient;
use crate::process::kernel_facts::{processor_time, sleeps};

pub(super) const NAME: &str = "one-turn";

/// Questions asked in one session before the next is opened.
const QUESTIONS_PER_SESSION: usize = 10;
const WARM_UP: usize = 20;

/// Times of one way to the model.
pub(super) struct TurnSamples {
    pub(super) first: SampleSet,
    pub(super) total: SampleSet,
}

impl TurnSamples {
    pub(super) fn new() -> Self {
        Self { first: SampleSet::times(), total: SampleSet::times() }
    }

    pub(super) fn push(&mut self, times: TurnTimes) {
        self.first.push_time(times.first);
        self.total.push_time(times.total);
    }
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let floor = lab.floor(folder.path())?;
    let mut asker = ModelClient::connect(lab.model.address()).await?;
    let mut relay = floor.connect().await?;
    let (mut direct, mut least, mut ours) = (TurnSamples::new(), TurnSamples::new(), TurnSamples::new());
    let mut seat = daemon.seat().await?;
    for at in 0..lab.effort.of(1, WARM_UP, WARM_UP) {
        round(&mut asker, &mut relay, &seat, at).await?;
    }
    let rounds = lab.effort.of(3, 100, 1_000);
    let before = [ProcessUsage::of(daemon.process.pid())?, ProcessUsage::of(floor.process.pid())?];
    for at in 0..rounds {
        if at % QUESTIONS_PER_SESSION == 0 {
            seat = daemon.seat().await?;
        }
        let [first, second, third] = round(&mut asker, &mut relay, &seat, at).await?;
        direct.push(first);
        least.push(second);
        ours.push(third);
    }
    let spent = [
        ProcessUsage::of(daemon.process.pid())?.since(before[0], rounds),
        ProcessUsage::of(floor.process.pid())?.since(before[1], rounds),
    ];
    Ok(figures(&direct, &least, &ours).into_iter().chain(work_figures(&spent)).collect())
}

/// What a process has spent so far.
#[derive(Clone, Copy)]
pub(super) struct ProcessUsage {
    pub(super) cpu_us: f64,
    pub(super) sleeps: f64,
}

impl ProcessUsage {
    pub(super) fn of(pid: u32) -> anyhow::Result<Self> {
        Ok(Self { cpu_us: processor_time(pid)?.as_secs_f64() * 1e6, sleeps: sleeps(pid)? })
    }

    pub(super) fn since(self, before: Self, rounds: usize) -> Self {
        let each =
            |now: f64, before: f64| (now - before) / f64::from(u32::try_from(rounds).unwrap_or(u32::MAX));
        Self { cpu_us: each(self.cpu_us, before.cpu_us), sleeps: each(self.sleeps, before.sleeps) }
    }
}

/// What a run costs its machine: hardly touched by what else is at work there.
fn work_figures([ours, floor]: &[ProcessUsage; 2]) -> [BenchFigure; 2] {
    let figure = |what, unit, of: fn(&ProcessUsage) -> f64| {
        BenchFigure::new(NAME, what, unit, SampleSummary::single(of(ours)))
            .beside("floor", SampleSummary::single(of(floor)))
    };
    [
        figure("processor time of a one-turn run, one client", Unit::CpuUs, |spent| spent.cpu_us),
        figure("sleeps of threads in a one-turn run", Unit::Count, |spent| spent.sleeps)
            .note("each is a change of thread; one client"),
    ]
}

/// Asks all three ways, beginning with another one each time.
async fn round(
    asker: &mut ModelClient,
    floor: &mut FloorClient,
    seat: &SessionClient,
    turn: usize,
) -> anyhow::Result<[TurnTimes; 3]> {
    let nothing = TurnTimes { first: Duration::ZERO, total: Duration::ZERO };
    let mut times = [nothing; 3];
    for step in 0..3 {
        let way = (turn + step) % 3;
        times[way] = match way {
            0 => ask_directly(asker, &AnswerDirective::AT_ONCE).await?,
            1 => floor.ask(&AnswerDirective::AT_ONCE).await?,
            _ => seat.ask(&AnswerDirective::AT_ONCE).await?,
        };
    }
    Ok(times)
}

/// Asks the model without anybody between.
pub(super) async fn ask_directly(
    asker: &mut ModelClient,
    directive: &AnswerDirective,
) -> anyhow::Result<TurnTimes> {
    let begun = Instant::now();
    asker.ask(&directive.question(), 0).await?;
    let mut first = None;
    loop {
        match asker.next().await? {
            AnswerEvent::Text(_) => first = first.or_else(|| Some(begun.elapsed())),
            AnswerEvent::Call => {}
            AnswerEvent::End => break,
        }
    }
    let total = begun.elapsed();
    Ok(TurnTimes { first: first.unwrap_or(total), total })
}

fn figures(direct: &TurnSamples, least: &TurnSamples, ours: &TurnSamples) -> Vec<BenchFigure> {
    let added = |what, of: fn(&TurnSamples) -> &SampleSet, most| {
        let zero = of(direct).median();
        let note = format!(
            "whole times (median): direct {zero:.2} ms, floor {:.2} ms, ours {:.2} ms",
            of(least).median(),
            of(ours).median()
        );
        BenchFigure::new(NAME, what, Unit::Ms, of(ours).summary().less(zero))
            .beside("floor", of(least).summary().less(zero))
            .goal(FigureGoal::RatioAtMost(most))
            .note(note)
    };
    vec![
        added("added time to first token, one client", |way| &way.first, 1.5),
        added("added total of a one-turn run, one client", |way| &way.total, 1.3),
    ]
}
