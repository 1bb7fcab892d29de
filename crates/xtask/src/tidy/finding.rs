//! One broken rule at one place.
//!
//! Owns how a finding reads. Knows no rule.

use std::fmt;

/// One broken rule: where, which, what was seen and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TidyFinding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    /// The function, module, crate or name concerned; exceptions may narrow themselves to it.
    pub(crate) item: String,
    pub(crate) what: String,
    pub(crate) mend: &'static str,
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, what, mend, .. } = self;
        write!(out, "{path}:{line}: [{rule}] {what}; {mend}")
    }
}
