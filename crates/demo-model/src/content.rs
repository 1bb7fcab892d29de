//! What a new text is to hold: which words are the text itself, and which only describe one.

use super::intent::MissingAbility;
use super::lexicon::{COMPOSED, holds};
use super::programs::is_definite;
use super::words::WordToken;

/// Programs that print a text, by the extension of their file; `{}` is the text in quotation marks.
const PRINTING: &[(&str, &str)] = &[
    ("py", "print({})\n"),
    ("rb", "puts {}\n"),
    ("js", "console.log({});\n"),
    ("mjs", "console.log({});\n"),
    ("ts", "console.log({});\n"),
    ("sh", "echo {}\n"),
    ("bash", "echo {}\n"),
    ("pl", "print {}, \"\\n\";\n"),
    ("php", "<?php\necho {}, \"\\n\";\n"),
    ("lua", "print({})\n"),
    ("rs", "fn main() {\n    println!({});\n}\n"),
    ("c", "#include <stdio.h>\n\nint main(void) {\n    puts({});\n    return 0;\n}\n"),
    ("go", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println({})\n}\n"),
    (
        "java",
        "class Main {\n    public static void main(String[] args) {\n        System.out.println({});\n    }\n}\n",
    ),
];

/// Extensions of files that hold code or data, in which plain words make no sense.
const CODE: &[&str] = &[
    "py", "js", "ts", "rs", "c", "h", "cpp", "go", "java", "rb", "sh", "html", "css", "json", "yaml", "yml",
    "toml", "php", "sql", "xml", "jsx", "tsx", "lua", "pl",
];

/// Words that describe code more often than they are its text, in a file of code.
const CODE_PARTS: &[&str] = &[
    "app",
    "api",
    "button",
    "component",
    "constructor",
    "endpoint",
    "endpoints",
    "express",
    "flask",
    "footer",
    "form",
    "functions",
    "handler",
    "header",
    "import",
    "imports",
    "logging",
    "loop",
    "main",
    "menu",
    "method",
    "methods",
    "module",
    "navbar",
    "parser",
    "route",
    "routes",
    "server",
    "struct",
    "table",
    "variable",
    "variables",
];

/// Returns a program that prints `text`; `None` where the kind of file is not known, or the text is not plain.
pub(super) fn prints(path: &str, text: &str) -> Option<String> {
    let (_, extension) = path.rsplit_once('.')?;
    let (_, code) = PRINTING.iter().find(|(known, _)| *known == extension)?;
    let plain =
        text.chars().all(|c| !c.is_control() && !matches!(c, '"' | '\\' | '$' | '`' | '{' | '}' | '%' | '#'));
    plain.then(|| code.replace("{}", &format!("\"{text}\"")))
}

/// Drops what introduces a text that is to be printed.
pub(super) fn greeting(text: &str) -> &str {
    ["the text ", "the words ", "the word "].iter().find_map(|begin| text.strip_prefix(begin)).unwrap_or(text)
}

/// Returns whether words without quotation marks are a text.
pub(super) fn is_given(path: &str, words: &[WordToken], text: &str) -> Result<(), MissingAbility> {
    /// More words than that are rather a request.
    const WORDS_MAX: usize = 12;
    let lower: Vec<String> = words.iter().map(WordToken::lower).collect();
    let is_code = ["(", "=", "{", "</", "#!", ";"].iter().any(|sign| text.contains(sign));
    let for_code = path.rsplit_once('.').is_some_and(|(_, extension)| holds(CODE, &extension.to_lowercase()));
    let is_command = (path.ends_with(".sh") || path.ends_with(".bash"))
        && words.first().is_some_and(|first| is_definite(&first.lower()));
    if (is_code || is_command) && for_code {
        return Ok(());
    }
    let articles = ["a", "an", "some", "the", "my", "your", "all", "any", "its"];
    let begins = words.len() > 1 && lower.first().is_some_and(|word| holds(&articles, word));
    // What begins with the sign of a heading or of an item is a text.
    let is_marked = text.starts_with(['#', '-', '*', '>']);
    if !is_marked && (begins || lower.iter().any(|word| holds(COMPOSED, word))) {
        return Err(MissingAbility::Compose);
    }
    if for_code && lower.iter().any(|word| holds(CODE_PARTS, word)) {
        return Err(MissingAbility::Quotes);
    }
    let mixed = words.iter().any(WordToken::is_quoted) && words.len() > 1;
    let joined = lower
        .iter()
        .any(|word| holds(&["then", "but", "if", "unless", "which", "that", "so", "because"], word));
    if mixed || joined || words.len() > WORDS_MAX || text.contains('\n') {
        return Err(MissingAbility::Quotes);
    }
    Ok(())
}

