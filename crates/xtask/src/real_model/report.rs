//! What was found, for eyes and for programs.
//!
//! Owns the table, the JSON and the exit code. Decides no verdict.

use serde_json::{Value, json};

use super::judge::{CaseFinding, CaseVerdict};

/// Returns whether nothing failed that the model and its server can do.
pub(super) fn good(findings: &[CaseFinding]) -> bool {
    findings.iter().all(|finding| finding.verdict != CaseVerdict::Fail)
}

/// Returns the table.
pub(super) fn table(findings: &[CaseFinding]) -> String {
    let width = findings.iter().map(|finding| finding.case.chars().count()).max().unwrap_or(0);
    let line =
        |f: &CaseFinding| format!("{:<width$}  {:<13}  {}", f.case, f.verdict.word(), one_line(&f.seen));
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the same as one JSON object.
pub(super) fn json(findings: &[CaseFinding], server: &str, model: &str) -> Value {
    let case = |f: &CaseFinding| json!({"case": f.case, "verdict": f.verdict.word(), "seen": f.seen});
    let cases: Vec<Value> = findings.iter().map(case).collect();
    json!({"ok": good(findings), "server": server, "model": model, "cases": cases})
}

/// Returns the rows of a Markdown table.
pub(super) fn rows(findings: &[CaseFinding]) -> String {
    let row = |f: &CaseFinding| {
        let seen = one_line(&f.seen).replace('|', "\\|");
        format!("| {} | {} | {seen} |\n", f.case, f.verdict.word())
    };
    findings.iter().map(row).collect()
}

/// A model's words may hold anything.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(case: &'static str, verdict: CaseVerdict, seen: &str) -> CaseFinding {
        CaseFinding { case, verdict, seen: seen.to_owned() }
    }

    #[test]
    fn only_a_failure_is_bad() {
        let mut findings =
            vec![finding("a", CaseVerdict::Pass, "x"), finding("bb", CaseVerdict::NotSupported, "y\nz | w")];
        assert!(good(&findings));
        assert_eq!(table(&findings), "a   pass           x\nbb  not supported  y z | w");
        assert_eq!(rows(&findings), "| a | pass | x |\n| bb | not supported | y z \\| w |\n");
        findings.push(finding("c", CaseVerdict::Fail, ""));
        assert!(!good(&findings));
        let json = json(&findings, "s", "m");
        assert_eq!((&json["ok"], &json["cases"][2]["verdict"]), (&json!(false), &json!("fail")));
    }
}
