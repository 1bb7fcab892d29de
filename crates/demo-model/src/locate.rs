//! Finds a file that was named without its folder, or without its ending.
//!
//! A goal is tried as it was typed. When its file does not exist, the name is looked for below the workspace: one that is
//! found is taken, of several none is. Pure: the findings of a goal decide.

use serde_json::{Value, json};

use super::calls::{list_call, read_call};
use super::extract::{Finding, listed_names};
use super::intent::{Ability, Call, Files, Goal, View};
use super::lexicon::KNOWN_FILES;
use super::objects::has_extension;
use super::steps::next_calls;

/// More files of one name are not listed.
const SHOWN_MAX: usize = 6;
/// A goal is tried under another name so often, at most.
const TRIES_MAX: usize = 3;

/// A goal with the names of the files that were found for it.
#[derive(Debug)]
pub(super) struct Placed {
    /// The goal, perhaps with another name.
    pub(super) goal: Goal,
    /// What it found under that name.
    pub(super) own: Vec<Finding>,
    /// The calls that come next.
    pub(super) next: Option<Vec<Call>>,
    /// Why it cannot go on.
    pub(super) stuck: Option<String>,
}

/// Follows a goal along what it found; `earlier` is what came before it.
pub(super) fn placed(goal: &Goal, earlier: &[Finding], found: &[Finding]) -> Placed {
    let mut goal = goal.clone();
    let mut own = found.to_vec();
    for attempt in 0..TRIES_MAX {
        let Some((end, name)) = missing(&goal, &own, attempt) else { break };
        let look = look_for(&name);
        let Some(answer) = own.get(end).filter(|answer| answer.came_of(&look)) else {
            let next = (own.len() <= end).then(|| vec![look]);
            return Placed { goal, own, next, stuck: None };
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
                return Placed { goal, own, next: None, stuck };
            }
        }
    }
    if let Some(other) = other_kind(&goal, &own) {
        goal = other;
        own.drain(..1);
    }
    let next = next_calls(&goal, earlier, &own);
    Placed { goal, own, next, stuck: None }
}

/// Returns the name that does not exist, and how many findings belong to the attempt.
fn missing(goal: &Goal, own: &[Finding], attempt: usize) -> Option<(usize, String)> {
    if let Goal::RunFile(path) | Goal::Copy { from: path, .. } = goal {
        return (attempt == 0 && is_bare(path)).then(|| (0, path.clone()));
    }
    if let Some(path) = git_path(goal) {
        return (attempt == 0 && is_bare(&path)).then_some((0, path));
    }
    let round = match goal {
        Goal::Calls(calls, _) if calls.len() > 1 => {
            let reads = calls.iter().all(|call| call.ability == Ability::Read);
            if reads { calls.len() } else { return None }
        }
        Goal::Among { paths, .. } | Goal::Reshape { files: Files::Named(paths), .. } => paths.len(),
        _ => 1,
    };
    let at = own.iter().position(|finding| is_missing(finding) && names(goal, finding).is_some())?;
    let end = if round > 1 { round } else { at + 1 };
    (own.len() >= end).then_some(())?;
    names(goal, &own[at]).map(|name| (end, name))
}

/// Returns the only file that git is asked about.
fn git_path(goal: &Goal) -> Option<String> {
    let Goal::Calls(calls, _) = goal else { return None };
    let [call] = calls.as_slice() else { return None };
    let paths = call.arguments.get("paths").filter(|_| call.ability == Ability::Git)?.as_array()?;
    match paths.as_slice() {
        [only] => only.as_str().map(str::to_owned),
        _ => None,
    }
}

fn is_missing(finding: &Finding) -> bool {
    finding.failed && finding.text.contains("does not exist") && !finding.is_denial()
}

/// Returns the bare name that a failed call was made for, if the goal is about it.
fn names(goal: &Goal, finding: &Finding) -> Option<String> {
    let argued = finding.arguments.get("path").and_then(Value::as_str).map(str::to_owned);
    let is_look = finding.tool.as_str() == Ability::List.tool();
    let name = match goal {
        Goal::Delete(path) | Goal::Move { from: path, .. } if !is_look => Some(path.clone()),
        Goal::Delete(_) | Goal::Move { .. } => None,
        _ => argued,
    };
    name.filter(|name| is_bare(name))
}

