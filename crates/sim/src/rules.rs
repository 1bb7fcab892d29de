//! The rules of stories: those that each begins with, and others that come into force on the way.
//!
//! Owns their texts, compiled once for all stories. Invariant: none of them permits `no_such`.

use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, LazyLock};

use palyra_policy::{ToolCallPolicySnapshot, ToolPolicyRules};

use crate::tools::SimTools;

/// What runs unattended and what asks whom.
const USUAL: &str = r#"@id("runs") @reason("a scenario wants it")
permit (principal, action == Action::"execute_unattended", resource)
when { [Tool::"look", Tool::"count", Tool::"read_file", Tool::"act", Tool::"post", Tool::"question"].contains(resource) };
@id("asks") @reason("a scenario wants to be asked") @expires("5m")
permit (principal, action == Action::"execute", resource)
when { [Tool::"change", Tool::"send"].contains(resource) };
@id("parks") @reason("a scenario wants to be asked") @at_expiry("park")
permit (principal, action == Action::"execute", resource == Tool::"pay");
@id("two") @reason("a scenario wants two people") @approvals("2") @expires("8m")
permit (principal, action == Action::"execute", resource == Tool::"wire");
@id("another") @reason("a scenario wants another person") @separation("another_person") @expires("10m")
permit (principal, action == Action::"execute", resource == Tool::"sign");"#;

/// More is asked, of more people, and one tool is forbidden.
const STRICTER: &str = r#"@id("two-more") @reason("two by now") @approvals("2")
permit (principal, action == Action::"execute", resource)
when { [Tool::"change", Tool::"pay"].contains(resource) };
@id("another-more") @reason("another person by now") @separation("another_person")
permit (principal, action == Action::"execute", resource == Tool::"send");
@id("never") @reason("never by now")
forbid (principal, action, resource == Tool::"post");"#;

/// Nothing is asked.
const LOOSER: &str = r#"@id("all") @reason("nobody is asked by now")
permit (principal, action == Action::"execute_unattended", resource);"#;

static ALL: LazyLock<[Arc<ToolCallPolicySnapshot>; 3]> = LazyLock::new(|| {
    let usual = ToolPolicyRules::default().with_file("scenario.cedar", USUAL);
    [
        usual.clone(),
        usual.clone().with_file("stricter.cedar", STRICTER),
        usual.with_file("looser.cedar", LOOSER),
    ]
    .map(|rules| Arc::new(compiled(rules)))
});

/// Returns all rules; stories begin with the first.
pub(crate) fn all() -> &'static [Arc<ToolCallPolicySnapshot>; 3] {
    &ALL
}

fn compiled(rules: ToolPolicyRules) -> ToolCallPolicySnapshot {
    let digest = |text: &str| {
        let mut hasher = DefaultHasher::new();
        hasher.write(text.as_bytes());
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&hasher.finish().to_le_bytes());
        digest
    };
    ToolCallPolicySnapshot::compile(SimTools::all(), rules, digest).expect("the rules of stories are valid")
}
