//! What is said after a command line that does not exist: what the user probably looked for.
//!
//! Compares what was typed with the table of such command lines. Invariant: no tip names a verb that changes something,
//! unless the table has it or what was typed differs from it in one letter.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use palyra_screen_text::shell_word;
use palyra_types::spelling::{is_alike, is_swapped, slips};

use crate::typed_commands::{
    branch_at_entry, completed_command, explained_call, is_like_id, known_command, plain_words, text_of_chat,
};
use crate::typed_options::with_meant_option;

/// Verbs that only show something, or ask again before they do more.
const SAFE_VERBS: [&str; 36] = [
    "chat", "run", "runs", "sessions", "approve", "policy", "tools", "status", "logs", "doctor", "journal",
    "explain", "model", "config", "admin", "help", "version", "list", "show", "tail", "wait", "effects",
    "kept", "check", "test", "diff", "shadow", "posture", "skills", "verify", "watch", "grants", "schema",
    "tokens", "vault", "agents",
];
/// How many of them can be the first word.
const FIRST_VERBS: usize = 17;

/// How the command begins that saves a secret.
const SAVES_SECRET: &str = "palyra admin vault put";

/// A line of so many words is likely a question.
const QUESTION_WORDS_MIN: usize = 3;

/// The position of the word that no verb has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownWord {
    /// The first one, which can also be a question.
    First,
    /// One behind a verb, or an option.
    Later,
}

/// Replaces the suggestions of an error about a verb or an option that does not exist. `typed` begins with the first
/// word that is not an option of every verb; `verbs` is the definition of the command line.
pub fn with_tip(
    mut error: clap::Error,
    typed: &[String],
    unknown: UnknownWord,
    verbs: &clap::Command,
) -> clap::Error {
    let only = match error.kind() {
        ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument => None,
        ErrorKind::MissingRequiredArgument => Some(completed_command(typed)),
        ErrorKind::ValueValidation => match seconds_as_number(&error) {
            Some(tip) => return with_tips(error, [tip]),
            None => Some(explained_tool(&error, typed).or_else(|| known_command(typed))),
        },
        _ => return error,
    };
    if let Some(only) = only {
        return with_tips(error, only.map(|(command, effect)| format!("`{command}` {effect}")));
    }
    // The parser has an option that it does not know typed as text, which sends it to a model.
    error.remove(ContextKind::Suggested);
    let mut tips = Vec::new();
    let without_verb = unknown == UnknownWord::First;
    if let Some(tip) = help_of_verb(&error, typed, verbs) {
        tips.push(tip);
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
    } else if let Some((command, effect)) = meant_option(&error, typed, unknown) {
        tips.push(format!("`{command}` {effect}"));
        error.remove(ContextKind::SuggestedArg);
    } else if let Some((command, effect)) = branch_at_entry(typed)
        .or_else(|| text_of_chat(typed, invalid_word(&error)?))
        .or_else(|| known_command(&with_option(&error, typed)))
    {
        tips.push(format!("`{command}` {effect}"));
        // The value of a secret is among the words, and no model is to read it.
        let is_public = !command.starts_with(SAVES_SECRET);
        let question = as_question(typed, QUESTION_WORDS_MIN).filter(|_| without_verb && is_public);
        tips.extend(question.map(|command| format!("`{command}` asks a model")));
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
    } else if let Some(tip) = tip_of_option(&error, typed, unknown, verbs) {
        tips.push(tip);
        error.remove(ContextKind::SuggestedArg);
    } else {
        keep_safe(&mut error);
        if let Some(word) = typed.first().filter(|_| without_verb) {
            tips.extend(verb_tips(&error, word, typed));
            error.remove(ContextKind::SuggestedSubcommand);
        } else if let Some(names) = long_names(&error, typed, verbs) {
            tips.push(format!("there are no options of one letter here; with this letter begins {names}"));
        } else if is_second_word(&error, typed)
            && let Some(command) = as_question(typed, 1 + QUESTION_WORDS_MIN)
        {
            tips.push(format!("`{command}` asks a model"));
        }
    }
    with_tips(error, tips)
}

