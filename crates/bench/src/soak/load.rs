//! Many clients that ask one after the other until it is enough.
//!
//! Invariant: all clients are connected at the beginning of a stretch and gone at its end, and every run that was
//! waited for ended as it had to.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use futures::future::try_join_all;

use super::mix::{LoadClient, RunKind};
use crate::measure::samples::SampleSet;
use crate::process::daemon::DaemonHome;

/// When a stretch of load is over.
#[derive(Debug, Clone, Copy)]
pub(super) enum LoadLimit {
    /// After so many runs.
    Runs(u64),
    /// After so long.
    Time(Duration),
}

/// How hard to ask.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadEffort {
    /// Clients at once.
    pub(super) clients: u32,
    /// Runs that are begun per second, at most; `None` as many as can be.
    pub(super) per_second: Option<u32>,
}

/// What a stretch came to.
pub(super) struct LoadResult {
    /// Runs begun, by kind, as in [`RunKind::ALL`].
    pub(super) by_kind: [u64; 10],
    /// The median time of a plain run in a short session, in milliseconds.
    pub(super) p50_ms: f64,
    /// How long it took.
    pub(super) took: Duration,
}

impl LoadResult {
    pub(super) fn runs(&self) -> u64 {
        self.by_kind.iter().sum()
    }
}

/// Asks until it is enough; `each_second` is called about once a second meanwhile.
pub(super) async fn stretch(
    home: &DaemonHome,
    effort: LoadEffort,
    enough: LoadLimit,
    mut each_second: impl FnMut(u64),
) -> anyhow::Result<LoadResult> {
    let begun = Instant::now();
    let asked = Cell::new(0_u64);
    let by_kind = Cell::new([0_u64; 10]);
    let times = RefCell::new(SampleSet::times());
    let mut clients = Vec::new();
    for _ in 0..effort.clients {
        clients.push(home.connect().await?);
    }
    let everybody = (0..).zip(&clients).map(|(number, client)| {
        let (asked, by_kind, times) = (&asked, &by_kind, &times);
        async move {
            let mut asking = LoadClient::begin(client, home, number).await?;
            while let Some(run) = next(asked, begun, enough) {
                wait_for_its_time(run, begun, effort).await;
                let kind = RunKind::of(run);
                let took = asking.ask(kind).await?;
                count(by_kind, kind);
                if kind == RunKind::Short {
                    times.borrow_mut().push_time(took);
                }
            }
            anyhow::Ok(())
        }
    });
    let everybody = try_join_all(everybody);
    tokio::pin!(everybody);
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            ended = &mut everybody => {
                ended?;
                break;
            }
            _ = second.tick() => each_second(asked.get()),
        }
    }
    Ok(LoadResult { by_kind: by_kind.get(), p50_ms: times.borrow().median(), took: begun.elapsed() })
}

/// Returns the number of the next run, unless it is enough.
fn next(asked: &Cell<u64>, begun: Instant, enough: LoadLimit) -> Option<u64> {
    let run = asked.get();
    let more = match enough {
        LoadLimit::Runs(runs) => run < runs,
        LoadLimit::Time(span) => begun.elapsed() < span,
    };
    more.then(|| {
        asked.set(run + 1);
        run
    })
}

async fn wait_for_its_time(run: u64, begun: Instant, effort: LoadEffort) {
    if let Some(rate) = effort.per_second {
        let due = Duration::from_secs_f64(crate::rows::as_f64(run) / f64::from(rate.max(1)));
        tokio::time::sleep(due.saturating_sub(begun.elapsed())).await;
    }
}

fn count(by_kind: &Cell<[u64; 10]>, kind: RunKind) {
    let mut counts = by_kind.get();
    for (count, (known, _)) in counts.iter_mut().zip(RunKind::ALL) {
        *count += u64::from(known == kind);
    }
    by_kind.set(counts);
}
