//! From the text of a file to its policies, or to what is wrong with it.
//!
//! Owns turning the library's complaints into places and mends.

use std::collections::BTreeMap;

use cedar_policy::{EntityUid, ParseErrors, Policy, PolicyId, PolicySet, ValidationMode, Validator};
use miette::Diagnostic;
use palyra_types::spelling::nearest_name;
use palyra_types::tool::{ToolCatalog, ToolName};

use super::diagnostic::{PolicyMistake, place_of};
use super::file::{KnownPolicy, POLICY_FILE_BYTES_MAX, PolicyFile};
use super::folders::{folder_example, misused_folders};
use super::known_words::set_example;
use super::terms::{self, PolicyAnnotations};

/// A policy, what it says outside of Cedar, and the byte at which it begins.
pub(crate) type ParsedPolicy = (Policy, PolicyAnnotations, usize);

/// Parses one file.
pub(crate) fn parsed(
    file: &PolicyFile,
    execute: &EntityUid,
) -> Result<Vec<ParsedPolicy>, Vec<PolicyMistake>> {
    let mistake = |byte: usize, what: String, mend: String| {
        let (line, column) = place_of(&file.text, byte);
        PolicyMistake { file: file.name.clone(), line, column, what, mend }
    };
    if file.text.len() > POLICY_FILE_BYTES_MAX {
        let what = format!("the file has {} bytes", file.text.len());
        return Err(vec![mistake(0, what, format!("at most {POLICY_FILE_BYTES_MAX} are read; split it"))]);
    }
    let set: PolicySet = file.text.parse().map_err(|errors: ParseErrors| {
        let mistakes = errors.iter().map(|error| mistake(begin(error), what(error), mend(error)));
        mistakes.collect::<Vec<_>>()
    })?;
    let mut mistakes = Vec::new();
    for template in set.templates() {
        let byte = template.as_ref().loc().map_or(0, |place| place.span.offset());
        let mend = "write the principal or resource out".to_owned();
        mistakes.push(mistake(byte, "a template decides nothing here".to_owned(), mend));
    }
    let mut policies = Vec::new();
    for policy in set.policies() {
        let byte = policy.as_ref().loc().map_or(0, |place| place.span.offset());
        if let Some((what, mend)) = misused_folders(policy) {
            mistakes.push(mistake(byte, what, mend));
        }
        match terms::read(policy, execute) {
            Ok(annotations) => policies.push((policy.clone(), annotations, byte)),
            Err(wrong) => {
                for (what, mend, name) in wrong {
                    mistakes.push(mistake(annotation(&file.text, byte, &name), what, mend));
                }
            }
        }
    }
    if mistakes.is_empty() { Ok(policies) } else { Err(mistakes) }
}

/// The byte of an annotation of the policy that begins at `byte`; that byte where it has none of this name.
fn annotation(text: &str, byte: usize, name: &str) -> usize {
    let head = text.get(byte..).unwrap_or_default();
    let end = head.find(['(', ';']).map_or(head.len(), |_| head.find("principal").unwrap_or(head.len()));
    head[..end].find(&format!("@{name}")).map_or(byte, |found| byte + found)
}

