//! Whether an honest run feels what a program beside it does: forks, memory, files and output without end.

use std::os::fd::OwnedFd;
use std::time::Duration;

use palyra_ports::ProcessTier;

use crate::lab::Lab;
use crate::measure::figure::{Figure, Goal, Unit};
use crate::measure::samples::Samples;
use crate::model::directive::Directive;
use crate::process::daemon::Daemon;
use crate::process::held::Holder;

pub(super) const NAME: &str = "bombs";

/// How long a bomb goes off before anybody is measured beside it.
const WARM: Duration = Duration::from_millis(300);
const RUNS_PER_SESSION: usize = 10;

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

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<Figure>> {
    let (home, folder) = (lab.fresh()?, lab.fresh()?);
    let daemon = lab.daemon(home.path()).await?;
    let holder = Holder::new(&lab.daemon_program.file, folder.path());
    let strongest = [ProcessTier::Isolated, ProcessTier::Confined];
    let tier = strongest.into_iter().find(|tier| holder.offers(*tier));
    let Some(tier) = tier else { anyhow::bail!("this host holds no programs: `palyra doctor` says why") };
    let mut figures = Vec::new();
    for (name, script) in BOMBS {
        let (mut quiet, mut beside) = (Samples::times(), Samples::times());
        for _ in 0..lab.effort.of(1, 2, 4) {
            ask(lab, &daemon, &mut quiet).await?;
            let mut bomb = holder.start(tier, "/bin/sh", &["sh", "-c", script]).await?;
            let drains = bomb.take_output().map(|(output, errors)| [output, errors].map(drain));
            tokio::time::sleep(WARM).await;
            ask(lab, &daemon, &mut beside).await?;
            bomb.stop();
            bomb.wait().await;
            for drain in drains.into_iter().flatten() {
                anyhow::ensure!(drain.join().is_ok(), "a reader of output panicked");
            }
        }
        let (quiet, beside) = (quiet.summary(), beside.summary());
        let figure = Figure::new(NAME, format!("a run beside {name}"), Unit::Ms, beside)
            .beside("quiet", quiet)
            .ratio(beside.p99 / quiet.p99.max(f64::MIN_POSITIVE))
            .goal(Goal::RatioAtMost(2.0));
        figures.push(figure.note("the ratio is that of p99"));
    }
    daemon.stop().await?;
    Ok(figures)
}

async fn ask(lab: &Lab, daemon: &Daemon, samples: &mut Samples) -> anyhow::Result<()> {
    for _ in 0..lab.effort.of(1, 6, 10) {
        let seat = daemon.seat().await?;
        for _ in 0..RUNS_PER_SESSION {
            samples.push_time(seat.ask(&Directive::AT_ONCE).await?.total);
        }
    }
    Ok(())
}

/// Reads all that is printed and keeps none of it.
fn drain(from: OwnedFd) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        // The end of the bomb is the end of its output.
        let _ = std::io::copy(&mut std::fs::File::from(from), &mut std::io::sink());
    })
}
