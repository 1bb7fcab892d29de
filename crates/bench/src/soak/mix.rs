//! The kinds of runs of a soak, and how each is carried through to the end that it must have.
//!
//! Invariant: which kind comes next depends on a counter alone, so that two soaks ask the same.

use std::time::{Duration, Instant};

use anyhow::Context;
use palyra_client::{Client, FollowEvent, RunFollower};
use palyra_wire::v1;

use crate::model::directive::AnswerDirective;
use crate::process::daemon::{DaemonHome, SessionClient};

/// Runs of a session before the next one is opened.
const SHORT_SESSION_RUNS_MAX: u32 = 10;
const LONG_SESSION_RUNS_MAX: u32 = 60;
const ATTACHMENT_BYTES: usize = 20 * 1024;
/// A provider and model of the configuration that refuses everything.
pub(super) const FAILING: &str = "failing";

const PLAIN: AnswerDirective = AnswerDirective { pieces: 8, ..AnswerDirective::AT_ONCE };
const STREAMED: AnswerDirective = AnswerDirective {
    first: Duration::from_millis(5),
    pieces: 6,
    gap: Duration::from_millis(4),
    ..AnswerDirective::AT_ONCE
};
const SILENT: AnswerDirective =
    AnswerDirective { first: Duration::from_secs(600), pieces: 1, ..AnswerDirective::AT_ONCE };

/// A sort of run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunKind {
    /// In a session of a few runs.
    Short,
    /// In one that its request opens.
    New,
    /// In a session of many runs.
    Long,
    /// With a pause between the pieces of its answer.
    Streamed,
    /// With a round of a tool.
    Tool,
    /// Cancelled while its model is silent.
    Cancelled,
    /// Started by a client that does not wait.
    Unheard,
    /// Left by its client once it is there.
    Left,
    /// With a file.
    Attachment,
    /// Of a model that refuses.
    Failing,
}

/// Thirty-two runs in the order in which every client asks for them.
const MIX: [RunKind; 32] = {
    use RunKind::{Attachment, Cancelled, Failing, Left, Long, New, Short, Streamed, Tool, Unheard};
    [
        Short, Long, New, Short, Tool, Short, Long, Unheard, Short, Streamed, Short, New, Long, Short,
        Cancelled, Short, Short, Left, Short, Long, Tool, Short, New, Short, Attachment, Short, Long, Short,
        Failing, New, Short, Long,
    ]
};

impl RunKind {
    /// Every kind, with what it is called in a report.
    pub(super) const ALL: [(Self, &'static str); 10] = [
        (Self::Short, "in short sessions"),
        (Self::New, "in new sessions"),
        (Self::Long, "in long sessions"),
        (Self::Streamed, "streamed slowly"),
        (Self::Tool, "with a tool"),
        (Self::Cancelled, "cancelled"),
        (Self::Unheard, "unheard"),
        (Self::Left, "left by their client"),
        (Self::Attachment, "with a file"),
        (Self::Failing, "of a failing model"),
    ];

    /// Returns the kind of a run by its number.
    pub(super) fn of(number: u64) -> Self {
        MIX[usize::try_from(number % 32).unwrap_or(0)]
    }

    fn directive(self) -> AnswerDirective {
        match self {
            Self::Streamed => STREAMED,
            Self::Tool => PLAIN.with_tools(1),
            Self::Cancelled => SILENT,
            Self::Short | Self::New | Self::Long | Self::Unheard => PLAIN,
            Self::Left | Self::Attachment | Self::Failing => PLAIN,
        }
    }

    fn end(self) -> v1::RunState {
        match self {
            Self::Cancelled => v1::RunState::Cancelled,
            Self::Failing => v1::RunState::Failed,
            Self::Short | Self::New | Self::Long | Self::Streamed | Self::Tool => v1::RunState::Done,
            Self::Unheard | Self::Left | Self::Attachment => v1::RunState::Done,
        }
    }
}

/// One client of the load: its connection and its sessions.
pub(super) struct LoadClient<'a> {
    client: &'a Client,
    home: &'a DaemonHome,
    short: LoadSession,
    long: LoadSession,
}

/// A session and how many runs it may still have.
struct LoadSession {
    seat: SessionClient,
    left: u32,
}

impl LoadSession {
    async fn open(client: &Client, home: &DaemonHome, left: u32) -> anyhow::Result<Self> {
        Ok(Self { seat: SessionClient::open(client, home).await?, left })
    }