/// Returns what to type in the place of a line whose first word does not name a verb: the nearest verb, or how a question is asked.
fn verb_tips(error: &clap::Error, word: &str, typed: &[String]) -> Vec<String> {
    let mut verbs = SAFE_VERBS[..FIRST_VERBS].iter();
    let swapped = verbs.find(|verb| is_swapped(word, verb) || lacks_letter(word, verb));
    // Words of a question: another first letter is more than a slip.
    let nearest = suggested(error, ContextKind::SuggestedSubcommand)
        .pop()
        .filter(|verb| typed.len() == 1 || verb.chars().next() == word.chars().next())
        .or_else(|| swapped.map(|verb| (*verb).to_owned()));
    let mut lists = "`palyra help` lists the verbs".to_owned();
    // A word or two are rather a verb of another program than a question, so that the line itself is not offered.
    if nearest.is_none()
        && !word.is_empty()
        && typed.len() < QUESTION_WORDS_MIN
        && as_question(typed, 1).is_some()
    {
        lists.push_str("; a question of one or two words is typed behind `palyra run`");
    }
    let mut tips: Vec<String> =
        nearest.into_iter().map(|verb| format!("the nearest verb is '{verb}'")).collect();
    // An empty question, and one that begins like an option, cannot be asked.
    if word == "-v" {
        tips.push("`palyra version` prints the version".to_owned());
    } else if let Some(command) = as_question(typed, QUESTION_WORDS_MIN) {
        tips.push(format!("`{command}` asks a model; a question of several words in quotes needs no verb"));
    }
    tips.push(lists);
    tips
}

/// Returns whether a word is a verb without one of its letters, but for the first.
fn lacks_letter(word: &str, verb: &str) -> bool {
    word.len() < verb.len() && verb.chars().next() == word.chars().next() && slips(word, verb) == 1
}

/// Returns how the help of a verb is shown, where `help` was typed behind the verb.
fn help_of_verb(error: &clap::Error, typed: &[String], verbs: &clap::Command) -> Option<String> {
    let is_refused = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg]
        .into_iter()
        .any(|kind| matches!(error.get(kind), Some(ContextValue::String(word)) if word == "help"));
    let words = plain_words(typed);
    let (last, names) = words.split_last()?;
    if !is_refused || *last != "help" || names.is_empty() {
        return None;
    }
    names.iter().try_fold(verbs, |verb, name| verb.find_subcommand(name))?;
    Some(format!("`palyra help {}` explains that verb", names.join(" ")))
}

/// Adds lines of what to type instead.
fn with_tips(mut error: clap::Error, tips: impl IntoIterator<Item = String>) -> clap::Error {
    let tips: Vec<StyledStr> = tips.into_iter().map(StyledStr::from).collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Returns the words as one question to a model, where there are so many, and neither an option nor an id among them.
fn as_question(typed: &[String], words_min: usize) -> Option<String> {
    let is_plain = |word: &String| !word.starts_with('-') && (typed.len() == 1 || !is_like_id(word));
    (typed.len() >= words_min && typed.iter().all(is_plain))
        .then(|| format!("palyra run {}", shell_word(&typed.join(" "))))
}

/// Returns the options of a verb that begin with the letter of an option of one letter.
fn long_names(error: &clap::Error, typed: &[String], verbs: &clap::Command) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1)?;
    let verb = verbs.find_subcommand(typed.first()?)?;
    let names = verb.get_arguments().filter(|argument| !argument.is_hide_set());
    let names = names.filter_map(|argument| argument.get_long()).filter(|name| name.starts_with(letter));
    let names: Vec<String> = names.map(|name| format!("--{name}")).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Returns whether it is the word right behind the verb that does not exist.
fn is_second_word(error: &clap::Error, typed: &[String]) -> bool {
    [ContextKind::InvalidSubcommand, ContextKind::InvalidArg]
        .into_iter()
        .any(|kind| matches!(error.get(kind), Some(ContextValue::String(word)) if typed.get(1) == Some(word)))
}

/// Returns how an option that takes seconds is typed, where they came with a unit.
fn seconds_as_number(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    let option = argument.strip_suffix(" <SECONDS>")?;
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) else { return None };
    let unit_at = value.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = value.split_at(unit_at);
    let in_seconds = match unit.trim() {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3_600,
        _ => 0,
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(in_seconds));
    let seconds = seconds.filter(|seconds| *seconds > 0);
    let example = seconds.map_or_else(|| "30".to_owned(), |seconds| seconds.to_string());
    Some(format!("{option} takes seconds as a number: `{option} {example}`"))
}

/// Returns the command line with what to write in the place of its option.
fn meant_option(
    error: &clap::Error,
    typed: &[String],
    unknown: UnknownWord,
) -> Option<(String, &'static str)> {
    with_meant_option(invalid_word(error)?, typed, (unknown == UnknownWord::First).then_some(typed))
}

