//! Runs per second at several widths, and the processor time each takes.

use std::future::Future;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use palyra_client::Client;

use crate::floor::client::{FloorClient, TurnTimes};
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{BetterDirection, SampleSet, SampleSummary};
use crate::model::directive::AnswerDirective;
use crate::process::daemon::{DaemonProcess, SessionClient};
use crate::process::kernel_facts::processor_time;

pub(super) const NAME: &str = "throughput";

pub(super) const WIDTHS: [usize; 3] = [1, 16, 64];
const QUESTIONS_PER_SESSION: u32 = 10;
/// How much slower 64 may be than 16 before it counts as a fall.
const FALL_MAX: f64 = 0.95;

/// Rounds of one width.
struct ThroughputRounds {
    floor: SampleSet,
    ours: SampleSet,
    ratios: SampleSet,
    cpu_floor: SampleSet,
    cpu_ours: SampleSet,
}

/// What one round came to.
pub(super) struct RoundRate {
    pub(super) rate: f64,
    pub(super) cpu_us: f64,
}

/// A client that asks one question at a time.
pub(super) trait TurnClient {
    /// Asks, and hears the answer to its end.
    fn ask(&mut self, directive: &AnswerDirective) -> impl Future<Output = anyhow::Result<TurnTimes>>;
}

impl TurnClient for FloorClient {
    async fn ask(&mut self, directive: &AnswerDirective) -> anyhow::Result<TurnTimes> {
        Self::ask(self, directive).await
    }
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let floor = lab.floor(folder.path())?;
    let span = Duration::from_millis(lab.effort.of(30, 400, 1_500));
    let widths = &WIDTHS[..lab.effort.of(2, 3, 3)];
    let mut all: Vec<ThroughputRounds> = widths.iter().map(|_| ThroughputRounds::new()).collect();
    let widest = widths.iter().copied().max().unwrap_or(1);
    let (mut clients, mut relays) = (Vec::new(), Vec::new());
    for _ in 0..widest {
        clients.push(daemon.home.connect().await?);
        relays.push(floor.connect().await?);
    }
    ours_round(&daemon, &clients, span / 4).await?;
    for _ in 0..lab.effort.of(1, 2, 8) {
        for (rounds, width) in all.iter_mut().zip(widths) {
            let least = turns_round(floor.process.pid(), &mut relays[..*width], span).await?;
            let ours = ours_round(&daemon, &clients[..*width], span).await?;
            rounds.push(&least, &ours);
        }
    }
    Ok(figures(widths, &all))
}

impl ThroughputRounds {
    fn new() -> Self {
        let rates = || SampleSet::new(BetterDirection::Higher);
        let times = || SampleSet::new(BetterDirection::Lower);
        Self { floor: rates(), ours: rates(), ratios: rates(), cpu_floor: times(), cpu_ours: times() }
    }

    fn push(&mut self, least: &RoundRate, ours: &RoundRate) {
        self.floor.push(least.rate);
        self.ours.push(ours.rate);
        self.ratios.push(ours.rate / least.rate.max(f64::MIN_POSITIVE));
        self.cpu_floor.push(least.cpu_us);
        self.cpu_ours.push(ours.cpu_us);
    }
}

async fn ours_round(daemon: &DaemonProcess, clients: &[Client], span: Duration) -> anyhow::Result<RoundRate> {
    let before = processor_time(daemon.process.pid())?;
    let begun = Instant::now();
    let slots = clients.iter().map(|client| async move {
        let mut done = 0_u32;
        let mut seat = SessionClient::open(client, &daemon.home).await?;
        while done == 0 || begun.elapsed() < span {
            if done > 0 && done.is_multiple_of(QUESTIONS_PER_SESSION) {
                seat = SessionClient::open(client, &daemon.home).await?;
            }
            seat.ask(&AnswerDirective::AT_ONCE).await?;
            done += 1;
        }
        anyhow::Ok(done)
    });
    let done: u32 = try_join_all(slots).await?.iter().sum();
    Ok(round(done, begun.elapsed(), processor_time(daemon.process.pid())?.saturating_sub(before)))
}

/// Has all clients ask again and again for a while; the processor time is that of the process they ask.
pub(super) async fn turns_round(
    pid: u32,
    clients: &mut [impl TurnClient],
    span: Duration,
) -> anyhow::Result<RoundRate> {
    let before = processor_time(pid)?;
    let begun = Instant::now();
    let slots = clients.iter_mut().map(|client| async move {
        let mut done = 0_u32;
        while done == 0 || begun.elapsed() < span {
            client.ask(&AnswerDirective::AT_ONCE).await?;
            done += 1;
        }
        anyhow::Ok(done)
    });
    let done: u32 = try_join_all(slots).await?.iter().sum();
    Ok(round(done, begun.elapsed(), processor_time(pid)?.saturating_sub(before)))
}

fn round(done: u32, took: Duration, cpu: Duration) -> RoundRate {
    let runs = f64::from(done);
    RoundRate { rate: runs / took.as_secs_f64(), cpu_us: cpu.as_secs_f64() * 1e6 / runs }
}

fn figures(widths: &[usize], all: &[ThroughputRounds]) -> Vec<BenchFigure> {
    let mut figures = Vec::new();
    for (width, rounds) in widths.iter().zip(all) {
        let goal = if *width == 1 { FigureGoal::None } else { FigureGoal::RatioAtLeast(0.5) };
        let what = format!("runs/s, {width} at once, all durable");
        let figure = BenchFigure::new(NAME, what, Unit::PerSecond, rounds.ours.summary());
        let figure = figure.beside("floor", rounds.floor.summary());
        figures.push(figure.ratio(rounds.ratios.median()).goal(goal));
    }
    if let [.., sixteen, widest] = all
        && all.len() == WIDTHS.len()
    {
        let what = "runs/s at 64 beside 16: no fall";
        let figure = BenchFigure::new(NAME, what, Unit::PerSecond, widest.ours.summary());
        let figure = figure.beside("at 16", sixteen.ours.summary()).goal(FigureGoal::RatioAtLeast(FALL_MAX));
        figures.push(figure);
    }
    if let Some(widest) = all.last() {
        let what = format!("processor time per run, {} at once", widths.last().unwrap_or(&1));
        let summary = |samples: &SampleSet| -> SampleSummary { samples.summary() };
        let figure = BenchFigure::new(NAME, what, Unit::CpuUs, summary(&widest.cpu_ours));
        figures.push(figure.beside("floor", summary(&widest.cpu_floor)).note("without client and model"));
    }
    figures
}
