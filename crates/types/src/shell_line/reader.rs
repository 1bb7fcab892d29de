//! The commands of a shell line, as far as they can be read without being the shell.
//!
//! Splits at `;`, `&`, `|`, `&&`, `||` and line ends, outside of quotes, and stops at everything whose meaning depends on
//! more than the text: substitutions, groups, loops, here-documents, programs named by variables, lines within the line.
//! Invariant: what is listed is the line's own text, cut and not rewritten.

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

/// Reads the commands of a line as far as they are certain.
#[must_use]
pub fn read_shell_line(line: &str) -> ShellCommands {
    let mut found = ShellCommands::default();
    let mut rest = line;
    loop {
        if found.commands.len() == COMMANDS_MAX && !rest.trim().is_empty() {
            found.unread = Some(format!("it has more than {COMMANDS_MAX} commands"));
            return found;
        }
        let cut = match cut_command(rest) {
            Ok(cut) => cut,
            Err(reason) => {
                found.unread = Some(reason.to_owned());
                return found;
            }
        };
        let text = cut.text.trim();
        if let Some(reason) = unreadable(&cut.words) {
            found.unread = Some(reason);
            return found;
        }
        if !text.is_empty() {
            found.commands.push(text.to_owned());
        }
        match cut.rest {
            Some(behind) => rest = behind,
            None => return found,
        }
    }
}

/// One command, and what follows its end.
struct CutCommand<'l> {
    text: &'l str,
    /// Its words, without their quotes.
    words: Vec<String>,
    rest: Option<&'l str>,
}

/// Says why a command does not show what it runs.
fn unreadable(words: &[String]) -> Option<String> {
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
enum Quote {
    Outside,
    Single,
    Double,
}

/// Cuts the first command off a line.
fn cut_command(line: &str) -> Result<CutCommand<'_>, &'static str> {
    let mut words = Words::default();
    let mut quote = Quote::Outside;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match (quote, c) {
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::Outside,
            (Quote::Single, c) => words.push(c),
            (_, '`') => return Err("it has a command substitution"),
            (_, '$') if matches!(next, Some('(')) => return Err("it has a command substitution"),
            (_, '$') if matches!(next, Some('{')) => return Err("it has an expansion in braces"),
            (_, '\\') => {
                let Some((_, escaped)) = chars.next() else { return Err("it ends with a backslash") };
                if escaped != '\n' {
                    words.push(escaped);
                }
            }
            (Quote::Double, c) => words.push(c),
            (Quote::Outside, '$') if matches!(next, Some('\'' | '"')) => {
                return Err("it has a quote with escapes");
            }
            (Quote::Outside, '\'') => {
                quote = Quote::Single;
                words.open();
            }
            (Quote::Outside, '"') => {
                quote = Quote::Double;
                words.open();
            }
            (Quote::Outside, '(' | ')') => return Err("it has a group or a function"),
            (Quote::Outside, '<') if matches!(next, Some('<')) => return Err("it has a here-document"),
            (Quote::Outside, '<' | '>') => {
                words.redirect();
                // What belongs to the sign: `>>`, `>&`, `>|`, `<&`, `<>`.
                while chars.next_if(|(_, more)| matches!(more, '>' | '&' | '|')).is_some() {}
            }
            (Quote::Outside, '&') if matches!(next, Some('>')) => words.close(),
            (Quote::Outside, '#') if words.is_between() => {
                let rest = line[at..].find('\n').map(|end| &line[at + end + 1..]);
                return Ok(words.cut(&line[..at], rest));
            }
            (Quote::Outside, ';' | '|' | '&' | '\n') => {
                let doubled = chars.next_if(|(_, more)| *more == c || (c == '|' && *more == '&'));
                let behind = doubled.map_or(at, |(at, _)| at) + 1;
                return Ok(words.cut(&line[..at], Some(&line[behind..])));
            }
            (Quote::Outside, c) if c.is_whitespace() => words.close(),
            (Quote::Outside, c) => words.push(c),
        }
    }
    if quote == Quote::Outside { Ok(words.cut(line, None)) } else { Err("a quote is not closed") }
}

/// The words of a command while they are read; the targets of redirections are none.
#[derive(Default)]
struct Words {
    done: Vec<String>,
    open: Option<String>,
    is_target: bool,
}

impl Words {
    fn open(&mut self) {
        self.open.get_or_insert_default();
    }

    fn push(&mut self, c: char) {
        self.open.get_or_insert_default().push(c);
    }

    fn close(&mut self) {
        let Some(word) = self.open.take() else { return };
        if !std::mem::take(&mut self.is_target) {
            self.done.push(word);
        }
    }

    fn redirect(&mut self) {
        // A number before the sign is a descriptor and no word.
        if self.open.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.open = None;
        }
        self.close();
        self.is_target = true;
    }

    fn is_between(&self) -> bool {
        self.open.is_none()
    }

    fn cut<'l>(mut self, text: &'l str, rest: Option<&'l str>) -> CutCommand<'l> {
        self.close();
        CutCommand { text, words: self.done, rest }
    }
}
