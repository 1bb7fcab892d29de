//! Skills: what a SKILL.md says about itself, and what that leaves of the tools.
//!
//! Owns reading its front matter and the verdict on a skill whose bytes changed. Knows no disk and no hash: digests
//! are handed in. Invariant: a skill only ever narrows; one that cannot be trusted takes part in nothing.

use std::collections::BTreeSet;

use palyra_types::tool::ToolName;

/// How long a front matter may be, in bytes.
pub const FRONT_MATTER_BYTES_MAX: usize = 16 * 1024;
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// What a skill says about itself; the format is that of agentskills.io.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillManifest {
    /// Its name: `[a-z0-9]` and `-`, at most 64.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The tools that may be called while it is active; `None` when it says nothing.
    pub allowed_tools: Option<BTreeSet<ToolName>>,
}

/// Why a SKILL.md is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillManifestError {
    /// It has no front matter between two lines of `---`.
    #[error("it does not begin with a front matter between two lines of `---`")]
    NoFrontMatter,
    /// The front matter is too long.
    #[error("its front matter has more than {FRONT_MATTER_BYTES_MAX} bytes")]
    TooLong,
    /// A line cannot be read.
    #[error("line {line} cannot be read: {why}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A member is missing or not as it has to be.
    #[error("`{member}` {why}")]
    Member {
        /// Its name.
        member: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// Reads the front matter of a SKILL.md: plain `key: value` lines and lists of `- item`, nothing else of YAML.
///
/// # Errors
/// [`SkillManifestError`]; what cannot be read with certainty is not read.
pub fn read_manifest(text: &str) -> Result<SkillManifest, SkillManifestError> {
    let members = front_matter(text)?;
    let find = |name: &str| members.iter().find(|member| member.name == name);
    let wrong = |member, why| SkillManifestError::Member { member, why };
    let text_of = |member: &'static str| match find(member).map(|found| found.values.as_slice()) {
        Some([text]) => Ok(text.clone()),
        Some(_) => Err(wrong(member, "is not one line of text")),
        None => Err(wrong(member, "is missing")),
    };
    let (name, description) = (text_of("name")?, text_of("description")?);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(plain) || name.starts_with('-') {
        return Err(wrong("name", "has to be lower-case letters, digits and `-`, at most 64"));
    }
    if description.is_empty() || description.chars().count() > DESCRIPTION_CHARS_MAX {
        return Err(wrong("description", "has to have 1 to 1024 characters"));
    }
    let allowed_tools = find("allowed-tools").map(|found| {
        let words = found.values.iter().flat_map(|value| value.split([',', ' ', '\t']));
        words.filter(|word| !word.is_empty()).map(ToolName::new).collect()
    });
    Ok(SkillManifest { name, description, allowed_tools })
}

struct Member {
    name: String,
    values: Vec<String>,
    list: bool,
}

fn front_matter(text: &str) -> Result<Vec<Member>, SkillManifestError> {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
    if lines.next().is_none_or(|(_, first)| first.trim_end() != "---") {
        return Err(SkillManifestError::NoFrontMatter);
    }
    let (mut members, mut bytes) = (Vec::<Member>::new(), 0);
    for (at, line) in lines {
        let wrong = |why| SkillManifestError::Line { line: at + 1, why };
        bytes += line.len() + 1;
        if bytes > FRONT_MATTER_BYTES_MAX {
            return Err(SkillManifestError::TooLong);
        }
        if line.trim_end() == "---" {
            return Ok(members);
        }
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if let Some(item) = trimmed.strip_prefix("- ") {
            let last = members.last_mut().filter(|member| member.list);
            let member = last.ok_or_else(|| wrong("a list item belongs to no key"))?;
            member.values.push(plain_value(item).ok_or_else(|| wrong("the value is not plain text"))?);
            continue;
        }
        if line.starts_with([' ', '\t']) {
            // What a nested map says is nobody's business here; it must not pass for a member.
            if members.last().is_some_and(|member| member.list) {
                continue;
            }
            return Err(wrong("a value goes on over several lines"));
        }
        let (name, value) = trimmed.split_once(':').ok_or_else(|| wrong("it is not `key: value`"))?;
        let name = name.trim_end();
        if members.iter().any(|member| member.name == name) {
            return Err(wrong("the key is said twice"));
        }
        let value = value.trim();
        let values = if value.is_empty() {
            Vec::new()
        } else if let Some(inner) = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
            let items = inner.split(',').map(str::trim).filter(|item| !item.is_empty());
            let items: Option<Vec<String>> = items.map(plain_value).collect();
            items.ok_or_else(|| wrong("the value is not plain text"))?
        } else {
            vec![plain_value(value).ok_or_else(|| wrong("the value is not plain text"))?]
        };
        members.push(Member { name: name.to_owned(), list: value.is_empty(), values });
    }
    Err(SkillManifestError::NoFrontMatter)
}

/// A value that every reader of YAML would read alike.
fn plain_value(value: &str) -> Option<String> {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            let inner = inner.strip_suffix(quote)?;
            return (!inner.contains([quote, '\\'])).then(|| inner.to_owned());
        }
    }
    let special = value.starts_with(['&', '*', '!', '|', '>', '%', '@', '`', '{', '[', '?']);
    let comment = value.contains(" #");
    (!special && !comment).then(|| value.to_owned())
}

/// Whether a skill may take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillStanding {
    /// Its bytes are those that were installed.
    Trusted,
    /// They changed since; nobody looked at them again.
    Quarantined,
}

/// Compares the digest that was pinned at installation with that of the bytes there are now.
#[must_use]
pub fn standing(pinned: &[u8; 32], found: &[u8; 32]) -> SkillStanding {
    if pinned == found { SkillStanding::Trusted } else { SkillStanding::Quarantined }
}

/// A skill that is active in a run, as far as tools care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveSkill {
    /// Its name.
    pub name: String,
    /// What it leaves; `None` leaves everything.
    pub allowed_tools: Option<BTreeSet<ToolName>>,
    /// Whether it may take part.
    pub standing: SkillStanding,
}

/// Returns the first active skill that does not include `tool`. A quarantined skill includes nothing: what it once
/// allowed is no longer known to be what it allows.
#[must_use]
pub fn forbidding_skill<'s>(skills: &'s [ActiveSkill], tool: &ToolName) -> Option<&'s str> {
    let forbids = |skill: &&ActiveSkill| match skill.standing {
        SkillStanding::Quarantined => true,
        SkillStanding::Trusted => skill.allowed_tools.as_ref().is_some_and(|tools| !tools.contains(tool)),
    };
    skills.iter().find(forbids).map(|skill| skill.name.as_str())
}

#[cfg(test)]
mod tests;
