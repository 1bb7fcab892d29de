//! Approvals, stored grants, effects and takings back, as lists show them and as guards see them.

use std::time::Duration;

use palyra_journal_core::families::undos;
use palyra_journal_core::family::QueryFamilies;
use palyra_journal_core::family::ReadFamilies;
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery, GrantFilter};
use palyra_ports::{AppendError, AppendTape, Guard, JournalAppendRequest, NewEntry};
use palyra_types::approval::{
    ApprovalRecord, ApprovalRequested, ApprovalResolved, ApprovalState, ApprovalTerms, ApprovalVoted,
    ArgumentRule, ArgumentShape, GrantBounds, GrantScope, StoredGrant,
};
use palyra_types::effect::{
    EffectPlan, EffectResolution, EffectSettled, EffectState, UndoRequested, UndoResult, UndoneFile,
};
use palyra_types::event::{
    ApprovalEvent, ContentDigest, DecidedBy, EffectEvent, JournalEvent, PolicyEvent, TapeEvent, ToolEvent,
    ToolStarted, UnknownOutcomeCause,
};
use palyra_types::run::{RunPhase, Surface, WaitReason};
use palyra_types::tool::{ApprovalRiskLevel, DecisionReason, EffectContract, ToolConduct, ToolVerdict};
use palyra_types::{ApprovalId, EffectId, Redacted, Seq, StoredGrantId, Timestamp, UndoId};

use super::JournalFactory;
use super::samples::{self, SampleRun, append};
use crate::JournalReads;

/// Returns the n-th approval.
#[must_use]
pub fn approval(n: u64) -> ApprovalId {
    ApprovalId::from_parts(5_000, u128::from(n) + 1)
}

/// Returns the n-th stored grant.
#[must_use]
pub fn stored_grant(n: u64) -> StoredGrantId {
    StoredGrantId::from_parts(6_000, u128::from(n) + 1)
}

/// Makes the question of the n-th approval, for a call of a run.
pub fn asked(run: &mut SampleRun, n: u64, effect: u32, expires: Option<Timestamp>) -> NewEntry {
    run.entry(TapeEvent::Approval(ApprovalEvent::Requested(Box::new(ApprovalRequested {
        approval: approval(n),
        effect: EffectId(effect),
        binding: ContentDigest([11; 32]),
        risk: ApprovalRiskLevel::Medium,
        terms: ApprovalTerms::default(),
        expires,
        policy_digest: [7; 32],
        prompt: palyra_types::approval::ApprovalPromptRecord {
            tool: "write_file".into(),
            summary: Redacted::cleaned(format!("write file {n}")),
            ..palyra_types::approval::ApprovalPromptRecord::default()
        },
    }))))
}

/// Makes the decision of the n-th approval.
pub fn resolved(run: &mut SampleRun, n: u64, effect: u32, state: ApprovalState) -> NewEntry {
    run.entry(TapeEvent::Approval(ApprovalEvent::Resolved(ApprovalResolved {
        approval: approval(n),
        effect: EffectId(effect),
        state,
        by: Some(samples::principal(1)),
        via: Some(Surface::LocalSocket),
        edited_digest: ContentDigest::default(),
        edited: None,
        note: "because I say so".into(),
    })))
}

/// Makes the n-th stored grant.
pub fn granted(run: &mut SampleRun, n: u64, uses_max: Option<u32>, expires: Option<Timestamp>) -> NewEntry {
    let principal = run.session.principal;
    run.entry(TapeEvent::Approval(ApprovalEvent::GrantStored(StoredGrant {
        grant: stored_grant(n),
        principal,
        approval: approval(n),
        granted_by: samples::principal(1),
        scope: GrantScope::Principal,
        expires,
        uses_max,
        tool: "write_file".into(),
        matcher: vec![ArgumentRule {
            argument: "path".into(),
            shape: ArgumentShape::Beneath("docs/of/somebody".into()),
        }],
        bounds: GrantBounds::default(),
    })))
}

/// Makes a proposal and a decision of some kind.
pub fn decided(
    run: &mut SampleRun,
    effect: u32,
    conduct: ToolConduct,
    decided_by: DecidedBy,
) -> Vec<NewEntry> {
    judged(run, effect, conduct, decided_by, ToolVerdict::Allow)
}

