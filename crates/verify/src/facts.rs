//! What the facts of the log's own kinds say, and which files a payload names.
//!
//! Owns the field numbers of docs/journal-format.md, sections 2 and 5. Everything else in facts is left alone.

use crate::digest::{Hash, LogId};
use crate::protobuf::{Field, Fields, fields};

/// The log's first entry.
pub(crate) const LOG_OPENED: u16 = 0x0001;
/// A daemon started writing, or changed its key.
pub(crate) const EPOCH_STARTED: u16 = 0x0002;
/// Payloads were taken out.
pub(crate) const ERASED: u16 = 0x0003;
/// Another log goes on over the same leaves.
pub(crate) const LOG_REOPENED: u16 = 0x0004;
const RUN_STARTED: u16 = 0x0040;
const INPUT_RECEIVED: u16 = 0x0041;
/// A run is over.
pub(crate) const RUN_FINISHED: u16 = 0x0044;
/// A model wants a tool.
pub(crate) const TOOL_PROPOSED: u16 = 0x0060;
/// A call was decided.
pub(crate) const TOOL_DECIDED: u16 = 0x0061;
/// A tool is about to act.
pub(crate) const TOOL_STARTED: u16 = 0x0062;
/// A tool's outcome, with what it ran under.
pub(crate) const TOOL_FINISHED: u16 = 0x0063;
/// Somebody is asked.
pub(crate) const APPROVAL_REQUESTED: u16 = 0x0065;
/// Somebody answered, or nobody did.
pub(crate) const APPROVAL_RESOLVED: u16 = 0x0067;
/// A permission was given that outlives its call.
pub(crate) const GRANT_STORED: u16 = 0x0068;
/// It was taken back.
pub(crate) const GRANT_REVOKED: u16 = 0x0070;

/// Facts of LogOpened.
#[derive(Debug)]
pub(crate) struct LogOpened {
    pub(crate) log_id: LogId,
    pub(crate) nonce: Hash,
    pub(crate) key: Hash,
}

/// Facts of EpochStarted.
#[derive(Debug)]
pub(crate) struct EpochStarted {
    pub(crate) epoch: u32,
    pub(crate) key: Hash,
    pub(crate) sealing: EpochSealing,
}

/// What an epoch says of the payloads that are written in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum EpochSealing {
    /// Nothing: it is older than the statement, or says something that this program does not know.
    #[default]
    Unstated,
    /// None is sealed.
    Off,
    /// They are sealed.
    On,
}

/// Facts of LogReopened.
#[derive(Debug)]
pub(crate) struct LogReopened {
    pub(crate) opened: LogOpened,
    pub(crate) abandoned_size: u64,
    pub(crate) abandoned_root: Hash,
    pub(crate) reason: u64,
}

/// Facts of Erased.
#[derive(Debug)]
pub(crate) struct ErasedFacts {
    pub(crate) authoriser: [u8; 16],
    pub(crate) reason: u64,
    /// First and last seq of each range.
    pub(crate) ranges: Vec<(u64, u64)>,
}

/// A file that a payload names and that lies beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    pub(crate) index: u64,
    pub(crate) bytes: u64,
    pub(crate) sha256: Hash,
}

impl LogOpened {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        Some(Self { log_id: array(&all, 2)?, nonce: array(&all, 3)?, key: array(&all, 4)? })
    }
}

impl EpochStarted {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        let sealing = match number(&all, 4) {
            1 => EpochSealing::Off,
            2 => EpochSealing::On,
            _ => EpochSealing::Unstated,
        };
        Some(Self { epoch: number(&all, 2).try_into().ok()?, key: array(&all, 3)?, sealing })
    }
}

impl LogReopened {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        let opened = LogOpened { log_id: array(&all, 2)?, nonce: array(&all, 3)?, key: array(&all, 4)? };
        Some(Self {
            opened,
            abandoned_size: number(&all, 5),
            abandoned_root: array(&all, 6)?,
            reason: number(&all, 7),
        })
    }
}

impl ErasedFacts {
    /// Reads the facts of the entry `seq`; `None` also where a range is not below it.
    pub(crate) fn parse(facts: &[u8], seq: u64) -> Option<Self> {
        let all = versioned(facts)?;
        let ranges = all.iter().filter_map(|field| field.bytes(4)).map(|range| {
            let range = fields(range)?;
            let (first, last) = (number(&range, 1), number(&range, 2));
            (first <= last && last < seq).then_some((first, last))
        });
        Some(Self {
            authoriser: array(&all, 2)?,
            reason: number(&all, 3),
            ranges: ranges.collect::<Option<_>>()?,
        })
    }
}

/// Facts of ToolProposed.
#[derive(Debug)]
pub(crate) struct ProposedFacts {
    pub(crate) effect: u32,
    pub(crate) digest: Hash,
}

/// What a decision says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecisionVerdict {
    Allow,
    Ask,
    Deny,
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    Grant([u8; 16]),
    Approval([u8; 16]),
    /// The policy, or the run's budget.
    Other,
}

/// Facts of ToolDecided.
#[derive(Debug)]
pub(crate) struct DecidedFacts {
    pub(crate) effect: u32,
    pub(crate) verdict: DecisionVerdict,
    pub(crate) by: DecidedBy,
}

