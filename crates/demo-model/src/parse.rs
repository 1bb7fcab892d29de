//! Turns what a person typed into what it asks for, clause by clause.
//!
//! A clause is compared with the tables of sentences, then read as a command; it is understood as a whole or not at all.
//! Invariant: always yields at least one intent for a clause; a clause that is not understood is named, never guessed.

use super::clauses::clauses;
use super::intent::{ClauseIntent, MissingAbility, ToolAbility, ToolGoal};
use super::inversion::direct;
use super::lexicon::{BEFORE_QUESTIONS, COURTESIES, QUESTIONS, VERBS, holds};
use super::objects::path_of;
use super::pattern::{MatchContext, find};
use super::programs::{command, shell_line};
use super::sentences::tables;
use super::spelling::{correction_of, is_foreign_word, is_slip, rephrased};
use super::understanding::needs_understanding;
use super::words::{WordForm, WordToken, expanded, words, written};

/// A sentence of the tables has no more words.
const WORDS_MAX: usize = 200;

/// Words after a sentence, or between two, as a clause of its own.
const POLITE: &[&str] =
    &["please", "thanks", "thank", "you", "now", "ok", "okay", "palyra", "kindly", "quickly"];

/// A clause as it was typed, and what it asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedClause {
    /// What it asks for.
    pub(super) intent: ClauseIntent,
    /// Its words.
    pub(super) typed: String,
}

/// Reads an input.
pub(super) fn parse(input: &str) -> Vec<ParsedClause> {
    if let Some(intent) = shell_line(input) {
        return vec![ParsedClause { intent, typed: input.trim().to_owned() }];
    }
    let mut it: Option<String> = None;
    let mut read: Vec<ParsedClause> = Vec::new();
    for clause in clauses(input) {
        let mut clause = expanded(&clause);
        if let Some(meant) = corrects(&clause) {
            read.pop();
            clause.drain(..meant);
        }
        if !read.is_empty() && clause.iter().all(|word| holds(POLITE, &word.lower())) {
            continue;
        }
        let before = read.last().map(|last| &last.intent);
        let context =
            MatchContext { it: it.as_deref(), follows: before.is_some_and(is_report), loose: false };
        let typed = typed(&clause);
        let intent = match parse_clause(&clause, context) {
            ClauseIntent::SwitchToIt => {
                switched(before).unwrap_or_else(|| ClauseIntent::Unclear(typed.clone()))
            }
            ClauseIntent::KeepChanges if keeps_changes(before) => ClauseIntent::Aside,
            ClauseIntent::KeepChanges => ClauseIntent::Unclear(typed.clone()),
            other => other,
        };
        it = made_folder(&intent).or_else(|| last_path(&clause)).or(it);
        match (&intent, read.last_mut()) {
            // A text without marks ends where words follow that are no request.
            (ClauseIntent::Unclear(_), Some(last)) if has_open_text(last) => {
                last.intent = ClauseIntent::Cannot(MissingAbility::Quotes);
                last.typed = format!("{}\n{typed}", last.typed);
            }
            _ => read.push(ParsedClause { intent, typed }),
        }
    }
    read
}

/// Returns whether a clause ends with a text for a file that is in no quotation marks.
fn has_open_text(clause: &ParsedClause) -> bool {
    match &clause.intent {
        ClauseIntent::Cannot(MissingAbility::Quotes) => true,
        ClauseIntent::Goal(ToolGoal::Calls(calls, _)) => calls.iter().any(|call| {
            let content = call.arguments.get("content").and_then(|content| content.as_str());
            call.ability == ToolAbility::Write
                && content.is_some_and(|text| !text.is_empty() && clause.typed.ends_with(text))
        }),
        _ => false,
    }
}

/// Returns how many words begin a clause that says the one before it in other words.
fn corrects(clause: &[WordToken]) -> Option<usize> {
    let begins = ["i mean", "i meant", "i mean to", "or rather", "sorry i mean", "i meant to say"];
    let fits = |begin: &&str| {
        let parts: Vec<&str> = begin.split(' ').collect();
        let is_so =
            parts.len() < clause.len() && parts.iter().zip(clause).all(|(part, word)| *part == word.lower());
        is_so.then_some(parts.len())
    };
    begins.iter().filter_map(fits).max()
}

/// Returns words as they were typed, without the mark at their end.
fn typed(clause: &[WordToken]) -> String {
    written(clause).trim_end_matches([',', ';', '.']).to_owned()
}