fn judged(
    run: &mut SampleRun,
    effect: u32,
    conduct: ToolConduct,
    decided_by: DecidedBy,
    verdict: ToolVerdict,
) -> Vec<NewEntry> {
    let mut entries = run.proposed(effect);
    if let Some(JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided)))) =
        entries.last_mut().map(|entry| &mut entry.event)
    {
        (decided.conduct, decided.decided_by) = (conduct, decided_by);
        (decided.verdict, decided.reason) = (verdict, DecisionReason::Permitted);
    }
    entries
}

/// Makes the start of a call of a contract.
pub fn begun(run: &mut SampleRun, effect: u32, contract: EffectContract) -> NewEntry {
    run.entry(TapeEvent::Tool(ToolEvent::Started(ToolStarted {
        effect: EffectId(effect),
        contract,
        deadline: Duration::from_secs(30),
        plan: EffectPlan::default(),
    })))
}

fn begin(n: u64) -> (SampleRun, Vec<NewEntry>) {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), n);
    let entries = vec![run.started("write it"), run.requested(1)];
    (run, entries)
}

fn pending(n: u64) -> Guard {
    Guard::ApprovalPending { approval: approval(n) }
}

fn usable(n: u64, now: i64) -> Guard {
    Guard::GrantUsable { grant: stored_grant(n), now: Timestamp(now) }
}

fn guarded(guard: Guard, entries: Vec<NewEntry>) -> JournalAppendRequest {
    JournalAppendRequest { guards: vec![guard], ..append(entries) }
}

async fn all_of(journal: &impl ReadFamilies, only: ApprovalFilter) -> Vec<ApprovalRecord> {
    let query = ApprovalQuery { only, limit: 100, ..ApprovalQuery::default() };
    journal.approvals(query).await.unwrap()
}

/// Later decisions and decisions of what was never asked change nothing.
pub async fn an_approval_waits_until_its_first_decision(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, mut entries) = begin(0);
    let denied = Err(AppendError::GuardFailed { index: 0 });
    entries.push(asked(&mut run, 3, 1, None));
    let started = entries.remove(0);
    assert_eq!(journal.append(guarded(pending(3), vec![started.clone()])).await, denied, "nobody asked");
    entries.insert(0, started);
    let first = journal.append(append(entries)).await.unwrap().first_seq;
    let waiting = all_of(&journal, ApprovalFilter::Pending).await.remove(0);
    assert_eq!(
        (waiting.state, waiting.seq, waiting.tape_seq.0),
        (ApprovalState::Pending, Seq(first.0 + 2), 3)
    );
    assert_eq!(
        (waiting.run, waiting.principal, waiting.session),
        (run.run, run.session.principal, run.session.id)
    );
    assert_eq!((waiting.created, waiting.decided, waiting.decided_by), (run.time, None, None));
    assert_eq!(waiting.prompt.summary.expose(), "write file 3");

    let stranger = vec![resolved(&mut run, 9, 1, ApprovalState::Denied)];
    journal.append(guarded(pending(3), stranger)).await.unwrap();
    let decision = vec![resolved(&mut run, 3, 1, ApprovalState::Approved)];
    journal.append(guarded(pending(3), decision)).await.unwrap();
    let when = run.time;
    let mut twice = run.clone();
    let again = vec![resolved(&mut twice, 3, 1, ApprovalState::Denied)];
    assert_eq!(journal.append(guarded(pending(3), again.clone())).await, denied);
    journal.append(append(again)).await.unwrap();
    assert_eq!(all_of(&journal, ApprovalFilter::Pending).await, []);
    let record = journal.approval(approval(3)).await.unwrap().unwrap();
    assert_eq!((record.state, record.decided), (ApprovalState::Approved, Some(when)));
    assert_eq!(record.decided_by, Some(samples::principal(1)));
    assert_eq!(record.note.expose(), "because I say so");
    assert_eq!(all_of(&journal, ApprovalFilter::Decided).await, [record]);
    assert_eq!(journal.approval(approval(9)).await.unwrap(), None);
}

