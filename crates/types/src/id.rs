//! Identifiers: one newtype per thing, so that no id is mistaken for another.
//!
//! ULID-shaped ids print as 26 characters of Crockford base32 (the ULID specification). Counters are
//! plain integers. Nothing here makes a *random* id: entropy comes from its port.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ulid::Ulid;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a ULID: 26 characters of Crockford base32 are expected")]
pub struct InvalidId {
    given: String,
}

/// An id that is made of a time and chance.
pub trait TimedId: Sized {
    /// Makes an id from milliseconds since the Unix epoch and 80 bits of entropy.
    fn of_parts(unix_ms: u64, random: u128) -> Self;
}

macro_rules! ulid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Ulid);

        impl $name {
            /// The absent id: sixteen zero bytes, as the envelope stores "none".
            pub const NIL: Self = Self(Ulid::nil());

            /// Makes an id from milliseconds since the Unix epoch and 80 bits of entropy.
            #[must_use]
            pub fn from_parts(unix_ms: u64, random: u128) -> Self {
                Self(Ulid::from_parts(unix_ms & ((1 << 48) - 1), random & ((1 << 80) - 1)))
            }

            /// Returns the milliseconds since the Unix epoch that it was made of.
            #[must_use]
            pub fn unix_ms(self) -> u64 {
                self.0.timestamp_ms()
            }

            /// Returns the sixteen bytes, most significant first.
            #[must_use]
            pub fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }

            /// Reads sixteen bytes, most significant first.
            #[must_use]
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Ulid::from_bytes(bytes))
            }

            /// Reads sixteen bytes; `None` when they are all zero, which means "absent".
            #[must_use]
            pub fn from_bytes_or_none(bytes: [u8; 16]) -> Option<Self> {
                (bytes != [0; 16]).then(|| Self::from_bytes(bytes))
            }
        }

        impl TimedId for $name {
            fn of_parts(unix_ms: u64, random: u128) -> Self {
                Self::from_parts(unix_ms, random)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let given = || InvalidId { given: text.chars().take(40).collect() };
                let id = Ulid::from_string(text).map_err(|_| given())?;
                // The decoder forgives lower case and overflow; the canonical form is the only one we accept.
                if id.to_string() != text || id.is_nil() {
                    return Err(given());
                }
                Ok(Self(id))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

ulid_id!(
    /// Names who asks: a user, a device or a channel account.
    PrincipalId
);
ulid_id!(
    /// Names a conversation; unique together with its principal.
    SessionId
);
ulid_id!(
    /// Names one execution on behalf of a session.
    RunId
);
ulid_id!(
    /// Names an agent profile.
    AgentId
);
ulid_id!(
    /// Names an access token (never the token itself).
    TokenId
);

ulid_id!(
    /// Names a question to a person whether a call may run.
    ApprovalId
);
ulid_id!(
    /// Names one installation of a skill.
    SkillId
);
ulid_id!(
    /// Names one addition of a component.
    ComponentId
);
ulid_id!(
    /// Names a permission that outlives the call it was given for.
    StoredGrantId
);
ulid_id!(
    /// Names one taking back of what a run changed.
    UndoId
);
ulid_id!(
    /// Names one item of memory; unique together with its principal.
    MemoryId
);
ulid_id!(
    /// Names one thing that was learned; unique together with its principal.
    CandidateId
);
ulid_id!(
    /// Names one budget, from its making to its removal.
    BudgetId
);
ulid_id!(
    /// Names a channel that inputs come by.
    ChannelId
);
ulid_id!(
    /// Names a schedule that starts runs.
    ScheduleId
);

ulid_id!(
    /// Names one task of the background queue.
    QueuedTaskId
);

ulid_id!(
    /// Names one incident of self-healing.
    IncidentId
);

macro_rules! counter {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
        pub struct $name(pub $int);

        impl $name {
            /// Returns the number after this one.
            #[must_use]
            pub fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

counter!(
    /// The number of an entry on its run's tape: from 1, dense, strictly increasing. Zero means "none".
    TapeSeq(u32)
);
counter!(
    /// The number of an entry in the journal: its leaf index, from 0.
    Seq(u64)
);
counter!(
    /// The daemon's start counter; refuses writers of an earlier start.
    Epoch(u32)
);
counter!(
    /// The number of an effect within its run, made by the run machine, from 1.
    EffectId(u32)
);
counter!(
    /// The number of a model request within its run, counting repetitions, from 1.
    Attempt(u32)
);
counter!(
    /// The number of a lease within its task, from 1; refuses workers of an earlier lease. Zero means "none".
    LeaseFence(u32)
);

/// Names a journal: 16 bytes derived from its first key and a nonce.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogId(pub [u8; 16]);

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for LogId {
    type Err = InvalidId;

    /// Reads 32 lower-case hex digits, as it prints.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId { given: text.chars().take(40).collect() };
        let number = u128::from_str_radix(text, 16).map_err(|_| invalid())?;
        let id = Self(number.to_be_bytes());
        if id.to_string() == text { Ok(id) } else { Err(invalid()) }
    }
}

impl fmt::Debug for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_named_by_exactly_32_digits() {
        let id = LogId([0x0a; 16]);
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "0a", &"0A".repeat(16), &format!("+{}", "a".repeat(31)), &"0a".repeat(17)] {
            assert!(bad.parse::<LogId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_id_survives_its_text_and_its_bytes() {
        let id = RunId::from_parts(1_700_000_000_000, 42);
        assert_eq!(id.to_string().len(), 26);
        assert_eq!(id.to_string().parse::<RunId>(), Ok(id));
        assert_eq!(RunId::from_bytes(id.to_bytes()), id);
    }

    #[test]
    fn only_the_canonical_text_is_an_id() {
        let good = RunId::from_parts(1, 1).to_string();
        for bad in
            ["", "x", &good.to_lowercase().replace('0', "o"), "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", &"0".repeat(26)]
        {
            assert!(bad.parse::<RunId>().is_err(), "{bad} was accepted");
        }
    }
}
