//! What follows in a goal of several rounds, from what its earlier rounds found.
//!
//! Pure: the findings of a goal, in order, decide its next calls. A goal that ends without the call that it is for says
//! why in [`unmet`].

use serde_json::json;

use super::calls::{delete_call, list_call, patch_call, read_call};
use super::changes::{all_chosen, among, defined, everywhere, inserted, kept, removed, unmet_change};
use super::extract::{ToolFinding, listed_names, printed, without_note};
use super::forgetting::{forget_call, look_for, not_forgotten};
use super::intent::{
    FileChange, FileSelection, IntendedCall, LineSelection, ProjectChore, ToolAbility, ToolGoal, run_call,
};
use super::line_changes::{rewritten, unmet_rewrite};
use super::objects::is_file_name;
use super::placing::{carried, is_unfit, moved};
use super::programs::run_file_call;
use super::reshape::{reshaped, unmet_reshape};
use super::survey::{counted, surveyed, unmet_survey};

/// Files of a folder that are shown together, at most.
const FILES_MAX: usize = 10;

/// A project's files and what its chores are: test, build, start.
const CHORES: &[(&str, [&[&str]; 3])] = &[
    ("Cargo.toml", [&["cargo", "test"], &["cargo", "build"], &["cargo", "run"]]),
    ("go.mod", [&["go", "test", "./..."], &["go", "build", "./..."], &["go", "run", "."]]),
    ("package.json", [&["npm", "test"], &["npm", "run", "build"], &["npm", "start"]]),
    ("Makefile", [&["make", "test"], &["make"], &["make", "run"]]),
    ("makefile", [&["make", "test"], &["make"], &["make", "run"]]),
    ("GNUmakefile", [&["make", "test"], &["make"], &["make", "run"]]),
    ("CMakeLists.txt", [&["ctest", "--test-dir", "build"], &["cmake", "-B", "build"], &[]]),
    ("pom.xml", [&["mvn", "test"], &["mvn", "package"], &[]]),
    ("build.gradle", [&["gradle", "test"], &["gradle", "build"], &["gradle", "run"]]),
    ("pytest.ini", [&["python3", "-m", "pytest"], &[], &[]]),
    ("conftest.py", [&["python3", "-m", "pytest"], &[], &[]]),
    ("tests/", [&["python3", "-m", "unittest", "discover", "-s", "tests"], &[], &[]]),
    ("test.sh", [&["sh", "test.sh"], &[], &[]]),
    ("tests.sh", [&["sh", "tests.sh"], &[], &[]]),
    ("run_tests.sh", [&["sh", "run_tests.sh"], &[], &[]]),
    ("build.sh", [&[], &["sh", "build.sh"], &[]]),
    ("main.py", [&[], &[], &["python3", "main.py"]]),
    ("app.py", [&[], &[], &["python3", "app.py"]]),
    ("index.js", [&[], &[], &["node", "index.js"]]),
];
const UNITTEST: &[&str] = &["python3", "-m", "unittest"];

