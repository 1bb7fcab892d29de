//! `/v1/chat/completions` of the daemon: what it adds to asking the model directly, and how many it answers a second.

use std::time::Duration;

use super::one_turn::{TurnSamples, ask_directly};
use super::throughput::{TurnClient, WIDTHS, turns_round};
use crate::floor::client::{FloorClient, TurnTimes};
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, Unit};
use crate::measure::samples::{BetterDirection, SampleSet};
use crate::model::direct_client::ModelClient;
use crate::model::directive::AnswerDirective;
use crate::process::chat_client::{AGENT_MODEL, ChatClient, ChatEndpoint, MODEL_ALONE};
use crate::process::daemon::DaemonProcess;
use crate::process::floor::FloorProcess;

pub(super) const NAME: &str = "chat-completions";

const WARM_UP: usize = 20;
/// Ways to the model: directly, through the floor, through the daemon's agent, through the daemon to the model alone.
const WAYS: usize = 4;

impl TurnClient for ChatClient {
    async fn ask(&mut self, directive: &AnswerDirective) -> anyhow::Result<TurnTimes> {
        Self::ask(self, directive).await
    }
}

/// The daemon and the floor, each with clients.
struct ChatLab {
    daemon: DaemonProcess,
    floor: FloorProcess,
    endpoint: ChatEndpoint,
    agent: ChatClient,
    alone: ChatClient,
    relays: Vec<FloorClient>,
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let folder = lab.fresh()?;
    let daemon = lab.daemon(folder.path()).await?;
    let floor = lab.floor(folder.path())?;
    let endpoint = ChatEndpoint::of(&daemon).await?;
    let widths = &WIDTHS[..lab.effort.of(2, 3, 3)];
    let mut relays = Vec::new();
    for _ in 0..widths.iter().copied().max().unwrap_or(1) {
        relays.push(floor.connect().await?);
    }
    let agent = endpoint.connect(AGENT_MODEL).await?;
    let alone = endpoint.connect(MODEL_ALONE).await?;
    let mut chat = ChatLab { daemon, floor, endpoint, agent, alone, relays };
    let mut figures = one_client(lab, &mut chat).await?;
    for width in widths {
        figures.extend(side_by_side(lab, &mut chat, *width).await?);
    }
    Ok(figures)
}

async fn one_client(lab: &Lab, chat: &mut ChatLab) -> anyhow::Result<Vec<BenchFigure>> {
    let mut asker = ModelClient::connect(lab.model.address()).await?;
    for at in 0..lab.effort.of(1, WARM_UP, WARM_UP) {
        round(&mut asker, chat, at).await?;
    }
    let mut samples: [TurnSamples; WAYS] = std::array::from_fn(|_| TurnSamples::new());
    for at in 0..lab.effort.of(3, 100, 1_000) {
        let times = round(&mut asker, chat, at).await?;
        for (samples, times) in samples.iter_mut().zip(times) {
            samples.push(times);
        }
    }
    let [direct, least, agent, alone] = samples;
    let added = |what: &str, ours: &TurnSamples, of: fn(&TurnSamples) -> &SampleSet| {
        let zero = of(&direct).median();
        let note = format!(
            "whole times (median): direct {zero:.2} ms, floor {:.2} ms, ours {:.2} ms",
            of(&least).median(),
            of(ours).median()
        );
        BenchFigure::new(NAME, what, Unit::Ms, of(ours).summary().less(zero))
            .beside("floor", of(&least).summary().less(zero))
            .note(note)
    };
    Ok(vec![
        added("/v1/chat/completions: added time to first token", &agent, |way| &way.first),
        added("/v1/chat/completions: added total", &agent, |way| &way.total),
        added("/v1/chat/completions, the model alone: added time to first token", &alone, |way| &way.first),
        added("/v1/chat/completions, the model alone: added total", &alone, |way| &way.total),
    ])
}

/// Asks in all ways, beginning with another one each time.
async fn round(
    asker: &mut ModelClient,
    chat: &mut ChatLab,
    turn: usize,
) -> anyhow::Result<[TurnTimes; WAYS]> {
    let directive = &AnswerDirective::AT_ONCE;
    let mut times = [TurnTimes { first: Duration::ZERO, total: Duration::ZERO }; WAYS];
    for step in 0..WAYS {
        let way = (turn + step) % WAYS;
        times[way] = match way {
            0 => ask_directly(asker, directive).await?,
            1 => chat.relays[0].ask(directive).await?,
            2 => chat.agent.ask(directive).await?,
            _ => chat.alone.ask(directive).await?,
        };
    }
    Ok(times)
}

async fn side_by_side(lab: &Lab, chat: &mut ChatLab, width: usize) -> anyhow::Result<[BenchFigure; 2]> {
    let span = Duration::from_millis(lab.effort.of(30, 400, 1_500));
    // The daemon closes a connection that rests for long.
    let mut clients = Vec::new();
    for _ in 0..width {
        clients.push(chat.endpoint.connect(AGENT_MODEL).await?);
    }
    let mut ours = SampleSet::new(BetterDirection::Higher);
    let mut least = SampleSet::new(BetterDirection::Higher);
    let mut ratios = SampleSet::new(BetterDirection::Higher);
    let mut ours_cpu = SampleSet::new(BetterDirection::Lower);
    let mut least_cpu = SampleSet::new(BetterDirection::Lower);
    for _ in 0..lab.effort.of(1, 2, 8) {
        let bare = turns_round(chat.floor.process.pid(), &mut chat.relays[..width], span).await?;
        let chats = turns_round(chat.daemon.process.pid(), &mut clients, span).await?;
        ours.push(chats.rate);
        least.push(bare.rate);
        ratios.push(chats.rate / bare.rate.max(f64::MIN_POSITIVE));
        ours_cpu.push(chats.cpu_us);
        least_cpu.push(bare.cpu_us);
    }
    let what = format!("/v1/chat/completions: requests/s, {width} at once");
    let rate = BenchFigure::new(NAME, what, Unit::PerSecond, ours.summary());
    let what = format!("/v1/chat/completions: processor time of a request, {width} at once");
    let cpu = BenchFigure::new(NAME, what, Unit::CpuUs, ours_cpu.summary());
    Ok([
        rate.beside("floor", least.summary()).ratio(ratios.median()),
        cpu.beside("floor", least_cpu.summary()).note("without client and model"),
    ])
}
