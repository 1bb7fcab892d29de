//! A workspace whose folder became a link after it was chosen: no program is started in what the link leads to.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use palyra_tool_kit::ToolInvocation;

use super::tests::Bench;
use crate::failure::CommandFailure;
use crate::run_command;

const REFUSAL: &str = "has become a link and is not entered";
const COMMAND: &str = r#"{"argv":["sh","-c","echo made > made"]}"#;

/// A workspace in a folder that others change, and a folder that it must not lead to.
fn nested(bench: &Bench) -> (PathBuf, PathBuf) {
    let (outer, private) = (bench.root().join("outer"), bench.root().join("private"));
    for folder in [&outer.join("sub"), &private] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    (outer.join("sub"), private)
}

fn granted(bench: &Bench, root: &Path, tool: &str) -> Result<ToolInvocation, CommandFailure> {
    let (arguments, plan) = match tool {
        "git" => (r#"{"subcommand":"status"}"#, String::new()),
        _ => {
            let prepared = run_command::prepare(&bench.tools.parts, COMMAND, root, &[])?;
            (COMMAND, prepared.body.expose().clone())
        }
    };
    Ok(super::tests::granted(root, tool, arguments, &plan))
}

fn replace(folder: &Path, target: &Path) {
    std::fs::rename(folder, folder.with_file_name("moved")).expect("it moves");
    symlink(target, folder).expect("a link");
}

#[tokio::test]
async fn a_root_that_became_a_link_is_not_entered() {
    for tool in ["git", "run_command", "start_job"] {
        let bench = Bench::new();
        let (root, private) = nested(&bench);
        let call = granted(&bench, &root, tool).expect("the control is looked at");
        bench.execute(&call).await.expect("the control runs");
        let started = bench.asked.lock().unwrap().len();
        assert!(started > 0, "{tool}");

        // Before it is looked at, and between that and its start.
        let before = granted(&bench, &root, tool).expect("it is looked at");
        replace(&root, &private);
        let looked_at = granted(&bench, &root, tool);
        let refused = match looked_at {
            Ok(call) => bench.execute(&call).await.expect_err("it is refused"),
            Err(refused) => refused,
        };
        assert!(refused.to_string().contains(REFUSAL), "{tool}: {refused}");
        let refused = bench.execute(&before).await.expect_err("it is refused");
        assert!(refused.to_string().contains(REFUSAL), "{tool}: {refused}");
        assert_eq!(bench.asked.lock().unwrap().len(), started, "{tool}");
        assert_eq!(std::fs::read_dir(&private).expect("the folder").count(), 0, "{tool}");
    }
}

#[tokio::test]
async fn a_command_starts_in_no_folder_to_which_a_link_leads() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.root().join("lib/inner")).expect("a folder");
    bench.write("file", "text");
    for (target, link) in [("lib", "way"), ("lib/inner", "deep"), ("missing", "dangling"), ("self", "self")] {
        symlink(target, bench.root().join(link)).expect("a link");
    }
    let arguments = |cwd: &str| serde_json::json!({ "argv": ["pwd"], "cwd": cwd }).to_string();
    for (cwd, link, target) in [
        ("way", "way", "lib"),
        ("way/inner", "way", "lib"),
        ("./way//inner/", "way", "lib"),
        ("deep", "deep", "lib/inner"),
        ("dangling", "dangling", "missing"),
        ("self", "self", "self"),
    ] {
        let refused = bench.prepare(&arguments(cwd)).expect_err("it is refused");
        let told = format!("goes through {link}, a link to {target}, and links are not followed");
        assert!(refused.to_string().contains(&told), "{cwd}: {refused}");
        assert!(matches!(refused, CommandFailure::PathRefused(_)), "{cwd}");
    }
    for (cwd, told) in [("lib/../lib", "contains `..`"), ("/etc", "is absolute and outside")] {
        let refused = bench.prepare(&arguments(cwd)).expect_err("it is refused").to_string();
        assert!(refused.contains(told), "{cwd}: {refused}");
    }
    for (cwd, told) in
        [("gone", "there is no folder"), ("file", "is not a folder"), ("file/x", "is not a folder")]
    {
        let refused = bench.prepare(&arguments(cwd)).expect_err("it is refused").to_string();
        assert!(refused.contains(told), "{cwd}: {refused}");
    }
    // The controls: the same folders by their names, and nothing was started before.
    assert!(bench.asked.lock().unwrap().is_empty());
    let whole = bench.root().join("lib").display().to_string();
    for (cwd, expect) in [("lib", "lib"), ("./lib/inner", "lib/inner"), (&whole, "lib"), (".", "")] {
        let made = bench.run("run_command", &arguments(cwd)).await.expect("it ran");
        let folder = bench.root().join(expect).display().to_string();
        assert!(made.text.contains(folder.trim_end_matches('/')), "{cwd}: {}", made.text);
    }
}

#[tokio::test]
async fn a_folder_above_the_root_that_became_a_link_is_not_entered() {
    let bench = Bench::new();
    let (root, private) = nested(&bench);
    std::fs::create_dir(private.join("sub")).expect("a folder");
    replace(root.parent().expect("a folder"), &private);
    for tool in ["git", "run_command", "start_job"] {
        let call = granted(&bench, &root, tool);
        let refused = match call {
            Ok(call) => bench.execute(&call).await.expect_err("it is refused"),
            Err(refused) => refused,
        };
        assert!(refused.to_string().contains(REFUSAL), "{tool}: {refused}");
    }
}
