//! Folders that rules look for: which of them a call may reach, and in which of them all of it stays.
//!
//! Owns what `context.folders` and `context.within` hold: names of folders as the rules write them, so there are never more
//! than rules name. Both are worked out when a request is asked, so recorded requests have them too.
//! Invariant: in doubt a call reaches a folder and does not stay in it; a rule that would profit from the doubt is refused.

use std::collections::BTreeSet;

use cedar_policy::{Effect, Policy};
use palyra_types::path_reading::PathReading;
use palyra_types::places::folded;
use serde_json::Value;

use crate::request::PolicyRequest;

/// Returns the named folders that a call may reach: a path of it is there, or above, or would be by another reading; or it
/// is about programs or components, whose arguments say nothing about what they do.
pub(crate) fn reached(named: &BTreeSet<String>, request: &PolicyRequest) -> BTreeSet<String> {
    if works_anywhere(request) {
        return named.clone();
    }
    let readings: Vec<PathReading> =
        request.context.paths.iter().flat_map(|path| readings_of(path)).collect();
    let is_reached = |folder: &PathReading| readings.iter().any(|path| may_meet(folder, path));
    named.iter().filter(|name| is_reached(&PathReading::read(name, None))).cloned().collect()
}

/// Returns the named folders in which every path of a call lies.
pub(crate) fn within(named: &BTreeSet<String>, request: &PolicyRequest) -> BTreeSet<String> {
    let paths = &request.context.paths;
    if works_anywhere(request) || paths.is_empty() {
        return BTreeSet::new();
    }
    let readings: Vec<PathReading> = paths.iter().flat_map(|path| readings_of(path)).collect();
    let holds_all = |folder: &PathReading| readings.iter().all(|path| lies_in(folder, path));
    named.iter().filter(|name| holds_all(&PathReading::read(name, None))).cloned().collect()
}

/// Whether the arguments of a call do not say where it works.
fn works_anywhere(request: &PolicyRequest) -> bool {
    ["process", "component"].into_iter().any(|capability| request.tool.capabilities.contains(capability))
}

/// A path, and what it would be if a backslash separated names.
fn readings_of(path: &str) -> Vec<PathReading> {
    let slashed = path.replace('\\', "/");
    let other = (slashed != path).then(|| PathReading::read(&slashed, None));
    [Some(PathReading::read(path, None)), other].into_iter().flatten().collect()
}

/// Whether one of a folder and a path lies in the other, as a careless file system compares names.
fn may_meet(folder: &PathReading, path: &PathReading) -> bool {
    (folder.anchor(), folder.climbs()) == (path.anchor(), path.climbs())
        && folder.names().iter().zip(path.names()).all(|(a, b)| folded(a) == folded(b))
}

/// Whether a path is a folder or lies in it, by the very names.
fn lies_in(folder: &PathReading, path: &PathReading) -> bool {
    (folder.anchor(), folder.climbs()) == (path.anchor(), path.climbs())
        && path.names().starts_with(folder.names())
}

/// Returns what is wrong and how to mend it when a policy would permit more because it is not known what a call reaches.
pub(crate) fn misused_folders(policy: &Policy) -> Option<(String, String)> {
    let json = policy.to_json().ok()?;
    let conditions = json.get("conditions").and_then(Value::as_array)?;
    let mut use_of = FolderUse { forbids: policy.effect() == Effect::Forbid, wrong: None };
    for condition in conditions {
        let is_unless = condition.get("kind").and_then(Value::as_str) == Some("unless");
        use_of.look(
            condition.get("body")?,
            if is_unless { ConditionSign::Lessens } else { ConditionSign::Adds },
        );
    }
    let wrong = use_of.wrong?;
    let what = format!("`context.{wrong}` is used where an undecided path would permit more");
    let mend = "look for folders in `context.folders` where they are forbidden, in `context.within` where they are \
                permitted or excepted";
    Some((what, mend.to_owned()))
}

