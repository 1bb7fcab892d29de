//! The tapes on which outputs are kept, once a journal is there to read them from.
//!
//! Owns only who reads; tools are made before the journal is open.

use std::sync::{Arc, Mutex, PoisonError};

use palyra_ports::ReadTape;

/// Reads tapes, once it was told by whom. Clones share what they were told.
#[derive(Clone, Default)]
pub struct Tapes(Arc<Mutex<Option<Arc<dyn ReadTape>>>>);

impl Tapes {
    /// Says who reads from now on; the last one counts.
    pub fn read_by(&self, reader: Arc<dyn ReadTape>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
    }

    pub(crate) fn reader(&self) -> Option<Arc<dyn ReadTape>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
