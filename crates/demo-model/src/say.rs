//! The sentences of the demo model about itself and its plans.

use serde_json::Value;

use super::content::has_line_end_signs;
use super::intent::{FileSelection, IntendedCall, MissingAbility, ProjectChore, ToolAbility, ToolGoal};

/// Ends every answer made from a tool's output.
pub(super) const SIGNATURE: &str =
    "(I am Palyra's built-in demo model: I quote what the tools found, and understand nothing of it.)";

/// How a remark begins that tells what was not understood.
pub(super) const UNCLEAR: &str = "I did not understand";

/// Says that an input is done as a whole or not at all.
pub(super) const NOTHING_DONE: &str = "I did nothing of it. Say one thing at a time.";

/// Says what to do where no line for a shell runs.
pub(super) const NO_SHELL: &str = "I cannot run a line for a shell where the policy does not permit it. Try one program at a time, such as: run `ls -l`.";

/// Says what to do where a program may not name git's folder.
pub(super) const NO_GIT_FOLDER: &str =
    "I cannot run a program on `.git` itself. Try: git status, or: git config --list.";

/// A longer pattern is not shown.
const PATTERN_CHARS_MAX: usize = 60;

/// Answers a greeting.
pub(super) const HELLO: &str = "Hello.";
/// Answers thanks.
pub(super) const WELCOME: &str = "You are welcome.";

/// Says what is about to be called.
pub(super) fn announcement(calls: &[IntendedCall]) -> String {
    format!("I will {}.\n\n", joined(calls.iter().map(plan_of)))
}

fn joined(plans: impl Iterator<Item = String>) -> String {
    plans.collect::<Vec<_>>().join(" and ")
}

/// Names the steps that are left out after a call was not allowed.
pub(super) fn stopped<'g>(left: impl Iterator<Item = &'g ToolGoal>) -> String {
    match joined(left.map(goal_of)).as_str() {
        "" => "I stop here.".to_owned(),
        left => format!("I stop here, and did not {left}."),
    }
}

fn goal_of(goal: &ToolGoal) -> String {
    match goal {
        ToolGoal::Calls(calls, _) => joined(calls.iter().map(plan_of)),
        ToolGoal::ReadAll(folder) => format!("read the files in `{folder}`"),
        ToolGoal::Append { path, .. } | ToolGoal::Prepend { path, .. } => format!("add to `{path}`"),
        ToolGoal::Remove { path, .. } => format!("delete a line of `{path}`"),
        ToolGoal::Delete(path) => format!("delete `{path}`"),
        ToolGoal::Move { from, to } => format!("move `{from}` to `{to}`"),
        ToolGoal::Project(ProjectChore::Test) => "run the tests".to_owned(),
        ToolGoal::Project(ProjectChore::Build) => "build this".to_owned(),
        ToolGoal::Project(ProjectChore::Start) => "start this".to_owned(),
        ToolGoal::Commit { .. } => "commit".to_owned(),
        ToolGoal::Shell(line) => format!("run `{line}`"),
        ToolGoal::Insert { path, .. } => format!("add to `{path}`"),
        ToolGoal::Everywhere { old, new, .. } | ToolGoal::Among { old, new, .. } => {
            format!("replace `{old}` with `{new}`")
        }
        ToolGoal::Copy { from, to } => format!("copy `{from}` to `{to}`"),
        ToolGoal::RunFile(path) => format!("run `{path}`"),
        ToolGoal::Define(name) => format!("look where `{name}` is defined"),
        ToolGoal::Extract { to, .. } | ToolGoal::Keep { to, .. } => format!("write `{to}`"),
        ToolGoal::Rewrite { path, .. } if path.is_empty() => "edit the file that has the line".to_owned(),
        ToolGoal::Rewrite { path, .. } => format!("edit `{path}`"),
        ToolGoal::Manifests(_) => "read the files that describe the project".to_owned(),
        ToolGoal::Reshape { files: FileSelection::Named(paths), .. } => format!("edit {}", ticked(paths)),
        ToolGoal::Reshape { files: FileSelection::Matching(pattern), .. } => {
            format!("edit the files that match `{pattern}`")
        }
        ToolGoal::CountLines(pattern) => format!("count the lines of `{pattern}`"),
        ToolGoal::Forget(said) => format!("forget \"{said}\""),
    }
}

