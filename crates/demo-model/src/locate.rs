//! Finds a file that was named without its folder, or without its ending.
//!
//! A goal is tried as it was typed. When its file does not exist, the name is looked for below the workspace: one that is
//! found is taken, of several none is. Pure: the findings of a goal decide.

use serde_json::{Value, json};

use super::calls::{list_call, read_call};
use super::extract::{ToolFinding, listed_names};
use super::intent::{AnswerView, FileSelection, IntendedCall, ToolAbility, ToolGoal};
use super::lexicon::KNOWN_FILES;
use super::objects::has_extension;
use super::steps::next_calls;

/// More files of one name are not listed.
const SHOWN_MAX: usize = 6;
/// A goal is tried under another name so often, at most.
const TRIES_MAX: usize = 3;

/// A goal with the names of the files that were found for it.
#[derive(Debug)]
pub(super) struct LocatedGoal {
    /// The goal, perhaps with another name.
    pub(super) goal: ToolGoal,
    /// What it found under that name.
    pub(super) own: Vec<ToolFinding>,
    /// The calls that come next.
    pub(super) next: Option<Vec<IntendedCall>>,
    /// Why it cannot go on.
    pub(super) stuck: Option<String>,
}

/// Follows a goal along what it found; `earlier` is what came before it.
pub(super) fn placed(goal: &ToolGoal, earlier: &[ToolFinding], found: &[ToolFinding]) -> LocatedGoal {
    let mut goal = goal.clone();
    let mut own = found.to_vec();
    for attempt in 0..TRIES_MAX {
        let Some((end, name)) = missing(&goal, &own, attempt) else { break };
        let look = look_for(&name);
        let Some(answer) = own.get(end).filter(|answer| answer.came_of(&look)) else {
            let next = (own.len() <= end).then(|| vec![look]);
            return LocatedGoal { goal, own, next, stuck: None };
        };
        match candidates(answer, &name).as_slice() {
            [] => {
                own.remove(end);
                break;
            }
            [only] => {
                goal = renamed(goal, &name, only);
                own.drain(..=end);
            }
            several => {
                let stuck = Some(which(&name, several));
                return LocatedGoal { goal, own, next: None, stuck };
            }
        }
    }
    if let Some(other) = other_kind(&goal, &own) {
        goal = other;
        own.drain(..1);
    }
    let next = next_calls(&goal, earlier, &own);
    LocatedGoal { goal, own, next, stuck: None }
}

/// Returns the name that does not exist, and how many findings belong to the attempt.
fn missing(goal: &ToolGoal, own: &[ToolFinding], attempt: usize) -> Option<(usize, String)> {
    if let ToolGoal::RunFile(path) | ToolGoal::Copy { from: path, .. } = goal {
        return (attempt == 0 && is_bare(path)).then(|| (0, path.clone()));
    }
    if let Some(path) = git_path(goal) {
        return (attempt == 0 && is_bare(&path)).then_some((0, path));
    }
    let round = match goal {
        ToolGoal::Calls(calls, _) if calls.len() > 1 => {
            let reads = calls.iter().all(|call| call.ability == ToolAbility::Read);
            if reads { calls.len() } else { return None }
        }
        ToolGoal::Among { paths, .. } | ToolGoal::Reshape { files: FileSelection::Named(paths), .. } => {
            paths.len()
        }
        _ => 1,
    };
    let at = own.iter().position(|finding| is_missing(finding) && names(goal, finding).is_some())?;
    let end = if round > 1 { round } else { at + 1 };
    (own.len() >= end).then_some(())?;
    names(goal, &own[at]).map(|name| (end, name))
}

/// Returns the only file that git is asked about.
fn git_path(goal: &ToolGoal) -> Option<String> {
    let ToolGoal::Calls(calls, _) = goal else { return None };
    let [call] = calls.as_slice() else { return None };
    let paths = call.arguments.get("paths").filter(|_| call.ability == ToolAbility::Git)?.as_array()?;
    match paths.as_slice() {
        [only] => only.as_str().map(str::to_owned),
        _ => None,
    }
}

fn is_missing(finding: &ToolFinding) -> bool {
    finding.failed && finding.text.contains("does not exist") && !finding.is_denial()
}

/// Returns the bare name that a failed call was made for, if the goal is about it.
fn names(goal: &ToolGoal, finding: &ToolFinding) -> Option<String> {
    let argued = finding.arguments.get("path").and_then(Value::as_str).map(str::to_owned);
    let is_look = finding.tool.as_str() == ToolAbility::List.tool();
    let name = match goal {
        ToolGoal::Delete(path) | ToolGoal::Move { from: path, .. } if !is_look => Some(path.clone()),
        ToolGoal::Delete(_) | ToolGoal::Move { .. } => None,
        _ => argued,
    };
    name.filter(|name| is_bare(name))
}

fn is_bare(name: &str) -> bool {
    !name.is_empty() && !name.contains('/') && !matches!(name, "." | "..")
}

