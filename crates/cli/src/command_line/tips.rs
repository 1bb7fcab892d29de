//! What is said after a command line that does not exist: what the user probably looked for.
//!
//! Owns the table of such command lines. Invariant: no tip names a verb that changes something, unless the table has it
//! or what was typed differs from it in one letter.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use palyra_types::id_name::IdName;

use palyra_screen_text::shell_word;
use palyra_screen_text::slips;

/// Command lines that people type, each by its first words and the options among the others; `*` is the next word,
/// `@` one that looks like an id. Then what to type instead, with that word, and what it does. A line of one row can begin
/// with a line of a later row, and not the other way round.
pub(super) const TYPED: &[(&[&str], &str, &str)] = &[
    (
        &["sessions search *", "sessions find *", "search *"],
        "palyra sessions list --search *",
        "searches the sessions",
    ),
    (
        &["sessions resume *", "sessions open *", "resume *"],
        "palyra chat --session *",
        "goes on with a session",
    ),
    (
        &["sessions delete *", "sessions remove *"],
        "palyra journal erase --session *",
        "erases the content of a session",
    ),
    (&["sessions new"], "palyra sessions reset last", "begins a fresh context in the newest session"),
    (
        &["chat --continue", "chat --resume", "resume", "continue", "--continue", "--resume"],
        "palyra chat",
        "goes on with the conversation of this folder",
    ),
    (
        &["runs branch *", "runs fork *", "branch *", "fork *"],
        "palyra sessions branch *",
        "branches the conversation of a run, RUN or RUN@ENTRY",
    ),
    (&["chat --last"], "palyra chat --session last", "goes on with the newest session"),
    (
        &["chat --branch"],
        "palyra chat",
        "goes on with the conversation of this folder; /branch there lists where it can branch off",
    ),
    (&["chat *"], "palyra chat --session *", "goes on with a session; `palyra run TEXT` asks once"),
    (&["undo @"], "palyra runs undo @", "takes back what that run changed in files"),
    (&["undo"], "palyra runs undo last", "takes back what the last run changed in files"),
    (
        &["runs diff @", "diff @"],
        "palyra runs undo @ --dry-run",
        "shows what taking that run back would change in files",
    ),
    (
        &["runs diff", "diff"],
        "palyra runs undo last --dry-run",
        "shows what taking the last run back would change in files",
    ),
    (&["history", "ls", "list", "runs ls"], "palyra runs list", "lists the runs"),
    (&["ps", "jobs"], "palyra runs list --open", "lists the runs that are not over"),
    (&["tail"], "palyra runs tail last", "shows the last run"),
    (&["show @"], "palyra runs show @", "shows that run"),
    (&["grants"], "palyra approve grants", "lists the stored grants"),
    (&["attach *"], "palyra run --attach * QUESTION", "attaches a file to a question"),
    (
        &["model remove *", "model rm *", "model delete *", "model remove", "model rm", "model delete"],
        "palyra explain docs/providers.md",
        "says how to remove a model: its section in the configuration file is deleted",
    ),
    (
        &["policy add", "policy edit", "policy new", "policy create", "policy set"],
        "palyra explain docs/policy.md",
        "says how to write a rule; rules are files",
    ),
    (&["cancel @", "kill @", "runs stop @", "runs kill @"], "palyra runs cancel @", "stops that run"),
    (&["cancel"], "palyra runs cancel last", "stops the last run"),
    (&["runs search *", "runs find *"], "palyra runs list --search *", "searches the runs"),
    (&["runs log @", "runs logs @"], "palyra runs tail @", "shows that run"),
    (
        &["runs delete @", "runs erase @", "runs remove @", "erase @", "delete @"],
        "palyra journal erase @",
        "erases the content of that run",
    ),
    (
        &["erase", "delete"],
        "palyra journal erase last",
        "erases the content of the last run, after a question",
    ),
    (&["admin log", "admin logs"], "palyra logs", "shows the log of the daemon"),
    (&["sessions ls"], "palyra sessions list", "lists the sessions"),
    (&["yes", "allow"], "palyra approve yes last", "lets the only call that waits run"),
    (&["no", "deny"], "palyra approve no last", "denies the only call that waits"),
    (&["approve deny *", "approve reject *"], "palyra approve no *", "denies that call"),
    (&["approve allow *"], "palyra approve yes *", "lets that call run"),
    (
        &["approve yes --all", "approve --all"],
        "palyra approve",
        "asks about each call; no command approves several at once",
    ),
    (
        &["--approve later *"],
        "palyra run --approve later *",
        "asks a model; what asks waits for `palyra approve`",
    ),
    (&["--approve never *"], "palyra run --approve never *", "asks a model, and denies what would ask"),
    (
        &["--approve inbox *"],
        "palyra run --approve inbox *",
        "asks a model; what asks waits for `palyra approve`",
    ),
    (&["config get", "config list", "settings"], "palyra config show", "shows the settings"),
    (&["config init"], "palyra init", "writes a configuration file to begin with"),
    (&["models"], "palyra model list", "lists the models"),
    (&["login", "auth"], "palyra model add", "adds a model with its key"),
    (&["ask *", "exec *", "prompt *"], "palyra run *", "asks a model"),
    (&["start"], "palyra serve", "runs the daemon in the foreground; other verbs start it by themselves"),
    (&["daemon"], "palyra status", "shows the daemon"),
    (&["stop", "shutdown"], "palyra admin stop", "stops the daemon"),
    (&["restart"], "palyra admin stop", "stops the daemon; the next command starts it"),
    (&["skills"], "palyra tools skills list", "lists the skills"),
    (&["agents"], "palyra admin agents", "lists the agents"),
    (&["tokens"], "palyra admin tokens list", "lists the tokens"),
    (&["vault", "secrets"], "palyra admin vault list", "lists the secrets by name"),
    (&["completions"], "palyra admin completions bash", "writes completions for a shell"),
    (&["verify"], "palyra journal verify", "verifies the journal"),
    (&["export"], "palyra journal export", "exports the journal"),
    (&["log"], "palyra logs", "shows the daemon's log"),
    (&["check"], "palyra doctor", "checks this installation"),
    (&["rules", "policy list", "policy ls"], "palyra policy show", "shows the rules in force"),
];

