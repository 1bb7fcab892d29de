//! Lines that change where they are: a setting gets a value, a line becomes a comment or stops being one.
//!
//! Pure, and without understanding: a line is changed when it is the only one that fits.

use super::calls::{escaped, patch_call, read_call, search_call};
use super::changes::{chosen, is_changed};
use super::extract::{ToolFinding, listed_names, without_note};
use super::intent::{IntendedCall, LineChange, ToolGoal};

/// How a comment of one line begins, by the ending of its file.
const COMMENT_SIGNS: &[(&str, &[&str])] = &[
    (
        "#",
        &[
            "py", "sh", "bash", "toml", "yaml", "yml", "rb", "pl", "conf", "cfg", "env", "mk", "r", "jl",
            "ps1",
        ],
    ),
    (
        "//",
        &[
            "rs", "js", "ts", "jsx", "tsx", "mjs", "c", "h", "cpp", "hpp", "cc", "go", "java", "kt", "swift",
            "cs", "scala", "dart", "php", "zig", "jsonc", "scss",
        ],
    ),
    ("--", &["sql", "lua", "hs", "elm", "adb"]),
    (";", &["ini", "el", "clj", "asm", "lisp"]),
    ("%", &["tex", "erl"]),
];

/// Returns the next calls of a change of a line; `path` is empty where the file has to be found.
pub(super) fn rewritten(path: &str, change: &LineChange, found: &[ToolFinding]) -> Option<Vec<IntendedCall>> {
    match (path, found) {
        ("", []) => Some(vec![search_call(&sought(change)?, ".")]),
        ("", [look]) => place(change, look).map(|path| vec![read_call(&path)]),
        ("", [look, file]) => patched(&place(change, look)?, change, file).map(|call| vec![call]),
        (path, []) => Some(vec![read_call(path)]),
        (path, [file]) => patched(path, change, file).map(|call| vec![call]),
        _ => None,
    }
}

/// Returns the text that finds the file of a line.
fn sought(change: &LineChange) -> Option<String> {
    match change {
        LineChange::Set { key, .. } | LineChange::Swap { key, .. } => Some(escaped(key)),
        LineChange::Pin { .. }
        | LineChange::Replace(..)
        | LineChange::Comment(_)
        | LineChange::Uncomment(_) => None,
    }
}

/// Returns the file of the only line that a search found to fit.
fn place(change: &LineChange, look: &ToolFinding) -> Option<String> {
    let is_whole =
        !look.failed && !look.text.contains("[stopped at") && !look.text.contains("the list is cut");
    let lines = listed_names(&look.text);
    let mut fitting = lines.iter().filter_map(|line| {
        let (path, rest) = line.split_once(':')?;
        let (number, text) = rest.split_once(':')?;
        number.parse::<u64>().ok()?;
        changed(path, text.strip_prefix(' ').unwrap_or(text), change).map(|_| path.to_owned())
    });
    fitting.next().filter(|_| is_whole && fitting.next().is_none())
}

fn patched(path: &str, change: &LineChange, file: &ToolFinding) -> Option<IntendedCall> {
    let (text, note) = without_note(&file.text);
    if file.failed || note.is_some() || text.is_empty() {
        return None;
    }
    let open = !text.ends_with('\n');
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let (at, new) = match change {
        LineChange::Replace(which, _) | LineChange::Comment(which) | LineChange::Uncomment(which) => {
            let at = chosen(path, &lines, which)?;
            (at, changed(path, lines[at], change)?)
        }
        LineChange::Set { .. } | LineChange::Swap { .. } | LineChange::Pin { .. } => {
            let mut fitting =
                lines.iter().enumerate().filter_map(|(at, line)| Some((at, changed(path, line, change)?)));
            let first = fitting.next()?;
            if fitting.next().is_some() {
                return None;
            }
            first
        }
    };
    let end = if open && at + 1 == lines.len() { "\\ No newline at end of file\n" } else { "" };
    let (n, old) = (at + 1, lines[at]);
    Some(patch_call(&format!("--- a/{path}\n+++ b/{path}\n@@ -{n} +{n} @@\n-{old}\n{end}+{new}\n{end}")))
}

