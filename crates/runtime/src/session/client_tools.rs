//! What a client says about functions that it performs, at the door: cleaned or refused.
//!
//! Words for the model are cleaned. Names and schemas are refused where a secret is in them: a model that reads another
//! name calls a function that the client does not have.

use palyra_admin::{AdminError, Caller};
use palyra_ports::SecretFound;
use palyra_run_core::ClientResults;
use palyra_types::client_tool::{ClientTool, ClientToolOffer};
use palyra_types::{Content, Redacted};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::request::ClientResultsRequest;

/// Bytes of all results of one answer, at most.
const RESULT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Returns an offer that may be recorded.
pub(super) fn checked_offer(
    engine: &Engine,
    caller: Caller,
    offer: &ClientToolOffer<Content<String>>,
) -> Result<ClientToolOffer, RequestError> {
    let tools = offer.tools.iter().map(|tool| checked_tool(engine, caller, tool));
    let tools = tools.collect::<Result<_, RequestError>>()?;
    let ClientToolOffer { choice, answer_tokens_max, answer_within, .. } = *offer;
    Ok(ClientToolOffer { tools, choice, answer_tokens_max, answer_within })
}

fn checked_tool(
    engine: &Engine,
    caller: Caller,
    tool: &ClientTool<Content<String>>,
) -> Result<ClientTool, RequestError> {
    let checked = |text: &Content<String>, field| -> Result<Redacted<String>, RequestError> {
        let checked = engine.ports.recorder.check(caller.actor.principal, text.clone());
        checked.map_err(|SecretFound { .. }| AdminError::SecretInIdentity { field }.into())
    };
    Ok(ClientTool {
        name: checked(&tool.name, "the name of a function")?,
        description: engine.ports.redactor.redact(tool.description.clone()).text,
        parameters: checked(&tool.parameters, "the schema of a function")?,
        strict: tool.strict,
    })
}

/// Returns results that may be recorded.
pub(crate) fn checked_results(
    engine: &Engine,
    caller: Caller,
    request: &ClientResultsRequest,
) -> Result<ClientResults, RequestError> {
    let bytes = request.outputs.iter().map(|output| output.expose().len()).sum();
    if bytes > RESULT_BYTES_MAX {
        return Err(RequestError::TooLarge { bytes, bytes_max: RESULT_BYTES_MAX });
    }
    let offer = checked_offer(engine, caller, &request.offer)?;
    let outputs = request.outputs.iter().map(|output| engine.ports.redactor.redact(output.clone()).text);
    let key = request.idempotency_key.as_ref();
    Ok(ClientResults {
        span: request.span,
        outputs: outputs.collect(),
        offer: Some(offer),
        idempotency: key.map(|key| palyra_ledger::idempotency_digest(caller.actor.principal, key)),
    })
}