/// In the order in which they came.
pub async fn a_yes_of_each_person_counts_once(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, mut entries) = begin(0);
    entries.push(asked(&mut run, 0, 1, None));
    for person in [2, 1, 2] {
        entries.push(run.entry(TapeEvent::Approval(ApprovalEvent::Voted(ApprovalVoted {
            approval: approval(0),
            effect: EffectId(1),
            by: samples::principal(person),
            via: Surface::Tcp,
            note: Redacted::default(),
        }))));
    }
    journal.append(append(entries)).await.unwrap();
    let record = journal.approval(approval(0)).await.unwrap().unwrap();
    assert_eq!(record.voters, [samples::principal(2), samples::principal(1)]);
    assert_eq!(record.state, ApprovalState::Pending);
}

/// One that stays parked is never due.
pub async fn waiting_approvals_are_listed_by_cursor_and_by_time(factory: &impl JournalFactory) {
    let journal = factory.make();
    let mut runs = Vec::new();
    for n in 0..6 {
        let mut run = SampleRun::new(samples::session(samples::principal(u128::from(n % 2)), 0), n);
        let expires = (n != 4).then(|| Timestamp(1_000 - i64::try_from(n / 2).unwrap()));
        let entries = vec![run.started("x"), run.requested(1), asked(&mut run, n, 1, expires)];
        journal.append(append(entries)).await.unwrap();
        runs.push(run);
    }
    let due: Vec<_> = journal.next_to_expire(100).await.unwrap().iter().map(|due| due.approval).collect();
    assert_eq!(due, [5, 2, 3, 0, 1].map(approval));
    assert_eq!(journal.next_to_expire(1).await.unwrap()[0].run, runs[5].run);
    journal.append(append(vec![resolved(&mut runs[2], 2, 1, ApprovalState::Expired)])).await.unwrap();
    assert_eq!(journal.next_to_expire(2).await.unwrap()[1].approval, approval(3));
    let mut waiting = journal.waiting_approvals().await.unwrap();
    waiting.sort_unstable();
    assert_eq!(waiting, [(samples::principal(0), 2), (samples::principal(1), 3)]);

    let ids = |records: &[ApprovalRecord]| records.iter().map(|one| one.approval).collect::<Vec<_>>();
    let mut query = ApprovalQuery { limit: 2, ..ApprovalQuery::default() };
    let page = journal.approvals(query.clone()).await.unwrap();
    assert_eq!(ids(&page), [5, 4].map(approval));
    query.before = Some(page[1].seq);
    let page = journal.approvals(query.clone()).await.unwrap();
    assert_eq!(ids(&page), [3, 1].map(approval), "the decided one is left out");
    query = ApprovalQuery { principal: Some(samples::principal(0)), limit: 9, ..ApprovalQuery::default() };
    assert_eq!(ids(&journal.approvals(query.clone()).await.unwrap()), [4, 0].map(approval));
    query.only = ApprovalFilter::All;
    assert_eq!(ids(&journal.approvals(query.clone()).await.unwrap()), [4, 2, 0].map(approval));
    query.run = Some(runs[2].run);
    assert_eq!(ids(&journal.approvals(query).await.unwrap()), [approval(2)]);
}