    /// Returns the session, or a new one after `most` runs.
    async fn next(
        &mut self,
        client: &Client,
        home: &DaemonHome,
        most: u32,
    ) -> anyhow::Result<&SessionClient> {
        if self.left == 0 {
            *self = Self::open(client, home, most).await?;
        }
        self.left -= 1;
        Ok(&self.seat)
    }
}

impl<'a> LoadClient<'a> {
    /// Opens the sessions of a client; clients with other numbers leave theirs at other times.
    pub(super) async fn begin(client: &'a Client, home: &'a DaemonHome, number: u32) -> anyhow::Result<Self> {
        let left = |most: u32| 1 + number * 7 % most;
        let short = LoadSession::open(client, home, left(SHORT_SESSION_RUNS_MAX)).await?;
        let long = LoadSession::open(client, home, left(LONG_SESSION_RUNS_MAX)).await?;
        Ok(Self { client, home, short, long })
    }

    /// Carries one run through and returns how long it took.
    pub(super) async fn ask(&mut self, kind: RunKind) -> anyhow::Result<Duration> {
        let request = self.request(kind).await?;
        let begun = Instant::now();
        match kind {
            RunKind::Unheard => {
                self.client.start_run(request).await?;
            }
            RunKind::Left => {
                let mut run = RunFollower::start(self.client, request);
                while !matches!(
                    run.next().await?.context("a run without its opening")?,
                    FollowEvent::Opened(_)
                ) {}
            }
            RunKind::Cancelled => {
                let mut run = RunFollower::start(self.client, request);
                hear(&mut run, kind, |run, event| {
                    if matches!(event, FollowEvent::Opened(_)) {
                        run.request_cancel();
                    }
                })
                .await?;
            }
            RunKind::Short
            | RunKind::New
            | RunKind::Long
            | RunKind::Streamed
            | RunKind::Tool
            | RunKind::Attachment
            | RunKind::Failing => {
                hear(&mut RunFollower::start(self.client, request), kind, |_, _| {}).await?;
            }
        }
        Ok(begun.elapsed())
    }

    async fn request(&mut self, kind: RunKind) -> anyhow::Result<v1::StartRunRequest> {
        let Self { client, home, short, long } = self;
        let place = match kind {
            RunKind::Long => long.next(client, home, LONG_SESSION_RUNS_MAX).await?,
            RunKind::Short | RunKind::New | RunKind::Streamed | RunKind::Tool | RunKind::Cancelled => {
                short.next(client, home, SHORT_SESSION_RUNS_MAX).await?
            }
            RunKind::Unheard | RunKind::Left | RunKind::Attachment | RunKind::Failing => {
                short.next(client, home, SHORT_SESSION_RUNS_MAX).await?
            }
        };
        let mut request = place.request(&kind.directive());
        match kind {
            // Whoever does not wait for the end must not make the next run of the session wait for it.
            RunKind::New | RunKind::Unheard | RunKind::Left => request.session = None,
            RunKind::Attachment => request.attachments.push(attachment()),
            RunKind::Failing => request.model = format!("{FAILING}/{FAILING}"),
            RunKind::Short | RunKind::Long | RunKind::Streamed | RunKind::Tool | RunKind::Cancelled => {}
        }
        Ok(request)
    }
}

/// Hears a run to the end that its kind must have.
async fn hear(
    run: &mut RunFollower,
    kind: RunKind,
    mut each: impl FnMut(&mut RunFollower, &FollowEvent),
) -> anyhow::Result<()> {
    while let Some(event) = run.next().await? {
        if let FollowEvent::Ended(end) = &event {
            let as_wanted = end.state() == kind.end();
            anyhow::ensure!(as_wanted, "a run ({kind:?}) ended as {:?}", end.state());
            return Ok(());
        }
        each(run, &event);
    }
    anyhow::bail!("a run's stream ended without its end")
}

/// Bytes that are no text, so that they lie beside the entry.
fn attachment() -> v1::Attachment {
    let content: Vec<u8> = (0..ATTACHMENT_BYTES).map(|at| u8::try_from(at * 31 % 251).unwrap_or(0)).collect();
    v1::Attachment {
        name: "picture.png".to_owned(),
        media_type: "image/png".to_owned(),
        bytes: content.len() as u64,
        content: [&b"\x89PNG\r\n\x1a\n"[..], &content[8..]].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_in_the_mix() {
        for (kind, name) in RunKind::ALL {
            assert!(MIX.contains(&kind), "no runs {name}");
        }
        assert_eq!(RunKind::of(33), MIX[1]);
    }
}
