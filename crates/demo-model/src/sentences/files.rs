//! Sentences that want files and folders made, moved, copied or deleted.

use super::super::intent::{AnswerView, ClauseIntent, MissingAbility, ToolAbility, ToolGoal, run_call};
use super::super::objects::is_file_name;
use super::super::pattern::PatternMatch;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "delete|remove|erase|wipe|clear|destroy|rm everything|all|anything [here]",
            "delete|remove|erase|wipe|clear|destroy all|every [of] [my|the] files|folders|directories|file|data [here]",
            "delete|remove|erase|wipe|clear|destroy [whole|entire|complete] project|repo|repository|workspace|disk|system|computer|codebase|folder",
            "delete|remove|erase|wipe files|folders|them",
            "delete|remove|erase|wipe|clear|empty everything|all|files|contents [all] [files] [in] {folder}",
            "format [hard] disk|drive|computer|laptop",
            "kill|stop all processes|everything|programs",
            "shut down [computer|machine|system|server]",
            "shutdown|reboot|restart [computer|machine|system]",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Danger)),
    },
    PatternRow {
        says: &["delete|remove|erase|rm|unlink|trash {paths}", "rm -f|-v|-i {paths}", "get rid of {paths}"],
        means: |found| delete(&found.paths(0)),
    },
    PatternRow {
        says: &["delete|remove|erase|rm {path} in|inside|from|under {folder}"],
        means: |found| {
            let (path, folder) = (found.path(0), found.folder(0));
            let is_bare = !path.contains('/') && folder != ".";
            // From a file, it is a line that goes.
            let is_folder = !is_file_name(&folder);
            (is_bare && is_folder).then(|| delete(&[format!("{folder}/{path}")])).flatten()
        },
    },
    PatternRow {
        says: &[
            "delete|remove|erase|rmdir folder|directory|dir {folder}",
            "delete|remove|erase [empty] {folder} folder|directory",
            "rm -r|-rf|-fr|-R {folder}",
            "rmdir {folder}",
        ],
        means: |found| delete(&[found.folder(0)]),
    },
    PatternRow { says: &["delete|remove|erase {folder}"], means: |found| delete(&[found.folder(0)]) },
    PatternRow {
        says: &[
            "rename|mv|move|call {path} to|into|as|in|->|=>|→ {path}",
            "mv|rename {path} {path}",
            "change name of {path} to {path}",
        ],
        means: |found| {
            let (from, to) = (found.path(0), target(found));
            // A new name alone is one in the same folder; what moves goes where it is told.
            let names = found.begins("rename") || found.begins("change") || found.begins("call");
            match from.rsplit_once('/') {
                Some((folder, _)) if names && !to.contains('/') => relocate(&from, &format!("{folder}/{to}")),
                _ => relocate(&from, &to),
            }
        },
    },
    PatternRow {
        says: &["move|mv {path} to|into|in|inside|under {folder}", "mv {path} {folder}"],
        means: |found| relocate(&found.path(0), &format!("{}/", found.folder(0))),
    },
    PatternRow {
        says: &["rename|mv [folder|directory] {folder} to|as|into {folder}", "mv {folder} {folder}"],
        means: |found| relocate(&found.folder(0), &found.folder(1)),
    },
    PatternRow {
        says: &[
            "rename {path} to|as {word}",
            "copy|cp|duplicate {path} to|into|as|in {path}",
            "cp {path} {path}",
            "make|create copy of {path} called|named|as|in|to {path}",
            "back|backup [up] {path} to|as {path}",
        ],
        means: |found| copy_file(&found.path(0), &target(found)),
    },
    PatternRow {
        says: &["copy|cp {path} to|into {folder}", "cp {path} {folder}"],
        means: |found| copy_file(&found.path(0), &format!("{}/", found.folder(0))),
    },
    PatternRow {
        says: &[
            "copy|duplicate [folder|directory] {folder} to|as|into {folder}",
            "cp -r|-a|-R {folder} {folder}",
        ],
        means: |found| copy(&found.folder(0), &found.folder(1)),
    },
    PatternRow {
        says: &[
            "create|make|add|new [new] [empty] folder|directory|dir|subfolder [called|named] {folder}",
            "create|make|add [new] [empty] {folder} folder|directory|dir",
            "create|make|add [new] [empty] folder|directory {folder} in {folder}",
            "mkdir [-p] {folder}",
        ],
        means: |found| {
            let (name, parent) = (found.folder(0), found.folder(1));
            let path = if found.has_folders(2) && parent != "." { format!("{parent}/{name}") } else { name };
            (path != ".").then(|| ClauseIntent::Goal(ToolGoal::run(["mkdir", "-p", &path])))
        },
    },
];

/// Returns where something goes: into a folder, when a slash says so.
fn target(found: &PatternMatch<'_>) -> String {
    let is_folder = found.path_words(1).iter().any(|word| word.text.len() > 1 && word.text.ends_with('/'));
    let path = found.path(1);
    if is_folder { format!("{path}/") } else { path }
}

fn delete(paths: &[String]) -> Option<ClauseIntent> {
    let everything =
        |path: &String| matches!(path.as_str(), "." | ".." | "/" | "*" | "~" | "/*" | "./*" | "~/" | "$HOME");
    if paths.is_empty() || paths.iter().any(everything) {
        return Some(ClauseIntent::Cannot(MissingAbility::Danger));
    }
    if let [only] = paths {
        return Some(ClauseIntent::Goal(ToolGoal::Delete(only.clone())));
    }
    let calls = paths.iter().map(|path| super::super::calls::delete_call(path)).collect();
    paths
        .iter()
        .all(|path| is_file_name(path))
        .then(|| ClauseIntent::Goal(ToolGoal::Calls(calls, AnswerView::Digest)))
}

fn relocate(from: &str, to: &str) -> Option<ClauseIntent> {
    if from.is_empty() || to.is_empty() || from == "." || from == to {
        return None;
    }
    let to = if to == "./" { from.rsplit('/').next().unwrap_or(from) } else { to };
    Some(ClauseIntent::Goal(ToolGoal::Move { from: from.to_owned(), to: to.to_owned() }))
}

fn copy_file(from: &str, to: &str) -> Option<ClauseIntent> {
    if from.is_empty() || to.is_empty() {
        return Some(ClauseIntent::Incomplete(ToolAbility::Run));
    }
    let to = if to == "./" { "." } else { to };
    Some(ClauseIntent::Goal(ToolGoal::Copy { from: from.to_owned(), to: to.to_owned() }))
}

fn copy(from: &str, to: &str) -> Option<ClauseIntent> {
    if from.is_empty() || to.is_empty() {
        return Some(ClauseIntent::Incomplete(ToolAbility::Run));
    }
    let to = if to == "./" { "." } else { to };
    Some(ClauseIntent::Goal(ToolGoal::Calls(vec![run_call(["cp", "-r", from, to])], AnswerView::Whole)))
}
