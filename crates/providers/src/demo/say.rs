//! The sentences of the demo model about itself and its plans.

use serde_json::Value;

use super::intent::{Ability, Call};

/// Ends every answer made from a tool's output.
pub(super) const SIGNATURE: &str =
    "(I am Palyra's built-in demo model: I quote what the tools found, and understand nothing of it.)";

/// How a remark begins that tells what was not understood.
pub(super) const UNCLEAR: &str = "I did not understand";

/// Says what is about to be called.
pub(super) fn announcement(calls: &[Call]) -> String {
    format!("I will {}.\n\n", plans_of(calls))
}

fn plans_of<'c>(calls: impl IntoIterator<Item = &'c Call>) -> String {
    calls.into_iter().map(plan_of).collect::<Vec<_>>().join(" and ")
}

/// Says what is not done any more after something was not allowed.
pub(super) fn stopped<'c>(left: impl IntoIterator<Item = &'c Call>) -> String {
    match plans_of(left).as_str() {
        "" => "I stop here.".to_owned(),
        left => format!("I stop here, and did not {left}."),
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
        Ability::Search if text("path").is_empty() => format!("search for `{}`", text("pattern")),
        Ability::Search => format!("search `{}` for `{}`", text("path"), text("pattern")),
        Ability::Write => format!("create `{}`", text("path")),
        Ability::Edit => format!("edit `{}`", text("path")),
        Ability::Patch => "delete that line".to_owned(),
        Ability::Run => "run that command".to_owned(),
        Ability::Fetch => format!("fetch {}", text("url")),
        Ability::Remember => "remember that".to_owned(),
        Ability::Ask => "ask you".to_owned(),
    }
}

/// Says that a tool is not there.
pub(super) fn no_such_tool(ability: Ability) -> String {
    format!("I cannot {}: this version offers me no tool `{}`.", ability.phrase(), ability.tool())
}

/// Says what is missing.
pub(super) fn incomplete(ability: Ability) -> String {
    format!("To {} I need to know more. Try: {}.", ability.phrase(), ability.example())
}

/// Says what was not understood.
pub(super) fn unclear(words: &str) -> String {
    const WORDS_CHARS_MAX: usize = 120;
    let shown: String = words.chars().take(WORDS_CHARS_MAX).collect();
    let more = if shown.len() < words.len() { "..." } else { "" };
    format!("{UNCLEAR} \"{shown}{more}\".")
}

/// Answers a greeting before something else.
pub(super) const HELLO: &str = "Hello.";
/// Answers a greeting that stands alone.
pub(super) const HELLO_FROM_DEMO: &str = "Hello. I am Palyra's built-in demo model.";

/// Says that not everything found is in view any more.
pub(super) fn out_of_view(seen: usize, made: usize) -> String {
    format!("Of {made} results only the last {seen} fit my window; the others are not in this answer.")
}

/// Says what the model is and what it can do with the tools on offer.
pub(super) fn introduction(offered: impl Fn(Ability) -> bool) -> String {
    let mut text = "I am the demo model that is built into Palyra: offline, deterministic, and no language model. \
                    I understand a few plain sentences and turn them into real tool calls; what I answer is quoted \
                    from what the tools found."
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
        "\n\nFor real answers, connect a model: `palyra model add`, or set OPENAI_BASE_URL (and OPENAI_API_KEY).",
    );
    text
}
