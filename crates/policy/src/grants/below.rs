//! What a rule of a grant may be about: "at or below" only arguments that are paths, with one reading as a path; "on this
//! origin" only arguments that are addresses.
//!
//! An address is no path: its host, its port and its escapes are not names of folders. Invariant: a rule about another kind
//! of argument covers nothing, also where it was stored before.

use std::borrow::Cow;

use palyra_types::approval::{ArgumentRule, ArgumentShape, StoredGrantRecord};
use palyra_types::argument_meaning::ArgumentMeaning;
use palyra_types::tool::ToolSpec;

use crate::request::meaning_of;

/// Returns the grants all of whose rules are about arguments of their kind: paths, or addresses.
pub(crate) fn grants_about_their_kind<'g>(
    tool: &ToolSpec,
    grants: &'g [StoredGrantRecord],
) -> Cow<'g, [StoredGrantRecord]> {
    let fits = |grant: &StoredGrantRecord| are_about_their_kind(tool, &grant.stored.matcher);
    if grants.iter().all(fits) {
        return Cow::Borrowed(grants);
    }
    Cow::Owned(grants.iter().filter(|grant| fits(grant)).cloned().collect())
}

fn are_about_their_kind(tool: &ToolSpec, rules: &[ArgumentRule]) -> bool {
    rules.iter().all(|rule| wanted_kind(tool, rule).is_none())
}

/// Returns what the argument of a rule would have to be, where it is something else.
#[must_use]
pub fn wanted_kind(tool: &ToolSpec, rule: &ArgumentRule) -> Option<&'static str> {
    let (kind, name) = match rule.shape {
        ArgumentShape::Beneath(_) => (ArgumentMeaning::Path, "a path"),
        ArgumentShape::Origin(_) => (ArgumentMeaning::Host, "an address"),
        ArgumentShape::Equal(_) | ArgumentShape::Any => return None,
    };
    (meaning_of(tool, rule.argument.expose()) != kind).then_some(name)
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
    fn a_rule_is_about_arguments_of_its_kind_only() {
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
            let found = (are_about_their_kind(&built_in, &rules), are_about_their_kind(&component, &rules));
            assert_eq!(found, (of_built_in, of_component), "{argument}");
            let any = [ArgumentRule { argument: argument.into(), shape: ArgumentShape::Any }];
            assert!(are_about_their_kind(&built_in, &any));
        }
        for (argument, of_built_in, of_component) in
            [("url", true, true), ("target", true, false), ("path", false, false), ("missing", false, false)]
        {
            let shape = ArgumentShape::Origin("https://a.example".into());
            let rules = [ArgumentRule { argument: argument.into(), shape }];
            let found = (are_about_their_kind(&built_in, &rules), are_about_their_kind(&component, &rules));
            assert_eq!(found, (of_built_in, of_component), "{argument}");
        }
    }
}
