//! A question and its answer, alone on the machine: what is added to asking the model directly.

use std::time::{Duration, Instant};

use crate::floor::client::{FloorClient, Times};
use crate::lab::Lab;
use crate::measure::figure::{Figure, Goal, Unit};
use crate::measure::samples::{Samples, Summary};
use crate::model::ask::{Asker, Said};
use crate::model::directive::Directive;
use crate::process::daemon::Seat;
use crate::process::kernel_facts::{processor_time, sleeps};

pub(super) const NAME: &str = "one-turn";

/// Questions asked in one session before the next is opened.
const QUESTIONS_PER_SESSION: usize = 10;
const WARM_UP: usize = 20;

/// Times of one way to the model.
pub(super) struct Way {
    pub(super) first: Samples,
    pub(super) total: Samples,
}

impl Way {
    pub(super) fn new() -> Self {
        Self { first: Samples::times(), total: Samples::times() }
    }

    pub(super) fn push(&mut self, times: Times) {
        self.first.push_time(times.first);
        self.total.push_time(times.total);
    }
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let floor = lab.floor(folder.path())?;
    let mut asker = Asker::connect(lab.model.address()).await?;
    let mut relay = floor.connect().await?;
    let (mut direct, mut least, mut ours) = (Way::new(), Way::new(), Way::new());
    let mut seat = daemon.seat().await?;
    for at in 0..lab.effort.of(1, WARM_UP, WARM_UP) {
        round(&mut asker, &mut relay, &seat, at).await?;
    }
    let rounds = lab.effort.of(3, 100, 1_000);
    let before = [Spent::of(daemon.process.pid())?, Spent::of(floor.process.pid())?];
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
        Spent::of(daemon.process.pid())?.since(before[0], rounds),
        Spent::of(floor.process.pid())?.since(before[1], rounds),
    ];
    Ok(figures(&direct, &least, &ours).into_iter().chain(work_figures(&spent)).collect())
}

/// What a process has spent so far.
#[derive(Clone, Copy)]
pub(super) struct Spent {
    pub(super) cpu_us: f64,
    pub(super) sleeps: f64,
}

impl Spent {
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
fn work_figures([ours, floor]: &[Spent; 2]) -> [Figure; 2] {
    let figure = |what, unit, of: fn(&Spent) -> f64| {
        Figure::new(NAME, what, unit, Summary::single(of(ours))).beside("floor", Summary::single(of(floor)))
    };
    [
        figure("processor time of a one-turn run, one client", Unit::CpuUs, |spent| spent.cpu_us),
        figure("sleeps of threads in a one-turn run", Unit::Count, |spent| spent.sleeps)
            .note("each is a change of thread; one client"),
    ]
}

/// Asks all three ways, beginning with another one each time.
async fn round(
    asker: &mut Asker,
    floor: &mut FloorClient,
    seat: &Seat,
    turn: usize,
) -> anyhow::Result<[Times; 3]> {
    let nothing = Times { first: Duration::ZERO, total: Duration::ZERO };
    let mut times = [nothing; 3];
    for step in 0..3 {
        let way = (turn + step) % 3;
        times[way] = match way {
            0 => ask_directly(asker, &Directive::AT_ONCE).await?,
            1 => floor.ask(&Directive::AT_ONCE).await?,
            _ => seat.ask(&Directive::AT_ONCE).await?,
        };
    }
    Ok(times)
}

/// Asks the model without anybody between.
pub(super) async fn ask_directly(asker: &mut Asker, directive: &Directive) -> anyhow::Result<Times> {
    let begun = Instant::now();
    asker.ask(&directive.question(), 0).await?;
    let mut first = None;
    loop {
        match asker.next().await? {
            Said::Text(_) => first = first.or_else(|| Some(begun.elapsed())),
            Said::Call => {}
            Said::End => break,
        }
    }
    let total = begun.elapsed();
    Ok(Times { first: first.unwrap_or(total), total })
}

fn figures(direct: &Way, least: &Way, ours: &Way) -> Vec<Figure> {
    let added = |what, of: fn(&Way) -> &Samples, most| {
        let zero = of(direct).median();
        let note = format!(
            "whole times (median): direct {zero:.2} ms, floor {:.2} ms, ours {:.2} ms",
            of(least).median(),
            of(ours).median()
        );
        Figure::new(NAME, what, Unit::Ms, of(ours).summary().less(zero))
            .beside("floor", of(least).summary().less(zero))
            .goal(Goal::RatioAtMost(most))
            .note(note)
    };
    vec![
        added("added time to first token, one client", |way| &way.first, 1.5),
        added("added total of a one-turn run, one client", |way| &way.total, 1.3),
    ]
}
