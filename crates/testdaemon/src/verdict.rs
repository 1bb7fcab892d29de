//! What must hold after any fault.
//!
//! Owns no way of looking that knows how the journal is stored: everything is asked of a daemon that serves.
//! Begin at [`check_house`].

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use palyra_client::{Client, JournalStep};
use palyra_types::RunId;
use palyra_wire::v1::tape_entry::Event;
use palyra_wire::v1::{ListEffectsRequest, ListRunsRequest, RunState, TapeEntry};

use crate::person::AttendedRun;
use crate::test_home::TestHome;
use crate::watch::WatchedRun;

const RUNS_MAX: u32 = 500;

/// How often each effect was carried out, by run and effect.
pub type EffectCounts = BTreeMap<(String, u32), usize>;

/// Demands that the journal verifies, that every tape is dense, that clients saw what is stored, and that no
/// effect happened twice.
///
/// # Errors
/// The first thing that does not hold.
pub async fn check_house(house: &TestHome, client: &Client, watched: &[WatchedRun]) -> Result<()> {
    verify(client).await?;
    for watched in watched {
        check_watched(client, watched).await?;
    }
    let mut effects = read_effects(house)?;
    for run in all_runs(client).await? {
        let tape = tape(client, run).await?;
        check_tape(&tape).with_context(|| format!("the tape of {run}"))?;
        check_effects(run, &tape, &mut effects).with_context(|| format!("the effects of {run}"))?;
    }
    ensure!(effects.is_empty(), "effects that no tape speaks of: {effects:?}");
    Ok(())
}

/// Demands that the journal verifies.
///
/// # Errors
/// When it does not.
pub async fn verify(client: &Client) -> Result<()> {
    let mut steps = client.verify_journal().await.context("could not begin to verify")?;
    loop {
        if let JournalStep::Done(report) = steps.next().await.context("could not verify")? {
            ensure!(report.ok, "the journal does not verify: seq {}: {}", report.first_bad_seq, report.fault);
            return Ok(());
        }
    }
}

/// Returns every run of the journal.
///
/// # Errors
/// When the daemon does not say.
pub async fn all_runs(client: &Client) -> Result<Vec<RunId>> {
    let all = ListRunsRequest { page_size: RUNS_MAX, ..Default::default() };
    let all = client.call(all).await.context("could not list the runs")?;
    ensure!(all.runs.len() < RUNS_MAX as usize, "too many runs for one look");
    all.runs.iter().map(|run| run.run_id.parse().ok().context("a run's id is none")).collect()
}

/// Returns a whole tape.
///
/// # Errors
/// When the daemon does not say.
pub async fn tape(client: &Client, run: RunId) -> Result<Vec<TapeEntry>> {
    let mut entries: Vec<TapeEntry> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry| entry.tape_seq);
        let page = client.read_tape(run, after, 0).await.context("could not read a tape")?.entries;
        if page.is_empty() {
            return Ok(entries);
        }
        entries.extend(page);
    }
}

async fn check_watched(client: &Client, watched: &WatchedRun) -> Result<()> {
    let stored = tape(client, watched.run).await?;
    for (number, (seen, end)) in (1..).zip(watched.seen.iter().zip(&watched.ends)) {
        ensure!(*seen == stored, "client {number} saw {} entries, {} are stored", seen.len(), stored.len());
        ensure!(end.tape_seq as usize == stored.len(), "client {number} heard the end at {}", end.tape_seq);
    }
    let unknown = stored.iter().any(|entry| matches!(entry.event, Some(Event::ToolOutcomeUnknown(_))));
    let wanted = if unknown { RunState::Cancelled } else { RunState::Done };
    match stored.last().and_then(|entry| entry.event.as_ref()) {
        Some(Event::RunFinished(end)) if end.state() == wanted => Ok(()),
        other => bail!("the run had to end {wanted:?} and ends with {other:?}"),
    }
}

