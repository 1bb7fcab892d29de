//! Reads the list of models a server has.

use palyra_ports::{ModelCapabilities, ModelInfo};
use palyra_types::model::{ModelFailure, ModelName};
use serde_json::Value;

use super::failure::malformed;

/// How many models of a list are looked at.
const MODELS_MAX: usize = 2_000;

/// Reads the answer to `GET /models`; where it does not tell a window, `context_tokens` stands.
pub(super) fn models(body: &[u8], context_tokens: u64) -> Result<Vec<ModelInfo>, ModelFailure> {
    let value: Value =
        serde_json::from_slice(body).map_err(|_| malformed("the list of models is not JSON"))?;
    let list = ["data", "models"].iter().find_map(|name| value.get(*name).and_then(Value::as_array));
    let list =
        list.or_else(|| value.as_array()).ok_or_else(|| malformed("the list of models has another shape"))?;
    Ok(list.iter().take(MODELS_MAX).filter_map(|entry| model(entry, context_tokens)).collect())
}

fn model(entry: &Value, context_tokens: u64) -> Option<ModelInfo> {
    let name = ["id", "name"].iter().find_map(|field| entry.get(*field).and_then(Value::as_str))?;
    let windows =
        ["/context_length", "/max_model_len", "/context_window", "/meta/n_ctx", "/meta/n_ctx_train"];
    let window = windows.iter().find_map(|at| entry.pointer(at).and_then(Value::as_u64)).filter(|n| *n > 0);
    let owner = entry.get("owned_by").and_then(Value::as_str).filter(|owner| !owner.is_empty());
    let note = owner.map(|owner| format!("owned by {owner}")).unwrap_or_default();
    Some(ModelInfo {
        name: ModelName::new(name),
        context_tokens: window.unwrap_or(context_tokens),
        note,
        capabilities: ModelCapabilities::TEXT_AND_TOOLS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_many_servers_are_read() {
        let check = |body: &str, expect: &[(&str, u64)]| {
            let found = models(body.as_bytes(), 7).expect("a list");
            let shown: Vec<_> = found.iter().map(|info| (info.name.as_str(), info.context_tokens)).collect();
            assert_eq!(shown, expect, "{body}");
        };
        check(
            r#"{"object":"list","data":[{"id":"a","owned_by":"x"},{"id":"b","max_model_len":4096}]}"#,
            &[("a", 7), ("b", 4096)],
        );
        check(r#"{"data":[{"id":"a","meta":{"n_ctx_train":32}},{"nothing":1},5]}"#, &[("a", 32)]);
        check(r#"{"models":[{"name":"a","context_length":0}]}"#, &[("a", 7)]);
        check("[]", &[]);
        assert!(models(b"<html>", 7).is_err() && models(b"{}", 7).is_err());
    }
}
