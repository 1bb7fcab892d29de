//! Appending to the journal.

use futures::future::BoxFuture;
use palyra_types::access::ActorIdentity;
use palyra_types::attachment::Blob;
use palyra_types::event::JournalEvent;
use palyra_types::run::IdempotencyDigest;
use palyra_types::session::SessionRef;
use palyra_types::{
    ApprovalId, EffectId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, StoredGrantId, TapeSeq,
    Timestamp,
};

/// Entries of one append, at most.
pub const APPEND_ENTRIES_MAX: usize = 256;

/// Payload and blob bytes of one append, at most.
pub const APPEND_BYTES_MAX: usize = 24 * 1024 * 1024;

/// Durable, all-or-nothing appends.
pub trait AppendTape: Send + Sync {
    /// Appends all entries in one commit, in their order, next to each other, or none of them.
    ///
    /// The append takes its place in the order when this is called, not when the future is first polled. The
    /// future resolves only after the commit is durable. Guards are checked inside the transaction; one that
    /// fails refuses this append alone. Dropping the future does not take the append back.
    fn append(&self, request: JournalAppendRequest)
    -> BoxFuture<'static, Result<CommitReceipt, AppendError>>;
}

/// What to append, and under which conditions.
#[derive(Debug, Clone, Default)]
pub struct JournalAppendRequest {
    /// Conditions, checked in order.
    pub guards: Vec<Guard>,
    /// Entries, at most [`APPEND_ENTRIES_MAX`].
    pub entries: Vec<NewEntry>,
    /// Who acted with entries, beside them.
    pub actors: Vec<EntryActor>,
    /// Files that entries brought along, beside them.
    pub blobs: Vec<EntryBlobs>,
    /// Daemon-made texts that the entries name by digest; stored once each.
    pub statics: Vec<StaticText>,
    /// Whether it may use the space kept for endings.
    pub class: AppendClass,
    /// What the redactor did to the content of its entries.
    pub redaction: AppendRedaction,
}

/// What the redactor did to the content of an append; recorded in the entries' envelopes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppendRedaction {
    /// Number of the rule set in force; 0 for none.
    pub ruleset: u32,
    /// The entries, from 0, whose content it changed.
    pub entries: Vec<usize>,
}

/// One entry to append.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// When it happened.
    pub time: Timestamp,
    /// On whose behalf; nil for the daemon itself.
    pub principal: PrincipalId,
    /// Its session, if any.
    pub session: Option<SessionId>,
    /// Its run and place on the tape, if any. Tape numbers are the caller's: dense, from 1.
    pub run: Option<(RunId, TapeSeq)>,
    /// What happened.
    pub event: JournalEvent,
}

/// Who acted with one entry; recorded with its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryActor {
    /// Which of the append's entries, from 0.
    pub entry: usize,
    /// Who.
    pub actor: ActorIdentity,
}

/// The blobs of one entry, as its attachments number them.
#[derive(Debug, Clone)]
pub struct EntryBlobs {
    /// Which of the append's entries, from 0.
    pub entry: usize,
    /// The bytes, in the order of their index; size and SHA-256 are as the attachment says.
    pub blobs: Vec<Blob>,
}

/// A text made by the daemon, without user content.
#[derive(Debug, Clone)]
pub struct StaticText {
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// The text.
    pub body: std::sync::Arc<str>,
}

/// A condition of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// The run's last tape number is this; zero: the run does not exist.
    RunAt {
        /// The run.
        run: RunId,
        /// Its last tape number.
        tape_seq: TapeSeq,
    },
    /// No run of this principal was started, and none was given an input, with this key.
    IdempotencyUnseen {
        /// The principal.
        principal: PrincipalId,
        /// The digested key.
        digest: IdempotencyDigest,
    },
    /// No other run of the session is in progress.
    NoOtherRunInProgress {
        /// The session.
        session: SessionRef,
        /// The run that may be.
        run: RunId,
    },
    /// The approval waits for a decision.
    ApprovalPending {
        /// The approval.
        approval: ApprovalId,
    },
    /// The stored grant holds at this time and may be used once more.
    GrantUsable {
        /// The grant.
        grant: StoredGrantId,
        /// The time.
        now: Timestamp,
    },
    /// Nobody knows the outcome of this effect, and nobody said it.
    EffectUnknown {
        /// Its run.
        run: RunId,
        /// Its number.
        effect: EffectId,
    },
    /// The session does not exist yet, nor does another one of this principal with the key.
    SessionAbsent {
        /// The session.
        session: SessionRef,
        /// The client's name for it.
        key: Option<Redacted<String>>,
    },
}

/// Whether an append may use the reserve of a nearly full disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AppendClass {
    /// New work: refused when space runs low.
    #[default]
    Normal,
    /// Outcomes, cancels, ends and erasures: may use the reserve.
    Ending,
}

/// The receipt of a durable append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitReceipt {
    /// The journal seq of the first entry; the others follow without a gap.
    pub first_seq: Seq,
}

/// Why nothing (or, for `Unknown`, perhaps nothing) was appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// A guard did not hold; nothing was appended.
    #[error("a condition of the append did not hold: guard {index}")]
    GuardFailed {
        /// Which one, from 0.
        index: usize,
    },
    /// Space is low and this is new work; nothing was appended.
    #[error("the disk is too full for new work")]
    DiskFull,
    /// The journal is read-only, for one of the [`ReadOnlyCause`](crate::ReadOnlyCause)s; nothing was appended.
    #[error("the journal is read-only")]
    Quarantined,
    /// The commit failed: the entries may or may not appear after the next start.
    #[error("it is not known whether the append took place")]
    Unknown,
    /// The queue is full; nothing was appended.
    #[error("the journal's queue is full")]
    Busy,
    /// A newer daemon writes this journal; nothing was appended.
    #[error("a newer daemon has taken over this journal")]
    Fenced,
    /// The append breaks a limit or an invariant (too many entries, too large, tape number out of line).
    #[error("the append is not valid: {what}")]
    Invalid {
        /// Which rule.
        what: &'static str,
    },
    /// The writer has stopped; nothing was appended.
    #[error("the journal is closed")]
    Closed,
}

impl AppendError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::GuardFailed { .. } => ErrorCode::GuardFailed,
            Self::DiskFull => ErrorCode::DiskFull,
            Self::Quarantined => ErrorCode::JournalQuarantined,
            Self::Unknown => ErrorCode::WriteUnknown,
            Self::Busy => ErrorCode::JournalBusy,
            Self::Fenced => ErrorCode::Fenced,
            Self::Invalid { .. } => ErrorCode::Internal,
            Self::Closed => ErrorCode::ShuttingDown,
        }
    }
}
