//! What a rule wants of an approval, and who could give one.

use std::time::Duration;

/// People whose yes one rule may want, at most.
pub const APPROVALS_NEEDED_MAX: u32 = 8;

/// How long an approval waits when no rule says otherwise.
pub const APPROVAL_SPAN_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a rule may let it wait, at most.
pub const APPROVAL_SPAN_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Whether somebody could approve the calls of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ApproverPresence {
    /// A known person has an inbox.
    #[default]
    Inbox,
    /// Whoever started the run said that nobody will.
    Nobody,
}

/// Who may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SeparationRule {
    /// Also the person for whom the run works.
    #[default]
    AnyPerson,
    /// Only somebody else.
    AnotherPerson,
}

/// What happens when nobody answers in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AtExpiry {
    /// The call is denied.
    #[default]
    Deny,
    /// It stays parked until somebody answers; also where nobody could be asked at once.
    Park,
}

/// What a rule wants of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ApprovalTerms {
    /// How long it waits, at most [`APPROVAL_SPAN_MAX`].
    pub span: Duration,
    /// What happens then.
    pub at_expiry: AtExpiry,
    /// Whose yes counts.
    pub separation: SeparationRule,
    /// How many different people have to say yes: 1 to [`APPROVALS_NEEDED_MAX`].
    pub needed: u32,
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self {
            span: APPROVAL_SPAN_DEFAULT,
            at_expiry: AtExpiry::default(),
            separation: SeparationRule::default(),
            needed: 1,
        }
    }
}
