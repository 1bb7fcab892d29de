//! `palyra api`: operations by name, against a real daemon.

use crate::home::Home;

#[test]
fn an_operation_by_name_answers_as_its_verb_does() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let listed = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let run_id = listed[0]["run_id"].as_str().unwrap().to_owned();

    let body = format!(r#"{{"run_id": "{run_id}"}}"#);
    let answer = |arguments: &[&str]| home.palyra(arguments).expect(0).json().remove(0);
    let run = answer(&["api", "getrun", "--json", &body]);
    assert_eq!(run["run"], home.palyra(&["runs", "list", "--json"]).expect(0).json()[0]);
    let page = answer(&["api", "ListRuns", "--json", r#"{"page_size": 1}"#]);
    assert_eq!(page["runs"][0]["run_id"], run_id.as_str());
    let status = answer(&["api", "GetStatus"]);
    assert!(status["pid"].as_u64().is_some_and(|pid| pid > 1), "{status}");
    let typed = home.palyra_reading(&["api", "GetRun", "--json", "-"], &body).expect(0).json();
    assert_eq!(typed[0]["run"]["run_id"], run_id.as_str());
}

#[test]
fn the_listed_error_codes_have_the_statuses_that_errors_come_with() {
    let home = Home::new();
    let listed = home.palyra(&["api", "ListErrorCodes"]).expect(0).json().remove(0);
    let codes = listed["error_codes"].as_array().unwrap();
    let numbers: Vec<&str> = codes.iter().map(|code| code["code"].as_str().unwrap()).collect();
    assert!(numbers.len() > 100 && numbers.is_sorted(), "{numbers:?}");
    let absent = codes.iter().find(|code| code["code"] == "PLY-1103").unwrap();
    assert_eq!((&absent["name"], &absent["grpc_code"]), (&"run_not_found".into(), &5.into()));
    assert_eq!(absent["http_status"], 404);
    let texts = ["summary", "mend"].map(|field| absent[field].as_str().unwrap().len());
    assert!(texts.iter().all(|chars| *chars > 10), "{absent}");
}

#[test]
fn a_server_stream_is_a_line_for_each_message() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let told = home.palyra(&["api", "VerifyJournal"]).expect(0).out;
    let lines: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["report"]["ok"], true, "{told}");
    assert!(lines.len() > 1 && lines[0].get("progress").is_some(), "{told}");
}

/// Faults of the command line end before a daemon is started; the control is the daemon's own refusal.
#[test]
fn what_cannot_be_sent_is_a_typed_error_that_names_the_place() {
    let home = Home::new();
    for (words, named) in [
        (&["api", "ListRunz"][..], "there is no operation `ListRunz`"),
        (&["api", "RunStream"], "takes a stream of requests"),
        (
            &["api", "ListRuns", "--json", r#"{"page_sise": 5}"#],
            "`page_sise`: `ListRunsRequest` has no such member",
        ),
        (&["api", "ListRuns", "--json", r#"{"page_size": "x"}"#], "`page_size`: must be a whole number"),
        (&["api", "ListRuns", "--json", r#"{"only": "", "only": ""}"#], "`only`: this member occurs twice"),
        (
            &["api", "SendInput", "--json", r#"{"input": {"delivery": "later"}}"#],
            "`input.delivery`: not a value of `InputDelivery`",
        ),
        (&["api", "ListRuns", "--json", "{"], "the JSON text: not valid JSON"),
    ] {
        let ended = home.palyra(words).expect(2);
        assert!(ended.err.contains("PLY-1004") && ended.err.contains(named), "{words:?}: {}", ended.err);
    }
    let told = home.palyra(&["api", "--json", "ListRuns"]).expect(2).err;
    assert!(told.contains("a body needs an operation"), "{told}");
    assert!(!home.state_dir().exists(), "no daemon was started");

    let unknown = r#"{"run_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}"#;
    let refused = home.palyra(&["api", "GetRun", "--json", unknown]);
    let told: serde_json::Value = serde_json::from_str(refused.err.lines().last().unwrap()).unwrap();
    assert_eq!(told["error"]["code"], "PLY-1103");
}

#[test]
fn every_operation_is_listed_with_its_summary_and_completed() {
    let home = Home::new();
    let table = home.palyra(&["api"]).expect(0).out;
    assert!(table.contains("GetStatus") && table.contains("Show the daemon and its checks"), "{table}");
    let listed = home.palyra(&["api", "--json"]).expect(0).json();
    let names: Vec<&str> = listed.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.len() == 136 && names.is_sorted() && !names.contains(&"RunStream"), "{names:?}");
    let shown = listed.iter().find(|one| one["name"] == "GetRun").unwrap();
    assert_eq!((&shown["audience"], &shown["kind"]), (&"principals".into(), &"read".into()));
    let completed = home.palyra(&["admin", "complete", "operations"]).expect(0).out;
    assert_eq!(completed.lines().count(), names.len());
    assert!(!home.state_dir().exists(), "no daemon is needed");
}