/// Uses are counted where a decision names it.
pub async fn a_stored_grant_ends_by_use_time_or_revocation(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, mut entries) = begin(0);
    entries.push(granted(&mut run, 0, Some(2), None));
    entries.push(granted(&mut run, 1, None, Some(Timestamp(500))));
    entries.push(granted(&mut run, 2, None, None));
    journal.append(append(entries)).await.unwrap();
    let standing = journal.stored_grants(GrantFilter::Standing).await.unwrap();
    assert_eq!(standing.len(), 3);
    assert_eq!((standing[0].uses, standing[0].stored.matcher.len()), (0, 1));

    let failed = Err(AppendError::GuardFailed { index: 0 });
    for effect in 1..=2 {
        let used = decided(&mut run, effect, ToolConduct::Direct, DecidedBy::Grant(stored_grant(0)));
        journal.append(guarded(usable(0, 1), used)).await.unwrap();
    }
    let mut late = run.clone();
    let used = decided(&mut late, 3, ToolConduct::Direct, DecidedBy::Grant(stored_grant(0)));
    assert_eq!(journal.append(guarded(usable(0, 1), used.clone())).await, failed, "used up");
    assert_eq!(journal.append(guarded(usable(1, 500), used.clone())).await, failed, "expired");
    assert_eq!(journal.append(guarded(usable(9, 1), used.clone())).await, failed, "never given");
    journal.append(guarded(usable(1, 499), used)).await.unwrap();

    let by = samples::principal(0);
    let revoked = JournalEvent::Policy(PolicyEvent::GrantRevoked { grant: stored_grant(2), by });
    let entry = NewEntry { time: Timestamp(77), principal: by, session: None, run: None, event: revoked };
    journal.append(append(vec![entry])).await.unwrap();
    let used = decided(&mut late, 4, ToolConduct::Direct, DecidedBy::Grant(stored_grant(2)));
    assert_eq!(journal.append(guarded(usable(2, 1), used)).await, failed, "revoked");
    let record = journal.stored_grant(stored_grant(2)).await.unwrap().unwrap();
    assert_eq!((record.revoked, record.uses), (Some(Timestamp(77)), 0));
    let left = journal.stored_grants(GrantFilter::Standing).await.unwrap();
    assert_eq!(left.iter().map(|one| one.stored.grant).collect::<Vec<_>>(), [stored_grant(1)]);
    assert_eq!(journal.stored_grants(GrantFilter::All).await.unwrap()[0].uses, 3, "what was used is counted");
}

/// From their start on; the approval is the one that permitted them.
pub async fn effects_say_what_became_of_them(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, mut entries) = begin(0);
    entries.extend(run.proposed(1));
    entries.extend(decided(&mut run, 2, ToolConduct::Direct, DecidedBy::Approval(approval(0))));
    entries.extend(run.proposed(3));
    entries.push(begun(&mut run, 1, EffectContract::Pure));
    entries.push(begun(&mut run, 2, EffectContract::Opaque));
    entries.push(run.tool_finished(1, "# README"));
    journal.append(append(entries)).await.unwrap();
    let query = |only| EffectQuery { only, limit: 9, ..EffectQuery::default() };
    let all = journal.effects(query(EffectFilter::All)).await.unwrap();
    let states: Vec<_> = all.iter().map(|one| (one.effect.0, one.state, one.approval)).collect();
    assert_eq!(states, [(2, EffectState::Started, Some(approval(0))), (1, EffectState::Finished, None)]);
    assert_eq!((all[1].tool.expose().as_str(), all[1].ended), ("read_file", Some(run.time)));
    assert_eq!(journal.effects(query(EffectFilter::Changing)).await.unwrap(), all[..1]);
    assert_eq!(journal.effects(query(EffectFilter::Unknown)).await.unwrap(), []);

    let lost = TapeEvent::Tool(ToolEvent::OutcomeUnknown {
        effect: EffectId(2),
        cause: UnknownOutcomeCause::Restart,
    });
    journal.append(append(vec![run.entry(lost)])).await.unwrap();
    let unknown = journal.effects(query(EffectFilter::Unknown)).await.unwrap();
    assert_eq!((unknown.len(), unknown[0].state), (1, EffectState::Unknown));
    let said = TapeEvent::Tool(ToolEvent::EffectResolved {
        effect: EffectId(2),
        resolution: EffectResolution::Happened,
        by: samples::principal(0),
        note: "I saw it".into(),
    });
    journal.append(append(vec![run.entry(said)])).await.unwrap();
    assert_eq!(journal.effects(query(EffectFilter::Unknown)).await.unwrap(), []);
    let mut of_run = query(EffectFilter::All);
    (of_run.run, of_run.before) = (Some(run.run), None);
    let page = journal.effects(of_run.clone()).await.unwrap();
    assert_eq!(page[0].state, EffectState::Resolved(EffectResolution::Happened));
    of_run.before = Some(page[0].started_at.1);
    assert_eq!(journal.effects(of_run.clone()).await.unwrap(), page[1..]);
    of_run.principal = Some(samples::principal(1));
    assert_eq!(journal.effects(of_run).await.unwrap(), []);
}

