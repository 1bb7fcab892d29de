//! Effects: what a call intends before it acts, and what became of it.

use std::fmt;

use crate::digest::ContentDigest;
use crate::job::JobRecord;
use crate::tool::EffectContract;
use crate::{
    ApprovalId, Content, EffectId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq,
    Timestamp, UndoId,
};

/// Bytes of a preview, at most.
pub const PREVIEW_BYTES_MAX: usize = 64 * 1024;

/// Bytes of former contents kept with one effect, at most: a call that would change more cannot be taken back, and
/// is refused.
pub const PRE_IMAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What a call will do, worked out before it does it; recorded with its start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EffectPlan {
    /// Keyed digest of everything that the call depends on: its arguments, and what it found.
    pub binding: ContentDigest,
    /// The tool's own record of the plan, in canonical JSON; what it needs to finish or recognise it later.
    pub body: Redacted<String>,
    /// What the files were before.
    pub pre_images: Vec<PreImage>,
    /// What it will change, as a question would show it; empty where a question did, or where no file is changed. At
    /// most [`PREVIEW_BYTES_MAX`].
    pub preview: Redacted<String>,
}

/// Something that a tool printed while it ran. What the model reads comes with the outcome; this is for people who
/// watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// Which effect.
    pub effect: EffectId,
    /// Bytes of this call that were shown so far, with these; stays when the words are erased.
    pub shown_bytes: u64,
    /// Whether more may be shown.
    pub rest: OutputRest,
    /// The words; empty once erased, or when there is only to say that no more is shown.
    pub text: Redacted<String>,
}

/// Where the rest of an output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OutputRest {
    /// It is shown as it comes.
    #[default]
    Follows,
    /// It is not shown any more: what else the tool prints is only in its outcome.
    InOutcome,
}

/// What one file was before a call changed it, and what it will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreImage<P = Redacted<String>, B = Redacted<Vec<u8>>> {
    /// The path below the workspace root.
    pub path: P,
    /// What was there.
    pub before: FileBefore<B>,
    /// SHA-256 of what will be there; `None` when nothing will be.
    pub after_sha256: Option<[u8; 32]>,
}

/// A file to put back. Its bytes may be those of a kept file, which are not recorded.
pub type RestoreImage = PreImage<Redacted<String>, Content<Vec<u8>>>;

impl From<PreImage> for RestoreImage {
    fn from(PreImage { path, before, after_sha256 }: PreImage) -> Self {
        let before = match before {
            FileBefore::Absent => FileBefore::Absent,
            FileBefore::File { bytes, mode } => FileBefore::File { bytes: bytes.into(), mode },
            FileBefore::Withheld { mode } => FileBefore::Withheld { mode },
        };
        Self { path, before, after_sha256 }
    }
}

/// What one file was, as a tool finds it.
pub type RawPreImage = PreImage<Content<String>, Content<Vec<u8>>>;

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileBefore<B = Redacted<Vec<u8>>> {
    /// Nothing.
    Absent,
    /// A file with these bytes and permission bits.
    File {
        /// Its bytes.
        bytes: B,
        /// Its permission bits.
        mode: u32,
    },
    /// A file whose bytes held a secret and were not kept.
    Withheld {
        /// Its permission bits.
        mode: u32,
    },
}

/// What a person says about an effect whose outcome nobody knew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectResolution {
    /// It took effect.
    Happened,
    /// It did not.
    DidNotHappen,
    /// It did not, and is to be tried again as a new call.
    Retry,
}

/// What a person says beside the tape of a run about one of its effects whose outcome nobody knew: the run is over, or
/// the doubt is about a job, which is no part of the tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectSettled {
    /// The run.
    pub run: RunId,
    /// The effect.
    pub effect: EffectId,
    /// What became of it.
    pub resolution: EffectResolution,
    /// Who says so.
    pub by: PrincipalId,
    /// What they say with it.
    pub note: Redacted<String>,
}

/// Where an effect stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectState {
    /// The intent is recorded, and there is no outcome.
    Started,
    /// It is done.
    Finished,
    /// It failed.
    Failed,
    /// Nobody knows.
    Unknown,
    /// Nobody knew, and a person said so.
    Resolved(EffectResolution),
}

/// An effect as lists show it: a projection of its run's tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRecord {
    /// The run.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// For whom the run works.
    pub principal: PrincipalId,
    /// Its number within the run.
    pub effect: EffectId,
    /// What may be done when the outcome is unknown.
    pub contract: EffectContract,
    /// Where it stands.
    pub state: EffectState,
    /// The approval that permitted it.
    pub approval: Option<ApprovalId>,
    /// Why it failed.
    pub failure: Option<ErrorCode>,
    /// The tool; empty once erased.
    pub tool: Redacted<String>,
    /// When its intent was recorded.
    pub started: Timestamp,
    /// When its outcome was.
    pub ended: Option<Timestamp>,
    /// The entry of its start.
    pub started_at: (TapeSeq, Seq),
    /// The entry of its outcome; when it was settled beside its tape, the last one about it on the tape.
    pub ended_at: Option<(TapeSeq, Seq)>,
    /// The job that it started. A job in doubt puts its effect in doubt, whatever the tape says.
    pub job: Option<JobRecord>,
}

/// What became of one file when a run's changes were taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoneFile<T = Redacted<String>> {
    /// The path below the workspace root.
    pub path: Redacted<String>,
    /// What became of it.
    pub result: UndoResult<T>,
}

/// What became of one file, as a tool says it.
pub type RawUndoneFile = UndoneFile<Content<String>>;

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoResult<T = Redacted<String>> {
    /// It is what it was before.
    Restored,
    /// It was that already.
    AlreadyRestored,
    /// It changed since: nothing was done; the difference to what the run left, as a unified diff.
    Conflict(T),
    /// What it was before was not kept.
    Withheld,
    /// It could not be written.
    Failed(T),
}

/// A taking back, as the journal records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRequested {
    /// Its id.
    pub undo: UndoId,
    /// The run.
    pub run: RunId,
    /// The files, in the order in which they are taken back.
    pub paths: Vec<Redacted<String>>,
    /// Set when what is taken back is the removal of a kept file: the file is put in place.
    pub kept: Option<KeptPlacement>,
}

/// What became of the newest undo of a run's file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoSummary {
    /// When it ended.
    pub ended: Timestamp,
    /// Files that are as they were before the run.
    pub restored: u32,
    /// Files that were left alone.
    pub skipped: u32,
}

/// The name of something that was kept aside, unique in one state directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct KeptFileId(pub String);

impl fmt::Display for KeptFileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A kept file that a person puts in place, as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeptPlacement {
    /// Which; empty once the content was erased.
    pub file: KeptFileId,
    /// Digest of what is put in place, with its permission bits.
    pub sha256: [u8; 32],
    /// SHA-256 of what is at each path before; `None` where nothing is.
    pub before: Vec<Option<[u8; 32]>>,
}
