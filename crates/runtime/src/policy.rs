//! The policy in force, and the texts of the ones that decided of late.
//!
//! Owns nothing of what a policy says: who makes a new one puts it into the watch channel, whole, and the next call is
//! judged by it. A set that is not valid never gets here. Begin at [`PolicyInForce::snapshot`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use palyra_policy::ToolCallPolicySnapshot;
use palyra_ports::StaticText;
use palyra_types::event::TapeEvent;
use tokio::sync::watch;

/// Texts of earlier policies that are kept, for decisions that are on their way into the journal.
const TEXTS_MAX: usize = 8;

/// Shared by all that judge.
pub(crate) struct PolicyInForce {
    current: watch::Receiver<Arc<ToolCallPolicySnapshot>>,
    /// Newest first.
    texts: Mutex<VecDeque<StaticText>>,
}

impl PolicyInForce {
    pub(crate) fn new(current: watch::Receiver<Arc<ToolCallPolicySnapshot>>) -> Self {
        Self { current, texts: Mutex::default() }
    }

    /// Returns what calls are judged by now.
    pub(crate) fn snapshot(&self) -> Arc<ToolCallPolicySnapshot> {
        let snapshot = Arc::clone(&self.current.borrow());
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.iter().all(|text| text.sha256 != snapshot.digest()) {
            texts.truncate(TEXTS_MAX - 1);
            texts
                .push_front(StaticText { sha256: snapshot.digest(), body: snapshot.canonical_text().into() });
        }
        drop(texts);
        snapshot
    }

    /// Returns the texts of the policies by which these events decided, each once.
    pub(crate) fn texts_of(&self, events: &[TapeEvent]) -> Vec<StaticText> {
        let decided = |digest: &[u8; 32]| {
            events.iter().any(
                |event| matches!(event, TapeEvent::ToolDecided(decided) if decided.policy_digest == *digest),
            )
        };
        let texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.iter().filter(|text| decided(&text.sha256)).cloned().collect()
    }
}
