//! What the words after `explain` name.

use palyra_screen_text::shell_word;
use palyra_types::ErrorCode;
use palyra_types::spelling::slips;

use crate::library::{DOCUMENTS, page_of};

const CODE_PREFIX: &str = "PLY-";
const DOCUMENTS_FOLDER: &str = "docs/";
/// Where the pages of codes are.
const CODES_FOLDER: &str = "docs/errors/";
const DOCUMENT_ENDING: &str = ".md";
/// What can be explained beside verbs and documents.
const TOPICS: [(&str, &str); 4] = [
    ("PLY-nnnn", "an error code, such as PLY-4003"),
    ("exit-codes", "what a verb exits with"),
    ("environment", "the variables that are read"),
    ("options", "the options that every verb takes"),
];
/// Documents of the source repository that are not part of the program, by their short names.
const OTHER_DOCUMENTS: [&str; 19] = [
    "architecture",
    "attack-cases",
    "attack-suite",
    "benchmarks",
    "changelog",
    "contributing",
    "decisions",
    "dependencies",
    "errors",
    "evidence",
    "evidence-readers",
    "failure-suites",
    "how-to",
    "journal-format",
    "known-faults",
    "model-server",
    "packaging",
    "simulation",
    "threat_model",
];
/// Codes that are offered where one does not exist, at most.
const NEAREST_MAX: usize = 3;

/// Something that can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainTopic {
    /// The table of exit codes.
    ExitCodes,
    /// The variables of the environment.
    Environment,
    /// The options that every verb takes.
    Options,
    /// Everything that can be explained.
    Topics,
    /// A text of the documentation.
    Page(&'static str),
}

/// A word that is written as the name of a text which the program does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownTopic {
    /// A code that does not exist.
    Code {
        /// Codes with numbers that differ by one sign, at most a few.
        nearest: Vec<ErrorCode>,
    },
    /// A document that is not part of the program.
    Document,
}

impl UnknownTopic {
    /// Returns the message for the word, with what to type instead.
    #[must_use]
    pub fn message(&self, word: &str) -> String {
        match self {
            Self::Code { nearest } => {
                let nearest: Vec<String> =
                    nearest.iter().map(|code| format!("`palyra explain {code}` ({})", code.slug())).collect();
                format!("there is no error code `{word}`; the nearest: {}", nearest.join(", "))
            }
            Self::Document => format!(
                "`{word}` is not part of the program: its source repository may have it; `palyra help topics` lists the \
                 documents that are here"
            ),
        }
    }
}

/// Returns what can be explained beside verbs, with what each is about.
pub fn topic_names() -> impl Iterator<Item = (String, String)> {
    let topics = TOPICS.iter().map(|(name, what)| ((*name).to_owned(), (*what).to_owned()));
    topics.chain(DOCUMENTS.iter().map(|(name, text)| (format!("docs/{name}.md"), title(text).to_owned())))
}

fn title(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
}

impl ExplainTopic {
    /// Returns what a word names; `None` where it is neither a code nor a topic, and may be a verb. `is_verb` says
    /// whether a document needs its whole name, since a verb has the short one.
    pub fn read(word: &str, is_verb: impl Fn(&str) -> bool) -> Result<Option<Self>, UnknownTopic> {
        let lower = word.to_ascii_lowercase();
        match lower.as_str() {
            "exit-codes" => return Ok(Some(Self::ExitCodes)),
            "environment" => return Ok(Some(Self::Environment)),
            "options" => return Ok(Some(Self::Options)),
            "topics" => return Ok(Some(Self::Topics)),
            _ => {}
        }
        let file = lower.strip_prefix(CODES_FOLDER).and_then(|file| file.strip_suffix(DOCUMENT_ENDING));
        if let Some(number) = code_number(file.unwrap_or(&lower)) {
            let known = ErrorCode::ALL.iter().find(|code| code.number().to_string() == number);
            return match known {
                Some(code) => Ok(Some(Self::Page(page_of(*code)))),
                None => Err(UnknownTopic::Code { nearest: nearest(number) }),
            };
        }
        if let Some(code) = ErrorCode::ALL.iter().find(|code| code.slug() == lower.replace('-', "_")) {
            return Ok(Some(Self::Page(page_of(*code))));
        }
        let whole = lower.strip_suffix(DOCUMENT_ENDING);
        let name = whole.unwrap_or(&lower);
        let name = name.strip_prefix(DOCUMENTS_FOLDER).unwrap_or(name);
        if whole.is_none() && !lower.starts_with(DOCUMENTS_FOLDER) && is_verb(&lower) {
            return Ok(None);
        }
        let is_document = whole.is_some() || lower.starts_with(DOCUMENTS_FOLDER);
        match DOCUMENTS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(Some(Self::Page(text))),
            None if is_document || OTHER_DOCUMENTS.contains(&name) => Err(UnknownTopic::Document),
            None => Ok(None),
        }
    }
}

