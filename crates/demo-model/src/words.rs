//! Cuts what a person typed into words, keeping quoted text whole.
//!
//! Knows no meaning. Invariant: no word is empty, and a quoted one holds exactly the text between its marks.

/// The text after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopKind {
    /// Only a space.
    None,
    /// A comma, a colon or the end of a line: perhaps the end of a clause.
    Soft,
    /// A full stop, a semicolon, a question or exclamation mark.
    Hard,
}

/// How a word was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordForm {
    /// Plainly.
    Plain,
    /// Between quotation marks or backticks.
    Quoted,
    /// As the marker of a list: `1.`, `2)`, `-`.
    Marker,
}

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordToken {
    /// The word without the punctuation around it.
    pub(super) text: String,
    /// How it was written.
    pub(super) form: WordForm,
    /// The text after it.
    pub(super) stop: StopKind,
    /// It as it was typed, with all that touched it.
    raw: String,
    /// The space before it.
    gap: String,
}

impl WordToken {
    fn new(text: &str, form: WordForm, stop: StopKind) -> Self {
        Self { text: text.to_owned(), form, stop, raw: String::new(), gap: String::new() }
    }

    /// Returns whether it was in quotation marks.
    pub(super) fn is_quoted(&self) -> bool {
        self.form == WordForm::Quoted
    }

    /// Returns it in lower case; empty for quoted text, which is never a word of the language.
    pub(super) fn lower(&self) -> String {
        if self.is_quoted() { String::new() } else { self.text.to_lowercase().replace('’', "'") }
    }
}

/// Returns words as they were typed.
pub(super) fn written(words: &[WordToken]) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push_str(&word.gap);
        }
        out.push_str(&word.raw);
    }
    out
}

/// Writes contractions out: "what's" is "what is".
pub(super) fn expanded(words: &[WordToken]) -> Vec<WordToken> {
    let mut out = Vec::new();
    for word in words {
        let lower = word.lower();
        let stem = match lower.as_str() {
            "whats" | "wheres" | "hows" | "whos" => lower.strip_suffix('s'),
            _ => ["what", "where", "how", "who", "when", "that", "there", "it"]
                .into_iter()
                .find(|stem| lower.strip_prefix(stem) == Some("'s")),
        };
        let Some(stem) = stem else {
            out.push(word.clone());
            continue;
        };
        out.push(WordToken { text: stem.to_owned(), stop: StopKind::None, ..word.clone() });
        out.push(WordToken { text: "is".to_owned(), raw: String::new(), gap: String::new(), ..word.clone() });
    }
    out
}

/// Cuts `input` into words.
pub(super) fn words(input: &str) -> Vec<WordToken> {
    let mut out: Vec<WordToken> = Vec::new();
    let mut rest = input;
    loop {
        let trimmed = rest.trim_start();
        let gap = &rest[..rest.len() - trimmed.len()];
        if gap.contains('\n')
            && let Some(last) = out.last_mut()
            && last.stop == StopKind::None
        {
            last.stop = StopKind::Soft;
        }
        if trimmed.is_empty() {
            return out;
        }
        let (mut word, after) = quoted(trimmed).unwrap_or_else(|| plain(trimmed));
        gap.clone_into(&mut word.gap);
        trimmed[..trimmed.len() - after.len()].clone_into(&mut word.raw);
        match out.last_mut() {
            Some(last) if word.text.is_empty() => {
                last.stop = stronger(last.stop, word.stop);
                last.raw.push_str(gap);
                last.raw.push_str(&word.raw);
            }
            _ if word.text.is_empty() => {}
            _ => out.push(word),
        }
        rest = after;
    }
}

/// Takes a quoted text from the front, if one begins there and ends somewhere.
fn quoted(input: &str) -> Option<(WordToken, &str)> {
    const PAIRS: [(&str, &str); 6] =
        [("```", "```"), ("`", "`"), ("\"", "\""), ("“", "”"), ("‘", "’"), ("'", "'")];
    let (open, close) = PAIRS.into_iter().find(|(open, _)| input.starts_with(open))?;
    let body = &input[open.len()..];
    let end = body.match_indices(close).map(|(at, _)| at).find(|at| {
        let behind = body[at + close.len()..].chars().next();
        close != "'" || !behind.is_some_and(char::is_alphanumeric)
    })?;
    let text = body[..end].trim_matches('\n');
    if text.is_empty() {
        return None;
    }
    let after = &body[end + close.len()..];
    let tail = after.len() - after.trim_start_matches(is_punctuation).len();
    Some((WordToken::new(text, WordForm::Quoted, stop_of(&after[..tail])), &after[tail..]))
}