fn is_bare(name: &str) -> bool {
    !name.is_empty() && !name.contains('/') && !matches!(name, "." | "..")
}

/// Looks for a name at any depth; for one without an ending, with the endings of plain texts, too.
fn look_for(name: &str) -> Call {
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
    let call = Call::new(Ability::Glob, &[("pattern", &format!("**/{pattern}"))]);
    if name.starts_with('.') { call.with("hidden", json!(true)) } else { call }
}

/// Spells the name of a known file with an ending both ways: `readme.md`, `README.md`.
fn with_capitals(name: &str) -> Option<String> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_known = KNOWN_FILES.iter().any(|(said, _)| *said == stem) || stem == "todo";
    is_known.then(|| format!("{{{name},{}.{ending}}}", stem.to_uppercase()))
}

/// Returns the files that a look found; the nearest alone when the others only have other endings.
fn candidates(answer: &Finding, name: &str) -> Vec<String> {
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
fn renamed(goal: Goal, name: &str, path: &str) -> Goal {
    let put = |was: String| if was == name { path.to_owned() } else { was };
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    match goal {
        Goal::Calls(calls, view) => {
            let calls = calls.into_iter().map(|mut call| {
                if call.arguments.get("paths") == Some(&json!([name])) {
                    call.arguments.insert("paths".to_owned(), json!([path]));
                }
                if call.arguments.get("path").and_then(Value::as_str) == Some(name) {
                    call.arguments.insert("path".to_owned(), json!(path));
                    if call.ability == Ability::List {
                        return read_call(path, None);
                    }
                }
                call
            });
            Goal::Calls(calls.collect(), if view == View::Digest { View::Digest } else { view })
        }
        Goal::Append { path, text } => Goal::Append { path: put(path), text },
        Goal::Prepend { path, text } => Goal::Prepend { path: put(path), text },
        Goal::Remove { path, lines } => Goal::Remove { path: put(path), lines },
        Goal::Among { old, new, paths } => {
            Goal::Among { old, new, paths: paths.into_iter().map(put).collect() }
        }
        Goal::Reshape { files: Files::Named(paths), change } => {
            Goal::Reshape { files: Files::Named(paths.into_iter().map(put).collect()), change }
        }
        Goal::Rewrite { path, change } => Goal::Rewrite { path: put(path), change },
        Goal::Insert { path, text, place } => Goal::Insert { path: put(path), text, place },
        Goal::Extract { from, part, to } => Goal::Extract { from: put(from), part, to },
        Goal::Delete(was) => Goal::Delete(put(was)),
        Goal::RunFile(was) => Goal::RunFile(put(was)),
        Goal::Copy { from, to } => Goal::Copy { from: put(from), to },
        Goal::Move { from, to } => {
            // A new name alone is one in the same folder.
            let to = match folder {
                Some(folder) if is_bare(&to) => format!("{folder}/{to}"),
                _ => to,
            };
            Goal::Move { from: put(from), to }
        }
        Goal::Everywhere { old, new, place } => Goal::Everywhere { old, new, place: put(place) },
        other => other,
    }
}

/// Returns the goal for a folder that was taken for a file, or a file that was taken for a folder.
fn other_kind(goal: &Goal, own: &[Finding]) -> Option<Goal> {
    let (Goal::Calls(calls, view), [first, ..]) = (goal, own) else { return None };
    let [call] = calls.as_slice() else { return None };
    let path = call.arguments.get("path").and_then(Value::as_str)?;
    if !first.failed {
        return None;
    }
    match call.ability {
        Ability::Read if first.text.contains("is a folder") && *view == View::Size => {
            Some(Goal::run(["du", "-sh", path]))
        }
        Ability::Read if first.text.contains("is a folder") => Some(Goal::one(list_call(path))),
        Ability::Edit if first.text.contains("is a folder") => {
            let text =
                |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            Some(Goal::Everywhere { old: text("old"), new: text("new"), place: path.to_owned() })
        }
        Ability::List if first.text.contains("is a file, not a folder") => {
            Some(Goal::Calls(vec![read_call(path, None)], View::Whole))
        }
        _ => None,
    }
}
