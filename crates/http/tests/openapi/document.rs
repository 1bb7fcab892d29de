//! The whole document.

use palyra_wire::operations::OPERATIONS;
use serde_json::{Map, Value, json};

use crate::schemas::SchemaCollector;
use crate::{comments, operations, routes};

const ABOUT: &str = "The operations of Palyra as JSON, the same as over gRPC and `palyra api`.\n\n\
    Send a token as `authorization: Bearer palyra_...`; `palyra admin tokens create user:NAME` makes one. Members that an \
    operation does not have, members given twice and values that an enumeration does not have are refused with the place. \
    64-bit numbers may be sent as strings. Every member with a default is in the answer.\n\n\
    A refusal is `{\"error\": {...}}` with a stable code; its page is in docs/errors.";

/// Returns the document.
pub(crate) fn document() -> Value {
    let pool = comments::pool();
    let served = OPERATIONS.iter().filter(|operation| !operation.http.is_empty());
    let methods: Vec<_> = served
        .map(|operation| {
            let service = pool.get_service_by_name(operation.service).unwrap();
            let method = service.methods().find(|method| method.name() == operation.name).unwrap();
            (operation, method)
        })
        .collect();
    let outputs: Vec<_> = methods.iter().map(|(_, method)| method.output()).collect();
    let mut schemas = SchemaCollector::new(&outputs);
    let mut paths = Map::new();
    for (operation, method) in &methods {
        let (verb, path) = operation.http.split_once(' ').unwrap();
        let item = operations::item(operation, method, &mut schemas);
        let known = paths.entry(path).or_insert_with(|| json!({}));
        known[verb.to_lowercase()] = item;
    }
    paths.extend(routes::items());
    paths.sort_keys();
    let mut schemas = schemas.into_schemas();
    schemas.insert("Refusal".to_owned(), refusal());
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Palyra HTTP API", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT,
                  "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" } },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": { "Refusal": {
                "description": "Why the call was refused.",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refusal" } } },
            } },
            "schemas": schemas,
        },
    })
}

fn refusal() -> Value {
    let member = |meaning: &str| json!({ "type": "string", "description": meaning });
    json!({
        "type": "object",
        "description": "Why a call was refused.",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["code", "name", "message", "hint", "page"],
            "properties": {
                "code": member("The stable code, such as PLY-1103."),
                "name": member("Its short name, such as run_not_found."),
                "message": member("What happened."),
                "hint": member("What to do."),
                "page": member("The page that says more."),
            },
        } },
    })
}
