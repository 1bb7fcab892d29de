//! What each line says.

use palyra_run_view::WaitingCounts;

use super::*;

#[test]
fn a_state_directory_of_another_user_is_not_one_to_start_a_daemon_in() {
    let own = rustix::process::geteuid().as_raw();
    assert!(not_running_words(None).contains("`palyra run ...` starts it"));
    assert!(not_running_words(Some(own)).contains("`palyra run ...` starts it"));
    let foreign = not_running_words(Some(own + 1));
    assert!(foreign.contains("--state-dir or PALYRA_HOME") && !foreign.contains("starts it"), "{foreign}");
}

#[test]
fn the_worst_case_fits_a_screen() {
    let mut report = StatusReport::default();
    let status = v1::GetStatusResponse {
        version: "0.1.0".to_owned(),
        listening: vec![
            "/state/palyra.sock".to_owned(),
            "127.0.0.1:7070".to_owned(),
            "[::1]:7070".to_owned(),
        ],
        open_runs: 9,
        ..Default::default()
    };
    report.daemon(&status);
    report.places(Path::new("/state"), false);
    let origin = v1::ModelOrigin {
        source: v1::ModelSource::Configuration.into(),
        place: "model.default".to_owned(),
        ..Default::default()
    };
    report.model("box/m", &origin);
    let counts =
        WaitingCounts { approvals: 1, questions: 2, doubts: 3, budgets: 1, ..WaitingCounts::default() };
    report
        .waiting(&WaitingWork { here: counts, elsewhere: counts, waiting_runs: 4, ..Default::default() }, 9);
    let check = v1::Check {
        name: SANDBOX_CHECK.to_owned(),
        found: "commands run in namespaces of their own (tier C); Landlock 6".to_owned(),
        ..Default::default()
    };
    let reach = v1::Check {
        name: REACH_CHECK.to_owned(),
        found: "local_socket (1 person, 2 streams)".to_owned(),
        ..Default::default()
    };
    report.reach(&[check.clone(), reach]);
    report.sandbox(&[check]);
    report.journal(&v1::GetJournalStatusResponse {
        health: v1::JournalHealth::Writable.into(),
        entries: 7,
        ..Default::default()
    });
    let is_column = |name: &str| row(name, "x").starts_with(&format!("{name}  "));
    assert!(report.lines.iter().all(|(name, _)| is_column(name)), "{:#?}", report.lines);
    assert!(report.lines.len() <= 22, "{}", report.lines.len());
    let text: Vec<String> = report.lines.iter().map(|(name, text)| format!("{name} {text}")).collect();
    for expect in [
        "model box/m, by model.default",
        "waits in this folder: 1 approval, 2 runs that want an answer, 1 run that waits for a budget, 3 unknown outcomes",
        "waits elsewhere: 1 approval, 2 runs that want an answer, 1 run that waits for a budget, 3 unknown outcomes",
        " `palyra runs list --open` names runs that wait for one; `palyra budget go-on RUN` lets one go on",
        "runs 5 active, 4 waiting",
        "approvers local_socket (1 person, 2 streams)",
        "sandbox commands run in namespaces of their own (tier C)",
        "journal writable, 7 entries, 0 of them signed",
    ] {
        assert!(text.iter().any(|line| line == expect), "{expect}: {text:#?}");
    }
    assert_eq!(report.values["waiting_here"]["unknown_outcomes"], 3);
}

#[test]
fn policies_that_cannot_be_used_are_named_with_what_they_deny() {
    let found = "every tool call is denied until this is mended: [PLY-4601] the policies are refused: mine.cedar:2:24: no";
    let check = v1::Check {
        name: POLICY_CHECK.to_owned(),
        level: v1::CheckLevel::Error.into(),
        found: found.to_owned(),
        mend: "correct it until `palyra policy check` passes".to_owned(),
    };
    let mut report = StatusReport::default();
    report.policy(&[v1::Check { level: v1::CheckLevel::Ok.into(), ..check.clone() }]);
    assert_eq!(report.lines, []);
    report.policy(&[check]);
    assert_eq!(report.lines[0], ("policy", found.to_owned()));
    assert!(report.lines[1].1.contains("`palyra policy check`"), "{:?}", report.lines);
    assert_eq!(report.values["policy_error"], found);
}