/// Returns how to mend the name of a folder that no call ever reaches; `None` where one could.
pub(crate) fn mend_of_folder(written: &str) -> Option<String> {
    let is_pattern = |name: &str| name.contains('*');
    let has_step = written.split('/').any(|name| name == "..");
    let has_home = written.starts_with(['~', '$']);
    if !written.starts_with('/') && !written.contains(['*', '\\']) && !has_step && !has_home {
        return None;
    }
    let from_root = written.replace('\\', "/");
    let reading = PathReading::read(&from_root, None);
    let names = reading.names();
    let likely = if reading.is_outside() || has_home {
        names.iter().rev().find(|name| !is_pattern(name)).cloned().unwrap_or_default()
    } else {
        names.iter().take_while(|name| !is_pattern(name)).cloned().collect::<Vec<_>>().join("/")
    };
    let rule = "a folder is written from the workspace root, without patterns, and all below it counts";
    let suggested = if likely.is_empty() { String::new() } else { format!("did you mean \"{likely}\"? ") };
    Some(format!("{suggested}{rule}"))
}

/// Returns the expressions that look for a folder.
pub(crate) fn folder_example(folder: &str) -> String {
    format!(
        "for a folder write `context.folders.contains(\"{folder}\")` to forbid, `context.within.contains(\"{folder}\")` to permit"
    )
}

/// Returns the form in which a path is in a request, where it is written in another one.
pub(crate) fn mend_of_path(written: &str) -> Option<String> {
    let normal = PathReading::read(written, None).to_string();
    if written.contains('*') {
        let folder = mend_of_folder(written).and_then(|mend| Some(mend.split('"').nth(1)?.to_owned()));
        return Some(folder_example(folder.as_deref().unwrap_or("docs")));
    }
    (normal != written).then(|| format!("did you mean \"{normal}\"?"))
}

/// What an expression that becomes true does to the condition around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConditionSign {
    Adds,
    Lessens,
    Either,
}

impl ConditionSign {
    fn flipped(self) -> Self {
        match self {
            Self::Adds => Self::Lessens,
            Self::Lessens => Self::Adds,
            Self::Either => Self::Either,
        }
    }
}

struct FolderUse {
    forbids: bool,
    wrong: Option<&'static str>,
}

impl FolderUse {
    fn look(&mut self, expression: &Value, sign: ConditionSign) {
        match expression {
            Value::Object(members) => {
                members.iter().for_each(|(operator, operand)| self.operator(operator, operand, sign));
            }
            Value::Array(all) => all.iter().for_each(|member| self.look(member, sign)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn operator(&mut self, operator: &str, operand: &Value, sign: ConditionSign) {
        match operator {
            "." => self.member(operand, sign),
            "&&" | "||" | "left" | "right" | "arg" => self.look(operand, sign),
            // More in the set makes it hold more; what is looked for in it is another matter.
            "contains" | "containsAny" | "containsAll" => {
                self.look(operand.get("left").unwrap_or(&Value::Null), sign);
                self.look(operand.get("right").unwrap_or(&Value::Null), ConditionSign::Either);
            }
            "!" => self.look(operand, sign.flipped()),
            "then" | "else" => self.look(operand, sign),
            "if-then-else" => {
                for (part, inner) in operand.as_object().into_iter().flatten() {
                    self.look(inner, if part == "if" { ConditionSign::Either } else { sign });
                }
            }
            _ => self.look(operand, ConditionSign::Either),
        }
    }

    fn member(&mut self, operand: &Value, sign: ConditionSign) {
        let Some(left) = operand.get("left") else { return };
        let attribute = operand.get("attr").and_then(Value::as_str);
        if left.get("Var").and_then(Value::as_str) != Some("context") {
            let is_argument = left.get(".").and_then(|inner| inner.get("attr")?.as_str()) == Some("args");
            let folders = ["folders", "within"].into_iter().find(|name| attribute == Some(*name));
            self.wrong = self.wrong.or(folders.filter(|_| !is_argument));
            self.look(left, ConditionSign::Either);
            return;
        }
        // What adds to a forbid, or takes from a permit, may be too much; the other way round it may be too little.
        let (forbids_more, permits_more) = if self.forbids {
            (ConditionSign::Adds, ConditionSign::Lessens)
        } else {
            (ConditionSign::Lessens, ConditionSign::Adds)
        };
        match attribute {
            Some("folders") if sign != forbids_more => self.wrong = Some("folders"),
            Some("within") if sign != permits_more => self.wrong = Some("within"),
            Some(_) | None => {}
        }
    }
}

#[cfg(test)]
mod tests;
