//! What tools use of the daemon, which is there only after them.

use std::sync::Arc;

use palyra_tool_kit::CallFailure;
use palyra_types::ErrorCode;
use tokio::sync::watch;

/// A part of the daemon that tools use. Clones share it.
pub struct LateAccess<T: ?Sized> {
    part: Arc<watch::Sender<Option<Arc<T>>>>,
    /// Its name in a message.
    name: &'static str,
}

impl<T: ?Sized> Clone for LateAccess<T> {
    fn clone(&self) -> Self {
        Self { part: Arc::clone(&self.part), name: self.name }
    }
}

impl<T: ?Sized> LateAccess<T> {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { part: Arc::new(watch::channel(None).0), name }
    }

    /// Says which part is used from now on; calls that came before it begin.
    pub fn give(&self, part: Arc<T>) {
        self.part.send_replace(Some(part));
    }

    /// Waits for the part: runs that a restart interrupted call tools before the gateway is there.
    pub(crate) async fn wait(&self) -> Result<Arc<T>, CallFailure> {
        let mut known = self.part.subscribe();
        let found = known.wait_for(Option::is_some).await.ok().and_then(|part| part.clone());
        found.ok_or_else(|| {
            let message = format!("the daemon is about to stop, so {} cannot be used", self.name);
            CallFailure::new(ErrorCode::ShuttingDown, message)
        })
    }
}
