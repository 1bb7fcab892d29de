//! Whether a caller may use an operation: one decision for every transport.
//!
//! The decision is pure: it reads what the operation declares in the schemas and what the transport proved of the caller. The handlers below
//! decide what belongs to whom. A refused change is recorded with who asked for it. Begin at [`authorize`].

use palyra_admin::access::AccessHandle;
use palyra_admin::{CallConfirmation, Caller};
use palyra_types::access::{AccessScope, ActorIdentity};
use palyra_types::surface::Surface;
use palyra_wire::operations::{
    OperationAudience, OperationKind, OperationScope, OperationSpec, UnaryRequest,
};

use crate::api_error::ApiError;

/// The header, or the metadata, that a one-time code comes with.
pub const CONFIRMATION_HEADER: &str = "palyra-confirmation";

/// Decides whether a caller may use an operation.
///
/// # Errors
/// [`ApiError`] that says what is missing: the scope, a fresh confirmation, or the daemon's own socket.
pub fn authorize(operation: &OperationSpec, caller: &Caller) -> Result<(), ApiError> {
    let scope = scope_of(operation.scope);
    if !caller.scopes.contains(scope) {
        return Err(ApiError::scope_missing(scope));
    }
    match operation.audience {
        OperationAudience::Principals => Ok(()),
        OperationAudience::Owner if caller.is_in_person() => Ok(()),
        OperationAudience::Owner => Err(ApiError::confirmation_needed()),
        OperationAudience::OwnerSocket if caller.actor.surface == Surface::LocalSocket => Ok(()),
        OperationAudience::OwnerSocket => Err(ApiError::socket_only()),
    }
}

/// Takes the one-time code that came with a call, where the operation needs a confirmation and the caller could give it.
#[must_use]
pub fn confirmed(
    access: &AccessHandle,
    operation: &OperationSpec,
    caller: Caller,
    code: Option<&str>,
) -> Caller {
    let needed =
        operation.audience == OperationAudience::Owner && caller.is_owner() && !caller.is_in_person();
    match code {
        Some(code) if needed && access.redeem_confirmation(code) => {
            Caller { confirmation: CallConfirmation::Fresh, ..caller }
        }
        Some(_) | None => caller,
    }
}

/// Decides the same, and records a refused change.
///
/// # Errors
/// Those of [`authorize`].
pub async fn admit(
    access: &AccessHandle,
    operation: &'static OperationSpec,
    caller: &Caller,
) -> Result<(), ApiError> {
    let Err(refusal) = authorize(operation, caller) else { return Ok(()) };
    record_refusal(access, operation, caller.actor, &refusal).await;
    Err(refusal)
}

/// Does the same for the operation that a request names: for transports that take such a request inside of another call.
///
/// # Errors
/// Those of [`authorize`].
pub async fn admit_request<R: UnaryRequest>(access: &AccessHandle, caller: &Caller) -> Result<(), ApiError> {
    match OperationSpec::by_path(R::PATH) {
        Some(operation) => admit(access, operation, caller).await,
        // Made from the same schemas, so it is always there.
        None => Err(ApiError::socket_only()),
    }
}

/// Records that an operation was refused to a known credential, where it would have changed something.
pub async fn record_refusal(
    access: &AccessHandle,
    operation: &'static OperationSpec,
    actor: ActorIdentity,
    refusal: &ApiError,
) {
    if operation.kind == OperationKind::Change {
        access.record_refusal(actor, operation.name, refusal.code()).await;
    }
}

fn scope_of(scope: OperationScope) -> AccessScope {
    match scope {
        OperationScope::Runs => AccessScope::Runs,
        OperationScope::RunsRead => AccessScope::RunsRead,
        OperationScope::Approve => AccessScope::Approve,
        OperationScope::Openai => AccessScope::Openai,
        OperationScope::Memory => AccessScope::Memory,
        OperationScope::Schedules => AccessScope::Schedules,
        OperationScope::Channel => AccessScope::Channel,
        OperationScope::Metrics => AccessScope::Metrics,
        OperationScope::Admin => AccessScope::Admin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_the_schemas_are_those_of_credentials() {
        for scope in OperationScope::ALL {
            assert_eq!(scope_of(*scope).name(), scope.name());
        }
        assert_eq!(OperationScope::ALL.len(), AccessScope::ALL.len());
    }
}
