//! What it costs to hold a program, beside not holding it and beside bubblewrap.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use palyra_ports::{ProcessTier, ProgramEnd};

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSet;
use crate::process::held::{BUBBLEWRAP_INSTALL, ProgramSandbox, bubblewrap, plain};

pub(super) const NAME: &str = "spawn";

const PROGRAM: &str = "/bin/true";
/// Before each start: commands of a model come one by one, and one right after another finds the kernel's own waits
/// half over.
const PAUSE: Duration = Duration::from_millis(40);
const TIERS: [(ProcessTier, &str); 2] =
    [(ProcessTier::Confined, "tier B"), (ProcessTier::Isolated, "tier C")];

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let holder = ProgramSandbox::new(&lab.daemon_program.file, folder.path());
    let bubblewrap = bubblewrap(PROGRAM, folder.path());
    let tiers: Vec<_> = TIERS.into_iter().filter(|(tier, _)| holder.offers(*tier)).collect();
    let (mut unheld, mut wrapped, mut first) = (SampleSet::times(), SampleSet::times(), SampleSet::times());
    let mut held = vec![SampleSet::times(); tiers.len()];
    for at in 0..lab.effort.of(2, 40, 300) {
        pause().await;
        unheld.push_time(timed(|| plain(Command::new(PROGRAM)))?);
        if let Some(bubblewrap) = &bubblewrap {
            pause().await;
            wrapped.push_time(timed(|| plain(bubblewrap()))?);
        }
        for ((tier, _), samples) in tiers.iter().zip(&mut held) {
            pause().await;
            samples.push_time(run(&holder, *tier).await?);
        }
        if at % 4 == 0
            && let Some((tier, _)) = tiers.first()
        {
            pause().await;
            first.push_time(run(&holder.anew(), *tier).await?);
        }
    }
    let mut figures = Vec::new();
    for ((tier, name), samples) in tiers.iter().zip(&held) {
        let goal = match tier {
            ProcessTier::Confined => FigureGoal::AtMost(10.0),
            ProcessTier::Isolated => FigureGoal::None,
        };
        let figure = BenchFigure::new(
            NAME,
            format!("a program held by {name}, start to end"),
            Unit::Ms,
            samples.summary(),
        );
        let beside = match &bubblewrap {
            Some(_) => figure.clone().beside("bubblewrap", wrapped.summary()),
            None => figure.clone().note(format!("no bubblewrap here to stand beside: {BUBBLEWRAP_INSTALL}")),
        };
        figures.push(beside.goal(goal));
        figures.push(figure.beside("not held", unheld.summary()));
    }
    if let Some((_, name)) = tiers.first() {
        let what = format!("the first program held by {name} after a while");
        let figure =
            BenchFigure::new(NAME, what, Unit::Ms, first.summary()).beside("not held", unheld.summary());
        figures.push(figure.note("no keeper waits for it"));
    }
    anyhow::ensure!(!figures.is_empty(), "this host holds no programs: `palyra doctor` says why");
    Ok(figures)
}

/// Waits until all of the last start is over.
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

async fn run(holder: &ProgramSandbox, tier: ProcessTier) -> anyhow::Result<Duration> {
    let name = Path::new(PROGRAM).display().to_string();
    let begun = Instant::now();
    let mut process = holder.start(tier, PROGRAM, &[&name]).await?;
    let ended = process.wait().await;
    anyhow::ensure!(ended == ProgramEnd::Exited { code: 0 }, "{PROGRAM} ended with {ended:?}");
    Ok(begun.elapsed())
}