/// Takes a plain word from the front.
fn plain(input: &str) -> (WordToken, &str) {
    let mut end = input.find(char::is_whitespace).unwrap_or(input.len());
    if !input[..end].contains("://")
        && let Some(at) = input[..end].find(';')
    {
        end = at + 1;
    }
    let (raw, after) = input.split_at(end);
    if is_marker(raw) {
        return (WordToken::new(raw.trim_end_matches(['.', ')']), WordForm::Marker, StopKind::Hard), after);
    }
    let opened = raw.trim_start_matches(['(', '"', '\'', '“', '‘', '`', '¿', '¡']);
    let core = trim_end(opened);
    let stop = stop_of(&opened[core.len()..]);
    (WordToken::new(core, WordForm::Plain, stop), after)
}

fn is_marker(raw: &str) -> bool {
    let digits = raw.strip_suffix(['.', ')']);
    let numbered =
        digits.is_some_and(|d| (1..=2).contains(&d.len()) && d.bytes().all(|b| b.is_ascii_digit()));
    numbered || matches!(raw, "-" | "*" | "•" | "–")
}

fn trim_end(word: &str) -> &str {
    if matches!(word.trim_end_matches([',', ';', '!', '?', ':']), "." | "..") {
        return word.trim_end_matches([',', ';', '!', '?', ':']);
    }
    let trimmed = word.trim_end_matches(is_punctuation);
    let closing = word[trimmed.len()..].chars().next();
    // `main()` keeps its brackets: they belong to the word when they were opened in it.
    if closing == Some(')') && trimmed.contains('(') { &word[..=trimmed.len()] } else { trimmed }
}

fn is_punctuation(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | '"' | '\'' | '”' | '’' | '`' | '…')
}

fn stop_of(tail: &str) -> StopKind {
    if tail.contains(['.', ';', '!', '?', '…']) {
        StopKind::Hard
    } else if tail.contains([',', ':']) {
        StopKind::Soft
    } else {
        StopKind::None
    }
}

fn stronger(a: StopKind, b: StopKind) -> StopKind {
    match (a, b) {
        (StopKind::Hard, _) | (_, StopKind::Hard) => StopKind::Hard,
        (StopKind::Soft, _) | (_, StopKind::Soft) => StopKind::Soft,
        (StopKind::None, StopKind::None) => StopKind::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: &[&str]) {
        let shown: Vec<String> = words(input)
            .iter()
            .map(|word| {
                let text = match word.form {
                    WordForm::Plain => word.text.clone(),
                    WordForm::Quoted => format!("<{}>", word.text),
                    WordForm::Marker => format!("#{}", word.text),
                };
                text + match word.stop {
                    StopKind::None => "",
                    StopKind::Soft => ",",
                    StopKind::Hard => ".",
                }
            })
            .collect();
        assert_eq!(shown, expect, "{input}");
    }

    #[test]
    fn words_lose_the_punctuation_around_them() {
        check("Read README.md.", &["Read", "README.md."]);
        check("list ., then (please) `a b`!", &["list", ".,", "then", "please", "<a b>."]);
        check("ls .. ...", &["ls", "..."]);
        check("find main() and 'it''s'", &["find", "main()", "and", "<it>", "s"]);
        check("what's in “my file.txt”?", &["what's", "in", "<my file.txt>."]);
        check("cat .gitignore, src/", &["cat", ".gitignore,", "src/"]);
    }

    #[test]
    fn list_markers_and_line_ends_are_kept_as_signs() {
        check(
            "1. read a\n2) list b\n- grep c",
            &["#1.", "read", "a,", "#2.", "list", "b,", "#-.", "grep", "c"],
        );
        check("read a;list b", &["read", "a.", "list", "b"]);
        check("fetch http://x/a;b", &["fetch", "http://x/a;b"]);
    }

    #[test]
    fn words_are_kept_as_they_were_typed() {
        for text in ["create a.py with print('hi there'),  then", "f(); g ()", "say \"a b\" . . now"] {
            assert_eq!(written(&words(text)), text);
        }
    }

    #[test]
    fn a_quote_that_never_ends_is_only_a_mark() {
        check("read \"notes", &["read", "notes"]);
        check("don't say `x", &["don't", "say", "x"]);
        check("\"\" ``", &[]);
    }
}
