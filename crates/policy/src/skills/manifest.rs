//! Reads a SKILL.md: its front matter and the words behind it.
//!
//! Owns the small part of YAML that is read: `key: value` on one line and lists of names. Invariant: what two readers of
//! YAML could read differently is not read at all.

use std::collections::BTreeSet;

use palyra_types::tool::ToolName;

/// How long a front matter may be, in bytes.
pub const FRONT_MATTER_BYTES_MAX: usize = 16 * 1024;
/// How many tools a skill may name.
pub const ALLOWED_TOOLS_MAX: usize = 64;
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;
const TOOL_NAME_CHARS_MAX: usize = 64;

/// What a skill says about itself; the format is that of agentskills.io.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillManifest {
    /// Its name: `[a-z0-9]` and single `-` between them, at most 64.
    pub name: String,
    /// What it is for: one line.
    pub description: String,
    /// The tools that may be called while it is at work; `None` when it says nothing.
    pub allowed_tools: Option<BTreeSet<ToolName>>,
}

/// A SKILL.md, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText<'t> {
    /// What it says about itself.
    pub manifest: SkillManifest,
    /// What stands behind the front matter: instructions for the model.
    pub body: &'t str,
}

/// Why a SKILL.md is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillManifestError {
    /// It has no front matter between two lines of `---`.
    #[error(
        "SKILL.md:1:1: it does not begin with a front matter; put its members between two lines of `---`"
    )]
    NoFrontMatter,
    /// The front matter has no end.
    #[error("SKILL.md:{line}:1: the front matter does not end; put a line of `---` behind its members")]
    NoEnd {
        /// The last line.
        line: usize,
    },
    /// The front matter is too long.
    #[error(
        "SKILL.md:{line}:1: the front matter has more than {FRONT_MATTER_BYTES_MAX} bytes; say it behind the front matter"
    )]
    TooLong {
        /// The line at which it is too much.
        line: usize,
    },
    /// A line cannot be read.
    #[error("SKILL.md:{line}:{column}: {why}; {mend}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// What is wrong with it.
        why: &'static str,
        /// What to do about it.
        mend: &'static str,
    },
    /// A member is missing.
    #[error("SKILL.md: `{member}` is missing; add `{member}: ...` to the front matter")]
    Missing {
        /// Its name.
        member: &'static str,
    },
}

/// Reads a SKILL.md: a front matter of plain `key: value` lines and lists of `- item`, nothing else of YAML, and the
/// words behind it. Members that are not known here are passed over: none of them permits anything.
///
/// # Errors
/// [`SkillManifestError`]; what cannot be read with certainty is not read.
pub fn read_skill(text: &str) -> Result<SkillText<'_>, SkillManifestError> {
    let (members, body) = front_matter(text)?;
    let find = |member: &'static str| {
        let found = members.iter().find(|found| found.name == member);
        found.ok_or(SkillManifestError::Missing { member })
    };
    let (name, description) = (find("name")?, find("description")?);
    let allowed_tools = find("allowed-tools").ok().map(tools).transpose()?;
    let manifest = SkillManifest {
        name: one_line(name, is_name, "use 1 to 64 of `a-z`, `0-9` and single `-` between them")?,
        description: one_line(description, is_description, "use 1 to 1,024 visible characters")?,
        allowed_tools,
    };
    Ok(SkillText { manifest, body })
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let dashed = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    !name.is_empty() && name.len() <= NAME_CHARS_MAX && name.chars().all(plain) && !dashed
}

fn is_description(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= DESCRIPTION_CHARS_MAX && !text.contains(is_unseen)
}

/// Whether a character changes what a person sees without being seen.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

struct Value {
    text: String,
    line: usize,
    column: usize,
}

impl Value {
    fn wrong(&self, why: &'static str, mend: &'static str) -> SkillManifestError {
        SkillManifestError::Line { line: self.line, column: self.column, why, mend }
    }
}

struct ManifestMember {
    name: String,
    at: (usize, usize),
    values: Vec<Value>,
    shape: Shape,
}

/// How a member was begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    OneLine,
    /// Nothing stood behind its colon: a list, or a map of somebody else.
    Open,
}

fn one_line(
    member: &ManifestMember,
    fits: impl Fn(&str) -> bool,
    mend: &'static str,
) -> Result<String, SkillManifestError> {
    let [value] = member.values.as_slice() else {
        let (line, column) = member.at;
        return Err(SkillManifestError::Line { line, column, why: "it is not one line of text", mend });
    };
    if member.shape == Shape::Open || !fits(&value.text) {
        return Err(value.wrong("the value does not fit", mend));
    }
    Ok(value.text.clone())
}