/// Says that nothing has this name, and how to ask a model where the words are likely a question.
#[must_use]
pub fn nothing_called(words: &[String], question: Option<&str>) -> String {
    let name = words.join(" ");
    let asks = question.map(|verb| shell_word(&format!("{verb} {name}")));
    let asks = asks.map(|text| format!("; `palyra run {text}` asks a model")).unwrap_or_default();
    format!("nothing is called `{name}`; `palyra help topics` lists what is{asks}")
}

/// Returns the number of a word that is written like a code: `PLY-4003`, `ply4003`, `4003`.
fn code_number(lower: &str) -> Option<&str> {
    let number = match lower.strip_prefix(&CODE_PREFIX.to_ascii_lowercase()) {
        Some(number) => number,
        None => lower.strip_prefix("ply").unwrap_or(lower),
    };
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Returns the codes that differ least from a number, the likeliest first.
fn nearest(number: &str) -> Vec<ErrorCode> {
    let sorted = |number: &str| {
        let mut digits = number.as_bytes().to_vec();
        digits.sort_unstable();
        digits
    };
    let mut codes: Vec<(usize, bool, u64, ErrorCode)> = ErrorCode::ALL
        .iter()
        .map(|code| {
            let own = code.number().to_string();
            let apart = number.parse().map_or(u64::MAX, |number: u64| number.abs_diff(code.number().into()));
            // Swapped digits are likelier than a wrong one.
            let other_digits = sorted(number) != sorted(&own);
            (slips(number, &own), other_digits, apart, *code)
        })
        .collect();
    codes.sort_unstable();
    let least = codes.first().map_or(0, |(slips, ..)| *slips);
    codes.into_iter().filter(|(slips, ..)| *slips == least).take(NEAREST_MAX).map(|(.., code)| code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(word: &str) -> Option<&'static str> {
        match ExplainTopic::read(word, |word| ["policy", "tools", "run"].contains(&word)) {
            Ok(Some(ExplainTopic::Page(text))) => text.lines().next(),
            _ => None,
        }
    }

    #[test]
    fn a_code_is_found_however_it_is_written() {
        for word in [
            "PLY-4003",
            "ply-4003",
            "Ply4003",
            "4003",
            "tool_denied",
            "TOOL-DENIED",
            "docs/errors/PLY-4003.md",
        ] {
            assert_eq!(title(word), Some("# PLY-4003 tool_denied"), "{word}");
        }
    }

    #[test]
    fn a_code_that_does_not_exist_has_neighbours() {
        let nearest = |word: &str| {
            let Err(UnknownTopic::Code { nearest }) = ExplainTopic::read(word, |_| false) else {
                panic!("{word}")
            };
            nearest.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert!(nearest("PLY-4030").starts_with("PLY-4003 "), "{}", nearest("PLY-4030"));
        assert!(nearest("ply-114").contains("PLY-1104"), "{}", nearest("ply-114"));
        assert!(nearest("PLY-11033").starts_with("PLY-1103"), "{}", nearest("PLY-11033"));
        assert!(!nearest("99999999999999999999").is_empty());
    }

    #[test]
    fn every_document_of_the_readme_is_a_page_or_said_not_to_be_one() {
        let readme = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));
        let links = readme.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
        let mut pages = 0;
        for link in links.filter(|link| link.ends_with(".md")) {
            match ExplainTopic::read(link, |_| false) {
                Ok(Some(ExplainTopic::Page(_))) => pages += 1,
                Err(unknown) => assert!(unknown.message(link).contains("palyra help topics"), "{link}"),
                other => panic!("{link}: {other:?}"),
            }
            let name = link.trim_start_matches("docs/").trim_end_matches(".md");
            let name = name.trim_end_matches("/README");
            assert!(!matches!(ExplainTopic::read(name, |_| false), Ok(None)), "{name}");
        }
        assert!(pages > 20, "{pages}");
    }

    const POLICY: &str = "# Policies: what a call of a tool may do";

    #[test]
    fn a_document_needs_its_whole_name_where_a_verb_has_the_short_one() {
        for (word, expect) in [
            ("docs/policy.md", Some(POLICY)),
            ("policy.md", Some(POLICY)),
            ("docs/policy", Some(POLICY)),
            ("policy", None),
            ("sandbox", title("docs/sandbox.md")),
            ("docs/nothing.md", None),
            ("runs", None),
        ] {
            assert_eq!(title(word), expect, "{word}");
        }
        assert!(title("sandbox").is_some());
        assert_eq!(ExplainTopic::read("Exit-Codes", |_| false), Ok(Some(ExplainTopic::ExitCodes)));
    }
}