fn plan_of(call: &IntendedCall) -> String {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    match call.ability {
        ToolAbility::Read => match (call.arguments.get("from"), call.arguments.get("to")) {
            (Some(from), Some(to)) => format!("read lines {from} to {to} of `{}`", text("path")),
            _ => format!("read `{}`", text("path")),
        },
        ToolAbility::List if text("path") == "." => "list the files here".to_owned(),
        ToolAbility::List => format!("list `{}`", text("path")),
        ToolAbility::Glob => format!("find files that match `{}`", text("pattern")),
        ToolAbility::Search if text("pattern").len() > PATTERN_CHARS_MAX => match text("path") {
            "" => "search for definitions".to_owned(),
            path => format!("search `{path}` for definitions"),
        },
        ToolAbility::Search if !text("glob").is_empty() => {
            format!("search for `{}` in files that match `{}`", text("pattern"), text("glob"))
        }
        ToolAbility::Search if text("path").is_empty() => format!("search for `{}`", text("pattern")),
        ToolAbility::Search => format!("search `{}` for `{}`", text("path"), text("pattern")),
        ToolAbility::Write => match (text("content"), text("mode")) {
            ("", "create") => format!("create `{}`, empty", text("path")),
            ("", _) => format!("empty `{}`", text("path")),
            _ if has_line_end_signs(text("path"), text("content")) => format!(
                "create `{}`, where `\\n` is written as two characters (for a line end, press Enter inside the quotation \
                 marks)",
                text("path")
            ),
            _ => format!("create `{}`", text("path")),
        },
        ToolAbility::Edit => format!("edit `{}`", text("path")),
        ToolAbility::Patch => patch_plan(text("patch")),
        ToolAbility::Run => format!("run `{}`", command_line(&Value::Object(call.arguments.clone()))),
        ToolAbility::Git => format!("ask git: `git {}`", text("subcommand")),
        ToolAbility::Fetch => match text("credential") {
            "" => format!("fetch {}", text("url")),
            secret => format!("fetch {} with the secret `{secret}`", text("url")),
        },
        ToolAbility::Remember if !text("forget").is_empty() => "forget that item".to_owned(),
        ToolAbility::Remember => "remember that".to_owned(),
        ToolAbility::Recollect => "look into your memory".to_owned(),
        ToolAbility::Ask => "ask you".to_owned(),
    }
}

/// Says what a patch of ours does.
fn patch_plan(patch: &str) -> String {
    let line = |begin: &str| patch.lines().find_map(|line| line.strip_prefix(begin)).unwrap_or_default();
    if patch.contains("\nrename to ") {
        let lines = |begin: &str| -> Vec<String> {
            patch.lines().filter_map(|line| line.strip_prefix(begin)).map(str::to_owned).collect()
        };
        let pairs = lines("rename from ").into_iter().zip(lines("rename to "));
        return joined(pairs.map(|(from, to)| format!("rename `{from}` to `{to}`")));
    }
    let paths: Vec<String> =
        patch.lines().filter_map(|line| line.strip_prefix("--- a/")).map(str::to_owned).collect();
    let verb = if line("+++ ") == "/dev/null" { "delete" } else { "edit" };
    format!("{verb} {}", ticked(&paths))
}

/// Names every one of several files.
fn ticked(paths: &[String]) -> String {
    joined(paths.iter().map(|path| format!("`{path}`")))
}

