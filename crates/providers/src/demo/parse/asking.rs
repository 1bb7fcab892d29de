//! Clauses that want the person to be asked.

use serde_json::json;

use super::super::intent::{Ability, Call, Intent};
use super::super::lexicon::holds;
use super::super::words::Word;

const QUESTION_WORDS: &[&str] =
    &["what", "which", "who", "whom", "where", "when", "how", "why", "whether", "if", "whose"];

/// Asks the person; several quoted texts are the answers to choose from.
pub(super) fn ask(rest: &[Word]) -> Intent {
    let leading =
        ["me", "us", "the", "user", "a", "question", "this", "about", "to", "choose", "between", "or", "and"];
    let quoted: Vec<&str> =
        rest.iter().filter(|word| word.is_quoted()).map(|word| word.text.as_str()).collect();
    if let [_, _, ..] = quoted.as_slice() {
        let question = format!("Which one: {}?", quoted.join(" or "));
        return Intent::Call(
            Call::new(Ability::Ask, &[("question", &question)]).with("choices", json!(quoted)),
        );
    }
    if let [only] = quoted.as_slice() {
        return Intent::Call(Call::new(Ability::Ask, &[("question", only)]));
    }
    let Some(from) = rest.iter().position(|word| !holds(&leading, &word.lower())) else {
        return Intent::Incomplete(Ability::Ask);
    };
    let said: Vec<String> = rest[from..].iter().map(turned).collect();
    let question = match said.split_first() {
        Some((first, wanted)) if first == "for" && !wanted.is_empty() => {
            format!("Please tell me {}.", wanted.join(" "))
        }
        Some((first, _)) if holds(QUESTION_WORDS, &first.to_lowercase()) => {
            format!("{}?", capital(&said.join(" ")))
        }
        _ => format!("What do you say: {}?", said.join(" ")),
    };
    Intent::Call(Call::new(Ability::Ask, &[("question", &question)]))
}

/// Turns a word around: what is mine when it is said is yours when it is asked.
fn turned(word: &Word) -> String {
    match word.lower().as_str() {
        "my" => "your".to_owned(),
        "me" | "i" => "you".to_owned(),
        "mine" => "yours".to_owned(),
        _ => word.text.clone(),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
