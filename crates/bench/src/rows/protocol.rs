//! What gRPC and an HTTP library cost by themselves: the floor over gRPC beside the floor.
//!
//! Ours speaks the same on both sides, so what it adds to these figures is what a daemon does.

use std::time::Duration;

use super::one_turn::{ProcessUsage, TurnSamples, ask_directly};
use super::throughput::{TurnClient, WIDTHS, turns_round};
use crate::floor::client::{FloorClient, TurnTimes};
use crate::floor::grpc_client::GrpcFloorClient;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, Unit};
use crate::measure::samples::{BetterDirection, SampleSet, SampleSummary};
use crate::model::direct_client::ModelClient;
use crate::model::directive::AnswerDirective;
use crate::process::floor::FloorProcess;

pub(super) const NAME: &str = "protocol";

const WARM_UP: usize = 20;

impl TurnClient for GrpcFloorClient {
    async fn ask(&mut self, directive: &AnswerDirective) -> anyhow::Result<TurnTimes> {
        Self::ask(self, directive).await
    }
}

/// Both floors, each with clients.
struct FloorClients {
    bare: FloorProcess,
    grpc: FloorProcess,
    bare_clients: Vec<FloorClient>,
    grpc_clients: Vec<GrpcFloorClient>,
}

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let (folder, other) = (lab.fresh()?, lab.fresh()?);
    let (bare, grpc) = (lab.floor(folder.path())?, lab.grpc_floor(other.path())?);
    let mut floors = FloorClients { bare, grpc, bare_clients: Vec::new(), grpc_clients: Vec::new() };
    for _ in 0..WIDTHS.into_iter().max().unwrap_or(1) {
        floors.bare_clients.push(floors.bare.connect().await?);
        floors.grpc_clients.push(floors.grpc.connect_grpc().await?);
    }
    let mut figures = one_client(lab, &mut floors).await?;
    figures.extend(side_by_side(lab, &mut floors).await?);
    Ok(figures)
}

async fn one_client(lab: &Lab, floors: &mut FloorClients) -> anyhow::Result<Vec<BenchFigure>> {
    let mut asker = ModelClient::connect(lab.model.address()).await?;
    let (mut direct, mut bare, mut grpc) = (TurnSamples::new(), TurnSamples::new(), TurnSamples::new());
    for at in 0..lab.effort.of(1, WARM_UP, WARM_UP) {
        round(&mut asker, floors, at).await?;
    }
    let rounds = lab.effort.of(3, 100, 1_000);
    let before = [spent(&floors.bare)?, spent(&floors.grpc)?];
    for at in 0..rounds {
        let [first, second, third] = round(&mut asker, floors, at).await?;
        direct.push(first);
        bare.push(second);
        grpc.push(third);
    }
    let [bare_spent, grpc_spent] =
        [spent(&floors.bare)?.since(before[0], rounds), spent(&floors.grpc)?.since(before[1], rounds)];
    let added = |what, of: fn(&TurnSamples) -> &SampleSet| {
        let zero = of(&direct).median();
        let figure = BenchFigure::new(NAME, what, Unit::Ms, of(&grpc).summary().less(zero));
        figure.beside("floor", of(&bare).summary().less(zero))
    };
    let work = |what, unit, of: fn(&ProcessUsage) -> f64| {
        let figure = BenchFigure::new(NAME, what, unit, SampleSummary::single(of(&grpc_spent)));
        figure.beside("floor", SampleSummary::single(of(&bare_spent)))
    };
    Ok(vec![
        added("floor over gRPC: added time to first token", |way| &way.first),
        added("floor over gRPC: added total", |way| &way.total),
        work("floor over gRPC: processor time, one client", Unit::CpuUs, |spent| spent.cpu_us),
        work("floor over gRPC: sleeps of threads", Unit::Count, |spent| spent.sleeps),
    ])
}

fn spent(floor: &FloorProcess) -> anyhow::Result<ProcessUsage> {
    ProcessUsage::of(floor.process.pid())
}

/// Asks all three ways, beginning with another one each time.
async fn round(
    asker: &mut ModelClient,
    floors: &mut FloorClients,
    turn: usize,
) -> anyhow::Result<[TurnTimes; 3]> {
    let nothing = TurnTimes { first: Duration::ZERO, total: Duration::ZERO };
    let mut times = [nothing; 3];
    for step in 0..3 {
        let way = (turn + step) % 3;
        times[way] = match way {
            0 => ask_directly(asker, &AnswerDirective::AT_ONCE).await?,
            1 => floors.bare_clients[0].ask(&AnswerDirective::AT_ONCE).await?,
            _ => floors.grpc_clients[0].ask(&AnswerDirective::AT_ONCE).await?,
        };
    }
    Ok(times)
}

async fn side_by_side(lab: &Lab, floors: &mut FloorClients) -> anyhow::Result<Vec<BenchFigure>> {
    let span = Duration::from_millis(lab.effort.of(30, 400, 1_500));
    let mut figures = Vec::new();
    for width in &WIDTHS[..lab.effort.of(2, 3, 3)] {
        let rates = || SampleSet::new(BetterDirection::Higher);
        let times = || SampleSet::new(BetterDirection::Lower);
        let (mut bare, mut grpc, mut ratios) = (rates(), rates(), rates());
        let (mut bare_cpu, mut grpc_cpu) = (times(), times());
        for _ in 0..lab.effort.of(1, 2, 8) {
            let least =
                turns_round(floors.bare.process.pid(), &mut floors.bare_clients[..*width], span).await?;
            let over =
                turns_round(floors.grpc.process.pid(), &mut floors.grpc_clients[..*width], span).await?;
            bare.push(least.rate);
            grpc.push(over.rate);
            ratios.push(over.rate / least.rate.max(f64::MIN_POSITIVE));
            bare_cpu.push(least.cpu_us);
            grpc_cpu.push(over.cpu_us);
        }
        let rate = format!("floor over gRPC: runs/s, {width} at once");
        let rate =
            BenchFigure::new(NAME, rate, Unit::PerSecond, grpc.summary()).beside("floor", bare.summary());
        let cpu = format!("floor over gRPC: processor time per run, {width} at once");
        let cpu = BenchFigure::new(NAME, cpu, Unit::CpuUs, grpc_cpu.summary());
        figures.extend([rate.ratio(ratios.median()), cpu.beside("floor", bare_cpu.summary())]);
    }
    Ok(figures)
}
