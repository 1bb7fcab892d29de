//! What the daemon takes while nobody asks, and after a load.

use std::time::Duration;

use futures::future::try_join_all;
use palyra_client::Client;
use palyra_wire::v1::{CreateScheduleRequest, ScheduleDraft};

use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::SampleSummary;
use crate::model::directive::AnswerDirective;
use crate::process::daemon::SessionClient;
use crate::process::kernel_facts::{ResidentMemory, resident, sleeps};

pub(super) const NAME: &str = "footprint";
pub(super) const BINARY_NAME: &str = "binary";

const WIDTH: usize = 64;
const RUNS_PER_SESSION: usize = 10;
const MINUTES_PER_DAY: u32 = 24 * 60;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    let daemon = home.spawn(&lab.daemon_program)?;
    let floor = lab.floor(folder.path())?;
    let (pid, floor_pid) = (daemon.pid(), floor.process.pid());
    // What a start still does behind its readiness is over by then.
    tokio::time::sleep(Duration::from_millis(lab.effort.of(50, 2_000, 5_000))).await;
    let span = Duration::from_millis(lab.effort.of(50, 3_000, 20_000));
    let (wakes, floor_wakes) = wakes_per_second([pid, floor_pid], span).await?;
    let (idle, floor_idle) = (resident(pid)?, resident(floor_pid)?);
    schedule_tomorrow(&home.connect().await?).await?;
    tokio::time::sleep(span / 4).await;
    let (scheduled_wakes, floor_scheduled_wakes) = wakes_per_second([pid, floor_pid], span).await?;

    let runs = lab.effort.of(1, 10, 100);
    let mut clients = Vec::new();
    for _ in 0..lab.effort.of(4, WIDTH, WIDTH) {
        clients.push((home.connect().await?, floor.connect().await?));
    }
    let width = clients.len();
    let slots = clients.iter_mut().map(|(client, relay)| {
        let home = &home;
        async move {
            let mut seat = SessionClient::open(client, home).await?;
            for at in 0..runs {
                if at > 0 && at % RUNS_PER_SESSION == 0 {
                    seat = SessionClient::open(client, home).await?;
                }
                seat.ask(&AnswerDirective::AT_ONCE).await?;
                relay.ask(&AnswerDirective::AT_ONCE).await?;
            }
            anyhow::Ok(())
        }
    });
    try_join_all(slots).await?;
    let (after, floor_after) = (resident(pid)?, resident(floor_pid)?);
    let memory = |what: String, ours: ResidentMemory, least: ResidentMemory, most| {
        BenchFigure::new(NAME, what, Unit::MiB, SampleSummary::single(ours.all_mib))
            .beside("floor", SampleSummary::single(least.all_mib))
            .goal(FigureGoal::AtMost(most))
            .note(format!("{:.1} MiB of it its own, the rest pages of its file", ours.own_mib))
    };
    let count = |what, ours, least, most| {
        BenchFigure::new(NAME, what, Unit::Count, SampleSummary::single(ours))
            .beside("floor", SampleSummary::single(least))
            .goal(FigureGoal::AtMost(most))
    };
    let threads = |resident: ResidentMemory| f64::from(u32::try_from(resident.threads).unwrap_or(u32::MAX));
    Ok(vec![
        memory("resident memory, idle".to_owned(), idle, floor_idle, 16.0),
        memory(
            format!("resident memory after {} runs, {width} at once", runs * width),
            after,
            floor_after,
            32.0,
        ),
        count("threads after the load", threads(after), threads(floor_after), 16.0),
        count("wake-ups per second, idle", wakes, floor_wakes, 2.0),
        count(
            "wake-ups per second, idle with a schedule of tomorrow",
            scheduled_wakes,
            floor_scheduled_wakes,
            2.0,
        ),
    ])
}

/// Returns how often the threads of each process wake in a second.
async fn wakes_per_second([ours, floor]: [u32; 2], span: Duration) -> anyhow::Result<(f64, f64)> {
    let (before, floor_before) = (sleeps(ours)?, sleeps(floor)?);
    tokio::time::sleep(span).await;
    let per_second = |after: f64, before: f64| (after - before) / span.as_secs_f64();
    Ok((per_second(sleeps(ours)?, before), per_second(sleeps(floor)?, floor_before)))
}

/// Makes a schedule that is due once a day, for the first time tomorrow.
async fn schedule_tomorrow(client: &Client) -> anyhow::Result<()> {
    let draft = ScheduleDraft {
        every_minutes: MINUTES_PER_DAY,
        reminder: "Water the plants.".to_owned(),
        ..ScheduleDraft::default()
    };
    client.call(CreateScheduleRequest { draft: Some(draft) }).await?;
    Ok(())
}

pub(super) fn measure_binary(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let bytes = std::fs::metadata(&lab.daemon_program.file)?.len();
    let figure = BenchFigure::new(
        BINARY_NAME,
        "size of the program",
        Unit::MiB,
        SampleSummary::single(super::append::as_f64(bytes) / (1_024.0 * 1_024.0)),
    );
    // The bench program holds more than the daemon does.
    Ok(vec![if lab.daemon_program.before.is_empty() {
        figure.goal(FigureGoal::AtMost(35.0))
    } else {
        figure
    }])
}
