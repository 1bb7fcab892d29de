//! Compares what was wanted with what the world says: the server's log, the counter's file, the workspace.
//!
//! Invariant: nothing here is asked of the daemon but the tape, and that only for what it *told* about calls of the
//! opaque tool. Begin at [`compare`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use palyra_types::RunId;
use palyra_wire::v1::TapeEntry;
use palyra_wire::v1::tape_entry::Event;

use super::effects::{EffectKind, FILES, all};
use super::model::INPUT;
use crate::person::{ActorKind, ActorTask, EffectCheck};
use crate::test_home::TestHome;
use crate::tools::ACT;
use crate::verdict::read_effects;

/// What does not fit together; all of it is empty where the promise was kept.
#[derive(Debug, Default)]
pub(super) struct LedgerDifferences {
    /// Effects that happened more than once.
    pub(super) duplicates: Vec<String>,
    /// Effects that never happened, and files that are not as they must be.
    pub(super) losses: Vec<String>,
    /// Calls of the opaque tool of which the tape told something else, or nothing.
    pub(super) silent: Vec<String>,
    /// Requests to the server.
    pub(super) asked: usize,
}

impl LedgerDifferences {
    /// Returns all that is wrong.
    pub(super) fn faults(&self) -> Vec<&str> {
        let named = [&self.duplicates, &self.losses, &self.silent];
        named.into_iter().flatten().map(String::as_str).collect()
    }
}

/// Compares.
///
/// # Errors
/// When a ledger cannot be read.
pub(super) fn compare(house: &TestHome, run: RunId, tape: &[TapeEntry]) -> Result<LedgerDifferences> {
    let mut compared = LedgerDifferences::default();
    let server = text_of(&house.keyed_log())?;
    compared.asked = server.lines().filter(|line| line.starts_with("asked ")).count();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for line in server.lines().filter_map(|line| line.strip_prefix("did ")) {
        note(&mut times, line.split(' ').nth(1));
    }
    for line in text_of(&house.effects())?.lines() {
        note(&mut times, line.split(' ').nth(2));
    }
    let files = files_below(&house.work(), "")?;
    for effect in all().iter().filter(|effect| effect.kind == EffectKind::Probe) {
        let lines = files.values().flat_map(|text| text.lines()).filter(|line| *line == effect.name);
        times.insert(effect.name.to_owned(), lines.count());
    }
    for effect in all() {
        match times.remove(effect.name).unwrap_or(0) {
            0 => compared.losses.push(format!("{} never happened", effect.name)),
            1 => {}
            more => compared.duplicates.push(format!("{} happened {more} times", effect.name)),
        }
    }
    let strange = times.keys().map(|name| format!("{name} happened, and nobody wanted it"));
    compared.duplicates.extend(strange);
    let wanted = FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    if files != wanted {
        compared.losses.push(format!("the files are {files:?}"));
    }
    compared.silent = silent(house, run, tape)?;
    Ok(compared)
}

/// Says whether an effect happened, by the counter's own file, where a person would look.
pub(super) fn counted(house: &TestHome) -> impl Fn(RunId, u32, &[TapeEntry]) -> Result<bool> + Sync + '_ {
    move |run, effect, _| Ok(read_effects(house)?.contains_key(&(run.to_string(), effect)))
}

/// Returns what the person wants.
pub(super) fn errand<'a>(person: ActorKind, look: &'a EffectCheck<'a>) -> ActorTask<'a> {
    ActorTask { input: INPUT, key: "gauntlet", person, look }
}

fn note(times: &mut BTreeMap<String, usize>, name: Option<&str>) {
    *times.entry(name.unwrap_or("nothing").to_owned()).or_default() += 1;
}

/// What the tape tells of one call of the opaque tool.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct CallRecord {
    starts: usize,
    finished: bool,
    unknown: bool,
    happened: bool,
}

/// Returns calls of the opaque tool about which tape and counter disagree: a doubt has to be told as one.
fn silent(house: &TestHome, run: RunId, tape: &[TapeEntry]) -> Result<Vec<String>> {
    let mut lines = read_effects(house)?;
    let mut silent = Vec::new();
    for (effect, told) in calls_of_tape(tape) {
        let times = lines.remove(&(run.to_string(), effect)).unwrap_or(0);
        let due = match (told.starts, told.finished, told.unknown) {
            (1, true, false) => Some(1),
            (1, false, true) => Some(usize::from(told.happened)),
            (0, false, false) => Some(0),
            _ => None,
        };
        if due != Some(times) {
            silent.push(format!("effect {effect} happened {times} times, and is told as {told:?}"));
        }
    }
    silent.extend(lines.keys().map(|(run, effect)| format!("effect {effect} of {run} is told nowhere")));
    Ok(silent)
}

fn calls_of_tape(tape: &[TapeEntry]) -> BTreeMap<u32, CallRecord> {
    let mut all: BTreeMap<u32, CallRecord> = BTreeMap::new();
    for entry in tape {
        match &entry.event {
            Some(Event::ToolProposed(proposed)) if proposed.tool == ACT => {
                all.insert(proposed.effect_id, CallRecord::default());
            }
            Some(Event::ToolStarted(started)) => {
                all.entry(started.effect_id).and_modify(|told| told.starts += 1);
            }
            Some(Event::ToolFinished(finished)) => {
                all.entry(finished.effect_id).and_modify(|told| told.finished = finished.succeeded);
            }
            Some(Event::ToolOutcomeUnknown(unknown)) => {
                all.entry(unknown.effect_id).and_modify(|told| told.unknown = true);
            }
            Some(Event::EffectResolved(resolved)) => {
                let happened = resolved.resolution_name() == "happened";
                all.entry(resolved.effect_id).and_modify(|told| told.happened = happened);
            }
            _ => {}
        }
    }
    all
}

fn text_of(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        text => text.with_context(|| format!("could not read {}", file.display())),
    }
}

/// Returns the files below a folder with what is in them, whatever they are called.
fn files_below(folder: &Path, prefix: &str) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).context("could not read the workspace")? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files.extend(files_below(&entry.path(), &format!("{name}/"))?);
        } else {
            files.insert(name, text_of(&entry.path())?);
        }
    }
    Ok(files)
}
