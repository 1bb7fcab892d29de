//! One check, and its levels.

use palyra_terminal::NoteKind;
use palyra_wire::v1;
use palyra_wire::v1::CheckLevel;

/// All is well.
pub const OK: CheckLevel = CheckLevel::Ok;
/// It works, and something should be done.
pub const WARNING: CheckLevel = CheckLevel::Warning;
/// Something does not work.
pub const ERROR: CheckLevel = CheckLevel::Error;

/// Makes a check: its name, its level, what was found, and what to do about it.
#[must_use]
pub fn check(name: &str, level: CheckLevel, found: impl Into<String>, mend: &str) -> v1::Check {
    v1::Check { name: name.to_owned(), level: level.into(), found: found.into(), mend: mend.to_owned() }
}

/// On a screen with fewer columns what was found is below the name of its check.
const NARROW_COLUMNS: usize = 60;

/// Returns a check as lines for a screen with so many columns.
#[must_use]
pub fn check_lines(check: &v1::Check, columns: Option<usize>) -> Vec<String> {
    let sign = match check.level() {
        CheckLevel::Ok => NoteKind::Good.sign(),
        CheckLevel::Warning => NoteKind::Doubt.sign(),
        CheckLevel::Error | CheckLevel::Unspecified => NoteKind::Bad.sign(),
    };
    let mut lines = if columns.is_some_and(|columns| columns < NARROW_COLUMNS) {
        vec![format!("{sign} {}", check.name), format!("  {}", check.found)]
    } else {
        vec![format!("{sign} {:<21} {}", check.name, check.found)]
    };
    if check.level() != CheckLevel::Ok && !check.mend.is_empty() {
        lines.push(format!("  {}", check.mend));
    }
    lines
}