/// Looks for a name at any depth; for one without an ending, with the endings of plain texts, too.
fn look_for(name: &str) -> IntendedCall {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    let known = KNOWN_FILES.iter().find(|(_, meant)| *meant == name).map(|(said, _)| said.to_uppercase());
    let stem = known.as_deref().unwrap_or(name);
    let pattern = if !plain {
        name.chars().map(|c| if "*?[]{}\\,!".contains(c) { '?' } else { c }).collect()
    } else if let Some(both) = with_capitals(name) {
        both
    } else if has_extension(name) && known.is_none() {
        name.to_owned()
    } else {
        let mut capital = stem.to_lowercase();
        if let Some(first) = capital.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let mut spelled = vec![stem.to_owned(), stem.to_lowercase(), stem.to_uppercase(), capital];
        spelled.sort();
        spelled.dedup();
        let named =
            |ending: &&str| spelled.iter().map(move |name| format!("{name}{ending}")).collect::<Vec<_>>();
        let names: Vec<String> = ["", ".*"].iter().flat_map(named).collect();
        format!("{{{}}}", names.join(","))
    };
    let call = IntendedCall::new(ToolAbility::Glob, &[("pattern", &format!("**/{pattern}"))]);
    if name.starts_with('.') { call.with("hidden", json!(true)) } else { call }
}

/// Spells the name of a known file with an ending both ways: `readme.md`, `README.md`.
fn with_capitals(name: &str) -> Option<String> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_known = KNOWN_FILES.iter().any(|(said, _)| *said == stem) || stem == "todo";
    is_known.then(|| format!("{{{name},{}.{ending}}}", stem.to_uppercase()))
}

/// Returns the files that a look found; the nearest alone when the others only have other endings.
fn candidates(answer: &ToolFinding, name: &str) -> Vec<String> {
    if answer.failed {
        return Vec::new();
    }
    let mut found = listed_names(&answer.text);
    if found.first().is_some_and(|head| head.ends_with(" match") || head.ends_with(" matches")) {
        found.remove(0);
    }
    found.retain(|path| !path.ends_with('/') && !path.starts_with("no matches"));
    match found.iter().position(|path| path == name) {
        Some(at) => vec![found.swap_remove(at)],
        None => found,
    }
}

fn which(name: &str, several: &[String]) -> String {
    let shown: Vec<String> = several.iter().take(SHOWN_MAX).map(|path| format!("\n- {path}")).collect();
    format!("I cannot tell which `{name}` you want. Say its path:{}", shown.concat())
}

/// Replaces the name of a file in a goal.
fn renamed(goal: ToolGoal, name: &str, path: &str) -> ToolGoal {
    let put = |was: String| if was == name { path.to_owned() } else { was };
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    match goal {
        ToolGoal::Calls(calls, view) => {
            let calls = calls.into_iter().map(|mut call| {
                if call.arguments.get("paths") == Some(&json!([name])) {
                    call.arguments.insert("paths".to_owned(), json!([path]));
                }
                if call.arguments.get("path").and_then(Value::as_str) == Some(name) {
                    call.arguments.insert("path".to_owned(), json!(path));
                    if call.ability == ToolAbility::List {
                        return read_call(path);
                    }
                }
                call
            });
            ToolGoal::Calls(
                calls.collect(),
                if view == AnswerView::Digest { AnswerView::Digest } else { view },
            )
        }
        ToolGoal::Append { path, text } => ToolGoal::Append { path: put(path), text },
        ToolGoal::Prepend { path, text } => ToolGoal::Prepend { path: put(path), text },
        ToolGoal::Remove { path, lines } => ToolGoal::Remove { path: put(path), lines },
        ToolGoal::Among { old, new, paths } => {
            ToolGoal::Among { old, new, paths: paths.into_iter().map(put).collect() }
        }
        ToolGoal::Reshape { files: FileSelection::Named(paths), change } => {
            ToolGoal::Reshape { files: FileSelection::Named(paths.into_iter().map(put).collect()), change }
        }
        ToolGoal::Rewrite { path, change } => ToolGoal::Rewrite { path: put(path), change },
        ToolGoal::Insert { path, text, place } => ToolGoal::Insert { path: put(path), text, place },
        ToolGoal::Extract { from, part, to } => ToolGoal::Extract { from: put(from), part, to },
        ToolGoal::Delete(was) => ToolGoal::Delete(put(was)),
        ToolGoal::RunFile(was) => ToolGoal::RunFile(put(was)),
        ToolGoal::Copy { from, to } => ToolGoal::Copy { from: put(from), to },
        ToolGoal::Move { from, to } => {
            // A new name alone is one in the same folder.
            let to = match folder {
                Some(folder) if is_bare(&to) => format!("{folder}/{to}"),
                _ => to,
            };
            ToolGoal::Move { from: put(from), to }
        }
        ToolGoal::Everywhere { old, new, place } => ToolGoal::Everywhere { old, new, place: put(place) },
        other => other,
    }
}

/// Returns the goal for a folder that was taken for a file, or a file that was taken for a folder.
fn other_kind(goal: &ToolGoal, own: &[ToolFinding]) -> Option<ToolGoal> {
    let (ToolGoal::Calls(calls, view), [first, ..]) = (goal, own) else { return None };
    let [call] = calls.as_slice() else { return None };
    let path = call.arguments.get("path").and_then(Value::as_str)?;
    if !first.failed {
        return None;
    }
    match call.ability {
        ToolAbility::Read if first.text.contains("is a folder") && *view == AnswerView::Size => {
            Some(ToolGoal::run(["du", "-sh", path]))
        }
        ToolAbility::Read if first.text.contains("is a folder") => Some(ToolGoal::one(list_call(path))),
        ToolAbility::Edit if first.text.contains("is a folder") => {
            let text =
                |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            Some(ToolGoal::Everywhere { old: text("old"), new: text("new"), place: path.to_owned() })
        }
        ToolAbility::List if first.text.contains("is a file, not a folder") => {
            Some(ToolGoal::Calls(vec![read_call(path)], AnswerView::Whole))
        }
        _ => None,
    }
}
