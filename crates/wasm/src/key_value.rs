//! What tools keep between their calls.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use palyra_types::PrincipalId;

/// Bytes of a key, at most.
pub(crate) const KEY_BYTES_MAX: usize = 256;
/// Bytes of a value, at most.
pub(crate) const VALUE_BYTES_MAX: usize = 256 << 10;
/// Bytes that one tool keeps for one person, at most.
pub(crate) const ALL_BYTES_MAX: usize = 4 << 20;
/// Bytes that a key with its value takes beside its own.
pub(crate) const ENTRY_BYTES: usize = 8;

/// Why a value was not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyValueError {
    /// A key, a value, or all together are too large.
    #[error("it is more than a tool may keep")]
    TooLarge,
    /// The store said no.
    #[error("{0}")]
    Failed(String),
}

/// Keeps values by tool, person and key.
pub trait KeepValues: Send + Sync {
    /// Returns a value.
    ///
    /// # Errors
    /// [`KeyValueError`] as the store says.
    fn get(&self, tool: &str, of: PrincipalId, key: &str) -> Result<Option<Vec<u8>>, KeyValueError>;

    /// Keeps a value, or forgets it.
    ///
    /// # Errors
    /// [`KeyValueError`] as the store says.
    fn set(
        &self,
        tool: &str,
        of: PrincipalId,
        key: &str,
        value: Option<Vec<u8>>,
    ) -> Result<(), KeyValueError>;

    /// Returns the keys, in order.
    ///
    /// # Errors
    /// [`KeyValueError`] as the store says.
    fn keys(&self, tool: &str, of: PrincipalId) -> Result<Vec<String>, KeyValueError>;

    /// Forgets all that a tool kept, for everybody.
    ///
    /// # Errors
    /// [`KeyValueError`] as the store says.
    fn forget(&self, tool: &str) -> Result<(), KeyValueError>;

    /// Forgets all that other tools than these kept, and keeps nothing of them until it is told of others.
    ///
    /// # Errors
    /// [`KeyValueError`] as the store says.
    fn keep_only(&self, tools: &[&str]) -> Result<(), KeyValueError>;
}

/// Puts a value among others, or takes it out.
///
/// # Errors
/// [`KeyValueError::TooLarge`] when it does not fit beside them.
pub(crate) fn put(
    values: &mut BTreeMap<String, Vec<u8>>,
    key: &str,
    value: Option<Vec<u8>>,
) -> Result<(), KeyValueError> {
    let Some(value) = value else {
        values.remove(key);
        return Ok(());
    };
    let others = values
        .iter()
        .filter(|(known, _)| *known != key)
        .map(|(key, value)| ENTRY_BYTES + key.len() + value.len());
    if others.sum::<usize>() + ENTRY_BYTES + key.len() + value.len() > ALL_BYTES_MAX {
        return Err(KeyValueError::TooLarge);
    }
    values.insert(key.to_owned(), value);
    Ok(())
}

type StoredValues = BTreeMap<(String, PrincipalId), BTreeMap<String, Vec<u8>>>;

/// Keeps values until the process ends.
#[derive(Default)]
pub struct MemoryValues(Mutex<StoredValues>);

impl KeepValues for MemoryValues {
    fn get(&self, tool: &str, of: PrincipalId, key: &str) -> Result<Option<Vec<u8>>, KeyValueError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(&(tool.to_owned(), of)).and_then(|values| values.get(key)).cloned())
    }

    fn set(
        &self,
        tool: &str,
        of: PrincipalId,
        key: &str,
        value: Option<Vec<u8>>,
    ) -> Result<(), KeyValueError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        put(kept.entry((tool.to_owned(), of)).or_default(), key, value)
    }

    fn keys(&self, tool: &str, of: PrincipalId) -> Result<Vec<String>, KeyValueError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(&(tool.to_owned(), of)).into_iter().flat_map(|values| values.keys().cloned()).collect())
    }
    fn forget(&self, tool: &str) -> Result<(), KeyValueError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(kept, _), _| kept != tool);
        Ok(())
    }

    fn keep_only(&self, tools: &[&str]) -> Result<(), KeyValueError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(kept, _), _| tools.contains(&kept.as_str()));
        Ok(())
    }
}
