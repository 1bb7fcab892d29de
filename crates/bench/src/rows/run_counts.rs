//! What a run costs the daemon, in counts that a busy machine hardly changes: commits, entries, rows, bytes, system
//! calls, processor time. One client, one run after the other.

use palyra_wire::v1::GetJournalStatusResponse;

use super::append::as_f64;
use super::one_turn::ProcessUsage;
use crate::lab::Lab;
use crate::measure::figure::{BenchFigure, Unit};
use crate::measure::samples::SampleSummary;
use crate::model::directive::AnswerDirective;
use crate::process::daemon::{DaemonProcess, SessionClient};
use crate::process::kernel_facts::bytes_written;
use crate::process::system_calls::SystemCallCount;

pub(super) const NAME: &str = "run-counts";

/// How many runs of a kind before anything is counted: texts that are stored once, caches, threads.
const RUNS_BEFORE: usize = 3;

pub(super) async fn measure(lab: &Lab) -> anyhow::Result<Vec<BenchFigure>> {
    let kinds = [
        ("a text run", AnswerDirective::AT_ONCE),
        ("a run with one tool", AnswerDirective::AT_ONCE.with_tools(1)),
        ("a run that asks once", AnswerDirective::AT_ONCE.asked().with_tools(1)),
    ];
    let mut figures = Vec::new();
    for (kind, directive) in kinds {
        let folder = lab.fresh()?;
        let daemon = lab.daemon(folder.path()).await?;
        let seat = daemon.seat().await?;
        for _ in 0..RUNS_BEFORE {
            seat.ask(&directive).await?;
        }
        let runs = lab.effort.of(2, 20, 200);
        let counted = CountedRuns::measure(&daemon, &seat, &directive, runs).await?;
        figures.extend(counted.figures(kind));
        daemon.stop().await?;
    }
    Ok(figures)
}

/// Before and after a number of runs.
struct CountedRuns {
    runs: usize,
    before: GetJournalStatusResponse,
    after: GetJournalStatusResponse,
    spent: ProcessUsage,
    written: u64,
    /// Of as many runs that were traced, after those that were not; `None` where nothing can trace.
    system_calls: Option<u64>,
}

impl CountedRuns {
    async fn measure(
        daemon: &DaemonProcess,
        seat: &SessionClient,
        directive: &AnswerDirective,
        runs: usize,
    ) -> anyhow::Result<Self> {
        let pid = daemon.process.pid();
        let before = daemon.client.journal_status().await?;
        let (spent, written) = (ProcessUsage::of(pid)?, bytes_written(pid)?);
        for _ in 0..runs {
            seat.ask(directive).await?;
        }
        let spent = ProcessUsage::of(pid)?.since(spent, runs);
        let written = bytes_written(pid)? - written;
        let after = daemon.client.journal_status().await?;
        let system_calls = match SystemCallCount::begin(pid) {
            Ok(count) => {
                for _ in 0..runs {
                    seat.ask(directive).await?;
                }
                Some(count.end()?)
            }
            Err(_) => None,
        };
        Ok(Self { runs, before, after, spent, written, system_calls })
    }

    fn figures(&self, kind: &str) -> Vec<BenchFigure> {
        let runs = as_f64(self.runs as u64);
        let figure = |what: &str, unit, value| {
            BenchFigure::new(NAME, format!("{kind}: {what}"), unit, SampleSummary::single(value))
        };
        let journal =
            |of: fn(&GetJournalStatusResponse) -> u64| as_f64(of(&self.after) - of(&self.before)) / runs;
        let mut figures = vec![
            figure("commits", Unit::Count, journal(|status| status.commits)),
            figure("entries", Unit::Count, journal(|status| status.entries)),
            figure("row writes", Unit::Count, journal(|status| status.rows)),
            figure("bytes of envelopes, payloads, chunks", Unit::Bytes, journal(|status| status.bytes)),
            figure("bytes written to files and sockets", Unit::Bytes, as_f64(self.written) / runs),
            figure("processor time", Unit::CpuUs, self.spent.cpu_us),
            figure("sleeps of threads", Unit::Count, self.spent.sleeps),
        ];
        figures.extend(self.system_calls.map(|calls| {
            figure("system calls", Unit::Count, as_f64(calls) / runs)
                .note("by strace, over runs of their own")
        }));
        figures
    }
}