/// Facts of ToolStarted and ToolFinished.
#[derive(Debug)]
pub(crate) struct CallFacts {
    pub(crate) effect: u32,
    pub(crate) attested: Option<CallAttestation>,
}

/// What a call ran under.
#[derive(Debug)]
pub(crate) struct CallAttestation {
    pub(crate) digest: Hash,
    pub(crate) approval: Option<[u8; 16]>,
    pub(crate) grant: Option<[u8; 16]>,
}

/// Facts of ApprovalRequested.
#[derive(Debug)]
pub(crate) struct ApprovalFacts {
    pub(crate) approval: [u8; 16],
    pub(crate) effect: u32,
}

/// How an approval ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApprovalAnswer {
    Yes,
    No,
}

/// Facts of ApprovalResolved.
#[derive(Debug)]
pub(crate) struct ResolvedFacts {
    pub(crate) asked: ApprovalFacts,
    pub(crate) said: ApprovalAnswer,
    /// Zero unless the call was edited.
    pub(crate) edited: Hash,
}

/// Facts of GrantStored and GrantRevoked.
#[derive(Debug)]
pub(crate) struct GrantFacts {
    pub(crate) grant: [u8; 16],
    pub(crate) uses_max: Option<u32>,
}

impl ProposedFacts {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        Some(Self { effect: small(&all, 2)?, digest: array_or_zero(&all, 4)? })
    }
}

impl DecidedFacts {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        let verdict = match number(&all, 3) {
            1 => DecisionVerdict::Allow,
            2 => DecisionVerdict::Ask,
            _ => DecisionVerdict::Deny,
        };
        let by = match number(&all, 5) {
            3 => DecidedBy::Grant(array_or_zero(&all, 16)?),
            4 => DecidedBy::Approval(array_or_zero(&all, 16)?),
            _ => DecidedBy::Other,
        };
        Some(Self { effect: small(&all, 2)?, verdict, by })
    }
}

impl CallFacts {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        let attested = all.iter().rev().find_map(|field| field.bytes(9));
        let attested = match attested.map(fields) {
            None => None,
            Some(attested) => Some(CallAttestation::parse(&attested?)?),
        };
        Some(Self { effect: small(&all, 2)?, attested })
    }
}

impl CallAttestation {
    fn parse(all: &[Field<'_>]) -> Option<Self> {
        let id = |number| match all.iter().rev().find_map(|field| field.bytes(number)) {
            None => Some(None),
            Some(id) => id.try_into().ok().map(Some),
        };
        Some(Self { digest: array_or_zero(all, 2)?, approval: id(4)?, grant: id(5)? })
    }
}

impl ApprovalFacts {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        Some(Self { approval: array_or_zero(&all, 2)?, effect: small(&all, 3)? })
    }
}

impl ResolvedFacts {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        let said = if number(&all, 4) == 2 { ApprovalAnswer::Yes } else { ApprovalAnswer::No };
        Some(Self { asked: ApprovalFacts::parse(facts)?, said, edited: array_or_zero(&all, 7)? })
    }
}

impl GrantFacts {
    pub(crate) fn parse(facts: &[u8]) -> Option<Self> {
        let all = versioned(facts)?;
        let uses_max = all.iter().rev().find_map(|field| field.number(8));
        Some(Self { grant: array_or_zero(&all, 2)?, uses_max: uses_max.map(u32::try_from).transpose().ok()? })
    }
}

/// Returns the number of the field that lists attachments, for kinds whose entries can have files.
pub(crate) fn attachments_field(kind: u16) -> Option<u64> {
    match kind {
        RUN_STARTED => Some(5),
        INPUT_RECEIVED => Some(2),
        _ => None,
    }
}

/// Returns the files that a payload names, or `None` where it cannot be read.
pub(crate) fn named_files(payload: &[u8], attachments: u64) -> Option<Vec<NamedFile>> {
    let mut files = Vec::new();
    for field in Fields(payload) {
        let Some(attachment) = field?.bytes(attachments) else { continue };
        let all = fields(attachment)?;
        if let Some(index) = all.iter().rev().find_map(|field| field.number(6)) {
            files.push(NamedFile { index, bytes: number(&all, 3), sha256: array(&all, 4)? });
        }
    }
    Some(files)
}

fn versioned(facts: &[u8]) -> Option<Vec<Field<'_>>> {
    fields(facts).filter(|all| number(all, 1) > 0)
}

fn number(all: &[Field<'_>], number: u64) -> u64 {
    all.iter().rev().find_map(|field| field.number(number)).unwrap_or_default()
}

fn array<const N: usize>(all: &[Field<'_>], number: u64) -> Option<[u8; N]> {
    all.iter().rev().find_map(|field| field.bytes(number))?.try_into().ok()
}

fn small(all: &[Field<'_>], field: u64) -> Option<u32> {
    number(all, field).try_into().ok()
}

/// Bytes of a fixed length; zeros are left out.
fn array_or_zero<const N: usize>(all: &[Field<'_>], number: u64) -> Option<[u8; N]> {
    match all.iter().rev().find_map(|field| field.bytes(number)) {
        None => Some([0; N]),
        Some(bytes) => bytes.try_into().ok(),
    }
}