/// Whole command lines that lack something, as in [`TYPED`].
const INCOMPLETE: [(&str, &str, &str); 6] = [
    (
        "runs undo",
        "palyra runs undo last --dry-run",
        "shows what taking the last run back would change in files",
    ),
    (
        "policy explain",
        "palyra policy explain last",
        "shows why the last call of the last run was decided as it was",
    ),
    ("runs show", "palyra runs show last", "shows the state of the last run"),
    ("runs tail", "palyra runs tail last", "shows the last run"),
    ("runs wait", "palyra runs wait last", "waits until the last run ends"),
    ("runs cancel", "palyra runs cancel last", "stops the last run"),
];

/// Verbs that only show something, or ask again before they do more.
const SAFE_VERBS: [&str; 36] = [
    "chat", "run", "runs", "sessions", "approve", "policy", "tools", "status", "logs", "doctor", "journal",
    "explain", "model", "config", "admin", "help", "version", "list", "show", "tail", "wait", "effects",
    "kept", "check", "test", "diff", "shadow", "posture", "skills", "verify", "watch", "grants", "schema",
    "tokens", "vault", "agents",
];
/// Verbs whose words can begin with `--`.
const FREE_TEXT: [&[&str]; 3] = [&["run"], &["runs", "answer"], &["runs", "steer"]];
/// From so many letters on a word can differ in two.
const TWO_SLIPS_LETTERS_MIN: usize = 6;

/// The position of the word that no verb has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownWord {
    /// The first one, which can also be a question.
    First,
    /// One behind a verb, or an option.
    Later,
}

