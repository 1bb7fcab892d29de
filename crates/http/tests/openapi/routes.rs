//! The routes that are no operation.

use serde_json::{Map, Value, json};

/// Returns their path items.
pub(crate) fn items() -> Map<String, Value> {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
    let refusal = json!({ "$ref": "#/components/responses/Refusal" });
    let in_path = |name: &str, schema: &Value, meaning: &str| json!({ "name": name, "in": "path", "required": true, "description": meaning, "schema": schema });
    let run = in_path("run_id", &text, "The run.");
    let items = json!({
        "/api/v1/runs/{run_id}/events": { "get": {
            "operationId": "RunEvents",
            "tags": ["Gateway"],
            "summary": "Follow a run as server-sent events",
            "description": "Every entry of the run's tape is one event without a name, with its `tape_seq` as id and a TapeEntry as data; \
                numbers are dense, and each entry comes once. Needs the scope `runs.read`. The events `caught_up`, `heartbeat` (at most 10 seconds apart), \
                `end` (after the last entry, with the state) and `error` have names and no id. A client that comes back with \
                `last-event-id` goes on after that entry; after the last entry of a run that is over it gets 204.",
            "security": [{ "token": [] }],
            "parameters": [
                run,
                { "name": "after_tape_seq", "in": "query", "required": false, "schema": number,
                  "description": "Begin after this entry; 0 or nothing: from the first." },
                { "name": "last-event-id", "in": "header", "required": false, "schema": number,
                  "description": "The id of the last event that was seen; counts before `after_tape_seq`." },
            ],
            "responses": {
                "200": { "description": "The events.", "content": { "text/event-stream": { "schema": { "$ref": "#/components/schemas/TapeEntry" } } } },
                "204": { "description": "The run is over, and its last entry was seen." },
                "default": refusal,
            },
        } },
        "/api/v1/runs/{run_id}/attachments/{tape_seq}/{index}/content": { "get": {
            "operationId": "AttachmentContent",
            "tags": ["Gateway"],
            "summary": "Download a file that came with an input",
            "description": "The bytes as they are, to be saved. Needs the scope `runs.read`. With `inline=true` an image whose bytes prove it is one is shown.",
            "security": [{ "token": [] }],
            "parameters": [
                run,
                in_path("tape_seq", &number, "The entry that introduced it."),
                in_path("index", &number, "Its place among the attachments of that entry, from 0."),
                { "name": "inline", "in": "query", "required": false, "schema": { "type": "boolean" },
                  "description": "Show an image instead of saving it." },
            ],
            "responses": {
                "200": { "description": "The bytes.", "content": { "application/octet-stream": {}, "image/*": {} } },
                "default": refusal,
            },
        } },
        "/healthz": { "get": probe("Health", "Show whether the process lives", "The process lives.") },
        "/readyz": { "get": probe("Readiness", "Show whether new work can begin", "New work can begin; 503 where it cannot.") },
        "/metrics": { "get": {
            "operationId": "Metrics",
            "tags": ["Probes"],
            "summary": "Show counters for Prometheus",
            "description": "Needs the scope `metrics`.",
            "security": [{ "token": [] }],
            "responses": { "200": { "description": "The counters.", "content": { "text/plain": { "schema": text } } }, "default": refusal },
        } },
    });
    items.as_object().unwrap().clone()
}

fn probe(name: &str, summary: &str, meaning: &str) -> Value {
    json!({
        "operationId": name,
        "tags": ["Probes"],
        "summary": summary,
        "security": [],
        "responses": { "200": { "description": meaning, "content": { "application/json": { "schema": { "type": "object" } } } } },
    })
}
