//! What a new text is to hold: which words are the text itself, and which only describe one.

use super::intent::Lack;
use super::lexicon::{COMPOSED, holds};
use super::programs::is_definite;
use super::words::Word;

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

/// Returns a program that prints `text`; `None` where the kind of file is not known, or the text is no plain one.
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

/// Returns whether words without quotation marks are the text that is meant.
pub(super) fn is_given(path: &str, words: &[Word], text: &str) -> Result<(), Lack> {
    /// More words than that are rather a request.
    const WORDS_MAX: usize = 12;
    let lower: Vec<String> = words.iter().map(Word::lower).collect();
    let is_code = ["(", "=", "{", "</", "#!", ";"].iter().any(|sign| text.contains(sign));
    let for_code = path.rsplit_once('.').is_some_and(|(_, extension)| holds(CODE, &extension.to_lowercase()));
    let is_command = (path.ends_with(".sh") || path.ends_with(".bash"))
        && words.first().is_some_and(|first| is_definite(&first.lower()));
    if (is_code || is_command) && for_code {
        return Ok(());
    }
    let articles = ["a", "an", "some", "the", "my", "your", "all", "any", "its"];
    let begins = words.len() > 1 && lower.first().is_some_and(|word| holds(&articles, word));
    let describes = begins || lower.iter().any(|word| holds(COMPOSED, word));
    if for_code || describes {
        return Err(Lack::Compose);
    }
    let mixed = words.iter().any(Word::is_quoted) && words.len() > 1;
    let joined = lower
        .iter()
        .any(|word| holds(&["then", "but", "if", "unless", "which", "that", "so", "because"], word));
    if mixed || joined || words.len() > WORDS_MAX || text.contains('\n') {
        return Err(Lack::Quotes);
    }
    Ok(())
}
