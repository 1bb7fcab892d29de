//! Refuses a call before a person is asked about it, where the vault would refuse one of its secrets.

use std::sync::Arc;

use palyra_ports::{CredentialUser, FillCredential, PreparedCall};
use palyra_types::ErrorCode;

use crate::blocking_pool::BlockingPool;
use crate::result::CallFailure;

/// Returns the prepared call, unless it carries a secret to a server to which the secret is not bound.
pub(crate) async fn check_secrets(
    prepared: PreparedCall,
    user: CredentialUser,
    credentials: Arc<dyn FillCredential>,
    pool: &BlockingPool,
) -> Result<PreparedCall, CallFailure> {
    if prepared.secrets.is_empty() {
        return Ok(prepared);
    }
    let mut secrets = prepared.secrets.clone();
    // Where a secret may go is on a disk.
    let refusal = pool.run(move || {
        secrets.iter_mut().find_map(|secret| {
            secret.used_by = Some(user);
            credentials.certain_refusal(secret)
        })
    });
    match refusal.await {
        Some(None) => Ok(prepared),
        Some(Some(refusal)) => {
            Err(CallFailure::new(refusal.code, format!("{}; nothing was sent", refusal.why)))
        }
        None => Err(CallFailure::new(ErrorCode::ShuttingDown, "the vault could not be asked".to_owned())),
    }
}
