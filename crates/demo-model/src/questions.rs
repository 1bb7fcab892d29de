//! Makes the question that the person is asked.

use serde_json::json;

use super::intent::{ClauseIntent, IntendedCall, ToolAbility, ToolGoal};
use super::lexicon::holds;
use super::words::WordToken;

const QUESTION_WORDS: &[&str] =
    &["what", "which", "who", "whom", "where", "when", "how", "why", "whether", "if", "whose"];

/// Asks the person; several quoted texts are the answers to choose from.
pub(super) fn question_of(words: &[WordToken]) -> Option<ClauseIntent> {
    let leading =
        ["me", "us", "the", "user", "a", "question", "this", "about", "to", "choose", "between", "or", "and"];
    let quoted: Vec<&str> =
        words.iter().filter(|word| word.is_quoted()).map(|word| word.text.as_str()).collect();
    if let [_, _, ..] = quoted.as_slice() {
        let question = format!("Which one: {}?", quoted.join(" or "));
        return asking(
            IntendedCall::new(ToolAbility::Ask, &[("question", &question)]).with("choices", json!(quoted)),
        );
    }
    if let [only] = quoted.as_slice() {
        return asking(IntendedCall::new(ToolAbility::Ask, &[("question", only)]));
    }
    // Only the person who types can be asked.
    if !words.first().is_some_and(|first| holds(&["me", "us", "the", "for"], &first.lower())) {
        return None;
    }
    let Some(from) = words.iter().position(|word| !holds(&leading, &word.lower())) else {
        return Some(ClauseIntent::Incomplete(ToolAbility::Ask));
    };
    let said: Vec<String> = words[from..].iter().map(turned).collect();
    let question = match said.split_first() {
        Some((first, wanted)) if first == "for" && !wanted.is_empty() => {
            format!("Please tell me {}.", wanted.join(" "))
        }
        Some((first, _)) if holds(QUESTION_WORDS, &first.to_lowercase()) => {
            format!("{}?", capital(&said.join(" ")))
        }
        _ => format!("What do you say: {}?", said.join(" ")),
    };
    asking(IntendedCall::new(ToolAbility::Ask, &[("question", &question)]))
}

fn asking(call: IntendedCall) -> Option<ClauseIntent> {
    Some(ClauseIntent::Goal(ToolGoal::one(call)))
}

/// Turns a word around: what is mine when it is said is yours when it is asked.
fn turned(word: &WordToken) -> String {
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
