//! Folders that are read-only for a program, so that it runs although a rule forbids writing there.
//!
//! Owns which folders these are: the request is asked again as if the program wrote into one named folder after the
//! other. Knows no mount. Invariant: with these folders read-only, no forbid is met by what the program reads or by what
//! it writes; where that cannot be reached, the program is denied as a whole.

use std::collections::BTreeSet;

use palyra_types::path_reading::PathReading;

use super::evaluate::{Answer, AssumedFacts, ForbidIds};
use super::set::PolicySet;
use crate::request::PolicyRequest;

/// How many folders of rules are tried for one call; rules that name more deny a program as a whole.
const FOLDERS_MAX: usize = 64;

/// What keeps a program in mounts of its own, as `context.sandbox` names it.
const WITH_MOUNTS: [&str; 4] = ["confined_uncounted", "confined", "isolated_uncounted", "isolated"];

/// A folder to which a program may not write, and the rules that say so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOnlyFolder {
    /// From the workspace root; `.` for all of it.
    pub folder: String,
    /// The rules, by id.
    pub policies: Vec<String>,
}

/// A program that may run with some folders read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithReadOnly {
    /// What the policies say to it then.
    pub(crate) answer: Answer,
    /// The folders, in order.
    pub(crate) folders: Vec<ReadOnlyFolder>,
}

/// Returns whether the sandbox of a call can make a folder read-only for it.
pub(crate) fn has_mounts(request: &PolicyRequest) -> bool {
    WITH_MOUNTS.contains(&request.sandbox())
}

/// Returns with which folders read-only a denied call of a program would not be forbidden; `None` when nothing but its
/// denial keeps to the rules.
pub(crate) fn with_read_only(policies: &PolicySet, request: &PolicyRequest) -> Option<WithReadOnly> {
    let reading = reading_only(request)?;
    let named = policies.named_folders(request);
    if named.is_empty() || named.len() > FOLDERS_MAX {
        return None;
    }
    // A read-only folder can still be read, and all others as well.
    let read = policies.forbids(&reading, &policies.named_folders(&reading)).ok()?;
    let forbidden = |folders: &BTreeSet<String>| policies.forbids(request, folders).ok();
    if !read.execute.is_empty() || !forbidden(&BTreeSet::new())?.execute.is_empty() {
        return None;
    }
    let (mut writable, mut read_only) = (named.clone(), Vec::new());
    for name in &named {
        let ForbidIds { execute, .. } = forbidden(&BTreeSet::from([name.clone()]))?;
        if !execute.is_empty() {
            writable.remove(name);
            read_only.push(read_only_folder(name, execute)?);
        }
    }
    // What several folders together make forbidden: none of them is written to.
    let together = forbidden(&writable)?.execute;
    if !together.is_empty() {
        for name in std::mem::take(&mut writable) {
            read_only.push(read_only_folder(&name, together.clone())?);
        }
    }
    let supposed = AssumedFacts { folders: &writable, unattended: read.unattended.is_empty() };
    let answer = policies.ask_in(request, supposed);
    read_only.sort_by(|a, b| a.folder.cmp(&b.folder));
    Some(WithReadOnly { answer, folders: read_only })
}

/// Returns the request of a program that writes nothing; `None` for a call that is not about a program, or that writes
/// nothing anyway.
fn reading_only(request: &PolicyRequest) -> Option<PolicyRequest> {
    let can = |capability| request.tool.capabilities.contains(capability);
    if !can("process") || can("component") {
        return None;
    }
    let mut reading = request.clone();
    reading.tool.capabilities.remove("write_files").then_some(reading)
}

/// Returns a folder as it lies below the workspace; `None` for one that lies elsewhere, where no mount is made.
fn read_only_folder(name: &str, policies: Vec<String>) -> Option<ReadOnlyFolder> {
    let reading = PathReading::read(name, None);
    let is_plain = !name.contains('\0') && !name.contains('\\');
    (is_plain && !reading.is_outside()).then(|| ReadOnlyFolder { folder: reading.to_string(), policies })
}

#[cfg(test)]
mod tests;
