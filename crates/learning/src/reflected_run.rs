//! A finished run, as reflection reads it.

use palyra_types::learning::CitedEntry;
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{Content, RunId, Timestamp};

/// A finished run.
#[derive(Debug, Clone)]
pub struct ReflectedRun {
    /// Which.
    pub run: RunId,
    /// Where its inputs came from.
    pub surface: Surface,
    /// What it had read at its end, with what came before it.
    pub taints: Taints,
    /// What was said in it, in order.
    pub entries: Vec<ReflectedEntry>,
    /// The calls that it made, in order.
    pub calls: Vec<ReflectedCall>,
}

/// Something that was said in a run.
#[derive(Debug, Clone)]
pub struct ReflectedEntry {
    /// The entry of the tape.
    pub at: CitedEntry,
    /// When.
    pub time: Timestamp,
    /// Whose words they are.
    pub voice: EntryVoice,
    /// The words.
    pub text: Content<String>,
}

/// Whose words an entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryVoice {
    /// The principal of the run typed them: the only evidence there is.
    Principal,
    /// A model wrote them.
    Model,
    /// They came from elsewhere: results of tools, pages, files, mails, messages of other people.
    Data,
}

/// A call that a run made.
#[derive(Debug, Clone)]
pub struct ReflectedCall {
    /// The entry that proposed it.
    pub at: CitedEntry,
    /// The tool.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: Content<String>,
    /// Whether it did what it was called for.
    pub has_succeeded: bool,
}

/// Returns whether inputs of a surface are typed by a person: programs are on the other side of the others, and in a channel
/// there may be other people.
pub(crate) fn is_typed_by_a_person(surface: Surface) -> bool {
    match surface {
        Surface::LocalSocket | Surface::Console => true,
        Surface::Tcp
        | Surface::Http
        | Surface::Quic
        | Surface::Openai
        | Surface::Schedule
        | Surface::Background
        | Surface::Channel => false,
    }
}
