//! Operations as path items.

use palyra_wire::operations::{OperationAudience, OperationSpec};
use prost_reflect::{Kind, MethodDescriptor};
use protox::prost_reflect;
use serde_json::{Value, json};

use crate::comments;
use crate::schemas::{Direction, SchemaCollector, in_order};

/// Returns the path item of an operation.
pub(crate) fn item(
    operation: &OperationSpec,
    method: &MethodDescriptor,
    schemas: &mut SchemaCollector,
) -> Value {
    let (verb, path) = operation.http.split_once(' ').unwrap();
    let mut item = json!({
        "operationId": operation.name,
        "tags": [operation.service.trim_start_matches("palyra.v1.").trim_end_matches("Service")],
        "summary": operation.summary,
        "description": description(operation, method),
        "security": [{ "token": [] }],
    });
    let in_path: Vec<_> =
        path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
    let mut parameters = Vec::new();
    for field in in_order(&method.input()) {
        let place = match (in_path.contains(&field.name()), verb) {
            (true, _) => "path",
            (false, "GET") => "query",
            (false, _) => continue,
        };
        let is_text = !matches!(field.kind(), Kind::Message(ref message) if message.package_name() != "google.protobuf");
        assert!(
            is_text,
            "{}: `{}` is a message, which a query cannot hold as one parameter",
            operation.name,
            field.name()
        );
        let mut schema = schemas.field(&field, Direction::Sent);
        let description =
            schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
        parameters.push(json!({
            "name": field.name(), "in": place, "required": place == "path", "description": description, "schema": schema,
        }));
    }
    if operation.audience == OperationAudience::Owner {
        parameters.push(json!({
            "name": "palyra-confirmation", "in": "header", "required": false, "schema": { "type": "string" },
            "description": "A one-time code of `palyra admin confirm`.",
        }));
    }
    if !parameters.is_empty() {
        item["parameters"] = parameters.into();
    }
    let in_body = method.input().fields().filter(|field| !in_path.contains(&field.name())).count();
    if verb == "POST" && in_body > 0 {
        let schema = if in_path.is_empty() {
            schemas.message(&method.input(), Direction::Sent)
        } else {
            schemas.object(&method.input(), Direction::Sent, &in_path)
        };
        item["requestBody"] = json!({ "content": { "application/json": { "schema": schema } } });
    }
    let output = schemas.message(&method.output(), Direction::Returned);
    item["responses"] = json!({
        "200": { "description": comments::of_message(&method.output()), "content": content(operation, &output) },
        "default": { "$ref": "#/components/responses/Refusal" },
    });
    item
}

fn description(operation: &OperationSpec, method: &MethodDescriptor) -> String {
    let mut text = comments::of_method(method);
    let audience = match operation.audience {
        OperationAudience::Principals => "",
        OperationAudience::Owner => " Over the network it needs a fresh confirmation of an owner.",
        OperationAudience::OwnerSocket => " Only the owner at the daemon's Unix socket may call it.",
    };
    text.push_str(&format!("\n\nNeeds the scope `{}`.{audience}", operation.scope.name()));
    if operation.server_streams {
        text.push_str(
            "\n\nAnswers with one message a line, or with server-sent events where `accept` names `text/event-stream`. \
             A failure after the first message is the last line, as `{\"error\": ...}`.",
        );
    }
    text
}

fn content(operation: &OperationSpec, output: &Value) -> Value {
    if operation.server_streams {
        json!({ "application/x-ndjson": { "schema": output }, "text/event-stream": { "schema": output } })
    } else {
        json!({ "application/json": { "schema": output } })
    }
}
