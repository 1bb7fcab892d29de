//! Calls that ask: what they leave in files, and rows that were meddled with.

use palyra_journal::{JournalStore, row_tool};
use palyra_journal_core::families::approvals::{ApprovalFamily, ApprovalRow};
use palyra_journal_core::families::stored_grants::StoredGrantFamily;
use palyra_journal_core::family::RowId;
use palyra_ports::read_approvals::{ApprovalQuery, GrantFilter};
use palyra_ports::{
    AppendError, AppendTape, EraseJournal, ErasureOrder, ErasureSubject, Guard, JournalAppendRequest,
    NewEntry, ReadError,
};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::approval_entries::{
    approval, asked, begun, granted, resolved, stored_grant,
};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::approval::{
    ApprovalPromptRecord, ApprovalState, ApprovalVoted, ArgumentRule, ArgumentShape,
};
use palyra_types::effect::{
    EffectPlan, EffectResolution, EffectSettled, FileBefore, PreImage, UndoRequested, UndoResult, UndoneFile,
};
use palyra_types::event::{
    ApprovalEvent, EffectEvent, JournalEvent, TapeEvent, ToolEvent, ToolStarted, UnknownOutcomeCause,
};
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::run::Surface;
use palyra_types::tool::EffectContract;
use palyra_types::{EffectId, PrincipalId, Redacted, RunId, Seq, Timestamp, UndoId};
use rusqlite::Connection;

use crate::opened::Folder;
use crate::written::verify;

pub(crate) const TOOL: &str = "canary-tool-of-a-call";
const REQUEST: &str = "canary-request-of-policy";
const PROMPT: &str = "canary-prompt-of-an-approval";
const NOTE: &str = "canary-note-of-a-person";
const EDITED: &str = "canary-edited-arguments";
const MATCHER: &str = "canary-matcher-of-a-grant";
const PLAN: &str = "canary-plan-of-a-call";
const PREVIEW: &str = "canary-preview-of-a-change";
const BEFORE: &str = "canary-in-a-file-as-it-was";
const PATH: &str = "canary-path-of-a-file";
const DIFFERENCE: &str = "canary-difference-of-a-conflict";

/// What lies in payloads alone.
pub(crate) const ASKED: &[&str] =
    &[REQUEST, PROMPT, NOTE, EDITED, MATCHER, PLAN, PREVIEW, BEFORE, PATH, DIFFERENCE];

/// Makes the stations of a call that asked, with a text of its own in each place where there can be one.
pub(crate) fn asking_entries(run: &mut SampleRun, n: u64) -> Vec<NewEntry> {
    let mut entries = run.proposed(7);
    for entry in &mut entries {
        match &mut entry.event {
            JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Proposed(proposed))) => proposed.tool = TOOL.into(),
            JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) => {
                decided.request = REQUEST.into();
            }
            _ => {}
        }
    }
    let mut question = asked(run, n, 7, None);
    if let JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Requested(asked))) = &mut question.event {
        let text = |of: &str| Redacted::cleaned(format!("{PROMPT} {of}"));
        asked.prompt = ApprovalPromptRecord {
            tool: text("tool"),
            arguments: text("arguments"),
            summary: text("summary"),
            preview: text(&"preview ".repeat(8_000)),
            reason: text("reason"),
            unbound: text("unbound"),
            asked_again: text("again"),
        };
    }
    entries.push(question);
    entries.push(run.entry(TapeEvent::Approval(ApprovalEvent::Voted(ApprovalVoted {
        approval: approval(n),
        effect: EffectId(7),
        by: samples::principal(2),
        via: Surface::Tcp,
        note: NOTE.into(),
    }))));
    let mut answer = resolved(run, n, 7, ApprovalState::Approved);
    if let JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::Resolved(resolved))) = &mut answer.event {
        (resolved.edited, resolved.note) = (Some(EDITED.into()), NOTE.into());
    }
    entries.push(answer);
    let mut grant = granted(run, n, None, None);
    if let JournalEvent::Tape(TapeEvent::Approval(ApprovalEvent::GrantStored(stored))) = &mut grant.event {
        let rule = |shape| ArgumentRule { argument: MATCHER.into(), shape };
        stored.matcher =
            vec![rule(ArgumentShape::Equal(MATCHER.into())), rule(ArgumentShape::Beneath(PATH.into()))];
    }
    entries.push(grant);
    entries.push(planned(run));
    entries.push(run.entry(TapeEvent::Tool(ToolEvent::EffectResolved {
        effect: EffectId(7),
        resolution: EffectResolution::Happened,
        by: samples::principal(2),
        note: NOTE.into(),
    })));
    entries.push(begun(run, 8, EffectContract::Opaque));
    let cause = UnknownOutcomeCause::Cancelled;
    entries.push(run.entry(TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect: EffectId(8), cause })));
    entries
}

