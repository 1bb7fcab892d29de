//! The policy in force, and the texts of the ones that decided of late.
//!
//! Owns how the two makers of a snapshot come together: who reads files puts a whole one into the watch channel, and the
//! journal's standing settings are laid over it here. The next call is judged by what both are then. A set that is not
//! valid never gets here. Begin at [`PolicyInForce::snapshot`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palyra_policy::ToolCallPolicySnapshot;
use palyra_ports::StaticText;
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::posture::PostureRecord;
use tokio::sync::watch;

/// Texts of earlier policies that are kept, for decisions that are on their way into the journal.
const TEXTS_MAX: usize = 8;

/// Shared by all that judge.
pub struct PolicyInForce {
    current: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
    joined: Mutex<JoinedSnapshot>,
    /// Held by who changes a setting of the journal: one after the other.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

/// The snapshot of the files with the settings of the journal over it.
#[derive(Default)]
struct JoinedSnapshot {
    /// `None` when they cannot be read.
    postures: Option<Arc<[PostureRecord]>>,
    /// What it was made of last, and what came of it.
    made: Option<(Arc<ToolCallPolicySnapshot>, Arc<ToolCallPolicySnapshot>)>,
    /// Of each policy its own text and the one that it refers to; newest first.
    texts: VecDeque<Vec<StaticText>>,
}

impl PolicyInForce {
    pub(crate) fn new(
        current: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
        postures: Vec<PostureRecord>,
    ) -> Self {
        let joined = JoinedSnapshot { postures: Some(postures.into()), ..JoinedSnapshot::default() };
        Self { current, joined: Mutex::new(joined), changing: tokio::sync::Mutex::default() }
    }

    /// Returns what calls are judged by now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<ToolCallPolicySnapshot> {
        let files = Arc::clone(&self.current.borrow());
        let mut joined = self.lock();
        if let Some((of, made)) = &joined.made
            && Arc::ptr_eq(of, &files)
        {
            return Arc::clone(made);
        }
        let digest = |text: &str| palyra_ledger::sha256(text.as_bytes());
        let made = Arc::new(files.with_stored_postures(joined.postures.as_deref(), digest));
        let text = |text: &palyra_policy::SnapshotText| StaticText {
            sha256: text.digest,
            body: Arc::clone(&text.text),
        };
        joined.texts.truncate(TEXTS_MAX - 1);
        joined.texts.push_front(made.texts().iter().map(text).collect());
        joined.made = Some((files, Arc::clone(&made)));
        made
    }

    /// Puts the settings of the journal in force; `None` when they cannot be read, which disables everything.
    pub(crate) fn set_postures(&self, postures: Option<Arc<[PostureRecord]>>) {
        let mut joined = self.lock();
        (joined.postures, joined.made) = (postures, None);
    }

    /// Returns the settings of the journal that are in force.
    pub(crate) fn postures(&self) -> Option<Arc<[PostureRecord]>> {
        self.lock().postures.clone()
    }

    /// Returns the texts of the policies by which these events decided, each once.
    #[must_use]
    pub fn texts_of(&self, events: &[TapeEvent]) -> Vec<StaticText> {
        let decided = |digest: &[u8; 32]| {
            events.iter().any(
                |event| matches!(event, TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.policy_digest == *digest),
            )
        };
        let joined = self.lock();
        let used = |texts: &&Vec<StaticText>| texts.first().is_some_and(|own| decided(&own.sha256));
        let mut texts: Vec<StaticText> = Vec::new();
        for text in joined.texts.iter().filter(used).flatten() {
            if texts.iter().all(|known| known.sha256 != text.sha256) {
                texts.push(text.clone());
            }
        }
        texts
    }

    fn lock(&self) -> MutexGuard<'_, JoinedSnapshot> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
