//! A person who attends to a run: says yes to what is asked, and looks what became of what nobody knows.
//!
//! Owns what they saw and said. They look where a person would, into what the effects leave, and never at what the
//! daemon believes. Begin at [`attend`].

use anyhow::{Context, Result, ensure};
use palyra_client::{Client, ClientError, FollowEvent, RunFollower};
use palyra_types::RunId;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{
    ApprovalDecision, ListEffectsRequest, ResolveApprovalRequest, ResolveEffectRequest, StartRunRequest,
    StreamEnd, TapeEntry,
};

use crate::test_home::TestHome;
use crate::watch::{ServingReceiver, connect};

/// Pages are longer than what a run can do here.
const PAGE_SIZE: u32 = 200;

/// How the person answers what nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActorKind {
    /// Looks: what happened is said to have happened, what did not is wanted again.
    Careful,
    /// Says that all of it happened.
    Credulous,
    /// Wants all of it again.
    Hasty,
}

/// Says whether an effect of a run happened.
pub(crate) type EffectCheck<'a> = dyn Fn(RunId, u32, &[TapeEntry]) -> Result<bool> + Sync + 'a;

/// What a person wants, and how they look whether it happened.
pub(crate) struct ActorTask<'a> {
    /// What they say.
    pub(crate) input: &'a str,
    /// The key by which the run is found again.
    pub(crate) key: &'a str,
    /// How they answer.
    pub(crate) person: ActorKind,
    /// Says whether an effect of a run happened, by what it left; what was seen of the run tells which effect it is.
    pub(crate) look: &'a EffectCheck<'a>,
}

/// What the person saw of a run, from its first entry to its end.
#[derive(Debug)]
pub(crate) struct AttendedRun {
    pub(crate) run: RunId,
    pub(crate) seen: Vec<TapeEntry>,
    pub(crate) end: StreamEnd,
    /// Answers to approvals.
    pub(crate) yeses: usize,
    /// What nobody knew, and whether it had happened.
    pub(crate) doubts: Vec<(u32, bool)>,
}

/// Starts the run, or finds it, and attends to it until its end, through every restart.
///
/// # Errors
/// When something is seen that must not be.
pub(crate) async fn attend(
    house: &TestHome,
    serving: ServingReceiver,
    errand: ActorTask<'_>,
) -> Result<AttendedRun> {
    let client = connect(house, serving.clone()).await?;
    let start = StartRunRequest {
        input: errand.input.to_owned(),
        idempotency_key: errand.key.to_owned(),
        workspace_root: house.work().display().to_string(),
        ..StartRunRequest::default()
    };
    let mut follower = RunFollower::start(&client, start);
    let mut desk = ActorSession { house, serving, errand, yeses: 0, doubts: Vec::new() };
    let mut seen: Vec<TapeEntry> = Vec::new();
    loop {
        match follower.next().await.context("the tape")?.context("the tape ended without its end")? {
            FollowEvent::Entry(entry) => {
                desk.read(follower.run().context("a run without a name")?, &entry, &seen).await?;
                seen.push(*entry);
            }
            FollowEvent::Ended(end) => {
                let run = follower.run().context("a run without a name ended")?;
                return Ok(AttendedRun { run, seen, end, yeses: desk.yeses, doubts: desk.doubts });
            }
            _ => {}
        }
    }
}

struct ActorSession<'a> {
    house: &'a TestHome,
    serving: ServingReceiver,
    errand: ActorTask<'a>,
    yeses: usize,
    doubts: Vec<(u32, bool)>,
}

impl ActorSession<'_> {
    /// Does what an entry wants of a person.
    async fn read(&mut self, run: RunId, entry: &TapeEntry, seen: &[TapeEntry]) -> Result<()> {
        match &entry.event {
            Some(Event::ApprovalRequested(asked)) => {
                self.approve(&asked.approval_id).await.context("could not say yes")?;
                self.yeses += 1;
            }
            Some(Event::ToolOutcomeUnknown(unknown)) => {
                let effect = unknown.effect_id;
                let happened = (self.errand.look)(run, effect, seen)?;
                self.settle(run, effect, happened).await.context("could not say what became of it")?;
                self.doubts.push((effect, happened));
            }
            _ => {}
        }
        Ok(())
    }

    async fn approve(&self, approval: &str) -> Result<()> {
        let request = ResolveApprovalRequest {
            approval_id: approval.to_owned(),
            decision: ApprovalDecision::Approve.into(),
            ..ResolveApprovalRequest::default()
        };
        loop {
            let client = connect(self.house, self.serving.clone()).await?;
            if answered(client.call(request.clone()).await)?.is_some() {
                return Ok(());
            }
        }
    }

    /// Finds an effect among those that nobody knows, and says what became of it.
    async fn settle(&self, run: RunId, effect: u32, happened: bool) -> Result<()> {
        let resolution = match (happened, self.errand.person) {
            (true, ActorKind::Careful) | (_, ActorKind::Credulous) => {
                palyra_wire::v1::EffectResolution::Happened
            }
            (false, ActorKind::Careful) | (_, ActorKind::Hasty) => palyra_wire::v1::EffectResolution::Retry,
        };
        let request = ResolveEffectRequest {
            run_id: run.to_string(),
            effect_id: effect,
            resolution: resolution.into(),
            ..ResolveEffectRequest::default()
        };
        let mut said = false;
        loop {
            let client = connect(self.house, self.serving.clone()).await?;
            let Some(is_listed) = answered(is_unknown(&client, run, effect).await)? else { continue };
            // The daemon may have died over the first answer and heard it all the same.
            ensure!(is_listed || said, "effect {effect} is in doubt and not listed as such");
            said = true;
            if answered(client.resolve_effect(request.clone()).await)?.is_some() {
                return Ok(());
            }
        }
    }
}

/// Returns an answer; nothing where the daemon is gone, and the next one has to be asked.
pub(crate) fn answered<T>(answer: Result<T, ClientError>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_unreachable() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn is_unknown(client: &Client, run: RunId, effect: u32) -> Result<bool, ClientError> {
    let unknown = ListEffectsRequest {
        run_id: run.to_string(),
        only: palyra_wire::v1::EffectFilter::Unknown.into(),
        page_size: PAGE_SIZE,
        page_token: String::new(),
    };
    let listed = client.call(unknown).await?.effects;
    Ok(listed.iter().any(|listed| listed.effect_id == effect))
}
