//! Many answers that are streamed at once and say nothing yet: what each takes, and what another request costs beside them.

use std::time::Duration;

use futures::future::try_join_all;

use super::append::as_f64;
use super::one_turn::TurnSamples;
use crate::floor::client::FloorClient;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, FigureGoal, Unit};
use crate::measure::samples::{SampleSet, SampleSummary};
use crate::model::directive::AnswerDirective;
use crate::process::chat_client::{AGENT_MODEL, ChatClient, ChatEndpoint};
use crate::process::descriptor_limit::demand_descriptors;
use crate::process::floor::FloorProcess;
use crate::process::kernel_facts::resident;

pub(super) const NAME: &str = "open-streams";

/// As many as a provider may be allowed.
const MODEL_REQUESTS_MAX: usize = 1_024;
/// Streams opened side by side.
const OPENED_AT_ONCE: usize = 50;
const WARM_UP: usize = 20;
/// Longer than anything is measured.
const SILENT: AnswerDirective =
    AnswerDirective { first: Duration::from_secs(3_600), ..AnswerDirective::AT_ONCE };
/// Sockets of one stream in this process: to the daemon, to the floor, and from each to the model; and some for the rest.
const DESCRIPTORS_OF_A_STREAM: usize = 4;
const OTHER_DESCRIPTORS: usize = 500;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let streams = lab.effort.of(16, 1_000, 1_000);
    let descriptors = streams * DESCRIPTORS_OF_A_STREAM + OTHER_DESCRIPTORS;
    demand_descriptors(u64::try_from(descriptors)?)?;
    let folder = lab.fresh()?;
    let home = lab.home(folder.path())?;
    home.allow_model_requests(MODEL_REQUESTS_MAX)?;
    let daemon = home.start(&lab.daemon_program).await?;
    let floor = lab.floor(folder.path())?;
    let endpoint = ChatEndpoint::of(&daemon).await?;
    let mut other = endpoint.connect(AGENT_MODEL).await?;
    let mut relay = floor.connect().await?;
    alternately(lab.effort.of(1, WARM_UP, WARM_UP), &mut other, &mut relay).await?;
    let rounds = lab.effort.of(3, 100, 1_000);
    let quiet = alternately(rounds, &mut other, &mut relay).await?;

    let pids = [daemon.process.pid(), floor.process.pid()];
    let before = memory(pids)?;
    let chats = open_chats(lab, &endpoint, streams).await?;
    let questions = open_questions(lab, &floor, streams).await?;
    let after = memory(pids)?;
    // The daemon closes a connection that rests for long.
    other = endpoint.connect(AGENT_MODEL).await?;
    alternately(1, &mut other, &mut relay).await?;
    let beside = alternately(rounds, &mut other, &mut relay).await?;
    drop((chats, questions));
    let memory = memory_figures(before, after, streams);
    Ok(memory.into_iter().chain(time_figures(&quiet, &beside, streams)).collect())
}

/// Times of the other client at the daemon, and of one at the floor.
struct OtherTimes {
    ours: TurnSamples,
    least: TurnSamples,
}

async fn alternately(
    rounds: usize,
    other: &mut ChatClient,
    relay: &mut FloorClient,
) -> anyhow::Result<OtherTimes> {
    let mut times = OtherTimes { ours: TurnSamples::new(), least: TurnSamples::new() };
    for _ in 0..rounds {
        times.ours.push(other.ask(&AnswerDirective::AT_ONCE).await?);
        times.least.push(relay.ask(&AnswerDirective::AT_ONCE).await?);
    }
    Ok(times)
}

/// Returns the resident memory of processes, in MiB.
fn memory(pids: [u32; 2]) -> anyhow::Result<[f64; 2]> {
    Ok([resident(pids[0])?.all_mib, resident(pids[1])?.all_mib])
}

/// Opens streams, and waits until the model is asked for each.
async fn open_chats(lab: &Lab, endpoint: &ChatEndpoint, streams: usize) -> anyhow::Result<Vec<ChatClient>> {
    let asked = lab.model.seen().asked + streams as u64;
    let mut open = Vec::new();
    while open.len() < streams {
        let group = (open.len()..streams).take(OPENED_AT_ONCE).map(|_| async move {
            let mut client = endpoint.connect(AGENT_MODEL).await?;
            client.begin(&SILENT).await?;
            anyhow::Ok(client)
        });
        open.extend(try_join_all(group).await?);
    }
    lab.model.wait_until(|seen| seen.asked >= asked).await?;
    Ok(open)
}

/// Opens as many questions at the floor.
async fn open_questions(lab: &Lab, floor: &FloorProcess, streams: usize) -> anyhow::Result<Vec<FloorClient>> {
    let asked = lab.model.seen().asked + streams as u64;
    let mut open = Vec::new();
    while open.len() < streams {
        let mut client = floor.connect().await?;
        client.begin(&SILENT).await?;
        open.push(client);
    }
    lab.model.wait_until(|seen| seen.asked >= asked).await?;
    Ok(open)
}

fn memory_figures(before: [f64; 2], after: [f64; 2], streams: usize) -> [BenchFigure; 2] {
    let single = SampleSummary::single;
    let each = |at: usize| single((after[at] - before[at]) * 1_024.0 * 1_024.0 / as_f64(streams as u64));
    [
        BenchFigure::new(
            NAME,
            format!("resident memory with {streams} open chat streams"),
            Unit::MiB,
            single(after[0]),
        )
        .beside("floor", single(after[1]))
        .goal(FigureGoal::AtMost(200.0))
        .note(format!("before: ours {:.1} MiB, floor {:.1} MiB", before[0], before[1])),
        BenchFigure::new(NAME, format!("of it for each of {streams} streams"), Unit::Bytes, each(0))
            .beside("floor", each(1))
            .note("each is a run of its own whose model says nothing yet"),
    ]
}

fn time_figures(quiet: &OtherTimes, beside: &OtherTimes, streams: usize) -> [BenchFigure; 2] {
    let figure = |what: &str, of: fn(&TurnSamples) -> &SampleSet| {
        let note = format!(
            "the floor with as many: {:.2} ms, without {:.2} ms",
            of(&beside.least).median(),
            of(&quiet.least).median()
        );
        let what = format!("{what} of another request beside {streams} streams");
        BenchFigure::new(NAME, what, Unit::Ms, of(&beside.ours).summary())
            .beside("without them", of(&quiet.ours).summary())
            .note(note)
    };
    [figure("first token", |way| &way.first), figure("total", |way| &way.total)]
}
