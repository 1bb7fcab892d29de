//! Counts what a schema comes to when each of its references is followed, before anything is judged with it.
//!
//! Refuses to know what keywords mean. Invariant: its own work grows with the schema's text, not with what it
//! comes to. A reference into itself counts once: what it comes to depends on the value.

use std::collections::BTreeMap;

use serde_json::Value;

/// Nodes that a schema may come to.
const NODES_MAX: u64 = 100_000;
/// References that may lead on from one to the next.
const REFERENCES_DEEP_MAX: usize = 64;

/// Refuses a schema that comes to too much, or whose references cannot be followed here.
pub(crate) fn check(schema: &Value) -> Result<(), String> {
    let mut count = NodeCount { root: schema, known: BTreeMap::new(), deep: 0 };
    if count.nodes(schema)? > NODES_MAX {
        return Err(format!("with its references followed it has more than {NODES_MAX} parts"));
    }
    Ok(())
}

struct NodeCount<'a> {
    root: &'a Value,
    /// What is known of references; `None` while one is being followed.
    known: BTreeMap<&'a str, Option<u64>>,
    deep: usize,
}

impl<'a> NodeCount<'a> {
    fn nodes(&mut self, value: &'a Value) -> Result<u64, String> {
        let mut nodes: u64 = 1;
        if let Value::Array(items) = value {
            for item in items {
                nodes = nodes.saturating_add(self.nodes(item)?);
            }
        }
        if let Value::Object(members) = value {
            for (name, member) in members {
                let more = match (name.as_str(), member) {
                    ("$ref", Value::String(target)) => self.follow(target)?,
                    ("$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                        return Err(format!("`{name}` is not taken here; use `$ref`"));
                    }
                    (_, member) => self.nodes(member)?,
                };
                nodes = nodes.saturating_add(more);
            }
        }
        Ok(nodes)
    }

    fn follow(&mut self, target: &'a str) -> Result<u64, String> {
        if let Some(known) = self.known.get(target) {
            return Ok(known.unwrap_or(1));
        }
        let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let found =
            found.ok_or("a `$ref` does not lead to a part of the schema itself, as `#/$defs/name` does")?;
        if self.deep == REFERENCES_DEEP_MAX {
            return Err(format!("more than {REFERENCES_DEEP_MAX} references lead on from one to the next"));
        }
        self.known.insert(target, None);
        self.deep += 1;
        let nodes = self.nodes(found)?;
        self.deep -= 1;
        self.known.insert(target, Some(nodes));
        Ok(nodes)
    }
}
