//! Compares what the programs counted with what the tape says of their calls.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use palyra_types::RunId;
use palyra_wire::v1::TapeEntry;
use palyra_wire::v1::tape_entry::Event;

use super::programs::{ALL, JOB, RUN, START, counted, program_of};
use crate::test_home::TestHome;

/// What does not fit together; all of it is empty where the promise was kept.
#[derive(Debug, Default)]
pub(super) struct LedgerDifferences {
    /// Programs that ran more often than somebody wanted.
    pub(super) duplicates: Vec<String>,
    /// Programs that are said to have run and did not.
    pub(super) losses: Vec<String>,
    /// Calls that came to no end, or to several.
    pub(super) silent: Vec<String>,
}

impl LedgerDifferences {
    /// Returns all that is wrong.
    pub(super) fn faults(&self) -> Vec<&str> {
        let named = [&self.duplicates, &self.losses, &self.silent];
        named.into_iter().flatten().map(String::as_str).collect()
    }
}

/// What the tape tells of one call.
#[derive(Debug, Default, Clone, Copy)]
struct CallRecord {
    program: &'static str,
    starts: usize,
    finished: usize,
    unknown: usize,
    happened: usize,
    again: usize,
}

/// Says whether a call's program ran, by what it counted, where a person would look.
pub(super) fn ran(house: &TestHome) -> impl Fn(RunId, u32, &[TapeEntry]) -> Result<bool> + Sync {
    move |_, effect, seen| {
        let program = calls_of_tape(seen).remove(&effect).map_or("", |told| told.program);
        Ok(counted(house)?.contains_key(program))
    }
}

/// Compares: a program ran once for each call that is said to have ended or happened, and not for any other. A job's call
/// ends when it has begun, so that it may die with its daemon before it counts; then its effect is in doubt.
pub(super) fn compare(
    house: &TestHome,
    tape: &[TapeEntry],
    in_doubt: &BTreeSet<u32>,
) -> Result<LedgerDifferences> {
    let mut compared = LedgerDifferences::default();
    let mut lines = counted(house)?;
    let told = calls_of_tape(tape);
    for program in ALL {
        let of_it = || told.values().filter(move |told| told.program == program);
        let done: usize = of_it().map(|told| told.finished + told.happened).sum();
        let times = lines.remove(program).unwrap_or(0);
        if done != 1 {
            compared.silent.push(format!("{program} is said to have run {done} times"));
        }
        if times > 1 {
            compared.duplicates.push(format!("{program} ran {times} times"));
        }
        let doubted = told.iter().any(|(effect, told)| told.program == program && in_doubt.contains(effect));
        if times == 0 && !doubted {
            compared.losses.push(format!("{program} never ran"));
        }
        if doubted && program != JOB {
            compared.silent.push(format!("{program} is in doubt after a person settled it"));
        }
        let ends = |told: &&CallRecord| {
            let ended = (told.starts, told.finished, told.unknown, told.happened + told.again);
            ![(0, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 1)].contains(&ended)
        };
        compared.silent.extend(of_it().filter(ends).map(|told| format!("a call is told as {told:?}")));
    }
    for entry in tape {
        if let Some(Event::ToolFinished(it)) = &entry.event
            && !it.succeeded
            && told.contains_key(&it.effect_id)
        {
            compared.silent.push(format!("call {} failed: {}", it.effect_id, it.output));
        }
    }
    compared.duplicates.extend(lines.keys().map(|name| format!("{name} ran, and nobody wanted it")));
    Ok(compared)
}

/// Returns what the tape tells of each call that starts a program.
fn calls_of_tape(tape: &[TapeEntry]) -> BTreeMap<u32, CallRecord> {
    let call = |entry: &TapeEntry| match &entry.event {
        Some(Event::ToolProposed(call)) if [RUN, START].contains(&call.tool.as_str()) => {
            let program = program_of(&call.arguments)?;
            Some((call.effect_id, CallRecord { program, ..CallRecord::default() }))
        }
        _ => None,
    };
    let mut all: BTreeMap<u32, CallRecord> = tape.iter().filter_map(call).collect();
    for entry in tape {
        match &entry.event {
            Some(Event::ToolStarted(it)) => {
                all.entry(it.effect_id).and_modify(|told| told.starts += 1);
            }
            Some(Event::ToolFinished(it)) if it.succeeded => {
                all.entry(it.effect_id).and_modify(|told| told.finished += 1);
            }
            Some(Event::ToolOutcomeUnknown(it)) => {
                all.entry(it.effect_id).and_modify(|told| told.unknown += 1);
            }
            Some(Event::EffectResolved(it)) if it.resolution_name() == "happened" => {
                all.entry(it.effect_id).and_modify(|told| told.happened += 1);
            }
            Some(Event::EffectResolved(it)) => {
                all.entry(it.effect_id).and_modify(|told| told.again += 1);
            }
            _ => {}
        }
    }
    all
}