/// Demands what has to hold of the one run of a house that a person attended to, whatever its effects left.
///
/// # Errors
/// The first thing that does not hold.
pub(crate) async fn check_attended(client: &Client, attended: &AttendedRun) -> Result<()> {
    verify(client).await?;
    ensure!(all_runs(client).await? == [attended.run], "there are other runs");
    let stored = tape(client, attended.run).await?;
    ensure!(
        stored == attended.seen,
        "{} entries were seen, {} are stored",
        attended.seen.len(),
        stored.len()
    );
    check_dense(&stored)?;
    ensure!(attended.end.tape_seq as usize == stored.len(), "the end was told at {}", attended.end.tape_seq);
    check_waits(&stored)?;
    match stored.last().and_then(|entry| entry.event.as_ref()) {
        Some(Event::RunFinished(end)) if end.state() == RunState::Done => Ok(()),
        other => bail!("the run had to end done and ends with {other:?}"),
    }
}

/// Returns the effects of a run that are listed as in doubt.
///
/// # Errors
/// When the daemon does not answer.
pub(crate) async fn in_doubt(client: &Client, run: RunId) -> Result<BTreeSet<u32>> {
    let unknown = ListEffectsRequest {
        run_id: run.to_string(),
        only: palyra_wire::v1::EffectFilter::Unknown.into(),
        page_size: 500,
        page_token: String::new(),
    };
    let listed = client.call(unknown).await.context("could not list the effects")?.effects;
    Ok(listed.into_iter().map(|listed| listed.effect_id).collect())
}

/// A run whose outcome nobody knows does not ask the model before a person has spoken.
fn check_waits(tape: &[TapeEntry]) -> Result<()> {
    let mut open = Vec::new();
    for entry in tape {
        match &entry.event {
            Some(Event::ToolOutcomeUnknown(unknown)) => open.push(unknown.effect_id),
            Some(Event::EffectResolved(resolved)) => open.retain(|effect| *effect != resolved.effect_id),
            Some(Event::ModelRequested(_)) => ensure!(open.is_empty(), "it went on by itself after {open:?}"),
            _ => {}
        }
    }
    Ok(())
}

/// Demands that a tape is numbered from 1 without a gap.
///
/// # Errors
/// The first number that is another one.
pub fn check_dense(tape: &[TapeEntry]) -> Result<()> {
    for (due, entry) in (1..).zip(tape) {
        ensure!(entry.tape_seq == due, "entry {due} has the number {}", entry.tape_seq);
    }
    Ok(())
}

/// Demands that a tape is dense, and that its run did not go on by itself after an unknown outcome.
fn check_tape(tape: &[TapeEntry]) -> Result<()> {
    check_dense(tape)?;
    let mut after_unknown =
        tape.iter().skip_while(|entry| !matches!(entry.event, Some(Event::ToolOutcomeUnknown(_))));
    let went_on = after_unknown.any(|entry| matches!(entry.event, Some(Event::ModelRequested(_))));
    ensure!(!went_on, "a run went on by itself after an unknown outcome");
    Ok(())
}

/// Compares what an opaque tool did with what the tape says of it; takes out what it has looked at.
fn check_effects(run: RunId, tape: &[TapeEntry], effects: &mut EffectCounts) -> Result<()> {
    for entry in tape {
        let Some(Event::ToolStarted(started)) = &entry.event else { continue };
        if started.contract_name() != "opaque" {
            continue;
        }
        let effect = started.effect_id;
        let times = effects.remove(&(run.to_string(), effect)).unwrap_or(0);
        ensure!(times <= 1, "effect {effect} happened {times} times");
        let starts =
            tape.iter().filter(|e| matches!(&e.event, Some(Event::ToolStarted(s)) if s.effect_id == effect));
        ensure!(starts.count() == 1, "effect {effect} was started more than once");
        let finished = tape.iter().any(|e| {
            matches!(&e.event, Some(Event::ToolFinished(finished)) if finished.effect_id == effect && finished.succeeded)
        });
        ensure!(!finished || times == 1, "effect {effect} is said to have happened and did not");
    }
    Ok(())
}

/// Returns how often each effect of the opaque tool was carried out.
pub(crate) fn read_effects(house: &TestHome) -> Result<EffectCounts> {
    let text = match std::fs::read_to_string(house.effects()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.context("could not read the file of effects")?,
    };
    let mut effects = EffectCounts::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (run, effect) = words.next().zip(words.next()).context("a line of effects is none")?;
        let effect = effect.parse().context("an effect's number is none")?;
        *effects.entry((run.to_owned(), effect)).or_default() += 1;
    }
    Ok(effects)
}
