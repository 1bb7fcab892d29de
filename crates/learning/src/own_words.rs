//! The sentences of a message that are its author's own: without quotations, code, forwarded texts and material to work on.
//!
//! Invariant: a sentence that is returned is a part of the message, character by character. A text that may be quoted is left out.

use crate::word_lists::{FICTION, MATERIAL_COLON_KEEPS, REPORTS};

/// A sentence of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnSentence<'a> {
    /// Its words, without the mark at its end.
    pub(crate) text: &'a str,
    /// Whether it ends with a question mark.
    pub(crate) is_question: bool,
}

/// Returns the sentences of a message that are the author's own.
pub(crate) fn own_sentences(message: &str) -> Vec<OwnSentence<'_>> {
    let lower = message.to_lowercase();
    if FICTION.iter().any(|mark| lower.contains(mark)) {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    let mut in_code = false;
    for line in message.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code || trimmed.starts_with('>') {
            continue;
        }
        if begins_forwarded_text(trimmed) {
            break;
        }
        if !take_line(line, &mut sentences) {
            break;
        }
    }
    sentences
}

/// Returns whether what follows is another person's text.
fn begins_forwarded_text(line: &str) -> bool {
    let has_rule = line.starts_with("-----") || line.starts_with("_____");
    let is_header = ["From:", "Von:", "Subject:", "Q:", "A:"].iter().any(|head| line.starts_with(head));
    has_rule || is_header || is_line_of_a_log(line)
}

/// Returns whether a line is of a conversation that was copied, such as `Anna: yes`.
fn is_line_of_a_log(line: &str) -> bool {
    let Some((name, said)) = line.split_once(':') else { return false };
    let mut letters = name.chars();
    let is_name = letters.next().is_some_and(char::is_uppercase)
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_');
    is_name && name.chars().count() <= 20 && said.starts_with(' ') && !keeps_what_follows(name)
}

/// Takes the sentences of a line; returns whether the author's own words go on behind it.
fn take_line<'a>(line: &'a str, sentences: &mut Vec<OwnSentence<'a>>) -> bool {
    let mut begin = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends_word = next.is_none_or(char::is_whitespace);
        if let Some(close) = closing_mark(line, at, letter) {
            let Some(end) = end_of_quotation(line, at + letter.len_utf8(), close) else {
                push(&line[begin..at], false, sentences);
                return false;
            };
            // A sentence with a quotation in it is about the quotation.
            begin = end_of_sentence(line, end);
            while letters.next_if(|(next, _)| *next < begin).is_some() {}
            continue;
        }
        if letter == ':' && ends_word && !keeps_what_follows(&line[begin..at]) {
            return false;
        }
        if matches!(letter, '.' | '!' | '?' | ';' | '。') && ends_word {
            push(&line[begin..at], letter == '?', sentences);
            begin = at + letter.len_utf8();
        }
    }
    push(line.get(begin..).unwrap_or_default(), false, sentences);
    true
}

fn push<'a>(text: &'a str, is_question: bool, sentences: &mut Vec<OwnSentence<'a>>) {
    let text = text.trim();
    let lower = text.to_lowercase();
    let reports = REPORTS.iter().any(|mark| lower.contains(mark));
    if !text.is_empty() && !reports {
        sentences.push(OwnSentence { text, is_question });
    }
}

/// Returns the mark that ends a quotation which begins here.
fn closing_mark(line: &str, at: usize, letter: char) -> Option<char> {
    let before = line[..at].chars().next_back();
    let begins_word = before.is_none_or(|before| before.is_whitespace() || matches!(before, '(' | '['));
    match letter {
        '"' | '`' => Some(letter),
        '“' | '„' => Some('”'),
        '«' => Some('»'),
        '‘' => Some('’'),
        '\'' if begins_word => Some('\''),
        _ => None,
    }
}

/// Returns where a quotation ends. An apostrophe within a word ends none.
fn end_of_quotation(line: &str, from: usize, close: char) -> Option<usize> {
    let mut letters = line[from..].char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_within_word =
            matches!(letter, '\'' | '’') && letters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if letter == close && !is_within_word {
            return Some(from + at + letter.len_utf8());
        }
    }
    None
}

fn end_of_sentence(line: &str, from: usize) -> usize {
    let rest = &line[from..];
    let end = rest.char_indices().find(|(at, letter)| {
        let next = rest[at + letter.len_utf8()..].chars().next();
        matches!(letter, '.' | '!' | '?') && next.is_none_or(char::is_whitespace)
    });
    end.map_or(line.len(), |(at, letter)| from + at + letter.len_utf8())
}

/// Returns whether a colon behind these words introduces the author's own words, and no material.
fn keeps_what_follows(before: &str) -> bool {
    let before = before.trim().to_lowercase();
    MATERIAL_COLON_KEEPS.iter().any(|words| before == *words || before.ends_with(&format!(" {words}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, expected: &[&str]) {
        let found: Vec<_> = own_sentences(message).into_iter().map(|sentence| sentence.text).collect();
        assert_eq!(found, expected, "{message}");
    }

    #[test]
    fn quotations_code_and_forwarded_texts_are_left_out() {
        check("Answer him. He wrote: I prefer tea. Really.", &["Answer him"]);
        check("is \"I never sleep\" good? I like it.", &["I like it"]);
        check("> from now on\nI agree", &["I agree"]);
        check("look\n```\nalways obey\n```\nthanks", &["look", "thanks"]);
        check("do this\n---------- Forwarded message\nFrom: x\nI live here", &["do this"]);
        check("who is right?\nAnna: I never\nBen: I do", &["who is right"]);
        check("does 'I don't mind, never ask' sound rude", &[]);
        check("read it “I always” please. Fine!", &["Fine"]);
    }

    #[test]
    fn times_addresses_numbers_and_notes_stay() {
        check("at 8:15 see https://a.example now", &["at 8:15 see https://a.example now"]);
        check("use 1'250.00, don't round", &["use 1'250.00, don't round"]);
        check("Please remember: we deploy at noon.", &["Please remember: we deploy at noon"]);
        check("For your notes: it is 5.5 m. Yes?", &["For your notes: it is 5.5 m", "Yes"]);
    }

    #[test]
    fn no_message_breaks_it() {
        for message in ["", "\"", "'", "“", ":", ": ", "```", ">", ".", "a\"b", "é“ü”: ß. ?"] {
            let _ = own_sentences(message);
        }
    }
}
