//! The commands of a shell line, as far as they can be read without being the shell.
//!
//! Splits at `;`, `&`, `|`, `&&`, `||` and line ends, outside of quotes, and stops at everything whose meaning depends on
//! more than the text: substitutions, groups, loops, here-documents, programs named by variables, lines within the line.
//! Of each word it says how much of it is certain.
//! Invariant: what is listed is the line's own text, cut and not rewritten.

use std::ops::Range;

use super::{is_assignment, is_shell_line};

/// Commands that are listed, at most.
const COMMANDS_MAX: usize = 32;
/// Words that begin more than a command.
const KEYWORDS: [&str; 19] = [
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "select", "then", "time", "until", "while", "{",
];
/// Commands of a shell that read a line of their own, or change how the rest is read.
const LINE_READERS: [&str; 7] = ["alias", "builtin", "enable", "eval", "exec", "shopt", "trap"];

/// What is known of a shell line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellCommands {
    /// Its commands in order, each as it is written.
    pub commands: Vec<String>,
    /// Why nothing after these commands was read; `None` where all of it was.
    pub unread: Option<String>,
}

/// A word of a command, as a program receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineWord {
    /// The word without its quotes.
    pub text: String,
    /// Its bytes in the line, quotes included.
    pub span: Range<usize>,
    /// Bytes at the beginning of `text` that are certain; what follows depends on variables or on files.
    pub certain: usize,
}

impl LineWord {
    /// Returns whether the program receives exactly this text.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.certain == self.text.len()
    }
}

/// Reads the commands of a line as far as they are certain.
#[must_use]
pub fn read_shell_line(line: &str) -> ShellCommands {
    let (cuts, unread) = cut_line(line);
    ShellCommands { commands: cuts.into_iter().map(|cut| cut.text.trim().to_owned()).collect(), unread }
}

/// Reads the words of each command of a line, without the targets of redirections; `None` where the line is not read to
/// its end.
#[must_use]
pub fn read_line_words(line: &str) -> Option<Vec<Vec<LineWord>>> {
    let (cuts, unread) = cut_line(line);
    unread.is_none().then(|| cuts.into_iter().map(|cut| cut.words).collect())
}

/// Cuts a line into its commands, and says why the rest was not read.
fn cut_line(line: &str) -> (Vec<CutCommand<'_>>, Option<String>) {
    let (mut found, mut rest) = (Vec::new(), line);
    loop {
        if found.len() == COMMANDS_MAX && !rest.trim().is_empty() {
            return (found, Some(format!("it has more than {COMMANDS_MAX} commands")));
        }
        let mut cut = match cut_command(rest) {
            Ok(cut) => cut,
            Err(reason) => return (found, Some(reason.to_owned())),
        };
        if let Some(reason) = unreadable(&cut.words) {
            return (found, Some(reason));
        }
        let begin = line.len() - rest.len();
        for word in &mut cut.words {
            word.span = word.span.start + begin..word.span.end + begin;
        }
        let behind = cut.rest;
        if !cut.text.trim().is_empty() {
            found.push(cut);
        }
        match behind {
            Some(behind) => rest = behind,
            None => return (found, None),
        }
    }
}

/// One command, and what follows its end.
struct CutCommand<'l> {
    text: &'l str,
    words: Vec<LineWord>,
    rest: Option<&'l str>,
}

/// Says why a command does not show what it runs.
fn unreadable(words: &[LineWord]) -> Option<String> {
    let words: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
    let at = words.iter().position(|word| !is_assignment(word))?;
    let program = words[at].as_str();
    let name = program.rsplit('/').next().unwrap_or(program);
    if KEYWORDS.contains(&program) {
        return Some(format!("`{program}` begins more than one command"));
    }
    if program.contains(['$', '*', '?', '[']) && program != "[" {
        return Some("the name of a program is a variable or a pattern".to_owned());
    }
    if LINE_READERS.contains(&name) || is_shell_line(&words[at..]) {
        return Some(format!("`{name}` reads a line of its own"));
    }
    None
}

/// Where the reader is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteState {
    Outside,
    Single,
    Double,
}