/// Returns the next calls of a goal that has found this much; `None` when it is done, or cannot go on.
pub(super) fn next_calls(
    goal: &ToolGoal,
    earlier: &[ToolFinding],
    found: &[ToolFinding],
) -> Option<Vec<IntendedCall>> {
    let (calls, round) = match (goal, found) {
        (ToolGoal::Calls(calls, _), []) => return Some(calls.clone()),
        (ToolGoal::Calls(..), [_, ..]) => return None,
        (ToolGoal::Shell(line), []) => (vec![run_call(["sh", "-c", line])], 0),
        (ToolGoal::ReadAll(folder), []) => (vec![list_call(folder)], 0),
        (ToolGoal::ReadAll(_), [look]) => (files_of(look), 1),
        (ToolGoal::Append { path, .. } | ToolGoal::Prepend { path, .. }, [])
        | (
            ToolGoal::Remove { path, .. }
            | ToolGoal::Insert { path, .. }
            | ToolGoal::Extract { from: path, .. },
            [],
        ) => (vec![read_call(path)], 0),
        (
            ToolGoal::Append { .. }
            | ToolGoal::Prepend { .. }
            | ToolGoal::Remove { .. }
            | ToolGoal::Insert { .. },
            [look],
        ) => (edited(goal, look).into_iter().collect(), 1),
        (ToolGoal::Extract { part, to, .. }, [look]) => (kept(*part, to, look).into_iter().collect(), 1),
        (ToolGoal::Keep { part, to }, []) => {
            (earlier.last().and_then(|it| kept(*part, to, it)).into_iter().collect(), 1)
        }
        (ToolGoal::Everywhere { old, new, place }, found) => return everywhere_once(old, new, place, found),
        (ToolGoal::Define(name), found) => return defined(name, found),
        (ToolGoal::Copy { from, to }, found) => return carried(&["cp", "-r", from, to], found),
        (ToolGoal::Among { paths, .. }, []) => (paths.iter().map(|path| read_call(path)).collect(), 0),
        (ToolGoal::Among { old, new, paths }, found) => {
            return among(old, new, paths, found).map(|call| vec![call]);
        }
        (ToolGoal::Rewrite { path, change }, found) => return rewritten(path, change, found),
        (ToolGoal::Manifests(section), found) => return surveyed(*section, found),
        (ToolGoal::Reshape { files, change }, found) => return reshape_once(files, change, found),
        (ToolGoal::Forget(said), []) => (vec![look_for(said)], 0),
        (ToolGoal::Forget(said), [look]) if !look.failed => {
            (forget_call(said, &look.text).into_iter().collect(), 1)
        }
        (ToolGoal::CountLines(pattern), found) => return counted(pattern, found),
        (ToolGoal::RunFile(path), []) => (vec![run_file_call(path)], 0),
        (ToolGoal::Delete(path), []) if is_file_name(path) => (vec![delete_call(path)], 0),
        (ToolGoal::Delete(path), [.., last]) if is_unfit(last) => {
            let recursive = last.text.contains("is a folder");
            (vec![run_call(if recursive { vec!["rm", "-r", path] } else { vec!["rm", path] })], 1)
        }
        (ToolGoal::Delete(path), []) => (vec![list_call(path)], 0),
        (ToolGoal::Delete(path), [look]) if look.tool.as_str() == ToolAbility::List.tool() => {
            (vec![if look.failed { delete_call(path) } else { run_call(["rm", "-r", path]) }], 1)
        }
        (ToolGoal::Move { from, to }, found) => return moved(from, to, found),
        (ToolGoal::Project(_), []) => (vec![list_call(".")], 0),
        (ToolGoal::Project(chore), [look]) => (chore_of(*chore, look).into_iter().collect(), 1),
        (ToolGoal::Commit { message, everything }, found) => return committed(message, *everything, found),
        _ => return None,
    };
    let is_broken = round > 0 && calls.is_empty();
    (!is_broken).then_some(calls)
}

fn reshape_once(
    files: &FileSelection,
    change: &FileChange,
    found: &[ToolFinding],
) -> Option<Vec<IntendedCall>> {
    let patched = found.last().is_some_and(|last| last.tool.as_str() == ToolAbility::Patch.tool());
    if patched { None } else { reshaped(files, change, found) }
}

fn everywhere_once(old: &str, new: &str, place: &str, found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    let patched = found.last().is_some_and(|last| last.tool.as_str() == ToolAbility::Patch.tool());
    if patched { None } else { everywhere(old, new, place, found) }
}

fn files_of(look: &ToolFinding) -> Vec<IntendedCall> {
    let files = listed_names(&look.text).into_iter().filter(|name| !name.ends_with('/'));
    files.take(FILES_MAX).map(|path| read_call(&path)).collect()
}

/// Returns the change of a file that was read.
fn edited(goal: &ToolGoal, look: &ToolFinding) -> Option<IntendedCall> {
    if look.failed {
        let is_new = look.text.contains("does not exist");
        return match goal {
            ToolGoal::Append { path, text } | ToolGoal::Prepend { path, text } if is_new => {
                Some(written(path, text))
            }
            _ => None,
        };
    }
    let (text, note) = without_note(&look.text);
    if text.is_empty() {
        return match goal {
            ToolGoal::Append { path, text } | ToolGoal::Prepend { path, text } => {
                Some(overwritten(path, text))
            }
            _ => None,
        };
    }
    if note.is_some() {
        return None;
    }
    let open = !text.ends_with('\n');
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let mark = |is_last: bool| if open && is_last { "\\ No newline at end of file\n" } else { "" };
    let (path, hunk) = match goal {
        ToolGoal::Append { path, text } => {
            let (at, last) = (lines.len(), lines[lines.len() - 1]);
            let new = added(text);
            let old = if open { format!("-{last}\n{}+{last}\n", mark(true)) } else { format!(" {last}\n") };
            (path, format!("@@ -{at} +{at},{} @@\n{old}{new}", text.lines().count() + 1))
        }
        ToolGoal::Prepend { path, text } => {
            let count = text.lines().count() + 1;
            (path, format!("@@ -1 +1,{count} @@\n{} {}\n{}", added(text), lines[0], mark(lines.len() == 1)))
        }
        ToolGoal::Remove { path, lines: which } => {
            let gone = all_chosen(path, &lines, which);
            if gone.is_empty() {
                return None;
            }
            (path, removed(&lines, &gone, mark(true)))
        }
        ToolGoal::Insert { path, text, place } => (path, inserted(path, &lines, mark(true), text, place)?),
        _ => return None,
    };
    Some(patch_call(&format!("--- a/{path}\n+++ b/{path}\n{hunk}")))
}