fn tools(member: &ManifestMember) -> Result<BTreeSet<ToolName>, SkillManifestError> {
    let mut all = BTreeSet::new();
    for value in &member.values {
        for word in value.text.split([',', ' ', '\t']).filter(|word| !word.is_empty()) {
            if word.chars().count() > TOOL_NAME_CHARS_MAX || word.contains(is_unseen) {
                return Err(value.wrong("it names no tool", "use the names that `palyra doctor` lists"));
            }
            all.insert(ToolName::new(word));
        }
        if all.len() > ALLOWED_TOOLS_MAX {
            return Err(value.wrong("it names more than 64 tools", "name those that it needs"));
        }
    }
    Ok(all)
}

/// Reads the members and returns what stands behind them.
fn front_matter(text: &str) -> Result<(Vec<ManifestMember>, &str), SkillManifestError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n').enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    if first.trim_end() != "---" {
        return Err(SkillManifestError::NoFrontMatter);
    }
    let (mut members, mut read, mut line_number) = (Vec::new(), first.len(), 1);
    for (at, line) in lines {
        line_number = at + 1;
        read += line.len();
        if read > FRONT_MATTER_BYTES_MAX {
            return Err(SkillManifestError::TooLong { line: line_number });
        }
        if line.trim_end() == "---" {
            return Ok((members, &text[read..]));
        }
        read_line(&mut members, line.trim_end(), line_number)?;
    }
    Err(SkillManifestError::NoEnd { line: line_number })
}

fn read_line(members: &mut Vec<ManifestMember>, line: &str, number: usize) -> Result<(), SkillManifestError> {
    let trimmed = line.trim_start();
    let column = line.chars().count() - trimmed.chars().count() + 1;
    let wrong = |why, mend| SkillManifestError::Line { line: number, column, why, mend };
    if trimmed.is_empty() || trimmed.starts_with('#') {
        return Ok(());
    }
    if let Some(item) = trimmed.strip_prefix("- ") {
        let list = members.last_mut().filter(|member| member.shape == Shape::Open);
        let list = list.ok_or_else(|| wrong("a list item belongs to no key", "put it below `key:`"))?;
        list.values.push(plain(item, TextPlace { line: number, column: column + 2 })?);
        return Ok(());
    }
    if line.starts_with([' ', '\t']) {
        // What a nested map says is nobody's business here; it must not pass for a member.
        return match members.last() {
            Some(member) if member.shape == Shape::Open => Ok(()),
            _ => Err(wrong("a value goes on over several lines", "write it on one line")),
        };
    }
    let (name, value) = trimmed
        .split_once(':')
        .ok_or_else(|| wrong("it is not `key: value`", "write it so, or remove it"))?;
    if members.iter().any(|member| member.name == name.trim_end()) {
        return Err(wrong("the key is said twice", "keep one of them"));
    }
    let before_value = trimmed.chars().count() - value.trim_start().chars().count();
    let place = TextPlace { line: number, column: before_value + 1 };
    let value = value.trim_start();
    let mut member = ManifestMember {
        name: name.trim_end().to_owned(),
        at: (number, column),
        values: Vec::new(),
        shape: if value.is_empty() { Shape::Open } else { Shape::OneLine },
    };
    if let Some(inner) = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')) {
        for item in inner.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            member.values.push(plain(item, place)?);
        }
    } else if !value.is_empty() {
        member.values.push(plain(value, place)?);
    }
    members.push(member);
    Ok(())
}

/// A place in the text of a manifest, from 1.
#[derive(Debug, Clone, Copy)]
struct TextPlace {
    line: usize,
    column: usize,
}

/// Reads a value that every reader of YAML would read alike.
fn plain(value: &str, place: TextPlace) -> Result<Value, SkillManifestError> {
    let TextPlace { line, column } = place;
    let wrong = |why, mend| SkillManifestError::Line { line, column, why, mend };
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            let inner = inner.strip_suffix(quote).filter(|inner| !inner.contains([quote, '\\']));
            let inner = inner.ok_or_else(|| {
                wrong("the quotes are not plain", "use one pair, with no quote or `\\` in it")
            })?;
            return Ok(Value { text: inner.to_owned(), line, column });
        }
    }
    if value.starts_with(['|', '>']) {
        return Err(wrong("a text of several lines is not read", "write it on one line"));
    }
    let special = value.starts_with(['&', '*', '!', '%', '@', '`', '{', '[', '?']);
    if special || value.contains(" #") || value.contains(": ") {
        return Err(wrong("the value could be read in two ways", "put it in quotes"));
    }
    Ok(Value { text: value.to_owned(), line, column })
}