/// Returns whether something comes of an intent that a later clause can write down.
fn is_report(intent: &ClauseIntent) -> bool {
    let ClauseIntent::Goal(goal) = intent else { return false };
    let tells = |ability: &ToolAbility| {
        !matches!(ability, ToolAbility::Ask | ToolAbility::Write | ToolAbility::Edit | ToolAbility::Patch)
    };
    goal.abilities().last().is_some_and(tells)
}

/// Reads "switch to it" behind a branch that was made.
fn switched(before: Option<&ClauseIntent>) -> Option<ClauseIntent> {
    let Some(ClauseIntent::Goal(ToolGoal::Calls(calls, _))) = before else { return None };
    let argv = calls.first()?.arguments.get("argv")?.as_array()?;
    let argv: Vec<&str> = argv.iter().filter_map(|word| word.as_str()).collect();
    match argv.as_slice() {
        ["git", "checkout", "-b", _] => Some(ClauseIntent::Aside),
        ["git", "branch", name] => Some(ClauseIntent::Goal(ToolGoal::run(["git", "checkout", name]))),
        _ => None,
    }
}

/// Returns whether a commit is taken back in the way that leaves its changes.
fn keeps_changes(before: Option<&ClauseIntent>) -> bool {
    let Some(ClauseIntent::Goal(ToolGoal::Calls(calls, _))) = before else { return false };
    calls.iter().any(|call| {
        let argv = call.arguments.get("argv").and_then(|argv| argv.as_array());
        argv.is_some_and(|argv| argv.iter().any(|word| word == "--soft"))
    })
}

/// Returns the folder that a clause makes.
fn made_folder(intent: &ClauseIntent) -> Option<String> {
    let ClauseIntent::Goal(ToolGoal::Calls(calls, _)) = intent else { return None };
    let argv = calls.first()?.arguments.get("argv")?.as_array()?;
    let is_made = argv.first().is_some_and(|program| program == "mkdir");
    argv.last().filter(|_| is_made)?.as_str().map(str::to_owned)
}

fn last_path(clause: &[WordToken]) -> Option<String> {
    clause.iter().filter(|word| !is_content(word)).filter_map(path_of).next_back()
}

/// Text in quotation marks is seldom the file that "it" means.
fn is_content(word: &WordToken) -> bool {
    word.is_quoted() && !word.text.contains('.')
}

fn parse_clause(clause: &[WordToken], context: MatchContext<'_>) -> ClauseIntent {
    let unclear = || match is_foreign(clause) {
        true => ClauseIntent::Cannot(MissingAbility::Language),
        false => ClauseIntent::Unclear(typed(clause)),
    };
    if clause.len() > WORDS_MAX {
        return unclear();
    }
    // A greeting is what courtesies are when nothing follows, so all of it is looked at first.
    let mut rest = without_trailing(clause);
    let mut vague: Option<ClauseIntent> = None;
    loop {
        if let Some(lack) = needs_understanding(rest) {
            return ClauseIntent::Cannot(lack);
        }
        match understood(rest, context) {
            Some(intent) if is_vague(&intent) => vague = vague.or(Some(intent)),
            Some(intent) => return intent,
            None => {}
        }
        match without_courtesy(rest) {
            Some(less) if !less.is_empty() => rest = less,
            _ => break,
        }
    }
    let slip = corrected(rest);
    let spelled = respelled(slip.as_deref().unwrap_or(rest));
    let said = rephrased(spelled.as_deref().or(slip.as_deref()).unwrap_or(rest));
    let mended = [slip, respelled(rest), spelled, rephrased(rest), said].into_iter().flatten();
    let mended: Vec<Vec<WordToken>> = mended.chain(direct(rest)).collect();
    if vague.is_none()
        && let Some(intent) = mended.iter().find_map(|mended| understood(mended, context))
    {
        return intent;
    }
    // A name without an ending, where a file has to be: "in core".
    let loose = MatchContext { loose: true, ..context };
    let all = std::iter::once(rest).chain(mended.iter().map(Vec::as_slice));
    let mut read = all.filter_map(|words| understood(words, loose));
    read.find(is_of_a_file_that_is_there).or(vague).unwrap_or_else(unclear)
}

/// Returns whether a goal reads or changes a file, and creates none.
fn is_of_a_file_that_is_there(intent: &ClauseIntent) -> bool {
    match intent {
        ClauseIntent::Goal(ToolGoal::Calls(calls, _)) => {
            calls.iter().all(|call| call.ability != ToolAbility::Write)
        }
        ClauseIntent::Goal(goal) => !matches!(
            goal,
            ToolGoal::Append { .. }
                | ToolGoal::Prepend { .. }
                | ToolGoal::Extract { .. }
                | ToolGoal::Keep { .. }
                | ToolGoal::Copy { .. }
        ),
        _ => false,
    }
}

