//! Reads the list of models a server has.

use palyra_ports::ModelInfo;
use palyra_types::model::{ModelFailure, ModelName};
use serde_json::Value;

use crate::wire_format::failure::malformed;

/// How many models of a list are looked at.
const MODELS_MAX: usize = 2_000;

/// Reads the answer to `GET /models`; what it does not tell is as `known` has it.
pub(super) fn models(
    body: &[u8],
    known: impl Fn(&ModelName, Option<bool>) -> ModelInfo,
) -> Result<Vec<ModelInfo>, ModelFailure> {
    let value: Value =
        serde_json::from_slice(body).map_err(|_| malformed("the list of models is not JSON"))?;
    let list = ["data", "models"].iter().find_map(|name| value.get(*name).and_then(Value::as_array));
    let list =
        list.or_else(|| value.as_array()).ok_or_else(|| malformed("the list of models has another shape"))?;
    Ok(list.iter().take(MODELS_MAX).filter_map(|entry| model(entry, &known)).collect())
}

fn model(entry: &Value, known: &impl Fn(&ModelName, Option<bool>) -> ModelInfo) -> Option<ModelInfo> {
    let name = ["id", "name"].iter().find_map(|field| entry.get(*field).and_then(Value::as_str))?;
    let windows =
        ["/context_length", "/max_model_len", "/context_window", "/meta/n_ctx", "/meta/n_ctx_train"];
    let window = windows.iter().find_map(|at| entry.pointer(at).and_then(Value::as_u64)).filter(|n| *n > 0);
    let owner = entry.get("owned_by").and_then(Value::as_str).filter(|owner| !owner.is_empty());
    let mut info = known(&ModelName::new(name), images(entry));
    info.context_tokens = window.unwrap_or(info.context_tokens);
    info.note = owner.map(|owner| format!("owned by {owner}")).unwrap_or_default();
    Some(info)
}

/// Returns whether a model sees images, where its server says so: as a list of what goes in, as a flag, or as a list of
/// abilities.
fn images(entry: &Value) -> Option<bool> {
    if let Some(inputs) = entry.pointer("/architecture/input_modalities").and_then(Value::as_array) {
        return Some(inputs.iter().any(|input| input == "image"));
    }
    let abilities = entry.get("capabilities")?;
    if let Some(vision) = abilities.get("vision").and_then(Value::as_bool) {
        return Some(vision);
    }
    let sees = abilities.as_array()?.iter().any(|ability| ability == "vision" || ability == "multimodal");
    sees.then_some(true)
}

#[cfg(test)]
mod tests {
    use palyra_ports::ModelCapabilities;

    use super::*;

    fn known(name: &ModelName, images: Option<bool>) -> ModelInfo {
        let images = images.unwrap_or_default();
        let capabilities = ModelCapabilities { images, ..ModelCapabilities::TEXT_AND_TOOLS };
        ModelInfo { name: name.clone(), context_tokens: 7, note: String::new(), capabilities }
    }

    #[test]
    fn lists_of_many_servers_are_read() {
        let check = |body: &str, expect: &[(&str, u64)]| {
            let found = models(body.as_bytes(), known).expect("a list");
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
        assert!(models(b"<html>", known).is_err() && models(b"{}", known).is_err());
    }

    #[test]
    fn a_server_that_says_who_sees_images_is_believed() {
        let body = r#"[{"id":"a","architecture":{"input_modalities":["text","image"]}},
            {"id":"b","architecture":{"input_modalities":["text"]}},{"id":"c","capabilities":{"vision":true}},
            {"id":"d","capabilities":["completion","multimodal"]},{"id":"e","capabilities":["completion"]}]"#;
        let found = models(body.as_bytes(), known).expect("a list");
        let seen: Vec<_> = found.iter().map(|info| info.capabilities.images).collect();
        assert_eq!(seen, [true, false, true, true, false]);
    }
}
