//! Tests of the runtime around the tools: catalogue, pool, cancel, limits.

use std::fs;

use palyra_ports::{ExecuteToolError, Supervision, ToolRuntime};
use palyra_testkit::grants::{GrantRequest, grant_for};
use palyra_types::ErrorCode;
use palyra_types::tool::{EffectContract, Isolation, Parallelism, Taints, ToolConduct, ToolName};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fixture::{Fixture, run_call};

#[test]
fn every_argument_declares_what_it_names() {
    for tool in BuiltinTools::new().catalog().iter() {
        let undeclared = palyra_types::argument_meaning::undeclared_properties(&tool.schema);
        assert!(undeclared.is_empty(), "{}: say with `x-palyra-meaning` what {undeclared:?} name", tool.name);
    }
}

#[test]
fn a_grant_for_a_folder_knows_each_argument_that_a_tool_of_one_file_can_leave_out() {
    let catalog = BuiltinTools::new().catalog();
    for tool in ["edit_file", "write_file"].map(|name| catalog.get(&ToolName::new(name)).unwrap()) {
        let required = tool.schema["required"].as_array().unwrap();
        let properties = tool.schema["properties"].as_object().unwrap();
        let optional: Vec<&str> =
            properties.keys().map(String::as_str).filter(|name| !required.contains(&json!(name))).collect();
        let known = palyra_types::approval_terms::optional_file_arguments(tool.name.as_str());
        assert_eq!(optional, known, "{}", tool.name);
    }
}

#[test]
fn the_catalogue_holds_readers_writers_and_a_question_with_closed_schemas() {
    let catalog = BuiltinTools::new().catalog();
    let shown: Vec<String> = catalog
        .iter()
        .map(|tool| format!("{} {:?} {:?} {:?}", tool.name, tool.contract, tool.conduct, tool.risk))
        .collect();
    assert_eq!(
        shown,
        [
            "apply_patch Probe Prepared Medium",
            "ask_user Local Question Low",
            "edit_file Probe Prepared Medium",
            "glob Pure Direct Low",
            "list_dir Pure Direct Low",
            "read_file Pure Direct Low",
            "search Pure Direct Low",
            "write_file Probe Prepared Medium",
        ]
    );
    for tool in catalog.iter() {
        assert_eq!(tool.is_sensitive(), tool.conduct == ToolConduct::Prepared, "{}", tool.name);
        assert_eq!(
            tool.parallelism == Parallelism::Exclusive,
            tool.conduct != ToolConduct::Direct,
            "{}",
            tool.name
        );
        assert_eq!(tool.taints == Taints::WORKSPACE, tool.contract == EffectContract::Pure, "{}", tool.name);
        assert_eq!(tool.schema["additionalProperties"], json!(false));
        for (name, property) in tool.schema["properties"].as_object().unwrap() {
            assert!(
                property["description"].is_string() || property["type"] == "array",
                "{}.{name}",
                tool.name
            );
        }
    }
}

