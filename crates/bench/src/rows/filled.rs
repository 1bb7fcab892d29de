//! A journal with many finished runs of the local principal, each with a session, an approval and an effect.
//!
//! Owns what the rows `lists` and `rebuild` look at. Knows no daemon: it writes through the journal's port, before one
//! starts. Begin at [`fill_records`].

use std::path::Path;

use futures::future::try_join_all;
use palyra_journal::JournalStore;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, NewEntry};
use palyra_testkit::journal_suite::approval_entries::{asked, resolved};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::Timestamp;
use palyra_types::access::{LOCAL_PRINCIPAL_NAME, PrincipalKind};
use palyra_types::agent::AgentProfile;
use palyra_types::approval::ApprovalState;
use palyra_types::event::{AccessEvent, AgentEvent, JournalEvent, TapeEvent, ToolEvent};
use palyra_types::session::SessionRef;
use palyra_types::tool::EffectContract;

use super::append::options;

/// How many runs are appended at once.
const FILL_WIDTH: u64 = 64;
/// The session with the most runs: every tenth run is one of its.
const BUSY_SESSION_STEP: u64 = 10;

/// Writes as many runs as wanted; returns the entries of the journal.
///
/// # Errors
/// What the journal refuses.
pub(super) async fn fill_records(state_dir: &Path, runs: u64) -> anyhow::Result<u64> {
    let journal = JournalStore::open(&options(state_dir))?;
    journal.append(samples::append(first_entries())).await?;
    for from in (0..runs).step_by(usize::try_from(FILL_WIDTH)?) {
        let lanes = (from..(from + FILL_WIDTH).min(runs)).map(|number| {
            let journal = &journal;
            async move {
                for entries in run_entries(number) {
                    journal.append(samples::append(entries)).await?;
                }
                anyhow::Ok(())
            }
        });
        try_join_all(lanes).await?;
    }
    let entries = journal.status().entries;
    journal.close().await;
    Ok(entries)
}

/// Returns the session that has many of the runs.
pub(super) fn busy_session() -> SessionRef {
    samples::session(samples::principal(0), 0)
}

fn first_entries() -> Vec<NewEntry> {
    let own = |event| {
        let principal = samples::principal(0);
        NewEntry { time: Timestamp(1), principal, session: None, run: None, event }
    };
    let profile =
        AgentProfile { name: "main".into(), instructions: "Be brief.".into(), ..AgentProfile::default() };
    vec![
        own(JournalEvent::Access(AccessEvent::PrincipalRegistered {
            principal: samples::principal(0),
            name: LOCAL_PRINCIPAL_NAME.into(),
            kind: PrincipalKind::Person,
            role: None,
        })),
        own(JournalEvent::Agent(AgentEvent::Saved { agent: samples::agent(), profile })),
        samples::session_opened(busy_session(), Some("busy"), Timestamp(1)),
    ]
}

/// A run that asks, calls a tool and answers, in the appends that a runtime makes of it.
fn run_entries(number: u64) -> Vec<Vec<NewEntry>> {
    let is_busy = number.is_multiple_of(BUSY_SESSION_STEP);
    let session = if is_busy {
        busy_session()
    } else {
        samples::session(samples::principal(0), 1 + u128::from(number))
    };
    let mut run = SampleRun::new(session, number);
    let mut first = Vec::new();
    if !is_busy {
        first.push(samples::session_opened(session, Some(&format!("notes {number}")), run.time));
    }
    first.extend([run.started("What do the notes say?"), run.requested(1), run.message(1, 1)]);
    first.extend(run.proposed(1).into_iter().map(|entry| with_contract(entry, number)));
    first.push(asked(&mut run, number, 1, None));
    let mut second = vec![resolved(&mut run, number, 1, ApprovalState::Approved)];
    second.push(with_contract(run.tool_started(1), number));
    let third = vec![run.tool_finished(1, "milk\nbread\n"), run.requested(2)];
    let last = vec![run.text(2, "Milk and bread."), run.message(2, 0), run.finished()];
    vec![first, second, third, last]
}

/// Makes every other call one that changes something.
fn with_contract(mut entry: NewEntry, number: u64) -> NewEntry {
    let contract = if number.is_multiple_of(2) { EffectContract::Pure } else { EffectContract::Probe };
    match &mut entry.event {
        JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Decided(decided))) => decided.contract = contract,
        JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Started(started))) => started.contract = contract,
        _ => {}
    }
    entry
}
