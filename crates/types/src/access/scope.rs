//! What a credential may be used for: a closed list of scopes, and roles as named sets of them.
//!
//! Knows no operation; which scope an operation needs is declared in the schemas. Begin at [`AccessScope`].

use std::fmt;
use std::str::FromStr;

/// One thing that a credential may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AccessScope {
    /// Start, steer and stop runs, and work with what they left.
    Runs,
    /// Read one's own runs, sessions and approvals.
    RunsRead,
    /// Decide approvals.
    Approve,
    /// Use the OpenAI-compatible endpoints.
    Openai,
    /// Read and write memory.
    Memory,
    /// Read and change schedules.
    Schedules,
    /// Deliver and receive the messages of a channel.
    Channel,
    /// Read the daemon's metrics.
    Metrics,
    /// Look after the daemon. A change needs the owner's socket or a fresh confirmation as well.
    Admin,
}

impl AccessScope {
    /// Every scope.
    pub const ALL: [Self; 9] = [
        Self::Runs,
        Self::RunsRead,
        Self::Approve,
        Self::Openai,
        Self::Memory,
        Self::Schedules,
        Self::Channel,
        Self::Metrics,
        Self::Admin,
    ];

    /// Returns its name, such as `runs.read`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::RunsRead => "runs.read",
            Self::Approve => "approve",
            Self::Openai => "openai",
            Self::Memory => "memory",
            Self::Schedules => "schedules",
            Self::Channel => "channel",
            Self::Metrics => "metrics",
            Self::Admin => "admin",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u8
    }
}

impl fmt::Display for AccessScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text is not the name of a scope or a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what}; known are {known}")]
pub struct UnknownName {
    what: &'static str,
    known: String,
}

impl FromStr for AccessScope {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| UnknownName { what: "scope", known: Self::ALL.map(Self::name).join(", ") })
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ScopeSet(u16);

impl ScopeSet {
    /// No scope.
    pub const NONE: Self = Self(0);
    /// What tokens may do that were made before tokens had scopes.
    pub const BEFORE_SCOPES: Self = Self::of(&[AccessScope::Runs, AccessScope::RunsRead]);
    /// Every scope.
    pub const ALL: Self = Self::of(&AccessScope::ALL);

    /// Makes a set.
    #[must_use]
    pub const fn of(scopes: &[AccessScope]) -> Self {
        let mut bits = 0;
        let mut rest = scopes;
        while let [first, others @ ..] = rest {
            bits |= first.bit();
            rest = others;
        }
        Self(bits)
    }

    /// Returns whether a scope is in the set.
    #[must_use]
    pub const fn contains(self, scope: AccessScope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Returns the set without one scope.
    #[must_use]
    pub const fn without(self, scope: AccessScope) -> Self {
        Self(self.0 & !scope.bit())
    }

    /// Returns the scopes that are in both sets.
    #[must_use]
    pub const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the set as bits, for tables that are made again from the journal.
    #[must_use]
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// Reads bits; those of no scope are left out.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Returns the scopes in the order of their list.
    pub fn iter(self) -> impl Iterator<Item = AccessScope> {
        AccessScope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }
}

impl FromIterator<AccessScope> for ScopeSet {
    fn from_iter<T: IntoIterator<Item = AccessScope>>(scopes: T) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(AccessScope::name).collect();
        f.write_str(&names.join(","))
    }
}

impl fmt::Debug for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopeSet({self})")
    }
}

/// What a principal may do: a named set of scopes. A credential never has more than its principal's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Role {
    /// Looks after the daemon, and everything else.
    Owner,
    /// Works with runs of their own and decides their approvals. Principals from before there were roles have it.
    #[default]
    Member,
    /// Decides approvals.
    Approver,
    /// Reads.
    Viewer,
    /// Executes tools on another machine: no operation of a person.
    Worker,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 5] = [Self::Owner, Self::Member, Self::Approver, Self::Viewer, Self::Worker];

    /// Returns its name, such as `member`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Member => "member",
            Self::Approver => "approver",
            Self::Viewer => "viewer",
            Self::Worker => "worker",
        }
    }

    /// Returns what it allows.
    #[must_use]
    pub const fn scopes(self) -> ScopeSet {
        use AccessScope::{Approve, Memory, Openai, Runs, RunsRead, Schedules};
        match self {
            Self::Owner => ScopeSet::ALL,
            Self::Member => ScopeSet::of(&[Runs, RunsRead, Approve, Openai, Memory, Schedules]),
            Self::Approver => ScopeSet::of(&[RunsRead, Approve]),
            Self::Viewer => ScopeSet::of(&[RunsRead]),
            Self::Worker => ScopeSet::NONE,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|role| role.name() == text);
        found.ok_or_else(|| UnknownName { what: "role", known: Self::ALL.map(Self::name).join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        let set: ScopeSet = [AccessScope::Admin, AccessScope::Runs, AccessScope::Runs].into_iter().collect();
        assert_eq!(set, ScopeSet::of(&[AccessScope::Runs, AccessScope::Admin]));
        assert_eq!(set.to_string(), "runs,admin");
        assert_eq!(set.without(AccessScope::Admin).iter().collect::<Vec<_>>(), [AccessScope::Runs]);
        assert_eq!(set.both(ScopeSet::BEFORE_SCOPES), ScopeSet::of(&[AccessScope::Runs]));
        for scope in AccessScope::ALL {
            assert_eq!(scope.name().parse(), Ok(scope));
            assert!(ScopeSet::ALL.contains(scope) && !ScopeSet::NONE.contains(scope));
        }
        assert!("root".parse::<AccessScope>().is_err());
    }

    #[test]
    fn what_each_role_allows() {
        let table: Vec<String> =
            Role::ALL.into_iter().map(|role| format!("{role}: {}", role.scopes())).collect();
        assert_eq!(
            table,
            [
                "owner: runs,runs.read,approve,openai,memory,schedules,channel,metrics,admin",
                "member: runs,runs.read,approve,openai,memory,schedules",
                "approver: runs.read,approve",
                "viewer: runs.read",
                "worker: ",
            ]
        );
        for role in Role::ALL {
            assert_eq!(role.name().parse(), Ok(role));
        }
    }

    /// An old token goes on working, and decides nothing.
    #[test]
    fn a_token_from_before_scopes_may_not_decide() {
        assert!(!ScopeSet::BEFORE_SCOPES.contains(AccessScope::Approve));
        assert!(!ScopeSet::BEFORE_SCOPES.contains(AccessScope::Admin));
    }
}
