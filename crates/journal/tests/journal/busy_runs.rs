//! Runs that name few calls, approvals, grants and sessions again and again, which random appends seldom do.

use palyra_ports::NewEntry;
use palyra_testkit::FixedEntropy;
use palyra_testkit::journal_suite::approval_entries::{
    asked, begun, decided, granted, resolved, stored_grant,
};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::approval::ApprovalState;
use palyra_types::effect::{EffectResolution, EffectSettled};
use palyra_types::event::{
    DecidedBy, EffectEvent, JournalEvent, PolicyEvent, SessionEvent, TapeEvent, ToolEvent,
    UnknownOutcomeCause,
};
use palyra_types::job::{JobEnd, JobEvent, JobNumber};
use palyra_types::tool::{EffectContract, ToolConduct};
use palyra_types::{EffectId, Redacted, Timestamp};

/// The number of the first of these runs.
const FIRST: u64 = 50_000;

fn run(step: u64) -> SampleRun {
    let session = samples::session(samples::principal(70), (step % 3).into());
    SampleRun::new(session, FIRST + step)
}

/// Makes the entries of a run: what it asks, calls and leaves open, and what is said of a run before it.
pub(crate) fn busy_run(entropy: &FixedEntropy, step: u64) -> Vec<NewEntry> {
    let below = |end: u64| entropy.next_u64() % end;
    let mut run = run(step);
    let mut entries = session_entries(step, run.time);
    entries.extend([run.started(&format!("question {step}")), run.requested(1), run.message(1, 2)]);
    let conduct = [ToolConduct::Direct, ToolConduct::Prepared, ToolConduct::Question]
        [usize::try_from(below(3)).unwrap()];
    entries.push(granted(&mut run, step % 5, Some(6), None));
    entries.extend(decided(&mut run, 1, conduct, DecidedBy::Grant(stored_grant(below(5)))));
    entries.extend(decided(&mut run, 2, ToolConduct::Prepared, DecidedBy::Policy));
    let expires = (below(2) == 0).then_some(Timestamp(9));
    entries.push(asked(&mut run, FIRST + step - below(2).min(step), 2, expires));
    let state = if below(2) == 0 { ApprovalState::Approved } else { ApprovalState::Denied };
    for _ in 0..below(3) {
        entries.push(resolved(&mut run, FIRST + step - below(3).min(step), 2, state));
    }
    let contract = if below(3) == 0 { EffectContract::Pure } else { EffectContract::Local };
    entries.push(begun(&mut run, 1, contract));
    entries.push(begun(&mut run, 3, EffectContract::Opaque));
    for effect in 1..4 {
        entries.extend(ends(&mut run, effect, below(4)));
    }
    if below(3) > 0 {
        entries.push(run.finished());
    }
    entries.extend(beside_tapes(entropy, step).into_iter().map(|event| outside(step, event)));
    entries
}

fn session_entries(step: u64, time: Timestamp) -> Vec<NewEntry> {
    let session = run(step).session;
    if step < 3 {
        return vec![samples::session_opened(session, Some(&format!("key {step}")), time)];
    }
    let session = session.id;
    let event = match step % 4 {
        0 => SessionEvent::Renamed { session, label: Some(Redacted::cleaned(format!("label {step}"))) },
        1 => SessionEvent::Archived { session },
        2 => SessionEvent::Restored { session },
        _ => SessionEvent::Reset { session },
    };
    vec![outside(step, JournalEvent::Session(event))]
}

fn ends(run: &mut SampleRun, effect: u32, how: u64) -> Vec<NewEntry> {
    let resolution = EffectResolution::Happened;
    let unknown = ToolEvent::OutcomeUnknown { effect: EffectId(effect), cause: UnknownOutcomeCause::Restart };
    match how {
        0 => Vec::new(),
        1 => vec![run.entry(TapeEvent::Tool(unknown))],
        2 => {
            let by = samples::principal(0);
            let note = "note".into();
            let effect = EffectId(effect);
            let resolved = ToolEvent::EffectResolved { effect, resolution, by, note };
            vec![run.entry(TapeEvent::Tool(unknown)), run.entry(TapeEvent::Tool(resolved))]
        }
        _ => vec![run.tool_finished(effect, "output")],
    }
}

fn beside_tapes(entropy: &FixedEntropy, step: u64) -> Vec<JournalEvent> {
    let below = |end: u64| entropy.next_u64() % end;
    let draw = || {
        let effect = EffectId(1 + u32::try_from(below(3)).unwrap());
        (effect, run(step - below(2).min(step)).run)
    };
    let mut events = Vec::new();
    let (effect, run) = draw();
    events.push(JournalEvent::Job(JobEvent::Started {
        job: JobNumber(u32::try_from(step).unwrap() + 1),
        run,
        effect,
    }));
    let (effect, run) = draw();
    let end = if below(2) == 0 { JobEnd::Lost } else { JobEnd::Stopped };
    events.push(JournalEvent::Job(JobEvent::Ended { run, effect, end }));
    let (effect, run) = draw();
    events.push(JournalEvent::Effect(EffectEvent::Settled(EffectSettled {
        run,
        effect,
        resolution: EffectResolution::DidNotHappen,
        by: samples::principal(2),
        note: "note".into(),
    })));
    if step.is_multiple_of(4) {
        let (grant, by) = (stored_grant(below(5)), samples::principal(1));
        events.push(JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, by }));
    }
    events
}

fn outside(step: u64, event: JournalEvent) -> NewEntry {
    let time = Timestamp(6_000_000 + i64::try_from(step).unwrap());
    NewEntry { time, principal: samples::principal(70), session: None, run: None, event }
}