/// Cuts the first command off a line.
fn cut_command(line: &str) -> Result<CutCommand<'_>, &'static str> {
    let mut words = WordCollector::default();
    let mut quote = QuoteState::Outside;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match (quote, c) {
            (QuoteState::Single, '\'') | (QuoteState::Double, '"') => quote = QuoteState::Outside,
            (QuoteState::Single, c) => words.push(at, c),
            (_, '`') => return Err("it has a command substitution"),
            (_, '$') if matches!(next, Some('(')) => return Err("it has a command substitution"),
            (_, '$') if matches!(next, Some('{')) => return Err("it has an expansion in braces"),
            (_, '\\') => {
                let Some((_, escaped)) = chars.next() else { return Err("it ends with a backslash") };
                if quote == QuoteState::Double && !matches!(escaped, '$' | '`' | '"' | '\\' | '\n') {
                    words.push_doubtful(at, escaped);
                } else if escaped != '\n' {
                    words.push(at, escaped);
                }
            }
            (QuoteState::Outside, '$') if matches!(next, Some('\'' | '"')) => {
                return Err("it has a quote with escapes");
            }
            (_, '$') if next.is_some_and(begins_a_variable) => words.push_variable(at),
            (QuoteState::Double, c) => words.push(at, c),
            (QuoteState::Outside, '\'' | '"') => {
                quote = if c == '"' { QuoteState::Double } else { QuoteState::Single };
                words.open(at);
            }
            (QuoteState::Outside, '(' | ')') => return Err("it has a group or a function"),
            (QuoteState::Outside, '<') if matches!(next, Some('<')) => return Err("it has a here-document"),
            (QuoteState::Outside, '<' | '>') => {
                words.redirect(at);
                // What belongs to the sign: `>>`, `>&`, `>|`, `<&`, `<>`.
                while chars.next_if(|(_, more)| matches!(more, '>' | '&' | '|')).is_some() {}
            }
            (QuoteState::Outside, '&') if matches!(next, Some('>')) => words.close(at),
            (QuoteState::Outside, '#') if words.is_between() => {
                let rest = line[at..].find('\n').map(|end| &line[at + end + 1..]);
                return Ok(words.cut(&line[..at], rest));
            }
            (QuoteState::Outside, ';' | '|' | '&' | '\n') => {
                let doubled = chars.next_if(|(_, more)| *more == c || (c == '|' && *more == '&'));
                let behind = doubled.map_or(at, |(at, _)| at) + 1;
                return Ok(words.cut(&line[..at], Some(&line[behind..])));
            }
            (QuoteState::Outside, c) if c.is_whitespace() => words.close(at),
            (QuoteState::Outside, '{') if next == Some('}') => words.push(at, c),
            (QuoteState::Outside, c) if EXPANDED.contains(c) => words.push_doubtful(at, c),
            (QuoteState::Outside, c) => words.push(at, c),
        }
    }
    if quote == QuoteState::Outside { Ok(words.cut(line, None)) } else { Err("a quote is not closed") }
}

/// Letters that a shell replaces by names of files or by several words, outside of quotes.
const EXPANDED: &str = "*?[{~";

fn begins_a_variable(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_@*#?-$!".contains(c)
}

/// The words of a command while they are read; the targets of redirections are none.
#[derive(Default)]
struct WordCollector {
    done: Vec<LineWord>,
    open: Option<OpenWord>,
    is_target: bool,
}

/// A word that is not at its end.
struct OpenWord {
    text: String,
    begin: usize,
    /// Its certain bytes; `None` while all are.
    certain: Option<usize>,
}

impl WordCollector {
    fn open(&mut self, at: usize) -> &mut OpenWord {
        self.open.get_or_insert_with(|| OpenWord { text: String::new(), begin: at, certain: None })
    }

    fn push(&mut self, at: usize, c: char) {
        self.open(at).text.push(c);
    }

    /// Adds a letter that the shell may replace.
    fn push_doubtful(&mut self, at: usize, c: char) {
        let open = self.open(at);
        open.certain.get_or_insert(open.text.len());
        open.text.push(c);
    }

    /// Adds the sign of a variable: its value may make any words of this one.
    fn push_variable(&mut self, at: usize) {
        let open = self.open(at);
        open.certain = Some(0);
        open.text.push('$');
    }

    fn close(&mut self, end: usize) {
        let Some(open) = self.open.take() else { return };
        if !std::mem::take(&mut self.is_target) {
            let certain = open.certain.unwrap_or(open.text.len());
            self.done.push(LineWord { text: open.text, span: open.begin..end, certain });
        }
    }

    fn redirect(&mut self, at: usize) {
        // A number before the sign is a descriptor and no word.
        if self.open.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) {
            self.open = None;
        }
        self.close(at);
        self.is_target = true;
    }

    fn is_between(&self) -> bool {
        self.open.is_none()
    }

    fn cut<'l>(mut self, text: &'l str, rest: Option<&'l str>) -> CutCommand<'l> {
        self.close(text.len());
        CutCommand { text, words: self.done, rest }
    }
}