/// Returns the argument that no verb has.
fn invalid_word(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// Returns how to ask about a tool that was typed in the place of a run, with what was typed behind it.
fn explained_tool(error: &clap::Error, typed: &[String]) -> Option<(String, &'static str)> {
    if let [policy, explain, option, tool, more @ ..] = typed
        && [policy, explain, option] == ["policy", "explain", "--tool"]
    {
        return Some(explained_call(tool, &plain_words(more).into_iter().map(value_of).collect::<Vec<_>>()));
    }
    let [policy, explain, tool, more @ ..] = typed else { return None };
    let is_tool =
        policy == "policy" && explain == "explain" && tool.starts_with(|c: char| c.is_ascii_lowercase());
    let is_refused = matches!(
        error.get(ContextKind::InvalidValue),
        Some(ContextValue::String(value)) if value == tool
    );
    (is_tool && is_refused).then(|| explained_call(tool, &plain_words(more)))
}

/// Returns the value of a word that is written as NAME=VALUE, and another word as it is.
fn value_of(word: &str) -> &str {
    match word.split_once('=') {
        Some((name, value)) if name.bytes().all(|byte| byte.is_ascii_lowercase()) => value,
        _ => word,
    }
}

/// Returns the words with the option that no verb has, which can be before the first of them.
fn with_option(error: &clap::Error, typed: &[String]) -> Vec<String> {
    let mut typed = typed.to_vec();
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && !typed.contains(option)
    {
        typed.push(option.clone());
    }
    typed
}

/// Returns the tip for an option that was typed before the verb, or with a question.
fn tip_of_option(
    error: &clap::Error,
    typed: &[String],
    unknown: UnknownWord,
    verbs: &clap::Command,
) -> Option<String> {
    if let Some(command) = option_behind_verb(error, typed, verbs) {
        return Some(format!("`{command}` has the option behind its verb"));
    }
    let question = question_with_option(error, typed, verbs).filter(|_| unknown == UnknownWord::First)?;
    Some(format!("`{question}` asks a model"))
}

/// Returns a command whose option was typed before its verb, with the option where the verb takes it.
fn option_behind_verb(error: &clap::Error, typed: &[String], verbs: &clap::Command) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let at = typed.iter().position(|word| verbs.find_subcommand(word).is_some())?;
    let mut verb = verbs.find_subcommand(&typed[at])?;
    let mut end = at + 1;
    while let Some(deeper) = typed.get(end).and_then(|word| verb.find_subcommand(word)) {
        verb = deeper;
        end += 1;
    }
    let name = option.strip_prefix("--")?;
    let known = verb.get_arguments().find(|known| known.get_long() == Some(name))?;
    // Only the value of the option is before the verb.
    let values = usize::from(known.get_action().takes_values());
    if at != values || typed.contains(option) {
        return None;
    }
    let words = typed[at..end].iter().chain([option]).chain(&typed[..at]).chain(&typed[end..]);
    Some(format!("palyra {}", words.map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")))
}

/// Returns a question with an option of `run` in front of it, as `run` takes it.
fn question_with_option(error: &clap::Error, typed: &[String], verbs: &clap::Command) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let run = verbs.find_subcommand("run")?;
    // An argument without a name is no option.
    let name = option.strip_prefix("--")?;
    let known = run.get_arguments().find(|known| known.get_long() == Some(name))?;
    // It stands before the first word; the same one behind that belongs to the question's command line.
    let rest = typed.strip_prefix(std::slice::from_ref(option)).unwrap_or(typed);
    let words: Vec<String> = rest.iter().map(|word| shell_word(word)).collect();
    let words_min = if known.get_action().takes_values() { 2 } else { 1 };
    (words.len() >= words_min).then(|| format!("palyra run {option} {}", words.join(" ")))
}

/// Removes suggestions that are not alike, or that do something else than show.
fn keep_safe(error: &mut clap::Error) {
    for (invalid, kind) in [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    ] {
        let Some(ContextValue::String(word)) = error.get(invalid).cloned() else { continue };
        let kept = suggested(error, kind).into_iter().filter(|name| {
            is_alike(word.trim().trim_start_matches('-'), name.trim_start_matches('-'))
                && (kind == ContextKind::SuggestedArg || SAFE_VERBS.contains(&name.as_str()))
        });
        let kept: Vec<String> = kept.collect();
        error.remove(kind);
        match (kind, kept.last()) {
            (_, None) => {}
            (ContextKind::SuggestedArg, Some(last)) => {
                error.insert(kind, ContextValue::String(last.clone()));
            }
            _ => {
                error.insert(kind, ContextValue::Strings(kept));
            }
        }
    }
}

/// Returns what the parser suggests, the most similar one last.
fn suggested(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(names)) => names.clone(),
        Some(ContextValue::String(name)) => vec![name.clone()],
        _ => Vec::new(),
    }
}