#[tokio::test]
async fn a_granted_call_has_an_outcome() {
    let fixture = Fixture::with(&[("a.md", "# Title\n")]);
    let tools = BuiltinTools::new();
    let run = |grant| tools.execute(grant, supervised(CancelFlag::default()));

    let outcome = run(grant_for("read_file", r#"{"path":"a.md"}"#, &fixture.root())).await.unwrap();
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.output.expose(), "# Title\n");
    assert_eq!(outcome.output_bytes_total, 8);
    assert_eq!(outcome.isolation, Isolation::DescriptorRelative);

    let outcome = run(grant_for("read_file", r#"{"path":"b"}"#, &fixture.root())).await.unwrap();
    assert_eq!(outcome.failure, Some(ErrorCode::FileNotFound));

    let outcome = run(grant_for("list_dir", "{}", &fixture.root().join("gone"))).await.unwrap();
    assert_eq!(outcome.failure, Some(ErrorCode::ToolFailed));
}

#[tokio::test]
async fn a_tool_that_is_not_ours_is_not_started() {
    let fixture = Fixture::new();
    for name in ["ask_user", "Read_File", ""] {
        let grant = grant_for(name, "{}", &fixture.root());
        let error = BuiltinTools::new().execute(grant, supervised(CancelFlag::default())).await.unwrap_err();
        assert_eq!(error, ExecuteToolError::Unknown { tool: ToolName::new(name) });
    }
}

#[tokio::test]
async fn a_raised_flag_ends_every_tool() {
    let fixture = Fixture::with(&[("a", "x\n")]);
    let cancel = CancelFlag::default();
    cancel.cancel();
    for (tool, arguments) in [
        ("read_file", r#"{"path":"a"}"#),
        ("list_dir", "{}"),
        ("glob", r#"{"pattern":"*"}"#),
        ("search", r#"{"pattern":"x"}"#),
    ] {
        let grant = grant_for(tool, arguments, &fixture.root());
        let outcome = BuiltinTools::new().execute(grant, supervised(cancel.clone())).await.unwrap();
        assert_eq!(outcome.failure, Some(ErrorCode::ToolCancelled), "{tool}");
    }
}

#[test]
fn tools_look_at_the_flag_between_files_and_between_blocks_of_lines() {
    let fixture = Fixture::new();
    fixture.write("folder/big.txt", "line\n".repeat(10_000).as_bytes());
    let workspace = Workspace::open(&fixture.root()).unwrap();
    let cancel = CancelFlag::default();
    cancel.cancel();
    let call = ToolCallContext { workspace: &workspace, output_bytes_max: 4096, cancel: &cancel };
    for (tool, arguments) in [
        ("read_file", r#"{"path":"folder/big.txt"}"#),
        ("list_dir", "{}"),
        ("glob", r#"{"pattern":"*"}"#),
        ("search", r#"{"pattern":"nowhere"}"#),
        ("search", r#"{"pattern":"nowhere","path":"folder/big.txt"}"#),
    ] {
        let act = TOOLS.iter().find(|row| (row.spec)().name.as_str() == tool).map(|row| row.act);
        let Some(FileAct::Read(read)) = act else { panic!("{tool} does not read") };
        assert_eq!(read(&call, arguments), Err(ToolFailure::Cancelled), "{arguments}");
    }
}

#[tokio::test]
async fn many_calls_at_once_all_finish() {
    let fixture = Fixture::with(&[("a", "x\n"), ("b/c", "x\n")]);
    let tools = BuiltinTools::new();
    let calls = (0..100).map(|_| {
        let grant = grant_for("search", r#"{"pattern":"x"}"#, &fixture.root());
        tools.execute(grant, supervised(CancelFlag::default()))
    });
    for outcome in futures::future::join_all(calls).await {
        assert!(outcome.unwrap().output.expose().starts_with("[2 matches"));
    }
}

fn supervised(cancel: CancelFlag) -> Supervision {
    Supervision { cancel, ..Supervision::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_arguments_the_output_keeps_its_limit(
        arguments in "\\PC{0,80}",
        path in "\\PC{0,40}",
        pattern in "\\PC{0,20}",
        number in any::<i64>(),
        output_bytes_max in 0usize..2048,
    ) {
        let fixture = Fixture::with(&[("a.txt", "one\ntwo\n"), ("b/c.txt", "three\n")]);
        let written = [
            ("read_file", json!({"path": path, "from": number})),
            ("list_dir", json!({"path": path, "depth": number})),
            ("glob", json!({"path": path, "pattern": pattern})),
            ("search", json!({"path": path, "pattern": pattern, "glob": pattern, "max": number, "context": number})),
            ("search", json!({"pattern": pattern})),
            ("glob", json!({"pattern": pattern})),
        ];
        for (tool, value) in written {
            for text in [value.to_string(), arguments.clone()] {
                let grant = GrantRequest::new(tool, &text, &fixture.root())
                    .output_bytes_max(output_bytes_max)
                    .grant();
                let outcome = run_call(&ToolInvocation::of(&grant, Supervision::default())).unwrap();
                prop_assert!(outcome.output.expose().len() <= output_bytes_max);
            }
        }
        prop_assert_eq!(fs::read_dir(fixture.outside()).unwrap().count(), 0);
    }
}
