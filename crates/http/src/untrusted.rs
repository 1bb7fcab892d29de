//! Reading of requests alone, for tests that make bytes up; no part of what the crate promises.

use palyra_wire::json::MessageText;
use palyra_wire::operations::OperationSpec;

use crate::operation_call::body_bytes_max;
use crate::query;

/// Reads the message of an operation from a query and a body; `None` where it is refused.
#[must_use]
pub fn message(operation: &OperationSpec, query: &str, body: &str) -> Option<Vec<u8>> {
    let query = query::query_pairs(query).ok()?;
    let text = MessageText {
        path: Vec::new(),
        query: query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        body,
        bytes_max: body_bytes_max(operation),
    };
    text.read(operation.input).ok()
}
