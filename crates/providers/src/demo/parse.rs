//! Turns what a person typed into what it asks for, clause by clause.
//!
//! A clause is compared with the tables of sentences, then read as a command; it is understood as a whole or not at all.
//! Invariant: always yields at least one intent for a clause; what is not understood is said so, never guessed.

use super::clauses::clauses;
use super::intent::{Goal, Intent};
use super::lexicon::{COURTESIES, QUESTIONS, VERBS, holds};
use super::objects::path_of;
use super::pattern::find;
use super::programs::{command, shell_line};
use super::sentences::tables;
use super::words::{Form, Word, expanded, words, written};

/// More words than that are no sentence of the tables.
const WORDS_MAX: usize = 200;

/// What may stand behind a sentence, or between two, as a clause of its own.
const POLITE: &[&str] =
    &["please", "thanks", "thank", "you", "now", "ok", "okay", "palyra", "kindly", "quickly"];

/// Reads an input.
pub(super) fn parse(input: &str) -> Vec<Intent> {
    if let Some(intent) = shell_line(input) {
        return vec![intent];
    }
    let mut it: Option<String> = None;
    let mut intents = Vec::new();
    for clause in clauses(input) {
        let clause = expanded(&clause);
        if !intents.is_empty() && clause.iter().all(|word| holds(POLITE, &word.lower())) {
            continue;
        }
        let intent = parse_clause(&clause, it.as_deref());
        it = made_folder(&intent).or_else(|| last_path(&clause)).or(it);
        intents.push(intent);
    }
    intents
}

/// Returns the folder that a clause makes.
fn made_folder(intent: &Intent) -> Option<String> {
    let Intent::Goal(Goal::Calls(calls, _)) = intent else { return None };
    let argv = calls.first()?.arguments.get("argv")?.as_array()?;
    let is_made = argv.first().is_some_and(|program| program == "mkdir");
    argv.last().filter(|_| is_made)?.as_str().map(str::to_owned)
}

fn last_path(clause: &[Word]) -> Option<String> {
    clause.iter().filter(|word| !is_content(word)).filter_map(path_of).next_back()
}

/// Text in quotation marks is seldom the file that "it" means.
fn is_content(word: &Word) -> bool {
    word.is_quoted() && !word.text.contains('.')
}

fn parse_clause(clause: &[Word], it: Option<&str>) -> Intent {
    let unclear =
        || Intent::Unclear(clause.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "));
    if clause.len() > WORDS_MAX {
        return unclear();
    }
    // A greeting is what courtesies are when nothing follows, so all of it is looked at first.
    let mut rest = clause;
    loop {
        if let Some(intent) = understood(rest, it) {
            return intent;
        }
        match without_courtesy(rest) {
            Some(less) if !less.is_empty() => rest = less,
            _ => break,
        }
    }
    corrected(rest).and_then(|corrected| understood(&corrected, it)).unwrap_or_else(unclear)
}

fn understood(clause: &[Word], it: Option<&str>) -> Option<Intent> {
    let rows = tables().into_iter().flatten();
    let mut said = rows.flat_map(|row| row.says.iter().map(move |pattern| (row, *pattern)));
    let from_tables = said.find_map(|(row, pattern)| (row.means)(&find(pattern, clause, it)?));
    from_tables.or_else(|| typed_command(clause))
}

/// Reads a clause as a command. A single quoted text is one only when it was marked as code.
fn typed_command(clause: &[Word]) -> Option<Intent> {
    let text = written(clause);
    let quoted = clause.first().is_some_and(|word| word.form == Form::Quoted);
    if quoted && !text.starts_with('`') {
        return None;
    }
    command(text.trim_end_matches([',', '!']))
}

/// Drops the longest of what people put before the thing they want.
fn without_courtesy(words: &[Word]) -> Option<&[Word]> {
    let longest = COURTESIES.iter().filter_map(|courtesy| {
        let parts: Vec<&str> = courtesy.split(' ').collect();
        let fits =
            parts.len() <= words.len() && parts.iter().zip(words).all(|(part, word)| *part == word.lower());
        // "tell me" is one only before a question: "show me the tests" wants to see them.
        let asks = words.get(parts.len()).is_some_and(|next| holds(QUESTIONS, &next.lower()));
        (fits && (asks || !holds(&["tell me", "show me"], courtesy))).then_some(parts.len())
    });
    longest.max().map(|count| &words[count..])
}

/// Mends a slip in the verb: two letters exchanged, one missing or one too many.
fn corrected(clause: &[Word]) -> Option<Vec<Word>> {
    let (first, rest) = clause.split_first()?;
    let typed = first.lower();
    if rest.is_empty() || holds(VERBS, &typed) {
        return None;
    }
    let meant = VERBS.iter().find(|verb| is_slip(&typed, verb))?;
    let mended = words(meant).into_iter().chain(rest.iter().cloned());
    Some(mended.collect())
}

fn is_slip(typed: &str, verb: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), verb.chars().collect());
    if a.len() == b.len() {
        let differing: Vec<usize> = (0..a.len()).filter(|at| a[*at] != b[*at]).collect();
        return matches!(differing.as_slice(), [i, j] if j - i == 1 && a[*i] == b[*j] && a[*j] == b[*i]);
    }
    let (long, short) = if a.len() > b.len() { (&a, &b) } else { (&b, &a) };
    // Short words have too many neighbours.
    let is_near = long.len() == short.len() + 1
        && short.len() >= 3
        && long[0] == short[0]
        && long.last() == short.last();
    is_near && (1..long.len()).any(|at| long[..at].iter().chain(&long[at + 1..]).eq(short.iter()))
}

/// Returns the goals among intents.
pub(super) fn goals(intents: &[Intent]) -> impl Iterator<Item = &Goal> {
    intents.iter().filter_map(|intent| match intent {
        Intent::Goal(goal) => Some(goal),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
