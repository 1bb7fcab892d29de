//! Words that a rule compares with, and that no request ever has: a slip there makes a rule that never applies.
//!
//! Owns the comparison of a policy's literals with the words that the schema names. The words of a member stand in its
//! comment in the schema, each in quotes, so that they are said once. Which folders and paths no request has, `folders`
//! knows. Invariant: unknown members are let pass.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use palyra_types::spelling::nearest_name;
use serde_json::Value;

use super::diagnostic::{PolicyMistake, place_of};
use super::file::{KnownPolicy, PolicyFile};
use super::folders::{mend_of_folder, mend_of_path};
use super::schema_text::SCHEMA_TEXT;

/// The words of the members that have a fixed set of them.
static WORDS: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| words_of(SCHEMA_TEXT));

/// Members that have names of folders.
const FOLDER_MEMBERS: [&str; 2] = ["folders", "within"];
/// Members without words in their comment, and whose words they have.
const SAME_WORDS: [(&str, &str); 1] = [("capabilities", "entity Capability")];

/// What an example of a member with free words names.
const EXAMPLE_WORDS: [(&str, &str); 5] = [
    ("paths", "src/app.py"),
    ("folders", "FOLDER"),
    ("within", "FOLDER"),
    ("hosts", "api.example.com"),
    ("argv", "--force"),
];

/// Returns an expression that looks for a word in a member of the context; `None` where that is not a set of texts. The word
/// is the one of the rule, where a request can have it in this member.
pub(crate) fn set_example(member: &str, written: Option<&str>) -> Option<String> {
    let declared = format!("{member}: Set<String>,");
    SCHEMA_TEXT.lines().any(|line| line.trim() == declared).then(|| {
        let example = EXAMPLE_WORDS.iter().find(|(name, _)| *name == member).map(|(_, word)| *word);
        let example = example.or_else(|| WORDS.get(member)?.first().map(String::as_str)).unwrap_or("TEXT");
        let word = written.and_then(|written| possible_word(member, written));
        format!("context.{member}.contains(\"{}\")", word.as_deref().unwrap_or(example))
    })
}

/// Returns what a rule compares with as a word that a member can have: the same, or the likely one that its mend names.
fn possible_word(member: &str, written: &str) -> Option<String> {
    let mend = match member {
        member if FOLDER_MEMBERS.contains(&member) => mend_of_folder(written),
        "paths" => mend_of_path(written),
        member => mend_of_word(member, written),
    };
    let Some(mend) = mend else { return Some(written.to_owned()) };
    // The mend of a pattern of paths names a folder.
    mend.split('"').nth(1).filter(|_| member != "paths").map(str::to_owned)
}

fn words_of(schema: &str) -> BTreeMap<String, Vec<String>> {
    let (mut words, mut comment) = (BTreeMap::new(), String::new());
    for line in schema.lines().map(str::trim) {
        if let Some(more) = line.strip_prefix("//") {
            comment.push_str(more);
            continue;
        }
        let named = line.split_once(':').filter(|(_, kind)| kind.contains("String"));
        let (name, said) = match (named, line.split_once(" enum ")) {
            (Some((name, _)), _) => (name.trim_end_matches('?'), comment.as_str()),
            (None, Some((name, said))) => (name, said),
            (None, None) => ("", ""),
        };
        let quoted: Vec<String> = said.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        // A single one is an example.
        if quoted.len() > 1 {
            words.insert(name.to_owned(), quoted);
        }
        comment.clear();
    }
    for (member, like) in SAME_WORDS {
        if let Some(same) = words.get(like).cloned() {
            words.insert(member.to_owned(), same);
        }
    }
    words
}

/// A comparison of a member of the context with a literal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WordComparison {
    member: String,
    word: String,
}

/// Returns what is wrong with the words of a policy.
pub(crate) fn wrong_words(known: &KnownPolicy, file: Option<&PolicyFile>) -> Vec<PolicyMistake> {
    let Ok(json) = known.policy.to_json() else { return Vec::new() };
    let mut compared = Vec::new();
    collect(json.get("conditions").unwrap_or(&Value::Null), &mut compared);
    let mut mistakes: Vec<PolicyMistake> = compared
        .into_iter()
        .filter_map(|WordComparison { member, word }| {
            let (never, mend) = match member.as_str() {
                member if FOLDER_MEMBERS.contains(&member) => ("never has", mend_of_folder(&word)?),
                "paths" => ("never has", mend_of_path(&word)?),
                member => ("is never", mend_of_word(member, &word)?),
            };
            let what = format!("`context.{member}` {never} \"{word}\"");
            Some(mistake_at(known, file, WordFault { text: &format!("\"{word}\""), what, mend }))
        })
        .collect();
    mistakes.extend(contradiction(&json).map(|(member, one, other)| {
        let what =
            format!("`{}` never applies: `{member}` cannot be {one} and {other}", known.annotations.id);
        let mend = "write `||`, or two policies".to_owned();
        mistake_at(known, file, WordFault { text: &other, what, mend })
    }));
    mistakes
}

