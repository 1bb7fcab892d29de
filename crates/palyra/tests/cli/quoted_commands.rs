//! Every command that a message, a page or a document quotes exists, with the verbs and options that it has.

use std::fs;
use std::path::{Path, PathBuf};

use palyra_cli::definition;

/// Words that stand for something else in a quoted command.
const ELLIPSES: [&str; 2] = ["...", "…"];
/// A question without `run`, whose options are not in the definition.
const QUESTION: &str = "palyra --attach A --attach B \"…\"";

fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let root = crates.parent().unwrap();
    let mut files = vec![root.join("README.md")];
    let ours = fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let mut folders: Vec<PathBuf> =
        ours.chain(["docs", "docs/errors"].map(|folder| root.join(folder))).collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_test = name == "tests" || name.ends_with("tests.rs") || name == "known-faults.md";
            let is_source = path.extension().is_some_and(|kind| kind == "rs");
            let is_document = path.extension().is_some_and(|kind| kind == "md");
            match path.is_dir() {
                true if is_source || !is_test && path.components().any(|part| part.as_os_str() == "src") => {
                    folders.push(path);
                }
                false if !is_test && (is_source || is_document) => files.push(path),
                _ => {}
            }
        }
    }
    files
}

/// Returns the commands between backticks, in the text of a file without its tests.
fn quoted(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let joined: Vec<&str> = text
        .split("\\\n")
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.trim_start() })
        .collect();
    let text = joined.concat().replace("\\\"", "\"").replace("{{", "{");
    let mut found = Vec::new();
    for (at, _) in text.match_indices("`palyra ") {
        let Some(command) = text[at + 1..].split('`').next() else { continue };
        // A text of code that looks for the beginning of a command.
        if ["\")", "\";"].iter().any(|end| command.contains(end)) {
            continue;
        }
        found.push(command.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    found
}

fn is_placeholder(word: &str) -> bool {
    word.starts_with(['{', '<', '$', '"', '\'', '[']) || word.chars().any(char::is_uppercase)
}

/// Says what is wrong with a quoted command; `None` where its verbs and options exist.
fn fault(quote: &str, definition: &clap::Command) -> Option<String> {
    let mut verb = definition;
    let mut options: Vec<&clap::Arg> = definition.get_arguments().collect();
    let mut is_value = false;
    let mut is_verb_due = true;
    for word in quote.split_whitespace().skip(1) {
        let word = word.trim_matches(['[', ']', '(', ')', ',', '\'', '"']);
        if std::mem::take(&mut is_value) || word.is_empty() || ELLIPSES.contains(&word) || word == "|" {
            continue;
        }
        if let Some(option) = word.strip_prefix("--").filter(|option| !option.is_empty()) {
            let (name, has_value) = match option.split_once('=') {
                Some((name, _)) => (name, true),
                None => (option, false),
            };
            let known = options.iter().find(|known| known.get_long() == Some(name));
            match known {
                Some(known) => is_value = known.get_action().takes_values() && !has_value,
                None if ["help", "version"].contains(&name) || name.contains('{') => {}
                None => return Some(format!("no option --{name}")),
            }
        } else if is_verb_due && !word.starts_with('-') {
            match verb.find_subcommand(word) {
                Some(deeper) => {
                    verb = deeper;
                    options.extend(deeper.get_arguments());
                }
                // Any verb may stand there.
                None if is_placeholder(word) && verb.has_subcommands() => return None,
                None if verb.get_positionals().next().is_some() => is_verb_due = false,
                None if verb.has_subcommands() => return Some(format!("no verb {word}")),
                None => is_verb_due = false,
            }
        }
    }
    None
}

#[test]
fn each_command_that_a_text_quotes_has_verbs_and_options_that_exist() {
    let definition = definition();
    let (mut quotes, mut faults) = (0, Vec::new());
    for file in sources() {
        for quote in quoted(&fs::read_to_string(&file).unwrap()) {
            quotes += 1;
            if let Some(fault) = fault(&quote, &definition).filter(|_| quote != QUESTION) {
                faults.push(format!("{}: `{quote}`: {fault}", file.display()));
            }
        }
    }
    assert!(quotes > 500, "{quotes} commands were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_quoted_command_that_does_not_exist_is_found() {
    let definition = definition();
    let of = |quote: &str| fault(quote, &definition);
    assert_eq!(of("palyra model use --unset"), None);
    assert_eq!(of("palyra admin vault put {0} --host {host}"), None);
    assert_eq!(of("palyra run --attach plan.png \"What is wrong?\""), None);
    assert!(of("palyra admin vault store NAME").is_some_and(|fault| fault.contains("no verb store")));
    assert!(of("palyra model add NAME --url URL").is_some_and(|fault| fault.contains("no option --url")));
}
