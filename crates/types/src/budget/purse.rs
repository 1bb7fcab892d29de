//! The purses that a run draws on, from the total down to its schedule.
//!
//! Owns which purses are on the path of a run, and which of them a scope selects. Knows no limits.

use std::fmt;

use crate::{AgentId, ChannelId, PrincipalId, RunId, ScheduleId, SessionId};

/// A kind of purse. The order is that of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PurseKind {
    /// The one of the whole daemon.
    Total,
    /// One for each principal.
    Principal,
    /// One for each agent.
    Agent,
    /// One for each session.
    Session,
    /// One for each channel.
    Channel,
    /// One for each schedule.
    Schedule,
}

impl PurseKind {
    /// Every kind with its word, in the order of the path.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Total, "total"),
        (Self::Principal, "principal"),
        (Self::Agent, "agent"),
        (Self::Session, "session"),
        (Self::Channel, "channel"),
        (Self::Schedule, "schedule"),
    ];
}

crate::words::words_of_table!(PurseKind);

/// One purse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PurseKey {
    /// That of the whole daemon.
    Total,
    /// That of a principal.
    Principal(PrincipalId),
    /// That of an agent.
    Agent(AgentId),
    /// That of a session.
    Session(SessionId),
    /// That of a channel.
    Channel(ChannelId),
    /// That of a schedule.
    Schedule(ScheduleId),
}

impl PurseKey {
    /// Returns its kind.
    #[must_use]
    pub fn kind(self) -> PurseKind {
        match self {
            Self::Total => PurseKind::Total,
            Self::Principal(_) => PurseKind::Principal,
            Self::Agent(_) => PurseKind::Agent,
            Self::Session(_) => PurseKind::Session,
            Self::Channel(_) => PurseKind::Channel,
            Self::Schedule(_) => PurseKind::Schedule,
        }
    }
}

impl fmt::Display for PurseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().as_str())?;
        match self {
            Self::Total => Ok(()),
            Self::Principal(id) => write!(f, " {id}"),
            Self::Agent(id) => write!(f, " {id}"),
            Self::Session(id) => write!(f, " {id}"),
            Self::Channel(id) => write!(f, " {id}"),
            Self::Schedule(id) => write!(f, " {id}"),
        }
    }
}

/// The purses of a run. Recorded once when it starts; its children and the auxiliary calls on its behalf get the same path,
/// so a second agent, a branch or a title does not escape a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PursePath {
    /// The run at the root: a child draws on what its parent may use.
    pub run: RunId,
    /// Who asked.
    pub principal: PrincipalId,
    /// Its agent.
    pub agent: Option<AgentId>,
    /// Its session.
    pub session: Option<SessionId>,
    /// The channel that its input came by.
    pub channel: Option<ChannelId>,
    /// The schedule that started it.
    pub schedule: Option<ScheduleId>,
}

impl PursePath {
    /// Returns the purse of one kind.
    #[must_use]
    pub fn purse(&self, kind: PurseKind) -> Option<PurseKey> {
        match kind {
            PurseKind::Total => Some(PurseKey::Total),
            PurseKind::Principal => Some(PurseKey::Principal(self.principal)),
            PurseKind::Agent => self.agent.map(PurseKey::Agent),
            PurseKind::Session => self.session.map(PurseKey::Session),
            PurseKind::Channel => self.channel.map(PurseKey::Channel),
            PurseKind::Schedule => self.schedule.map(PurseKey::Schedule),
        }
    }

    /// Returns all purses in the order of the path.
    #[must_use]
    pub fn purses(&self) -> Vec<PurseKey> {
        PurseKind::ALL.iter().filter_map(|(kind, _)| self.purse(*kind)).collect()
    }
}

/// The purses that a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BudgetScope {
    /// Each purse of a kind, on its own.
    Each(PurseKind),
    /// One purse.
    One(PurseKey),
}

impl BudgetScope {
    /// Returns the purse on a path that the scope selects.
    #[must_use]
    pub fn purse_on(self, path: &PursePath) -> Option<PurseKey> {
        match self {
            Self::Each(kind) => path.purse(kind),
            Self::One(purse) => path.purse(purse.kind()).filter(|on_path| *on_path == purse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> PursePath {
        PursePath {
            run: RunId::from_parts(1, 1),
            principal: PrincipalId::from_parts(1, 2),
            agent: Some(AgentId::from_parts(1, 3)),
            session: Some(SessionId::from_parts(1, 4)),
            channel: None,
            schedule: Some(ScheduleId::from_parts(1, 5)),
        }
    }

    #[test]
    fn a_path_has_its_purses_in_order_and_leaves_absent_ones_out() {
        let kinds: Vec<&str> = path().purses().into_iter().map(|purse| purse.kind().as_str()).collect();
        assert_eq!(kinds, ["total", "principal", "agent", "session", "schedule"]);
    }

    #[test]
    fn a_scope_selects_the_purse_on_the_path_or_none() {
        let mine = PurseKey::Principal(PrincipalId::from_parts(1, 2));
        let other = PurseKey::Principal(PrincipalId::from_parts(1, 9));
        for (scope, expected) in [
            (BudgetScope::One(PurseKey::Total), Some(PurseKey::Total)),
            (BudgetScope::Each(PurseKind::Principal), Some(mine)),
            (BudgetScope::One(mine), Some(mine)),
            (BudgetScope::One(other), None),
            (BudgetScope::Each(PurseKind::Channel), None),
            (BudgetScope::One(PurseKey::Channel(ChannelId::from_parts(1, 1))), None),
        ] {
            assert_eq!(scope.purse_on(&path()), expected, "{scope:?}");
        }
    }

    #[test]
    fn purses_are_shown_with_kind_and_id() {
        assert_eq!(PurseKey::Total.to_string(), "total");
        let id = SessionId::from_parts(1, 4);
        assert_eq!(PurseKey::Session(id).to_string(), format!("session {id}"));
        let id = ChannelId::from_parts(1, 10);
        assert_eq!(PurseKey::Channel(id).to_string(), format!("channel {id}"));
        for (kind, word) in PurseKind::ALL {
            assert_eq!(PurseKind::of(word), Some(kind));
        }
    }
}
