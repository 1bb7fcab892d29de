//! An entry in which the redactor changed something says so, whatever it is about.

use std::sync::Arc;

use palyra_runtime::session::SessionSelector;
use palyra_testkit::skill_file;
use palyra_types::Redacted;

use crate::identities::OneComponent;
use crate::rig::{Parts, Rig, SECRET, by_key};

/// Returns whether the appends since this was last asked say that an entry was changed.
fn is_marked(rig: &Rig) -> bool {
    rig.faults.take_redactions().iter().any(|redaction| !redaction.entries.is_empty())
}

#[tokio::test]
async fn components_carry_the_mark() {
    let shelf = Arc::new(OneComponent::default());
    let rig = Parts { components: shelf, ..Parts::new() }.start().await;
    for (folder, expected) in [("plain", false), (SECRET, true)] {
        rig.faults.take_redactions();
        let source = Redacted::cleaned(format!("/{folder}/counter.wasm").into());
        let handle = rig.gateway.admin.components.clone();
        handle.add(rig.me(), source.into(), [7; 32]).await.unwrap();
        assert_eq!(is_marked(&rig), expected, "{folder}");
    }
}

#[tokio::test]
async fn skills_carry_the_mark() {
    let rig = Rig::start().await;
    for (name, word, expected) in [("plain", "nothing", false), ("notes", SECRET, true)] {
        let text = format!("---\nname: {name}\ndescription: Does {word}.\n---\nLook.\n");
        let source = format!("/home/me/{name}");
        rig.skills.lay(&source, vec![skill_file("SKILL.md", &text)]);
        rig.faults.take_redactions();
        let source = Redacted::cleaned(source.into());
        rig.gateway.admin.skills.install(rig.me(), source.into()).await.unwrap();
        assert_eq!(is_marked(&rig), expected, "{name}");
    }
}

#[tokio::test]
async fn sessions_carry_the_mark() {
    let rig = Rig::start().await;
    for (key, label, expected) in [("a", "a plan", false), ("b", SECRET, true)] {
        rig.faults.take_redactions();
        let selector = SessionSelector { label: Some(label.into()), ..by_key(key) };
        rig.resolve(selector).await.unwrap();
        assert_eq!(is_marked(&rig), expected, "{label}");
    }
}
