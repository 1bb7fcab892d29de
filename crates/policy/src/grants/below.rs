//! What "at or below" may be said of in a grant: arguments that are paths, and texts with one reading as a path.
//!
//! An address is no path: its host, its port and its escapes are not names of folders. Invariant: a rule that is not about
//! a path covers nothing, also where it was stored before.

use std::borrow::Cow;

use palyra_types::approval::{ArgumentRule, ArgumentShape, StoredGrantRecord};
use palyra_types::argument_meaning::ArgumentMeaning;
use palyra_types::tool::ToolSpec;

use crate::request::meaning_of;

/// Returns the grants all of whose path rules are about paths of this tool.
pub(crate) fn grants_about_paths<'g>(
    tool: &ToolSpec,
    grants: &'g [StoredGrantRecord],
) -> Cow<'g, [StoredGrantRecord]> {
    let is_about_paths = |grant: &StoredGrantRecord| are_about_paths(tool, &grant.stored.matcher);
    if grants.iter().all(is_about_paths) {
        return Cow::Borrowed(grants);
    }
    Cow::Owned(grants.iter().filter(|grant| is_about_paths(grant)).cloned().collect())
}

fn are_about_paths(tool: &ToolSpec, rules: &[ArgumentRule]) -> bool {
    rules.iter().all(|rule| match rule.shape {
        ArgumentShape::Beneath(_) => meaning_of(tool, rule.argument.expose()) == ArgumentMeaning::Path,
        ArgumentShape::Equal(_) | ArgumentShape::Any => true,
    })
}

/// Whether a text is read as the same path by everybody: it begins no address, spells no step upwards and escapes nothing
/// that would be one.
pub(super) fn has_one_reading(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_escaped = ["%2e", "%2f", "%5c", "%25"].iter().any(|escape| lower.contains(escape));
    !text.contains("://") && !is_escaped && text.split(['/', '\\']).all(|name| name != "..")
}

#[cfg(test)]
mod tests {
    use palyra_types::tool::{Capability, EffectContract};
    use serde_json::json;

    use super::*;
    use crate::fixture::tool;

    #[test]
    fn only_an_argument_that_is_a_path_has_something_below_it() {
        let properties = json!({
            "path": {"type": "string", "x-palyra-meaning": "path"}, "url": {"type": "string", "x-palyra-meaning": "host"},
            "folder": {"type": "string"}, "target": {"type": "string", "x-palyra-meaning": "host"},
            "place": {"type": "string", "x-palyra-meaning": "path"},
        });
        let built_in = tool("a", EffectContract::Pure, &[Capability::Network], &properties);
        let component = tool("a", EffectContract::Pure, &[Capability::Component], &properties);
        for (argument, of_built_in, of_component) in [
            ("path", true, true),
            ("url", false, false),
            ("folder", true, true),
            ("target", false, false),
            ("place", true, false),
            ("missing", false, false),
        ] {
            let rules =
                [ArgumentRule { argument: argument.into(), shape: ArgumentShape::Beneath("docs".into()) }];
            let found = (are_about_paths(&built_in, &rules), are_about_paths(&component, &rules));
            assert_eq!(found, (of_built_in, of_component), "{argument}");
            let any = [ArgumentRule { argument: argument.into(), shape: ArgumentShape::Any }];
            assert!(are_about_paths(&built_in, &any));
        }
    }
}