/// Returns whether a text has the signs of a line end where a person may want a line end; code has such signs of its own.
pub(super) fn has_line_end_signs(path: &str, text: &str) -> bool {
    let is_code = path.rsplit_once('.').is_some_and(|(_, extension)| holds(CODE, &extension.to_lowercase()));
    !is_code && text.contains("\\n")
}

/// Returns the text that is given: the quoted text, a line for each item of a list, or the words.
pub(super) fn given(path: &str, words: &[WordToken], text: &str) -> Result<String, MissingAbility> {
    if let [only] = words
        && only.is_quoted()
    {
        return Ok(only.text.clone());
    }
    let (words, by_line) = without_layout(words);
    if let Some(items) = items(words) {
        let plain =
            |word: &&WordToken| word.is_quoted() || word.text.contains(['.', '/', '*', '_', '=', '@']);
        if by_line || is_list(path) || items.iter().all(|item| item.is_quoted()) || items.iter().all(plain) {
            return Ok(items.iter().map(|item| format!("{}\n", item.text)).collect());
        }
    }
    // Such words join two texts, or are the sentence's own.
    let joins = ["and", "&", "saying", "with", "that", "containing", "plus", "both"];
    let lower: Vec<String> = words.iter().map(WordToken::lower).collect();
    is_given(path, words, text)?;
    let is_code = ["(", "=", "{", "</", "#!", ";"].iter().any(|sign| text.contains(sign));
    if by_line || (!is_code && lower.iter().any(|word| holds(&joins, word))) {
        return Err(MissingAbility::Quotes);
    }
    Ok(text.to_owned())
}

/// Drops "one per line" from the end, which is not of the text.
fn without_layout(words: &[WordToken]) -> (&[WordToken], bool) {
    let layouts = [
        "one per line",
        "one a line",
        "one on each line",
        "each on its own line",
        "each on a line of its own",
        "on separate lines",
        "on two lines",
        "each on a separate line",
        "line by line",
        "as separate lines",
        "as two lines",
        "each in its own line",
        "in separate lines",
    ];
    let fits = |layout: &&str| {
        let parts: Vec<&str> = layout.split(' ').collect();
        let from = words.len().checked_sub(parts.len())?;
        words[from..].iter().zip(&parts).all(|(word, part)| word.lower() == *part).then_some(from)
    };
    match layouts.iter().find_map(fits) {
        Some(from) if from > 0 => (&words[..from], true),
        _ => (words, false),
    }
}

/// Returns the items of a list such as `a, b and c`, if each is one word or a quoted text.
fn items(words: &[WordToken]) -> Option<Vec<&WordToken>> {
    let mut items: Vec<&WordToken> = Vec::new();
    let mut is_open = false;
    for word in words {
        if holds(&["and", "&", "plus"], &word.lower()) {
            is_open = false;
            continue;
        }
        if is_open {
            return None;
        }
        items.push(word);
        is_open = word.stop == super::words::StopKind::None;
    }
    (items.len() > 1).then_some(items)
}

/// Returns whether each line of a file is an entry of its own.
fn is_list(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with("ignore")
        || name.starts_with(".env")
        || (name.starts_with("requirements") && name.ends_with(".txt"))
}
