//! Recognises questions: what can you do, which files are there, where is this, what is it about.

use super::lexicon::holds;
use super::objects::{file_kind, has_extension, is_pattern, path_of};
use super::words::Word;

/// A question, with the place in the clause where its object begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// What the model is and can do.
    Abilities,
    /// Not a question: thanks.
    Thanks,
    /// Which files there are.
    Files,
    /// Where a file is.
    Place {
        /// Where its name may begin.
        from: usize,
    },
    /// Where a text occurs.
    Mention {
        /// Where the text may begin.
        from: usize,
    },
    /// What a file or the project is about.
    About,
}

const ABOUT_THE_MODEL: &[&str] = &[
    "what can you",
    "what do you do",
    "what are you",
    "who are you",
    "what you can do",
    "what are your",
    "your abilities",
    "your capabilities",
    "which model are you",
    "what model are you",
    "are you a real",
    "are you real",
    "how do you work",
    "what commands",
    "what else can you",
    "tell me about yourself",
    "introduce yourself",
    "how can you help",
    "what is this demo",
    "which tools",
    "what tools",
];

const FILES: &[&str] = &[
    "what files",
    "which files",
    "what's in",
    "what is in",
    "whats in",
    "what's here",
    "what is here",
    "what are the files",
    "what folders",
    "which folders",
    "how many files",
    "how many folders",
    "what's inside",
    "what is inside",
    "what do we have",
    "which documents",
    "what documents",
    "what does it contain",
];

const WHERE: &[&str] = &["where is", "where are", "where's", "where do", "where does", "where did"];

/// Returns the question a clause asks; `words` is the clause without courtesies, `whole` all of it in lower case.
pub(super) fn question(words: &[Word], whole: &str) -> Option<Question> {
    let mut lower: Vec<String> = words.iter().map(Word::lower).collect();
    let joined = lower.join(" ");
    if joined.starts_with("thank") || joined.starts_with("great") || joined.starts_with("well done") {
        return Some(Question::Thanks);
    }
    let names_something = words.iter().any(|word| path_of(word).is_some() || is_pattern(&word.text));
    let about_model = ABOUT_THE_MODEL.iter().any(|phrase| whole.contains(phrase)) || joined == "help";
    if about_model && !names_something {
        return Some(Question::Abilities);
    }
    let told = joined.starts_with("tell me ") || joined.starts_with("show me ");
    let skip = if told { 2 } else { 0 };
    lower.drain(..skip);
    let joined = lower.join(" ");
    let kinds = lower.first().is_some_and(|word| holds(&["what", "which", "how"], word))
        && file_kind(words).is_some();
    if kinds || FILES.iter().any(|phrase| joined.starts_with(phrase)) {
        return Some(about_files(words, &lower, skip));
    }
    if WHERE.iter().any(|phrase| joined.starts_with(phrase)) {
        let from = skip + if lower.first().is_some_and(|word| word == "where's") { 1 } else { 2 };
        let is_file = words[from.min(words.len())..].iter().any(|w| !w.is_quoted() && has_extension(&w.text));
        return Some(if is_file { Question::Place { from } } else { Question::Mention { from } });
    }
    let asks = lower.first().is_some_and(|word| {
        holds(&["what", "what's", "whats", "how", "why", "who", "which", "is", "does", "whose"], word)
    });
    asks.then_some(Question::About)
}

fn about_files(words: &[Word], lower: &[String], skip: usize) -> Question {
    let contain = ["contain", "contains", "containing", "mention", "mentions", "have"];
    if let Some(at) = lower.iter().position(|word| holds(&contain, word)) {
        let has_object = at + 1 < lower.len();
        if has_object {
            return Question::Mention { from: skip + at + 1 };
        }
    }
    let file =
        words.iter().filter(|word| !word.is_quoted()).filter_map(path_of).any(|path| has_extension(&path));
    if file { Question::About } else { Question::Files }
}