/// Returns a warning for each folder of a policy, where `near` knows another one with almost the same name.
pub(crate) fn misspelled_folders(
    known: &KnownPolicy,
    file: Option<&PolicyFile>,
    near: &dyn Fn(&str) -> Option<String>,
) -> Vec<PolicyMistake> {
    let Ok(json) = known.policy.to_json() else { return Vec::new() };
    let mut compared = Vec::new();
    collect(json.get("conditions").unwrap_or(&Value::Null), &mut compared);
    let folders = compared.into_iter().filter(|compared| FOLDER_MEMBERS.contains(&compared.member.as_str()));
    let warning = |WordComparison { member, word }: WordComparison| {
        let near = near(&word)?;
        let what = format!("`context.{member}` looks for the folder \"{word}\", which does not exist here");
        let mend = format!("did you mean \"{near}\"?");
        Some(mistake_at(known, file, WordFault { text: &format!("\"{word}\""), what, mend }))
    };
    folders.filter_map(warning).collect()
}

/// Returns how to mend a word that a member with a fixed set of words never is.
fn mend_of_word(member: &str, word: &str) -> Option<String> {
    let words = WORDS.get(member).filter(|words| !words.iter().any(|known| known == word))?;
    let names = || words.iter().map(String::as_str);
    Some(match nearest_name(word, names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("it is one of {}", names().collect::<Vec<_>>().join(", ")),
    })
}

/// A text that cannot be right in a policy.
struct WordFault<'a> {
    text: &'a str,
    what: String,
    mend: String,
}

/// Makes a mistake at the first place of the text within the policy.
fn mistake_at(known: &KnownPolicy, file: Option<&PolicyFile>, fault: WordFault<'_>) -> PolicyMistake {
    let WordFault { text, what, mend } = fault;
    let whole = file.map_or("", |file| file.text.as_str());
    let begin: usize = whole.split_inclusive('\n').take(known.line.saturating_sub(1)).map(str::len).sum();
    let found = whole.get(begin..).and_then(|rest| rest.find(text));
    let (line, column) = found.map_or((known.line, 1), |byte| place_of(whole, begin + byte));
    PolicyMistake { file: known.file.clone(), line, column, what, mend }
}

/// Walks Cedar's JSON form of expressions.
fn collect(expression: &Value, found: &mut Vec<WordComparison>) {
    match expression {
        Value::Object(members) => {
            for (operator, operand) in members {
                if ["==", "!=", "contains", "containsAny", "containsAll"].contains(&operator.as_str()) {
                    let sides = (operand.get("left"), operand.get("right"));
                    if let (Some(left), Some(right)) = sides {
                        compare(left, right, found);
                        compare(right, left, found);
                    }
                }
                collect(operand, found);
            }
        }
        Value::Array(members) => members.iter().for_each(|member| collect(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn compare(side: &Value, literals: &Value, found: &mut Vec<WordComparison>) {
    let Some(member) = member_of(side) else { return };
    let set = literals.get("Set").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let words = std::iter::once(literals).chain(set).filter_map(|value| value.get("Value")?.as_str());
    found.extend(words.map(|word| WordComparison { member: member.to_owned(), word: word.to_owned() }));
}

fn member_of(side: &Value) -> Option<&str> {
    let access = side.get(".")?;
    (access.get("left")?.get("Var")? == "context").then_some(())?;
    access.get("attr")?.as_str()
}

/// Returns a member that two conditions, both of which have to hold, want to be different things.
fn contradiction(policy: &Value) -> Option<(String, String, String)> {
    let mut wanted: BTreeMap<&str, &Value> = BTreeMap::new();
    let clauses = policy.get("conditions")?.as_array()?;
    let mut open: Vec<&Value> = clauses
        .iter()
        .filter(|clause| clause.get("kind").is_some_and(|kind| kind == "when"))
        .filter_map(|clause| clause.get("body"))
        .collect();
    while let Some(expression) = open.pop() {
        if let Some(both) = expression.get("&&") {
            open.extend(both.get("left").into_iter().chain(both.get("right")));
        } else if let Some(equal) = expression.get("==") {
            let (left, right) = (equal.get("left")?, equal.get("right")?);
            let sides = member_of(left).zip(right.get("Value")).or(member_of(right).zip(left.get("Value")));
            let Some((member, value)) = sides else { continue };
            if let Some(other) = wanted.insert(member, value).filter(|other| *other != value) {
                return Some((format!("context.{member}"), value.to_string(), other.to_string()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