/// Returns the command of a call as it is typed.
pub(super) fn command_line(arguments: &Value) -> String {
    let words =
        arguments.get("argv").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    let shown = words.map(|word| {
        if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Says that nothing is attached to this input, and what was attached to an earlier one.
pub(super) fn attached_before(name: &str) -> String {
    format!(
        "Nothing is attached to this input. {name} was attached to an earlier one, and is sent along with that input only.\n\n\
         Try: in a chat, `/attach {name}`, then: what is attached?\n\
         In a shell: `palyra run --attach {name} \"what is attached?\"`."
    )
}

/// Says that a tool is not there.
pub(super) fn no_such_tool(ability: ToolAbility) -> String {
    if matches!(ability, ToolAbility::Remember | ToolAbility::Recollect) {
        return cannot(MissingAbility::Memory);
    }
    format!("I cannot {}: no tool for that is on offer here.", ability.phrase())
}

/// Says what is missing.
pub(super) fn incomplete(ability: ToolAbility) -> String {
    format!("To {} I need to know more. Try: {}.", ability.phrase(), ability.example())
}

/// Says what cannot be done, and what can be done instead.
pub(super) fn cannot(lack: MissingAbility) -> String {
    match lack {
        MissingAbility::Compose => {
            "I cannot write a text or a program of my own:\nI only write what you give me.\n\n\
             Try: create notes.txt with \"your text\".\nA real model can: `palyra model add --help` shows how."
        }
        MissingAbility::Understand => {
            "I cannot judge, explain or mend anything:\nI understand nothing of what is in files.\n\n\
             Try: show me README.md, or: replace \"old\" with \"new\" in notes.txt.\n\
             A real model can: `palyra model add --help` shows how."
        }
        MissingAbility::Usage => {
            "I do not know how that is done here: I only quote files, and run the tests, the build or the program as the \
             files of the project say.\n\nTry: show me README.md, or: run the tests."
        }
        MissingAbility::Reasons => {
            "I cannot give reasons: I understand nothing of what was said or done. Where a call was denied, `palyra policy \
             explain last` names the rule that decided. Try: help."
        }
        MissingAbility::Language => "I cannot understand this: I know a few English sentences only.\n\n\
             Try: show me README.md, or: list the files.\nA real model knows more: `palyra model add --help` shows how.",
        MissingAbility::Attachment => "I cannot see an attached file: nothing is attached to this.\n\n\
             Try: in a chat, `/attach FILE`, then: what is attached?\n\
             In a shell: `palyra run --attach FILE \"what is attached?\"`.",
        MissingAbility::Contradiction => "I cannot do both: nothing is to be changed, and the other part changes something.",
        MissingAbility::Network => {
            "I cannot reach other machines: programs run without network here. Run it yourself in a terminal. Try: \
             fetch https://example.org/, for a single page."
        }
        MissingAbility::Undo => {
            "I cannot take anything back. You can: in a chat, `/undo` takes back what the last run changed in files. In a \
             shell, `palyra runs undo ID` does; `palyra runs list` shows the ids."
        }
        MissingAbility::World => "I cannot know or do that: I only have the files of this folder and programs of this machine. Try: list the files here.",
        MissingAbility::Danger => {
            "I do not propose that: it would destroy too much, or needs the rights of another user. Try: delete notes.txt, \
             with the name of one file or folder."
        }
        MissingAbility::Folder => "I cannot change the folder: I work in the one in which you started `palyra run`. Try: list the files in src.",
        MissingAbility::Memory => {
            "I cannot do that with your memory here. In a shell, `palyra memory list` shows it and `palyra memory forget ID` \
             forgets an item. Try: remember that tests run on port 0."
        }
        MissingAbility::Message => "I cannot commit without a message. Try: commit this with message \"what changed\".",
        MissingAbility::Quotes => {
            "I cannot tell which words are the text. Put it in quotation marks. Try: create notes.txt with \"hello\", or: \
             replace \"old\" with \"new\" in notes.txt."
        }
    }
    .to_owned()
}

/// Says what cannot be done of a clause, with the clause itself as the sentence to say where only its marks are missing.
pub(super) fn cannot_do(lack: MissingAbility, typed: &str) -> String {
    let quoted = |(before, text): (&str, &str)| {
        let begins = ["create ", "make ", "add "].iter().any(|verb| before.to_lowercase().starts_with(verb));
        // Words about the text are not of it, and what was in several clauses is not known as it was typed.
        let is_introduced =
            ["the ", "text", "content", "word"].iter().any(|begin| text.to_lowercase().starts_with(begin));
        let is_plain = before.split(' ').count() == 2 && !text.contains(['"', '\n']) && !is_introduced;
        (begins && is_plain).then(|| format!("{before} with \"{text}\""))
    };
    let whole_text = typed.split_once(" with ").filter(|_| lack == MissingAbility::Quotes).and_then(quoted);
    let added_to = typed.rsplit_once(" to ").filter(|(before, file)| {
        lack == MissingAbility::Compose && before.to_lowercase().starts_with("add ") && !file.contains(' ')
    });
    match (whole_text, added_to) {
        (Some(sentence), _) => {
            format!("I cannot tell which words are the text. Put it in quotation marks. Try: {sentence}.")
        }
        (None, Some((_, file))) => cannot(lack).replace(
            "create notes.txt with \"your text\"",
            &format!("add \"your text\" to {}", file.trim_end_matches(['.', '?', '!'])),
        ),
        (None, None) => cannot(lack),
    }
}

/// Says what was not understood.
pub(super) fn unclear(words: &str) -> String {
    let reference = words.split_whitespace().find_map(bare_reference);
    let hint = reference.map(shown_by).unwrap_or_default();
    let words = clipped(words);
    if words.contains('"') {
        format!("{UNCLEAR}: {words}{hint}")
    } else {
        format!("{UNCLEAR} \"{words}\".{hint}")
    }
}

/// Returns the path of a word such as `@src/a.py`, which lacks the kind of a reference.
fn bare_reference(word: &str) -> Option<&str> {
    let path = word.strip_prefix('@')?.trim_end_matches(['.', ',', '?', '!']);
    (path.contains(['/', '.']) && !path.contains([':', '@'])).then_some(path)
}

/// Says how a file is shown: by a reference in the folder, as an attachment elsewhere.
fn shown_by(path: &str) -> String {
    let path_shown = clipped(path);
    if path.starts_with(['~', '/']) {
        format!(
            " To show me a file that is not in this folder, attach it: /attach {path_shown} in a chat, else --attach {path_shown}"
        )
    } else {
        format!(" To show me a file, write @file:{path_shown}")
    }
}

/// Names the part of an input that cannot be done.
pub(super) fn part(typed: &str) -> String {
    format!("It is this part that I cannot do: {}", clipped(typed))
}

fn clipped(words: &str) -> String {
    const WORDS_CHARS_MAX: usize = 120;
    let shown: String = words.chars().take(WORDS_CHARS_MAX).collect();
    let more = if shown.len() < words.len() { "..." } else { "" };
    format!("{shown}{more}")
}

/// Says how to go on after something was not understood.
pub(super) fn way_on(offered: impl Fn(ToolAbility) -> bool) -> String {
    const EXAMPLES_MAX: usize = 4;
    let able: Vec<ToolAbility> = ToolAbility::ALL.into_iter().filter(|ability| offered(*ability)).collect();
    let mut text = "I am Palyra's built-in demo model and know a few plain sentences only.".to_owned();
    if !able.is_empty() {
        text.push_str(" Try one of these, or `help`:");
    }
    for ability in able.iter().step_by(able.len().div_ceil(EXAMPLES_MAX).max(1)) {
        ability.examples().for_each(|example| text.push_str(&format!("\n- {example}")));
    }
    text.push_str("\n\nA real model understands more: `palyra model add --help` shows how.");
    text
}

/// Says that not everything found is in view any more.
pub(super) fn out_of_view(seen: usize, made: usize) -> String {
    format!("Of {made} results only the last {seen} fit my window; the others are not in this answer.")
}

/// Says what the model is and what it can do with the tools on offer.
pub(super) fn introduction(offered: impl Fn(ToolAbility) -> bool) -> String {
    let mut text =
        "I am the demo model that is built into Palyra: offline, deterministic, not a language model. \
                    I understand a few plain sentences and turn them into real tool calls; my answers quote \
                    the output of the tools."
            .to_owned();
    let able: Vec<ToolAbility> = ToolAbility::ALL.into_iter().filter(|ability| offered(*ability)).collect();
    if able.is_empty() {
        text.push_str(" No tool that I know is on offer, so I can only talk about myself.");
    } else {
        text.push_str(" Try one of these, or several joined by \"then\":");
        for ability in able {
            ability.examples().for_each(|example| text.push_str(&format!("\n- {example}")));
        }
    }
    text.push_str(
        "\n\nFor real answers, connect a model: `palyra model add`, or set OPENAI_BASE_URL (and OPENAI_API_KEY); if \
         the configuration file names me, that variable counts after `palyra model use --unset`.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_without_its_kind_has_the_way_to_write_it() {
        assert!(unclear("explain @src/basket.py").ends_with(" To show me a file, write @file:src/basket.py"));
        assert!(unclear("explain @~/notes.txt").contains("/attach ~/notes.txt in a chat"));
        for words in ["explain @file:a.py", "ask @ann", "explain it"] {
            assert!(!unclear(words).contains("To show me"), "{words}");
        }
    }
}