fn added(text: &str) -> String {
    text.lines().map(|line| format!("+{line}\n")).collect()
}

fn written(path: &str, text: &str) -> IntendedCall {
    overwritten(path, text).with("mode", json!("create"))
}

fn overwritten(path: &str, text: &str) -> IntendedCall {
    IntendedCall::new(
        ToolAbility::Write,
        &[("path", path), ("content", &format!("{}\n", text.trim_matches('\n')))],
    )
}

fn chore_of(chore: ProjectChore, look: &ToolFinding) -> Option<IntendedCall> {
    if look.failed {
        return None;
    }
    let names = listed_names(&look.text);
    let place = match chore {
        ProjectChore::Test => 0,
        ProjectChore::Build => 1,
        ProjectChore::Start => 2,
    };
    let has = |name: &str| names.iter().any(|found| found == name);
    let known = CHORES.iter().find(|(name, argvs)| has(name) && !argvs[place].is_empty());
    let is_test =
        |name: &String| name.ends_with(".py") && (name.starts_with("test") || name.ends_with("_test.py"));
    let python = (chore == ProjectChore::Test && names.iter().any(is_test)).then_some(UNITTEST);
    known.map(|(_, argvs)| argvs[place]).or(python).map(|argv| run_call(argv.iter().copied()))
}

fn committed(message: &str, everything: bool, found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    let commit = || Some(vec![run_call(["git", "commit", "-m", message])]);
    let add = || Some(vec![run_call(["git", "add", "-A"])]);
    if found.last().is_some_and(|last| last.failed) {
        return None;
    }
    let mut done = found.iter();
    if !everything {
        let Some(status) = done.next() else {
            let call = IntendedCall::new(ToolAbility::Git, &[("subcommand", "status")])
                .with("options", json!(["--short"]));
            return Some(vec![call]);
        };
        let lines: Vec<&str> =
            printed(&status.text).lines().filter(|line| line.len() > 3 && !line.starts_with('[')).collect();
        if status.failed || lines.is_empty() {
            return None;
        }
        if lines.iter().any(|line| !line.starts_with([' ', '?'])) {
            return if done.len() == 0 { commit() } else { None };
        }
    }
    match done.len() {
        0 => add(),
        1 => commit(),
        _ => None,
    }
}

/// Says why a goal ended without what it is for; `None` when it did what it is for.
pub(super) fn unmet(goal: &ToolGoal, found: &[ToolFinding]) -> Option<String> {
    if let Some(why) = unmet_change(goal, found)
        .or_else(|| unmet_rewrite(goal, found))
        .or_else(|| unmet_survey(goal, found))
        .or_else(|| unmet_reshape(goal, found))
    {
        return Some(why);
    }
    let [look] = found else { return None };
    if look.failed {
        return None;
    }
    match goal {
        ToolGoal::Forget(said) => Some(not_forgotten(said, &look.text)),
        ToolGoal::Append { path, .. } | ToolGoal::Prepend { path, .. }
            if look.tool.as_str() == "read_file" =>
        {
            Some(format!("I cannot add to `{path}`: it is longer than what I read at once."))
        }
        ToolGoal::Remove { path, lines } => Some(match lines {
            LineSelection::Holding(text) | LineSelection::Comment(text) | LineSelection::Exactly(text) => {
                format!(
                    "I cannot find the one line of `{path}` that matches \"{text}\": none has it, or several have. I changed nothing."
                )
            }
            LineSelection::All(text) => {
                format!("I cannot find a line of `{path}` that holds \"{text}\". I changed nothing.")
            }
            LineSelection::Numbered(_) | LineSelection::Last | LineSelection::Range(..) => {
                format!("I cannot find that line in `{path}`. I changed nothing.")
            }
        }),
        ToolGoal::ReadAll(folder) => Some(format!("There is no file in `{folder}`.")),
        ToolGoal::Project(chore) => {
            let what = match chore {
                ProjectChore::Test => "run the tests",
                ProjectChore::Build => "build this",
                ProjectChore::Start => "start this",
            };
            Some(format!(
                "I cannot {what}: I know no file here that says how (such as Makefile, Cargo.toml or package.json). \
                 Try: run `COMMAND`, with the command that does it."
            ))
        }
        ToolGoal::Commit { .. } => Some("I cannot commit: git says that nothing changed.".to_owned()),
        _ => None,
    }
}
