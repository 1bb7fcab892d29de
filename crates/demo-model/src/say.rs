//! The sentences of the demo model about itself and its plans.

use serde_json::Value;

use super::intent::{Ability, Call, Chore, Files, Goal, Lack};

/// Ends every answer made from a tool's output.
pub(super) const SIGNATURE: &str =
    "(I am Palyra's built-in demo model: I quote what the tools found, and understand nothing of it.)";

/// How a remark begins that tells what was not understood.
pub(super) const UNCLEAR: &str = "I did not understand";

/// Says that an input is done as a whole or not at all.
pub(super) const NOTHING_DONE: &str = "I did nothing of it. Say one thing at a time.";

/// Says what to do where no line for a shell runs.
pub(super) const NO_SHELL: &str = "I cannot run a line for a shell where the policy does not permit it. Try one program at a time, such as: run `ls -l`.";

/// A longer pattern is not shown.
const PATTERN_CHARS_MAX: usize = 60;

/// Answers a greeting.
pub(super) const HELLO: &str = "Hello.";
/// Answers thanks.
pub(super) const WELCOME: &str = "You are welcome.";

/// Says what is about to be called.
pub(super) fn announcement(calls: &[Call]) -> String {
    format!("I will {}.\n\n", joined(calls.iter().map(plan_of)))
}

fn joined(plans: impl Iterator<Item = String>) -> String {
    plans.collect::<Vec<_>>().join(" and ")
}

/// Names the steps that are left out after a call was not allowed.
pub(super) fn stopped<'g>(left: impl Iterator<Item = &'g Goal>) -> String {
    match joined(left.map(goal_of)).as_str() {
        "" => "I stop here.".to_owned(),
        left => format!("I stop here, and did not {left}."),
    }
}

fn goal_of(goal: &Goal) -> String {
    match goal {
        Goal::Calls(calls, _) => joined(calls.iter().map(plan_of)),
        Goal::ReadAll(folder) => format!("read the files in `{folder}`"),
        Goal::Append { path, .. } | Goal::Prepend { path, .. } => format!("add to `{path}`"),
        Goal::Remove { path, .. } => format!("delete a line of `{path}`"),
        Goal::Delete(path) => format!("delete `{path}`"),
        Goal::Move { from, to } => format!("move `{from}` to `{to}`"),
        Goal::Project(Chore::Test) => "run the tests".to_owned(),
        Goal::Project(Chore::Build) => "build this".to_owned(),
        Goal::Project(Chore::Start) => "start this".to_owned(),
        Goal::Commit { .. } => "commit".to_owned(),
        Goal::Shell(line) => format!("run `{line}`"),
        Goal::Insert { path, .. } => format!("add to `{path}`"),
        Goal::Everywhere { old, new, .. } | Goal::Among { old, new, .. } => {
            format!("replace `{old}` with `{new}`")
        }
        Goal::Copy { from, to } => format!("copy `{from}` to `{to}`"),
        Goal::RunFile(path) => format!("run `{path}`"),
        Goal::Define(name) => format!("look where `{name}` is defined"),
        Goal::Extract { to, .. } | Goal::Keep { to, .. } => format!("write `{to}`"),
        Goal::Rewrite { path, .. } if path.is_empty() => "edit the file that has the line".to_owned(),
        Goal::Rewrite { path, .. } => format!("edit `{path}`"),
        Goal::Manifests(_) => "read the files that describe the project".to_owned(),
        Goal::Reshape { files: Files::Named(paths), .. } => format!("edit {}", ticked(paths)),
        Goal::Reshape { files: Files::Matching(pattern), .. } => {
            format!("edit the files that match `{pattern}`")
        }
        Goal::CountLines(pattern) => format!("count the lines of `{pattern}`"),
    }
}