/// Returns the line as it is changed; `None` where it does not fit, or nothing would change.
fn changed(path: &str, line: &str, change: &LineChange) -> Option<String> {
    let new = match change {
        LineChange::Set { key, value } => set(line, key, value)?,
        LineChange::Swap { key, old, new } => {
            let is_once = line.matches(old.as_str()).count() == 1;
            (is_once && has_word(line, key) && !is_comment(path, line))
                .then(|| line.replace(old.as_str(), new))?
        }
        LineChange::Pin { name, line: new } => {
            let rest = line.strip_prefix(name.as_str())?;
            let is_requirement = rest.is_empty() || rest.starts_with(['=', '<', '>', '~', '!']);
            (is_requirement && !rest.contains([';', '#', ','])).then(|| new.clone())?
        }
        LineChange::Replace(_, text) => text.clone(),
        LineChange::Comment(_) => {
            let sign = sign_of(path)?;
            let code = line.trim_start();
            let indent = &line[..line.len() - code.len()];
            (!code.is_empty() && !code.starts_with(sign)).then(|| format!("{indent}{sign} {code}"))?
        }
        LineChange::Uncomment(_) => {
            let code = line.trim_start();
            let rest = code.strip_prefix(sign_of(path)?)?;
            format!("{}{}", &line[..line.len() - code.len()], rest.strip_prefix(' ').unwrap_or(rest))
        }
    };
    (new != line).then_some(new)
}

fn sign_of(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if matches!(name, "Makefile" | "Dockerfile" | "justfile" | ".gitignore" | ".env") {
        return Some("#");
    }
    let (_, ending) = name.rsplit_once('.')?;
    COMMENT_SIGNS.iter().find(|(_, endings)| endings.contains(&ending)).map(|(sign, _)| *sign)
}

fn is_comment(path: &str, line: &str) -> bool {
    sign_of(path).is_some_and(|sign| line.trim_start().starts_with(sign))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().filter(|_| word.starts_with(is_of_word));
        let behind = line[at + word.len()..].chars().next().filter(|_| word.ends_with(is_of_word));
        !before.is_some_and(is_of_word) && !behind.is_some_and(is_of_word)
    })
}

/// Gives the setting at the beginning of a line a value; quotation marks and what is behind the value stay.
fn set(line: &str, key: &str, value: &str) -> Option<String> {
    let start = line.trim_start();
    let bare = start.trim_start_matches(['"', '\'']);
    let name = [key, &format!("__{key}__")]
        .into_iter()
        .find_map(|name| bare.strip_prefix(name).map(|_| name.len()))?;
    let behind = bare[name..].trim_start_matches(['"', '\'']).trim_start();
    let sign = ["==", "=>", "::", ":=", "=", ":"].into_iter().find(|sign| behind.starts_with(sign))?;
    if !matches!(sign, "=" | ":" | ":=") {
        return None;
    }
    let old = behind[sign.len()..].trim_start();
    let head = &line[..line.len() - old.len()];
    let quote = old.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (old, tail) = match quote {
        Some(quote) => {
            let end = old[1..].find(quote)? + 1;
            (&old[1..end], &old[end + 1..])
        }
        None => {
            let end = old.find([',', ';', ' ', '#', '\t', '\r']).unwrap_or(old.len());
            old.split_at(end)
        }
    };
    // A list or a table is no single value, and code is none.
    let is_plain = quote.is_some() || !old.contains(['{', '[', '(']);
    let tail_is_plain = matches!(tail.trim(), "" | "," | ";") || tail.trim_start().starts_with(['#', '/']);
    let mark = quote.map(String::from).unwrap_or_default();
    let fits =
        is_plain && tail_is_plain && !old.is_empty() && !value.contains('\n') && !value.contains(['"', '\'']);
    fits.then(|| format!("{head}{mark}{value}{mark}{tail}"))
}

/// Says why a line was not changed.
pub(super) fn unmet_rewrite(goal: &ToolGoal, found: &[ToolFinding]) -> Option<String> {
    let ToolGoal::Rewrite { path, change } = goal else { return None };
    if is_changed(found) {
        return None;
    }
    let place = match path.as_str() {
        "" => "here".to_owned(),
        path => format!("of `{path}`"),
    };
    Some(match change {
        LineChange::Set { key, value } => format!(
            "I cannot find the one line {place} that gives `{key}` another value than `{value}`: none does, several do, \
             or it is not a plain value. I changed nothing. Try: replace \"old\" with \"new\" in FILE."
        ),
        LineChange::Swap { key, old, .. } => format!(
            "I cannot find the one line {place} that has both `{key}` and `{old}`: none has, or several have. I changed \
             nothing. Try: replace \"old\" with \"new\" in FILE."
        ),
        LineChange::Pin { .. } | LineChange::Replace(..) => {
            format!("I cannot find that line {place}, or it is so already. I changed nothing.")
        }
        LineChange::Comment(_) => {
            format!("I cannot find the one line {place} to comment out. I changed nothing.")
        }
        LineChange::Uncomment(_) => {
            format!("I cannot find the one line {place} that is such a comment. I changed nothing.")
        }
    })
}

#[cfg(test)]
mod tests;
