//! What changed between two questions about one call is named, and what is the same is not.

use super::*;

fn approval(preview: &str, reason: &str, risk: &str) -> v1::Approval {
    let prompt = v1::ApprovalPrompt {
        tool: "run_command".to_owned(),
        summary: "run `make` in /work".to_owned(),
        preview: preview.to_owned(),
        reason: reason.to_owned(),
        ..Default::default()
    };
    v1::Approval {
        prompt: Some(prompt),
        risk: v1::RiskLevel::from_short_name(risk).unwrap().into(),
        needed: 1,
        ..Default::default()
    }
}

#[test]
fn a_folder_that_became_read_only_is_named_with_its_rule() {
    let before = approval("program   make\nfolder    .", "needs an approval by `commands`", "high");
    let now = approval(
        "program   make\nfolder    .\nread-only   src",
        "needs an approval by `commands`; `src` is read-only for it by `no-writes-in-src`",
        "high",
    );
    assert_eq!(
        changes(&before, &now),
        ["new: read-only src", "new: `src` is read-only for it by `no-writes-in-src`"]
    );
    assert_eq!(changes(&now, &before)[0], "no more: read-only src");
    assert!(changes(&before, &before).is_empty());
}

#[test]
fn a_risk_that_rose_comes_first_and_long_differences_are_counted() {
    let many: String = (0..20).map(|n| format!("+line {n}\n")).collect();
    let lines = changes(&approval("-one", "why", "medium"), &approval(&many, "why", "critical"));
    assert_eq!(lines[0], "risk: medium before, critical now");
    assert_eq!((lines.len(), lines.last().unwrap().as_str()), (9, "14 more differences"));
}