fn planned(run: &mut SampleRun) -> NewEntry {
    let bytes = [BEFORE.as_bytes(), &[0xFE; 150_000]].concat();
    run.entry(TapeEvent::Tool(ToolEvent::Started(ToolStarted {
        effect: EffectId(7),
        contract: EffectContract::Probe,
        deadline: std::time::Duration::from_secs(1),
        plan: EffectPlan {
            binding: palyra_types::event::ContentDigest([3; 32]),
            body: PLAN.into(),
            pre_images: vec![PreImage {
                path: PATH.into(),
                before: FileBefore::File { bytes: Redacted::cleaned(bytes), mode: 0o600 },
                after_sha256: Some([4; 32]),
            }],
            preview: PREVIEW.into(),
        },
    })))
}

/// Makes what is said of a run, and the taking back of what it did, which stand on no tape and name no session.
pub(crate) fn undoing_entries(run: &SampleRun, n: u64) -> Vec<NewEntry> {
    let undo = UndoId::from_parts(8, n.into());
    let requested = UndoRequested { undo, run: run.run, paths: vec![PATH.into()], kept: None };
    let conflict = UndoneFile { path: PATH.into(), result: UndoResult::Conflict(DIFFERENCE.into()) };
    let finished =
        JournalEvent::Effect(EffectEvent::UndoFinished { undo, run: run.run, files: vec![conflict] });
    let settled = EffectSettled {
        run: run.run,
        effect: EffectId(8),
        resolution: EffectResolution::Happened,
        by: samples::principal(2),
        note: NOTE.into(),
    };
    let events = [
        JournalEvent::Effect(EffectEvent::Settled(settled)),
        JournalEvent::Effect(EffectEvent::UndoRequested(requested)),
        finished,
    ];
    events.map(|event| outside(PrincipalId::NIL, event)).into()
}

fn outside(principal: PrincipalId, event: JournalEvent) -> NewEntry {
    NewEntry { time: Timestamp(1), principal, session: None, run: None, event }
}

fn guarded(guard: Guard, run: &mut SampleRun) -> JournalAppendRequest {
    JournalAppendRequest { guards: vec![guard], ..samples::append(vec![run.requested(2)]) }
}

async fn write_asking(journal: &JournalStore) -> SampleRun {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let mut entries = vec![run.started("x"), run.requested(1), asked(&mut run, 0, 1, Some(Timestamp(9)))];
    entries.push(asked(&mut run, 1, 2, None));
    entries.push(resolved(&mut run, 1, 2, ApprovalState::Denied));
    entries.push(granted(&mut run, 0, Some(3), None));
    journal.append(samples::append(entries)).await.unwrap();
    run
}

type Meddle = fn(&Connection) -> rusqlite::Result<()>;

/// Changes the rows as somebody does who has the file, and opens it again.
async fn meddled(folder: &Folder, journal: JournalStore, meddle: Meddle) -> JournalStore {
    journal.close().await;
    drop(journal);
    // After the start, which mends such rows, and before the writer has read them.
    let journal = folder.open();
    let file = folder.connect();
    meddle(&file).unwrap();
    assert!(file.total_changes() > 0);
    journal
}

#[tokio::test]
async fn a_decided_approval_does_not_wait_because_its_row_says_so() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = write_asking(&journal).await;
    let meddle: Meddle = |file| {
        row_tool::change_rows::<ApprovalFamily>(file, |row| {
            row.decided = None;
            std::mem::replace(&mut row.state, ApprovalState::Pending) != ApprovalState::Pending
        })
    };
    let journal = meddled(&folder, journal, meddle).await;
    let waiting = |n| Guard::ApprovalPending { approval: approval(n) };
    let refused = journal.append(guarded(waiting(1), &mut run.clone())).await;
    assert_eq!(refused, Err(AppendError::GuardFailed { index: 0 }));
    journal.append(guarded(waiting(0), &mut run)).await.unwrap();
}

fn change_pending(file: &Connection, change: fn(&mut ApprovalRow)) -> rusqlite::Result<()> {
    row_tool::change_rows::<ApprovalFamily>(file, |row| {
        let waits = row.state == ApprovalState::Pending;
        if waits {
            change(row);
        }
        waits
    })
}

