//! An input that wishes to join the run that is active.

use palyra_ports::AppendError;
use palyra_types::access::ActorIdentity;
use palyra_types::run::InputDelivery;
use palyra_types::session::SessionRef;
use tokio::sync::oneshot;

use crate::error::RequestError;
use crate::run::InputData;
use crate::session::directory::{Command, Directory, HandedOver};
use crate::session::prepared::PreparedInput;
use crate::session::request::{AdmissionKind, SubmitReceipt};

/// Told when no run was active.
pub(crate) const NO_ACTIVE_RUN: &str = "no run was active to steer, so the input became a run of its own";
/// Told when the run that was to be steered was over, or about to stop.
pub(crate) const RUN_WAS_OVER: &str =
    "the run to steer was over or about to stop, so the input became a run of its own";
/// Told when the run that was to be steered could not be.
pub(crate) const RUN_TAKES_NONE: &str =
    "the run to steer takes no input now, so the input waits for its turn as a run of its own";

/// What came of steering.
pub(super) enum SteerOutcome {
    /// The active run took it.
    Joined(SubmitReceipt),
    /// It has to become a run of its own, for this reason.
    NotTaken(&'static str),
    /// A repetition of it was taken meanwhile: who looks again finds it.
    SaidMeanwhile,
}

/// Offers an input to the session's active run; returns once it is durable, or not taken.
pub(super) async fn steer(
    directory: &Directory,
    session: SessionRef,
    prepared: &PreparedInput,
    actor: ActorIdentity,
) -> Result<SteerOutcome, RequestError> {
    let (reply, handed) = oneshot::channel();
    let command = Command::Steer {
        input: prepared.input.clone(),
        idempotency: prepared.idempotency,
        beside: InputData { actor: Some(actor), blobs: prepared.blobs.clone() },
        reply,
    };
    directory.send(session, command).await;
    let handed = match handed.await.map_err(|_| directory.lost_answer())? {
        Err(RequestError::Append(AppendError::GuardFailed { .. })) => return Ok(SteerOutcome::SaidMeanwhile),
        handed => handed?,
    };
    let Some(HandedOver { run, answer }) = handed else { return Ok(SteerOutcome::NotTaken(NO_ACTIVE_RUN)) };
    match answer.await.map_err(|_| directory.lost_answer())? {
        Ok(_) => Ok(SteerOutcome::Joined(SubmitReceipt {
            run,
            session: session.id,
            session_created: false,
            admission: AdmissionKind::Joined,
            delivered: InputDelivery::Steer,
            model: None,
            begun_upto: None,
            notes: Vec::new(),
        })),
        Err(RequestError::RunFinished) => Ok(SteerOutcome::NotTaken(RUN_WAS_OVER)),
        Err(RequestError::RunNotWaiting) => Ok(SteerOutcome::NotTaken(RUN_TAKES_NONE)),
        Err(error) => Err(error),
    }
}