/// Replaces the suggestions of an error about a verb or an option that does not exist. `typed` begins with the first
/// word that is not an option of every verb.
pub(super) fn with_tip(mut error: clap::Error, typed: &[String], unknown: UnknownWord) -> clap::Error {
    if error.kind() == ErrorKind::MissingRequiredArgument {
        if let Some((command, effect)) = completed(typed) {
            let tip = StyledStr::from(format!("`{command}` {effect}"));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        }
        return error;
    }
    if !matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument) {
        return error;
    }
    let mut tips = Vec::new();
    if let Some((command, effect)) = tip_for(&with_option(&error, typed)) {
        tips.push(format!("`{command}` {effect}"));
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Suggested);
    } else if let Some(command) =
        question_with_option(&error, typed).filter(|_| unknown == UnknownWord::First)
    {
        tips.push(format!("`{command}` asks a model"));
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Suggested);
    } else {
        keep_safe(&mut error, typed);
        if let Some(word) = typed.first().filter(|_| unknown == UnknownWord::First) {
            let nearest = suggested(&error, ContextKind::SuggestedSubcommand).pop();
            tips.extend(nearest.map(|verb| format!("the nearest verb is '{verb}'")));
            tips.push(format!(
                "`palyra run {}` asks a model; a question of several words in quotes needs no verb",
                shell_word(word)
            ));
            tips.push("`palyra help` lists the verbs".to_owned());
            error.remove(ContextKind::SuggestedSubcommand);
        }
    }
    if !tips.is_empty() {
        let tips = tips.into_iter().map(StyledStr::from).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// Returns what to type for a command line that lacks something, and what that does.
fn completed(typed: &[String]) -> Option<(String, &'static str)> {
    let words = typed.iter().filter(|word| !word.starts_with('-')).count();
    let mut as_long = INCOMPLETE.iter().filter(|(pattern, ..)| pattern.split(' ').count() == words);
    as_long.find_map(|(pattern, command, effect)| Some((filled(command, matched(pattern, typed)?), *effect)))
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

/// Returns a question with an option of `run` in front of it, as `run` takes it.
fn question_with_option(error: &clap::Error, typed: &[String]) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let definition = super::definition();
    let run = definition.find_subcommand("run")?;
    let known = run.get_arguments().find(|known| known.get_long() == option.strip_prefix("--"))?;
    let words: Vec<String> =
        typed.iter().filter(|word| *word != option).map(|word| shell_word(word)).collect();
    let words_min = if known.get_action().takes_values() { 2 } else { 1 };
    (words.len() >= words_min).then(|| format!("palyra run {option} {}", words.join(" ")))
}

/// Returns what the table has for a command line: what to type, and what that does.
fn tip_for(typed: &[String]) -> Option<(String, &'static str)> {
    TYPED.iter().find_map(|(patterns, command, effect)| {
        let word = patterns.iter().find_map(|pattern| matched(pattern, typed))?;
        Some((filled(command, word), *effect))
    })
}

/// Returns a command of the table with the word that was typed.
fn filled(command: &str, word: &str) -> String {
    command.replace(['*', '@'], &shell_word(word))
}

/// Returns the word that `*` or `@` is, or an empty one, where a pattern fits.
fn matched<'t>(pattern: &str, typed: &'t [String]) -> Option<&'t str> {
    let (options, words): (Vec<&str>, Vec<&str>) =
        pattern.split(' ').partition(|word| word.starts_with("--"));
    let plain: Vec<&str> = typed.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let fits = |(at, word): (usize, &&str)| {
        plain.get(at).is_some_and(|typed| match *word {
            "*" => true,
            "@" => is_like_id(typed),
            word => *typed == word,
        })
    };
    let has = |option: &&str| typed.iter().any(|typed| typed == option);
    let is_match = words.iter().enumerate().all(fits) && options.iter().all(has);
    // A pattern of options alone is for a command line without a verb.
    let is_whole = !words.is_empty() || plain.is_empty();
    let at = words.iter().position(|word| ["*", "@"].contains(word));
    (is_match && is_whole).then(|| at.map_or("", |at| plain[at]))
}

/// Returns whether a word is written as tables show ids.
fn is_like_id(word: &str) -> bool {
    word.parse::<IdName>().is_ok()
        && (word.starts_with("last") || !word.contains(|c: char| c.is_ascii_lowercase()))
}

/// Removes suggestions that are not alike, or that do something else than show.
fn keep_safe(error: &mut clap::Error, typed: &[String]) {
    let verbs: Vec<&str> = typed.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let takes_text = FREE_TEXT.iter().any(|verb| verbs.starts_with(verb));
    if error.kind() == ErrorKind::UnknownArgument && !takes_text {
        error.remove(ContextKind::Suggested);
    }
    for (invalid, kind) in [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
    ] {
        let Some(ContextValue::String(word)) = error.get(invalid).cloned() else { continue };
        let kept = suggested(error, kind).into_iter().filter(|name| {
            is_alike(&word, name)
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

/// Returns whether a word is another one with a slip of the fingers or two.
fn is_alike(typed: &str, name: &str) -> bool {
    let (typed, name) = (typed.trim().trim_start_matches('-'), name.trim_start_matches('-'));
    let slips_max = if name.chars().count() < TWO_SLIPS_LETTERS_MIN { 1 } else { 2 };
    slips(typed.as_bytes(), name.as_bytes()) <= slips_max
}

#[cfg(test)]
mod tests;
