//! What a rule wants of an approval, and who could give one.

use std::time::Duration;

use crate::PrincipalId;
use crate::access::Role;

/// People whose yes one rule may want, at most.
pub const APPROVALS_NEEDED_MAX: u32 = 8;

/// How long an approval waits when no rule says otherwise.
pub const APPROVAL_SPAN_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a rule may let it wait, at most.
pub const APPROVAL_SPAN_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Returns the arguments that a call of a tool of one file may leave out, where none of them changes anything but the file
/// that `path` names: a grant for the files below a folder can cover them unseen.
#[must_use]
pub fn optional_file_arguments(tool: &str) -> &'static [&'static str] {
    match tool {
        "edit_file" => &["all"],
        "write_file" => &["mode"],
        _ => &[],
    }
}

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

/// People that one rule may name, at most.
pub const NAMED_APPROVERS_MAX: usize = 4;

/// Who may decide, where a rule names them: all principals with one of some roles, and some people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ApproverSet {
    /// One bit for each role, in the order of [`Role::ALL`].
    roles: u8,
    people: [Option<PrincipalId>; NAMED_APPROVERS_MAX],
}

impl ApproverSet {
    /// Adds all principals with a role.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.roles |= role_bit(role);
        self
    }

    /// Adds a person; where there are [`NAMED_APPROVERS_MAX`] already, nothing changes.
    #[must_use]
    pub fn with_person(mut self, person: PrincipalId) -> Self {
        if let Some(free) = self.people.iter_mut().find(|known| known.is_none_or(|known| known == person)) {
            *free = Some(person);
        }
        self
    }

    /// Returns whether a person who has this role is one of them.
    #[must_use]
    pub fn contains(&self, person: PrincipalId, role: Role) -> bool {
        self.roles & role_bit(role) != 0 || self.people.contains(&Some(person))
    }

    /// Returns the roles.
    pub fn roles(&self) -> impl Iterator<Item = Role> {
        let roles = self.roles;
        Role::ALL.into_iter().filter(move |role| roles & role_bit(*role) != 0)
    }

    /// Returns the people who are named themselves.
    pub fn people(&self) -> impl Iterator<Item = PrincipalId> {
        self.people.into_iter().flatten()
    }
}

fn role_bit(role: Role) -> u8 {
    Role::ALL.iter().position(|one| *one == role).map_or(0, |place| 1 << place)
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
    /// Who may decide; without it the person of the run and owners.
    pub approvers: Option<ApproverSet>,
}

impl ApprovalTerms {
    /// Returns whether one yes of any person who may decide is enough: only such a yes can be given in advance.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.needed == 1 && self.separation == SeparationRule::AnyPerson && self.approvers.is_none()
    }
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self {
            span: APPROVAL_SPAN_DEFAULT,
            at_expiry: AtExpiry::default(),
            separation: SeparationRule::default(),
            needed: 1,
            approvers: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_roles_and_its_people_and_nobody_else() {
        let [alice, bob] = [1, 2].map(|number| PrincipalId::from_parts(number, 1));
        let set = ApproverSet::default().with_role(Role::Approver).with_person(alice).with_person(alice);
        assert!(set.contains(alice, Role::Viewer) && set.contains(bob, Role::Approver));
        assert!(!set.contains(bob, Role::Owner) && !set.contains(bob, Role::Member));
        assert_eq!((set.roles().collect(), set.people().collect()), (vec![Role::Approver], vec![alice]));
        let full = (1..9).fold(set, |set, number| set.with_person(PrincipalId::from_parts(number, 1)));
        assert_eq!(full.people().count(), NAMED_APPROVERS_MAX);
    }
}
