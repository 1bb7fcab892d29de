//! Turns one clause into what it asks for.
//!
//! Invariant: always yields at least one intent; what is not understood is said so, never guessed.

mod reading;
mod searching;
mod changing;
mod asking;
mod calls;

use super::intent::Intent;
use super::lexicon::{COURTESIES, FILLERS, GREETINGS, holds};
use super::objects::{has_extension, path_of};
use super::questions::{Question, question};
use super::words::{Word, lowered};

use asking::ask;
use calls::read_call;
use changing::{add, delete, edit, fetch, remember, run, write};
use reading::{list, read, tell};
use searching::{find, look, search};

/// Reads a clause.
pub(super) fn parse(clause: &[Word]) -> Vec<Intent> {
    let words = without_courtesies(clause);
    if words.is_empty() {
        let greets = clause.iter().any(|word| holds(GREETINGS, &word.lower()));
        let morning = GREETINGS.iter().any(|greeting| lowered(clause).contains(greeting));
        return vec![if greets || morning { Intent::Greeting } else { Intent::Aside }];
    }
    if words[0].lower() == "ask" {
        return vec![ask(&words[1..])];
    }
    if let Some(question) = question(words, &lowered(clause)) {
        return asked(question, words);
    }
    let verb_at = words.iter().position(|word| verb(&word.lower()).is_some());
    let Some(at) = verb_at else { return vec![without_verb(words)] };
    let rest = &words[at + 1..];
    match verb(&words[at].lower()) {
        Some(Verb::Read) => read(rest, &words[at].lower()),
        Some(Verb::List) => list(rest),
        Some(Verb::Find) => vec![find(rest)],
        Some(Verb::Search) => vec![look(rest, &words[at].lower())],
        Some(Verb::Write) => vec![write(rest)],
        Some(Verb::Add) => vec![add(rest)],
        Some(Verb::Edit) => vec![edit(&words[..at], rest)],
        Some(Verb::Delete) => vec![delete(rest)],
        Some(Verb::Run) => vec![run(rest)],
        Some(Verb::Fetch) => fetch(rest),
        Some(Verb::Remember) => vec![remember(rest)],
        Some(Verb::Tell) | None => vec![tell(words)],
    }
}

enum Verb {
    Read,
    List,
    Find,
    Search,
    Write,
    Add,
    Edit,
    Delete,
    Run,
    Fetch,
    Remember,
    Tell,
}

fn verb(word: &str) -> Option<Verb> {
    Some(match word {
        "read" | "open" | "cat" | "show" | "print" | "display" | "view" | "reading" | "check" => Verb::Read,
        "list" | "ls" | "listing" => Verb::List,
        "find" | "glob" | "locate" => Verb::Find,
        "search" | "grep" | "look" | "searching" | "rg" => Verb::Search,
        "create" | "write" | "make" | "save" => Verb::Write,
        "add" | "append" | "insert" => Verb::Add,
        "edit" | "replace" | "change" | "modify" | "update" => Verb::Edit,
        "delete" | "remove" | "erase" => Verb::Delete,
        "run" | "execute" | "start" => Verb::Run,
        "fetch" | "download" | "get" | "curl" | "visit" | "browse" => Verb::Fetch,
        "remember" | "memorize" | "memorise" | "note" => Verb::Remember,
        "tell" | "say" | "explain" | "describe" | "summarize" | "summarise" | "give" | "report" | "count"
        | "answer" => Verb::Tell,
        _ => return None,
    })
}

fn asked(question: Question, words: &[Word]) -> Vec<Intent> {
    match question {
        Question::Abilities => vec![Intent::Abilities],
        Question::Thanks => vec![Intent::Aside],
        Question::Files => list(words),
        Question::Place { from } => vec![find(&words[from..])],
        Question::Mention { from } => vec![search(&words[from..])],
        Question::About => vec![tell(words)],
    }
}

/// Drops what people put before the thing they want.
fn without_courtesies(clause: &[Word]) -> &[Word] {
    let mut words = clause;
    loop {
        let longest = COURTESIES.iter().filter_map(|courtesy| {
            let parts: Vec<&str> = courtesy.split(' ').collect();
            let fits = parts.len() <= words.len()
                && parts.iter().zip(words).all(|(part, word)| *part == word.lower());
            fits.then_some(parts.len())
        });
        match longest.max() {
            Some(count) => words = &words[count..],
            None => return words,
        }
    }
}

fn without_verb(words: &[Word]) -> Intent {
    let all_fillers = words.iter().all(|word| holds(FILLERS, &word.lower()));
    if all_fillers {
        return Intent::Aside;
    }
    if let [only] = words
        && let Some(path) = path_of(only)
        && has_extension(&path)
    {
        return Intent::Call(read_call(&path, None));
    }
    Intent::Unclear(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests;
