//! What lies at a path, by its names: credentials, what runs later, build files, instructions of agents.
//!
//! Owns the one reading of the table for policy, which tells a person, for tools, which leave credentials out, and for
//! components, which change none of it. Invariant: a name is compared as a careless file system would compare it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The table, as `data/places.tsv` has it.
static ROWS: LazyLock<Vec<PlaceRow>> =
    LazyLock::new(|| include_str!("../data/places.tsv").lines().filter_map(PlaceRow::read).collect());

/// Paths of one kind, known from one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRow {
    /// What lies there.
    pub kind: PlaceKind,
    /// The documentation of the program that reads it.
    pub source: &'static str,
    /// Names with `/` between them, in lower case; in a name one `*` is any text.
    pub paths: Vec<&'static str>,
}

/// Returns the table.
#[must_use]
pub fn place_rows() -> &'static [PlaceRow] {
    &ROWS
}

impl PlaceRow {
    fn read(line: &'static str) -> Option<Self> {
        let mut parts = line.split('\t');
        let (kind, source, paths) = (parts.next()?, parts.next()?, parts.next()?);
        let kind = PlaceKind::ALL.into_iter().find(|(_, name)| *name == kind).map(|(kind, _)| kind)?;
        Some(Self { kind, source, paths: paths.split(' ').collect() })
    }
}

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceKind {
    /// Keys, tokens, passwords.
    Credentials,
    /// What a shell, an editor, git or a pipeline runs by itself.
    RunsLater,
    /// What runs when a person builds, tests or installs.
    BuildFiles,
    /// What an agent takes as its instructions.
    AgentInstructions,
    /// A file beside a secret one that is made to be read: no credentials, whatever else its name says.
    Readable,
}

impl PlaceKind {
    /// Each with its name in the table.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Credentials, "credentials"),
        (Self::RunsLater, "runs_later"),
        (Self::BuildFiles, "build_files"),
        (Self::AgentInstructions, "agent_instructions"),
        (Self::Readable, "readable"),
    ];
}

/// A name as a careless file system would compare it: without case, without letters that nobody sees, without the
/// dots and spaces at its end, wide letters narrowed.
#[must_use]
pub fn folded(name: &str) -> String {
    let seen = name.chars().filter(|c| !is_unseen(*c)).map(|c| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{2024}' | '\u{3002}' => '.',
        c => c,
    });
    let lower: String = seen.flat_map(char::to_lowercase).collect();
    lower.trim_end_matches(['.', ' ']).to_owned()
}

fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
        || c.is_control()
}

/// Returns whether git keeps its own things under a folded name: hooks and settings, which run commands.
#[must_use]
pub fn is_git(name: &str) -> bool {
    name == ".git" || name == "git~1"
}

/// Returns the folded names of a path that is written with `/`.
#[must_use]
pub fn folded_names(path: &str) -> Vec<String> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".").map(folded).collect()
}

/// Returns the kinds of a place, from its folded names; the whole path counts, not only its end.
#[must_use]
pub fn kinds_of(names: &[String]) -> BTreeSet<PlaceKind> {
    let ends = (1..=names.len()).map(|end| &names[..end]);
    let mut kinds = BTreeSet::new();
    for above in ends {
        let is_end = above.len() == names.len();
        kinds.extend(
            kinds_at(above).filter(|(_, reach)| is_end || *reach == PathReach::Below).map(|(kind, _)| kind),
        );
    }
    kinds
}

/// Returns whether a path of these folded names leads to credentials.
#[must_use]
pub fn is_credential(names: &[String]) -> bool {
    (1..=names.len()).any(|end| is_credential_itself(&names[..end]))
}

/// Returns whether the last of these folded names is that of credentials; those above it were looked at before.
#[must_use]
pub fn is_credential_itself(names: &[String]) -> bool {
    has_kind(names, PlaceKind::Credentials) && !has_kind(names, PlaceKind::Readable)
}

/// Returns whether something runs by itself what the last of these folded names is; those above it were looked at before.
#[must_use]
pub fn runs_later_itself(names: &[String]) -> bool {
    has_kind(names, PlaceKind::RunsLater)
}

/// Returns whether the last of these folded names lies where no component changes anything.
#[must_use]
pub fn is_steering(names: &[String]) -> bool {
    kinds_at(names).any(|(kind, _)| kind != PlaceKind::Credentials)
}

/// Returns whether it takes a further name below the last of these folded names to know what lies there.
#[must_use]
pub fn leads_to_steering(names: &[String]) -> bool {
    let leads = |path: &str| {
        let path = path.trim_end_matches('/');
        path.match_indices('/').any(|(end, _)| ends_with(names, &path[..end]))
    };
    let steering = place_rows().iter().filter(|row| row.kind != PlaceKind::Credentials);
    steering.flat_map(|row| &row.paths).any(|path| leads(path))
}

/// How much of a path a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathReach {
    /// The place itself.
    Itself,
    /// All below it, too.
    Below,
}

/// Returns the kinds that the last name makes, with those above it.
fn kinds_at(names: &[String]) -> impl Iterator<Item = (PlaceKind, PathReach)> {
    let is_readable = has_kind(names, PlaceKind::Readable);
    place_rows().iter().filter(|row| row.kind != PlaceKind::Readable).flat_map(move |row| {
        let found = row.paths.iter().find_map(|path| match_of(names, row.kind, path))?;
        (row.kind != PlaceKind::Credentials || !is_readable).then_some((row.kind, found))
    })
}

fn has_kind(names: &[String], kind: PlaceKind) -> bool {
    place_rows()
        .iter()
        .any(|row| row.kind == kind && row.paths.iter().any(|path| match_of(names, kind, path).is_some()))
}

fn match_of(names: &[String], kind: PlaceKind, path: &str) -> Option<PathReach> {
    let folder = path.strip_suffix('/');
    let anywhere = matches!(kind, PlaceKind::Credentials | PlaceKind::RunsLater) || folder.is_some();
    let found = ends_with(names, folder.unwrap_or(path));
    found.then_some(if anywhere { PathReach::Below } else { PathReach::Itself })
}

fn ends_with(names: &[String], path: &str) -> bool {
    let mut names = names.iter().rev();
    path.rsplit('/').all(|wanted| names.next().is_some_and(|name| is_named(name, wanted)))
}

/// Returns whether a folded name is the wanted one, in which at most one `*` is any text.
fn is_named(name: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        None => name == wanted,
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests;