fn plan_of(call: &Call) -> String {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    match call.ability {
        Ability::Read => match (call.arguments.get("from"), call.arguments.get("to")) {
            (Some(from), Some(to)) => format!("read lines {from} to {to} of `{}`", text("path")),
            _ => format!("read `{}`", text("path")),
        },
        Ability::List if text("path") == "." => "list the files here".to_owned(),
        Ability::List => format!("list `{}`", text("path")),
        Ability::Glob => format!("find files that match `{}`", text("pattern")),
        Ability::Search if text("pattern").len() > PATTERN_CHARS_MAX => match text("path") {
            "" => "search for definitions".to_owned(),
            path => format!("search `{path}` for definitions"),
        },
        Ability::Search if text("path").is_empty() => format!("search for `{}`", text("pattern")),
        Ability::Search => format!("search `{}` for `{}`", text("path"), text("pattern")),
        Ability::Write => match (text("content"), text("mode")) {
            ("", "create") => format!("create `{}`, empty", text("path")),
            ("", _) => format!("empty `{}`", text("path")),
            _ => format!("create `{}`", text("path")),
        },
        Ability::Edit => format!("edit `{}`", text("path")),
        Ability::Patch => patch_plan(text("patch")),
        Ability::Run => format!("run `{}`", command_line(&Value::Object(call.arguments.clone()))),
        Ability::Git => format!("ask git: `git {}`", text("subcommand")),
        Ability::Fetch => format!("fetch {}", text("url")),
        Ability::Remember => "remember that".to_owned(),
        Ability::Ask => "ask you".to_owned(),
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

/// Says that a tool is not there.
pub(super) fn no_such_tool(ability: Ability) -> String {
    if ability == Ability::Remember {
        return cannot(Lack::Memory);
    }
    format!("I cannot {}: no tool for that is on offer here.", ability.phrase())
}

/// Says what is missing.
pub(super) fn incomplete(ability: Ability) -> String {
    format!("To {} I need to know more. Try: {}.", ability.phrase(), ability.example())
}

/// Says what cannot be done, and what can be done instead.
pub(super) fn cannot(lack: Lack) -> String {
    match lack {
        Lack::Compose => {
            "I cannot write a text or a program of my own:\nI only write what you give me.\n\n\
             Try: create notes.txt with \"your text\".\nA real model can: `palyra model add` sets one up."
        }
        Lack::Understand => {
            "I cannot judge, explain or mend anything:\nI understand nothing of what is in files.\n\n\
             Try: show me README.md, or: replace \"old\" with \"new\" in notes.txt.\n\
             A real model can: `palyra model add` sets one up."
        }
        Lack::Language => "I cannot understand this: I know a few English sentences only.\n\n\
             Try: show me README.md, or: list the files.\nA real model knows more: `palyra model add` sets one up.",
        Lack::Attachment => "I cannot see an attached file: nothing is attached to this.\n\n\
             Try `palyra run --attach FILE \"what is attached?\"`.",
        Lack::Contradiction => "I cannot do both: nothing is to be changed, and the other part changes something.",
        Lack::Network => {
            "I cannot reach other machines: programs run without network here. Run it yourself in a terminal. Try: \
             fetch https://example.org/, for a single page."
        }
        Lack::Undo => {
            "I cannot take anything back. You can: `palyra runs list` shows the runs with their ids, and `palyra runs undo \
             ID` takes back what that run changed in files."
        }
        Lack::World => "I cannot know or do that: I only have the files of this folder and programs of this machine. Try: list the files here.",
        Lack::Danger => {
            "I do not propose that: it would destroy too much, or needs the rights of another user. Try: delete notes.txt, \
             with the name of one file or folder."
        }
        Lack::Folder => "I cannot change the folder: I work in the one in which you started `palyra run`. Try: list the files in src.",
        Lack::Memory => {
            "I cannot remember anything: Palyra has no memory yet. Try: create notes.txt with \"what to remember\"."
        }
        Lack::Message => "I cannot commit without a message. Try: commit this with message \"what changed\".",
        Lack::Quotes => {
            "I cannot tell which words are the text. Put it in quotation marks. Try: create notes.txt with \"hello\", or: \
             replace \"old\" with \"new\" in notes.txt."
        }
    }
    .to_owned()
}

/// Says what was not understood.
pub(super) fn unclear(words: &str) -> String {
    let words = clipped(words);
    if words.contains('"') { format!("{UNCLEAR}: {words}") } else { format!("{UNCLEAR} \"{words}\".") }
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
pub(super) fn way_on(offered: impl Fn(Ability) -> bool) -> String {
    const EXAMPLES_MAX: usize = 4;
    let able: Vec<Ability> = Ability::ALL.into_iter().filter(|ability| offered(*ability)).collect();
    let mut text = "I am Palyra's built-in demo model and know a few plain sentences only.".to_owned();
    if !able.is_empty() {
        text.push_str(" Try one of these, or `help`:");
    }
    for ability in able.iter().step_by(able.len().div_ceil(EXAMPLES_MAX).max(1)) {
        text.push_str("\n- ");
        text.push_str(ability.example());
    }
    text.push_str("\n\nA real model understands more: `palyra model add` sets one up.");
    text
}

/// Says that not everything found is in view any more.
pub(super) fn out_of_view(seen: usize, made: usize) -> String {
    format!("Of {made} results only the last {seen} fit my window; the others are not in this answer.")
}

/// Says what the model is and what it can do with the tools on offer.
pub(super) fn introduction(offered: impl Fn(Ability) -> bool) -> String {
    let mut text =
        "I am the demo model that is built into Palyra: offline, deterministic, not a language model. \
                    I understand a few plain sentences and turn them into real tool calls; my answers quote \
                    the output of the tools."
            .to_owned();
    let able: Vec<Ability> = Ability::ALL.into_iter().filter(|ability| offered(*ability)).collect();
    if able.is_empty() {
        text.push_str(" No tool that I know is on offer, so I can only talk about myself.");
    } else {
        text.push_str(" Try one of these, or several joined by \"then\":");
        for ability in able {
            text.push_str("\n- ");
            text.push_str(ability.example());
        }
    }
    text.push_str(
        "\n\nFor real answers, connect a model: `palyra model add`, or set OPENAI_BASE_URL (and OPENAI_API_KEY); where \
         the configuration names me, `palyra model use --unset` lets that variable count.",
    );
    text
}