fn move_approval(file: &Connection) -> rusqlite::Result<()> {
    for (id, row) in row_tool::rows_of::<ApprovalFamily>(file)? {
        if row.state == ApprovalState::Pending {
            row_tool::rename_row::<ApprovalFamily>(file, id, RowId(2))?;
        }
    }
    Ok(())
}

fn change_grants(file: &Connection) -> rusqlite::Result<()> {
    row_tool::change_rows::<StoredGrantFamily>(file, |grant| {
        grant.uses_max = Some(900);
        true
    })
}

fn move_grants(file: &Connection) -> rusqlite::Result<()> {
    for (id, _) in row_tool::rows_of::<StoredGrantFamily>(file)? {
        row_tool::rename_row::<StoredGrantFamily>(file, id, RowId(3))?;
    }
    Ok(())
}

#[tokio::test]
async fn rows_that_contradict_their_entries_are_damage_and_permit_nothing() {
    let waits = Guard::ApprovalPending { approval: approval(0) };
    let holds = Guard::GrantUsable { grant: stored_grant(0), now: Timestamp(1) };
    let cases: [(&str, Meddle, &Guard, bool); 5] = [
        ("seq", move_approval, &waits, false),
        ("expires", |file| change_pending(file, |row| row.expires = Some(Timestamp(77))), &waits, true),
        ("run", |file| change_pending(file, |row| row.run = RunId::from_bytes([0x11; 16])), &waits, false),
        ("uses", change_grants, &holds, false),
        ("entry of a grant", move_grants, &holds, false),
    ];
    for (what, meddle, guard, permits) in cases {
        let folder = Folder::new();
        let journal = folder.open();
        let mut run = write_asking(&journal).await;
        let journal = meddled(&folder, journal, meddle).await;
        let said = journal.append(guarded(guard.clone(), &mut run)).await;
        assert_eq!(said.is_ok(), permits, "{what}");
        let approvals = journal.approvals(ApprovalQuery { limit: 9, ..ApprovalQuery::default() }).await;
        let grants = journal.stored_grants(GrantFilter::All).await;
        let damage = approvals.err().or(grants.err());
        assert!(matches!(damage, Some(ReadError::Corrupt { .. })), "{what}: {damage:?}");
        let again = journal.approval(approval(1)).await.unwrap().unwrap();
        assert_eq!(again.state, ApprovalState::Denied, "the others are read");
        journal.close().await;
    }
}

#[tokio::test]
async fn a_grant_whose_content_was_erased_permits_nothing() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = write_asking(&journal).await;
    journal.append(samples::append(vec![run.finished()])).await.unwrap();
    let seq = journal.stored_grant(stored_grant(0)).await.unwrap().unwrap().seq;
    let mut other = SampleRun::new(run.session, 1);
    journal.append(samples::append(vec![other.started("y")])).await.unwrap();
    let guard = Guard::GrantUsable { grant: stored_grant(0), now: Timestamp(1) };
    journal.append(guarded(guard.clone(), &mut other)).await.unwrap();
    let order = ErasureOrder {
        ranges: vec![SeqRange { first: seq, last: seq }],
        authoriser: samples::principal(0),
        reason: ErasureReason::Request,
    };
    journal.erase(order).await.unwrap();
    let refused = journal.append(guarded(guard, &mut other)).await;
    assert_eq!(refused, Err(AppendError::GuardFailed { index: 0 }));
    let left = journal.stored_grant(stored_grant(0)).await.unwrap().unwrap();
    assert_eq!((left.stored.tool.expose().as_str(), left.stored.matcher.len()), ("", 0));
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn a_taking_back_belongs_to_its_run_wherever_it_stands() {
    let folder = Folder::new();
    let journal = folder.open();
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let mut entries = vec![run.started("x"), run.finished()];
    entries.extend(undoing_entries(&run, 0));
    let first = journal.append(samples::append(entries)).await.unwrap().first_seq;
    let undone = |ranges: &[SeqRange]| ranges.iter().any(|range| range.holds(Seq(first.0 + 3)));
    for subject in [
        ErasureSubject::Run(run.run),
        ErasureSubject::Session(run.session),
        ErasureSubject::Principal(run.session.principal),
    ] {
        let plan = journal.find(subject).await.unwrap();
        assert!(undone(&plan.ranges), "{plan:?}");
    }
}
