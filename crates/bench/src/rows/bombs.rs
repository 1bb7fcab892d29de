//! Whether an honest run feels what a program beside it does: forks, memory, files and output without end.

use std::time::Duration;

use palyra_client::{FollowEvent, RunFollower};
use palyra_wire::v1::RunState;

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSet;
use crate::model::directive::{self, AnswerDirective};
use crate::process::daemon::DaemonProcess;

pub(super) const NAME: &str = "bombs";

/// How long a bomb goes off before anybody is measured beside it.
const WARM: Duration = Duration::from_millis(300);
const RUNS_PER_SESSION: usize = 10;
/// Memory of a bomb: little, so that it is at its limit from the first moment on.
const MEMORY_MIB: u64 = 256;

/// What is done without end, each as a shell's words.
const BOMBS: [(&str, &str); 4] = [
    ("a fork bomb", "f() { f & f & while :; do :; done; }; f"),
    ("a memory bomb", "while :; do head -c 4G /dev/zero | tail > /dev/null; done"),
    (
        "a disk bomb",
        "while :; do dd if=/dev/zero of=full bs=1M count=4096; dd if=/dev/zero of=/tmp/full bs=1M; rm full; done",
    ),
    ("an output bomb", "exec yes"),
];

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    home.limit_commands(MEMORY_MIB)?;
    for (number, (_, script)) in (0..).zip(BOMBS) {
        std::fs::write(home.work().join(directive::script(number)), script)?;
    }
    let daemon = home.start(&lab.daemon_program).await?;
    let mut figures = Vec::new();
    for (number, (name, _)) in (0..).zip(BOMBS) {
        let (mut quiet, mut beside) = (SampleSet::times(), SampleSet::times());
        for _ in 0..lab.effort.of(1, 2, 4) {
            ask(lab, &daemon, &mut quiet).await?;
            let bomb = daemon.seat().await?.begin(&AnswerDirective::script(number)).await?;
            tokio::time::sleep(WARM).await;
            ask(lab, &daemon, &mut beside).await?;
            stop(bomb).await?;
        }
        let (quiet, beside) = (quiet.summary(), beside.summary());
        let figure = BenchFigure::new(NAME, format!("a run beside {name}"), Unit::Ms, beside)
            .beside("quiet", quiet)
            .ratio(beside.p99 / quiet.p99.max(f64::MIN_POSITIVE))
            .goal(FigureGoal::RatioAtMost(2.0));
        figures.push(figure.note("the ratio is that of p99; the same daemon runs both"));
    }
    daemon.stop().await?;
    Ok(figures)
}

/// Cancels a bomb's run, which must not have ended before: then the runs beside it had nothing beside them.
async fn stop(mut bomb: RunFollower) -> anyhow::Result<()> {
    bomb.request_cancel();
    while let Some(event) = bomb.next().await? {
        if let FollowEvent::Ended(end) = event {
            anyhow::ensure!(end.state() == RunState::Cancelled, "a bomb's run ended as {:?}", end.state());
        }
    }
    Ok(())
}

async fn ask(lab: &Lab, daemon: &DaemonProcess, samples: &mut SampleSet) -> anyhow::Result<()> {
    for _ in 0..lab.effort.of(1, 6, 10) {
        let seat = daemon.seat().await?;
        for _ in 0..RUNS_PER_SESSION {
            samples.push_time(seat.ask(&AnswerDirective::AT_ONCE).await?.total);
        }
    }
    Ok(())
}