/// Checks a whole set against the schema; returns what is wrong, and what is likely not meant.
pub(crate) fn validated(
    set: &PolicySet,
    validator: &Validator,
    files: &[PolicyFile],
    known: &BTreeMap<String, KnownPolicy>,
    catalog: &ToolCatalog,
) -> (Vec<PolicyMistake>, Vec<PolicyMistake>) {
    let result = validator.validate(set, ValidationMode::Strict);
    let mistake = |id: &PolicyId, complaint: &dyn Diagnostic| {
        let (name, line) = known
            .get(id.to_string().as_str())
            .map_or((String::new(), 1), |known| (known.file.clone(), known.line));
        let text = files.iter().find(|file| file.name == name).map_or("", |file| file.text.as_str());
        let byte = labelled(complaint);
        let (line, column) = byte.map_or((line, 1), |byte| place_of(text, byte));
        let mend = match set_hint(complaint, byte.and_then(|byte| text.get(byte..)).unwrap_or_default()) {
            Some(example) => format!("{}; write {example}", mend(complaint)).replace("?; ", "? "),
            None => word_as_action(complaint, catalog).unwrap_or_else(|| mend(complaint)),
        };
        PolicyMistake { file: name, line, column, what: what(complaint), mend }
    };
    let errors = result.validation_errors().map(|error| mistake(error.policy_id(), error)).collect();
    let warnings =
        result.validation_warnings().map(|warning| mistake(warning.policy_id(), warning)).collect();
    (errors, warnings)
}

/// Returns an expression that works, where a complaint is about a set of texts or suggests one. `text` begins with the part
/// that is wrong.
fn set_hint(complaint: &dyn Diagnostic, text: &str) -> Option<String> {
    let help = complaint.help().map(|help| help.to_string()).unwrap_or_default();
    let member = match help.strip_prefix("did you mean `") {
        Some(suggested) if text.starts_with("context.") && !text.starts_with("context.args.") => suggested,
        Some(_) => return None,
        None => text.strip_prefix("context.")?,
    };
    let end = member.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(member.len());
    let member = &member[..end];
    let example = set_example(member, compared_with(text))?;
    Some(match member {
        "paths" => format!("`{example}`; {}", folder_example("src")),
        _ => format!("`{example}`"),
    })
}

/// What may be between a member of the context and the first text that it is compared with.
const COMPARISONS: [&str; 6] =
    [".contains(\"", ".containsAny([\"", ".containsAll([\"", " == \"", " != \"", " like \""];

/// Returns the first text that a member of the context is compared with; `text` begins with the member.
fn compared_with(text: &str) -> Option<&str> {
    let member = text.strip_prefix("context.")?;
    let behind = member.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let compared = COMPARISONS.iter().find_map(|comparison| behind.strip_prefix(comparison))?;
    let (word, _) = compared.split_once('"')?;
    let is_plain = |c: char| !c.is_control() && !matches!(c, '\\' | '`');
    Some(word).filter(|word| !word.is_empty() && word.chars().all(is_plain))
}

/// Returns how a rule names a tool or what tools do, where a complaint is about an action that does not exist.
fn word_as_action(complaint: &dyn Diagnostic, catalog: &ToolCatalog) -> Option<String> {
    let text = complaint.to_string();
    let (_, named) = text.split_once("Action::\"")?;
    let (tool, _) = named.split_once('"')?;
    let actions = "actions are \"execute_unattended\" and \"execute\"";
    if catalog.get(&ToolName::new(tool)).is_some() {
        return Some(format!("`{tool}` is a tool: write `resource == Tool::\"{tool}\"`; {actions}"));
    }
    // A word that is only like `execute` was meant as that; any other says what a tool does.
    let is_misspelt =
        ["execute", "execute_unattended"].iter().any(|action| nearest_name(tool, [*action]).is_some());
    (text.contains("unrecognized action") && !is_misspelt).then(|| {
        format!(
            "{actions}; what a tool does is a capability: write `resource in Capability::\"write_files\"`"
        )
    })
}

fn labelled(error: &dyn Diagnostic) -> Option<usize> {
    error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset())
}

fn begin(error: &dyn Diagnostic) -> usize {
    labelled(error).unwrap_or(0)
}

fn what(error: &dyn Diagnostic) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

fn mend(error: &dyn Diagnostic) -> String {
    let help = error.help().map(|help| help.to_string());
    let label =
        error.labels().and_then(|mut labels| labels.find_map(|label| label.label().map(str::to_owned)));
    help.or(label).unwrap_or_else(|| "`palyra explain docs/policy.md` says what rules can look at".to_owned())
}
