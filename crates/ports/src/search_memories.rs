//! Finding items of memory, and what tools may do with the memory of the principal for whom their run works.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_types::memory::{MemoryRecord, MemoryScope};
use palyra_types::run::RunLifecycleState;
use palyra_types::tool::Taints;
use palyra_types::{
    Content, EffectId, ErrorCode, MemoryId, PrincipalId, Redacted, RunId, SessionId, TapeSeq, Timestamp,
};

/// Ranks items of memory by what they say.
pub trait SearchMemories: Send + Sync {
    /// Returns those of the given items that have to do with the text, best first.
    ///
    /// Only items of the request are returned, and only those of its scopes. Items of the principal that the request does not
    /// have any more are dropped. A failure is logged, and nothing is returned.
    fn rank(&self, request: MemoryRanking) -> BoxFuture<'static, Vec<MemoryId>>;

    /// Drops all texts that it remembers; the next request brings what is left of them.
    fn forget_texts(&self) {}
}

/// Which items to rank.
#[derive(Debug, Clone)]
pub struct MemoryRanking {
    /// Whose all items are.
    pub principal: PrincipalId,
    /// What to look for.
    pub text: Content<String>,
    /// All items of the principal that are in use.
    pub items: Arc<[MemoryRecord]>,
    /// Only items that hold in one of these are returned.
    pub scopes: Vec<MemoryScope>,
    /// How well an item has to fit.
    pub demand: MemoryDemand,
    /// At most so many are returned.
    pub limit: usize,
    /// When it is asked for.
    pub now: Timestamp,
}

/// For whom items are looked for, which says how well they have to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryDemand {
    /// A person or a model asked memory.
    Asked,
    /// They are added to a request although nothing asked for them: a wrong item costs more than a missing one.
    Unasked,
}

/// What tools may do with memory. Every method acts for the principal of the call and for no other one.
pub trait UseMemories: Send + Sync {
    /// Returns the items that hold where the call is made and have to do with the text, best first; the newest ones
    /// where the text is empty.
    fn search(
        &self,
        call: MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<MemoryRecord>, MemoryRefusal>>;

    /// Saves an item with what the run of the call has read. An item with the same text and the same scope is returned
    /// instead, so a repeated call saves nothing twice.
    fn save(
        &self,
        call: MemoryCall,
        draft: MemoryDraft,
    ) -> BoxFuture<'static, Result<MemoryRecord, MemoryRefusal>>;

    /// Stops using an item; one that is not used any more stays so.
    fn forget(
        &self,
        call: MemoryCall,
        memory: MemoryId,
    ) -> BoxFuture<'static, Result<MemoryRecord, MemoryRefusal>>;

    /// Returns conversations of the principal whose title or inputs hold every word of the text, newest first.
    fn search_sessions(
        &self,
        call: MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<FoundSession>, MemoryRefusal>>;

    /// Returns what a run of the principal did. One of another principal and one whose content was erased do not exist, and a
    /// run does not read itself.
    fn read_run(
        &self,
        call: MemoryCall,
        wanted: WantedRun,
    ) -> BoxFuture<'static, Result<ShownRun, MemoryRefusal>>;
}

/// The call of a tool on whose behalf memory is used. Everything in it comes from the call's grant.
#[derive(Debug, Clone)]
pub struct MemoryCall {
    /// For whom the run works.
    pub principal: PrincipalId,
    /// The conversation.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// The call.
    pub effect: EffectId,
    /// The folder in which the run works.
    pub root: PathBuf,
    /// What the run has read.
    pub taints: Taints,
}

/// An item to save.
#[derive(Debug, Clone)]
pub struct MemoryDraft {
    /// What to remember.
    pub text: Content<String>,
    /// Where it holds.
    pub reach: MemoryReach,
    /// After how long it is not used any more; `None` for never.
    pub lifetime: Option<Duration>,
    /// The item that it takes the place of.
    pub replaces: Option<MemoryId>,
}

/// The scope of an item, as a call names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MemoryReach {
    /// In every conversation of the principal.
    #[default]
    Everywhere,
    /// In this conversation.
    Session,
    /// In conversations that work in this folder.
    Folder,
}

/// A conversation that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSession {
    /// Its id.
    pub session: SessionId,
    /// Its title, where it has one.
    pub title: Redacted<String>,
    /// When it was used last.
    pub updated: Timestamp,
    /// The beginning of its first input.
    pub first_input: Redacted<String>,
    /// The beginning of the latest input that holds the words.
    pub matched: Redacted<String>,
}

/// A run to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedRun {
    /// Its id, 4 characters or more of its beginning or end, `last` or `last~N`.
    pub name: String,
    /// The first entry; `None` for the beginning.
    pub from: Option<u32>,
    /// The last entry; `None` for the end.
    pub to: Option<u32>,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRun {
    /// The run.
    pub run: RunId,
    /// Its conversation.
    pub session: SessionId,
    /// When it was accepted.
    pub created: Timestamp,
    /// Its state.
    pub state: RunLifecycleState,
    /// Its last entry that was read.
    pub last: TapeSeq,
    /// The wanted entries that say something, in order.
    pub entries: Vec<ShownEntry>,
    /// What the whole run had read, with what came before it.
    pub taints: Taints,
}

/// What an entry of a run says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownEntry {
    /// Its number.
    pub tape_seq: TapeSeq,
    /// Whose words they are.
    pub part: RunPart,
    /// The words.
    pub text: Redacted<String>,
}

/// Whose words an entry of a run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunPart {
    /// Words of the person.
    Input,
    /// An answer of a model.
    Answer,
    /// A call of a tool, with its arguments.
    Call,
    /// What a call yielded.
    Result,
    /// How a call failed.
    Failure,
    /// Why a call was denied.
    Denial,
    /// How the run ended.
    End,
}

/// Why memory was not used as a call asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MemoryRefusal {
    /// The stable code.
    pub code: ErrorCode,
    /// Why, and what to do; without content.
    pub message: String,
}