/// What was said first stands, and the tape has no more entries for it.
pub async fn an_unknown_outcome_is_settled_once_after_the_end_of_its_run(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, mut entries) = begin(0);
    entries.extend(run.proposed(1));
    entries.push(begun(&mut run, 1, EffectContract::Opaque));
    journal.append(append(entries)).await.unwrap();
    let settled = |resolution, time| NewEntry {
        time: Timestamp(time),
        principal: run.session.principal,
        session: Some(run.session.id),
        run: None,
        event: JournalEvent::Effect(EffectEvent::Settled(EffectSettled {
            run: run.run,
            effect: EffectId(1),
            resolution,
            by: samples::principal(1),
            note: "I looked".into(),
        })),
    };
    let unknown = Guard::EffectUnknown { run: run.run, effect: EffectId(1) };
    let happened = guarded(unknown.clone(), vec![settled(EffectResolution::Happened, 900)]);
    let known = Err(AppendError::GuardFailed { index: 0 });
    assert_eq!(journal.append(happened.clone()).await, known, "it runs");
    let mut over = run.clone();
    let lost = TapeEvent::Tool(ToolEvent::OutcomeUnknown {
        effect: EffectId(1),
        cause: UnknownOutcomeCause::Cancelled,
    });
    let ends = vec![over.entry(lost), over.finished()];
    journal.append(append(ends)).await.unwrap();
    let query = |only| EffectQuery { only, limit: 9, ..EffectQuery::default() };
    let doubted = journal.effects(query(EffectFilter::Unknown)).await.unwrap();
    let before = journal.run(run.run).await.unwrap();

    let seq = journal.append(happened).await.unwrap().first_seq;
    let contradiction = vec![settled(EffectResolution::DidNotHappen, 901)];
    assert_eq!(journal.append(guarded(unknown, contradiction.clone())).await, known);
    journal.append(append(contradiction)).await.unwrap();
    assert_eq!(journal.effects(query(EffectFilter::Unknown)).await.unwrap(), []);
    let record = journal.effects(query(EffectFilter::All)).await.unwrap().remove(0);
    assert_eq!(
        (record.state, record.ended),
        (EffectState::Resolved(EffectResolution::Happened), Some(Timestamp(900)))
    );
    assert_eq!(record.ended_at, doubted[0].ended_at, "the tape ends where it ended");
    assert_eq!(journal.run(run.run).await.unwrap(), before);
    factory.erase(&journal, seq);
    assert_eq!(journal.effects(query(EffectFilter::All)).await.unwrap(), [record]);
}

/// For an approval first, then for an answer.
pub async fn a_run_waits_only_when_nothing_of_it_runs(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, entries) = begin(0);
    journal.append(append(entries)).await.unwrap();
    let (approval, question) = (WaitReason::Approval, WaitReason::Question);
    let mut steps: Vec<(Vec<NewEntry>, RunPhase)> = Vec::new();
    let both = [run.proposed(1), run.proposed(2)].concat();
    steps.push((both, RunPhase::Running));
    steps.push((vec![begun(&mut run, 1, EffectContract::Pure)], RunPhase::Running));
    steps.push((vec![asked(&mut run, 0, 2, None)], RunPhase::Running));
    steps.push((vec![run.tool_finished(1, "done")], RunPhase::Waiting(approval)));
    steps.push((vec![resolved(&mut run, 0, 2, ApprovalState::Approved)], RunPhase::Running));
    steps.push((vec![begun(&mut run, 2, EffectContract::Probe)], RunPhase::Running));
    steps.push((vec![run.tool_finished(2, "done")], RunPhase::Running));
    let mut asks = decided(&mut run, 3, ToolConduct::Question, DecidedBy::Policy);
    asks.push(begun(&mut run, 3, EffectContract::Local));
    steps.push((asks, RunPhase::Waiting(question)));
    steps.push((vec![run.tool_finished(3, "answered")], RunPhase::Running));
    for (at, (entries, phase)) in steps.into_iter().enumerate() {
        journal.append(append(entries)).await.unwrap();
        assert_eq!(journal.run(run.run).await.unwrap().unwrap().phase, phase, "step {at}");
    }
}

