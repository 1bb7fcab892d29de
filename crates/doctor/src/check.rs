//! One check, and its levels.

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
