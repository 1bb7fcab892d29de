//! The registry of kinds, as code; `kinds.toml` beside the crate's manifest says the same in words.
//!
//! Owns the numbers. Knows no layout: that is the codec's. Invariant: numbers are never reused (a test
//! compares both lists). Begin at [`Kind`].

/// First number that a version which does not know it may skip.
pub const SKIPPABLE_FROM: u16 = 0x8000;

/// Kinds below this number are the journal's own and never have a payload.
pub const NO_PAYLOAD_BELOW: u16 = 0x0010;

/// Returns whether a version that does not know this kind must not go on without it.
#[must_use]
pub fn is_critical(number: u16) -> bool {
    number < SKIPPABLE_FROM
}

macro_rules! kinds {
    ($($name:ident = $number:literal,)*) => {
        /// What an entry is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u16)]
        pub enum Kind {
            $(#[doc = concat!("Number ", stringify!($number), ", see `kinds.toml`.")] $name = $number,)*
        }

        impl Kind {
            #[cfg(test)]
            pub(crate) const ALL: &[(Self, &'static str)] = &[$((Self::$name, stringify!($name)),)*];

            /// Returns the kind of a number; `None` for one that this version does not know.
            #[must_use]
            pub fn from_number(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Returns its number, as envelopes have it.
            #[must_use]
            pub fn number(self) -> u16 {
                self as u16
            }
        }
    };
}

kinds! {
    LogOpened = 0x0001,
    EpochStarted = 0x0002,
    Erased = 0x0003,
    LogReopened = 0x0004,

    PrincipalRegistered = 0x0010,
    TokenCreated = 0x0011,
    TokenRevoked = 0x0012,

    AgentSaved = 0x0020,
    AgentArchived = 0x0021,

    SessionOpened = 0x0030,
    SessionReset = 0x0031,
    SessionRenamed = 0x0032,
    SessionArchived = 0x0033,
    SessionRestored = 0x0034,

    RunStarted = 0x0040,
    InputReceived = 0x0041,
    LoopDetected = 0x0042,
    CancelRequested = 0x0043,
    RunFinished = 0x0044,
    RunHeld = 0x0045,

    ModelRequested = 0x0050,
    ModelText = 0x0051,
    ModelMessage = 0x0052,
    ModelAttemptAbandoned = 0x0053,

    ToolProposed = 0x0060,
    ToolDecided = 0x0061,
    ToolStarted = 0x0062,
    ToolFinished = 0x0063,
    ToolOutcomeUnknown = 0x0064,
    ApprovalRequested = 0x0065,
    ApprovalVoted = 0x0066,
    ApprovalResolved = 0x0067,
    GrantStored = 0x0068,
    EffectResolved = 0x0069,

    GrantRevoked = 0x0070,
    UndoRequested = 0x0071,
    UndoFinished = 0x0072,
    EffectSettled = 0x0073,

    SkillInstalled = 0x0080,
    SkillEnabled = 0x0081,
    SkillDisabled = 0x0082,
    SkillQuarantined = 0x0083,
    SkillRemoved = 0x0084,

    PostureChanged = 0x0090,

    ModelReasoning = 0x8050,
    ToolOutput = 0x8060,
    JobStarted = 0x8070,
    JobEnded = 0x8071,
    ShadowCounted = 0x8090,
    SecretPut = 0x80A0,
    SecretBound = 0x80A1,
    SecretRemoved = 0x80A2,
    VaultUnlocked = 0x80A3,
    VaultPassphraseSet = 0x80A4,
    SecretUsed = 0x80A5,
    ComponentAdded = 0x80B0,
    ComponentRemoved = 0x80B1,
}