/// Whatever it waits for.
pub async fn a_run_says_how_many_calls_are_to_be_prepared(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, entries) = begin(0);
    journal.append(append(entries)).await.unwrap();
    let mut steps: Vec<(Vec<NewEntry>, u32)> = Vec::new();
    let prepared = |run: &mut SampleRun, effect, verdict| {
        judged(run, effect, ToolConduct::Prepared, DecidedBy::Policy, verdict)
    };
    steps.push((judged(&mut run, 1, ToolConduct::Direct, DecidedBy::Policy, ToolVerdict::Ask), 0));
    steps.push((prepared(&mut run, 2, ToolVerdict::Ask), 1));
    steps.push((prepared(&mut run, 3, ToolVerdict::Allow), 2));
    steps.push((prepared(&mut run, 4, ToolVerdict::Deny), 2));
    steps.push((vec![asked(&mut run, 0, 1, None)], 2));
    steps.push((vec![asked(&mut run, 1, 2, None)], 1));
    steps.push((vec![begun(&mut run, 3, EffectContract::Probe)], 0));
    steps.push((vec![run.tool_finished(3, "done")], 0));
    steps.push((vec![resolved(&mut run, 1, 2, ApprovalState::Approved)], 1));
    steps.push((vec![asked(&mut run, 2, 2, None)], 0));
    steps.push((vec![resolved(&mut run, 2, 2, ApprovalState::Denied)], 1));
    steps.push((prepared(&mut run, 2, ToolVerdict::Deny), 0));
    steps.push((vec![resolved(&mut run, 0, 1, ApprovalState::Approved)], 0));
    for (at, (entries, unprepared)) in steps.into_iter().enumerate() {
        journal.append(append(entries)).await.unwrap();
        let record = journal.run(run.run).await.unwrap().unwrap();
        assert_eq!(record.unprepared, unprepared, "step {at}");
        assert_eq!(journal.open_runs().await.unwrap(), [record], "step {at}");
    }
}

/// The run's id is in the entry, not in its place.
pub async fn a_taking_back_is_open_until_it_ends(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (run, entries) = begin(0);
    journal.append(append(entries)).await.unwrap();
    let outside = |event| NewEntry {
        time: Timestamp(1),
        principal: run.session.principal,
        session: Some(run.session.id),
        run: None,
        event,
    };
    let undo = UndoId::from_parts(7, 1);
    let requested = UndoRequested { undo, run: run.run, paths: vec!["a.md".into()], kept: None };
    journal
        .append(append(vec![outside(JournalEvent::Effect(EffectEvent::UndoRequested(requested.clone())))]))
        .await
        .unwrap();
    assert_eq!(journal.query(undos::open).await.unwrap(), [requested]);
    let files = vec![UndoneFile { path: "a.md".into(), result: UndoResult::Restored }];
    let finished = JournalEvent::Effect(EffectEvent::UndoFinished { undo, run: run.run, files });
    journal.append(append(vec![outside(finished)])).await.unwrap();
    assert_eq!(journal.query(undos::open).await.unwrap(), []);
}

/// What was decided stays.
pub async fn what_was_asked_is_empty_once_erased(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (mut run, mut entries) = begin(0);
    entries.push(asked(&mut run, 0, 1, None));
    entries.push(resolved(&mut run, 0, 1, ApprovalState::Denied));
    let first = journal.append(append(entries)).await.unwrap().first_seq;
    factory.erase(&journal, Seq(first.0 + 2));
    let record = journal.approval(approval(0)).await.unwrap().unwrap();
    assert_eq!(record.prompt.summary.expose(), "");
    assert_eq!((record.note.expose().as_str(), record.state), ("because I say so", ApprovalState::Denied));
    factory.erase(&journal, Seq(first.0 + 3));
    let record = journal.approval(approval(0)).await.unwrap().unwrap();
    assert_eq!((record.note.expose().as_str(), record.decided_by), ("", Some(samples::principal(1))));
}
