//! Files and folders that get another place: moved or copied, into folders that are made when they are missing.
//!
//! Pure: the findings of a goal, in order, decide its next calls.

use serde_json::Value;

use super::calls::{list_call, rename_call};
use super::extract::ToolFinding;
use super::intent::{IntendedCall, ToolAbility, run_call};
use super::objects::is_file_name;

/// Returns the next calls of a command whose last word is where something goes: a look at the folder, which is made
/// when it is missing, and the command.
pub(super) fn carried(argv: &[&str], found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    let to = argv.last()?;
    let folder = match to.strip_suffix('/') {
        Some(folder) => Some(folder),
        None => to.rsplit_once('/').map(|(folder, _)| folder),
    };
    let command = || Some(vec![run_call(argv.iter().copied())]);
    let Some(folder) = folder.filter(|folder| !matches!(*folder, "" | "." | "..")) else {
        return if found.is_empty() { command() } else { None };
    };
    match found {
        [] => Some(vec![list_call(folder)]),
        [look] if look.failed && look.text.contains("does not exist") => {
            Some(vec![run_call(["mkdir", "-p", folder])])
        }
        [look] if look.tool.as_str() == ToolAbility::List.tool() => command(),
        [_, made] if is_mkdir(made) && !made.failed => command(),
        _ => None,
    }
}

fn is_mkdir(made: &ToolFinding) -> bool {
    let argv = made.arguments.get("argv").and_then(Value::as_array);
    argv.and_then(|argv| argv.first()).is_some_and(|program| program == "mkdir")
}

/// Returns the next calls of a move. A text is moved by a patch; what a patch does not move, by a program.
pub(super) fn moved(from: &str, to: &str, found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    let unknown = |path: &str| !is_file_name(path) && !path.ends_with('/');
    let looks: Vec<IntendedCall> =
        [from, to].into_iter().filter(|path| unknown(path)).map(list_call).collect();
    if found.len() < looks.len() {
        return found.is_empty().then_some(looks);
    }
    let (looked, done) = found.split_at(looks.len());
    let is_folder = |path: &str| {
        let names = |look: &ToolFinding| look.arguments.get("path").and_then(Value::as_str) == Some(path);
        looked.iter().any(|look| !look.failed && names(look))
    };
    let name = from.trim_end_matches('/').rsplit('/').next().unwrap_or(from);
    let into = to.ends_with('/') || is_folder(to);
    let target = if into { format!("{}/{name}", to.trim_end_matches('/')) } else { to.to_owned() };
    let target = target.strip_prefix("./").unwrap_or(&target);
    let from = from.trim_end_matches('/');
    match done {
        done if is_folder(from) => carried(&["mv", from, target], done),
        [] => Some(vec![rename_call(from, target)]),
        [patch, done @ ..] if is_unfit(patch) => carried(&["mv", from, target], done),
        _ => None,
    }
}

/// Returns whether a file or folder could not be deleted or moved by a patch, and can be by a program.
pub(super) fn is_unfit(last: &ToolFinding) -> bool {
    let unfit = ["only text is changed", "is a binary file", "is a folder"];
    last.tool.as_str() == ToolAbility::Patch.tool()
        && last.failed
        && !last.is_denial()
        && unfit.iter().any(|why| last.text.contains(why))
}