/// Returns whether a clause was recognised only in part.
fn is_vague(intent: &ClauseIntent) -> bool {
    matches!(intent, ClauseIntent::Cannot(MissingAbility::Quotes) | ClauseIntent::Incomplete(_))
}

/// Drops courtesies at the end.
fn without_trailing(clause: &[WordToken]) -> &[WordToken] {
    const TRAILING: &[&str] = &[
        "please",
        "pls",
        "plz",
        "thanks",
        "thx",
        "thank you",
        "for me",
        "if possible",
        "if you can",
        "would you",
        "will you",
        "could you",
        "can you",
        "cheers",
        "kindly",
    ];
    let mut rest = clause;
    loop {
        let ends = |phrase: &&str| {
            let parts: Vec<&str> = phrase.split(' ').collect();
            let from = rest.len().checked_sub(parts.len()).filter(|from| *from > 1)?;
            let said = rest[from..].iter().zip(&parts).all(|(word, part)| word.lower() == *part);
            let is_text = holds(
                &[
                    "with",
                    "saying",
                    "containing",
                    "message",
                    "to",
                    "text",
                    "word",
                    "line",
                    "for",
                    "says",
                    "by",
                ],
                &rest[from - 1].lower(),
            );
            (said && !is_text).then_some(from)
        };
        match TRAILING.iter().find_map(ends) {
            Some(from) => rest = &rest[..from],
            None => return rest,
        }
    }
}

/// Returns whether most words are of another language.
fn is_foreign(clause: &[WordToken]) -> bool {
    let known = clause.iter().filter(|word| is_foreign_word(&word.lower())).count();
    let strange = clause
        .iter()
        .any(|word| !word.is_quoted() && word.text.chars().any(|c| c.is_alphabetic() && c as u32 > 0x24f));
    strange || (known >= 2) || (known == 1 && clause.len() <= 4)
}

/// Mends slips in the small words of a sentence.
fn respelled(clause: &[WordToken]) -> Option<Vec<WordToken>> {
    let mut changed = false;
    let mended: Vec<WordToken> = clause
        .iter()
        .flat_map(|word| match correction_of(&word.lower()) {
            Some(meant) => {
                changed = true;
                words(meant)
            }
            None => vec![word.clone()],
        })
        .collect();
    changed.then(|| expanded(&mended))
}

fn understood(clause: &[WordToken], context: MatchContext<'_>) -> Option<ClauseIntent> {
    let rows = tables().into_iter().flatten();
    let mut said = rows.flat_map(|row| row.says.iter().map(move |pattern| (row, *pattern)));
    let from_tables = said.find_map(|(row, pattern)| (row.means)(&find(pattern, clause, context)?));
    from_tables.or_else(|| typed_command(clause))
}

/// Reads a clause as a command. A single quoted text is one only when it was marked as code.
fn typed_command(clause: &[WordToken]) -> Option<ClauseIntent> {
    let text = written(clause);
    let quoted = clause.first().is_some_and(|word| word.form == WordForm::Quoted);
    if quoted && !text.starts_with('`') {
        return None;
    }
    command(text.trim_end_matches([',', '!']))
}

/// Drops the longest of what people put before the thing they want.
fn without_courtesy(words: &[WordToken]) -> Option<&[WordToken]> {
    let anywhere = COURTESIES.iter().map(|courtesy| (courtesy, false));
    let before_questions = BEFORE_QUESTIONS.iter().map(|courtesy| (courtesy, true));
    let longest = anywhere.chain(before_questions).filter_map(|(courtesy, wants_question)| {
        let parts: Vec<&str> = courtesy.split(' ').collect();
        let fits =
            parts.len() <= words.len() && parts.iter().zip(words).all(|(part, word)| *part == word.lower());
        let asks = words.get(parts.len()).is_some_and(|next| holds(QUESTIONS, &next.lower()));
        (fits && (asks || !wants_question)).then_some(parts.len())
    });
    longest.max().map(|count| &words[count..])
}

/// Mends a slip in the verb: two letters exchanged, one missing or one too many.
fn corrected(clause: &[WordToken]) -> Option<Vec<WordToken>> {
    let (first, rest) = clause.split_first()?;
    let typed = first.lower();
    if rest.is_empty() || holds(VERBS, &typed) {
        return None;
    }
    let meant = VERBS.iter().find(|verb| is_slip(&typed, verb))?;
    let mended = words(meant).into_iter().chain(rest.iter().cloned());
    Some(mended.collect())
}

#[cfg(test)]
mod tests;
