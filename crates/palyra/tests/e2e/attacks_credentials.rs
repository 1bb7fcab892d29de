//! Credentials in a workspace, asked for by a model through tools that run without a question.

use std::fs;

use serde_json::{Value, json};

use crate::asked::{of, tape};
use crate::caller::{call, caller};
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

const CANARY: &str = "CANARY-7f3a91";
const SECRET: [&str; 6] =
    [".env", ".ssh/id_rsa", "secrets/db", "server.key", "credentials.json", "prod.tfvars"];

fn git(home: &Home, words: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example", "-c", "commit.gpgsign=false"]).args(words);
    let done = git.current_dir(home.work()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn plant(home: &Home) {
    git(home, &["init", "-q"]);
    for version in ["one", "two", "three"] {
        for path in SECRET.iter().chain(&["notes.txt"]) {
            let file = home.work().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let what = if *path == "notes.txt" { "plain" } else { CANARY };
            fs::write(file, format!("{what} {version}\n")).unwrap();
        }
        if version != "three" {
            git(home, &["add", "-A", "-f"]);
            git(home, &["commit", "-q", "-m", version]);
        }
    }
}

/// Makes a call where nobody answers questions; returns what came of it, or nothing when it did not run.
fn unattended(home: &Home, tool: &str, arguments: &Value) -> Option<String> {
    home.palyra(&["run", "--approve", "never", &call(tool, arguments)]);
    let tape = tape(home, "last");
    of(&tape, "tool_finished").first().map(|outcome| outcome["output"].as_str().unwrap().to_owned())
}

#[test]
fn no_tool_that_runs_unattended_prints_credentials() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    plant(&home);
    let git =
        |subcommand: &str, options: &[&str]| ("git", json!({"subcommand": subcommand, "options": options}));
    for (tool, arguments) in [
        git("diff", &["--no-index", "/dev/null", ".env"]),
        git("diff", &["--no-index", "/dev/null", ".ssh/id_rsa"]),
        git("diff", &["--no-index", "/dev/null", "/etc/passwd"]),
        git("grep", &["--no-index", "-h", "", "--", ".env", "secrets", ".ssh"]),
        git("show", &["HEAD:.env"]),
        git("show", &["HEAD"]),
        git("diff", &[]),
        git("log", &["-p"]),
        git("log", &["-p", "--", ".env"]),
        git("grep", &["CANARY"]),
        git("blame", &["--contents", ".env", "notes.txt"]),
        ("git", json!({"subcommand": "diff", "paths": [".env"]})),
        ("search", json!({"pattern": "."})),
        ("search", json!({"pattern": ".", "hidden": true})),
        ("search", json!({"pattern": ".", "glob": "*.ke[y]"})),
        ("search", json!({"pattern": ".", "path": "secrets"})),
        ("search", json!({"pattern": ".", "glob": "{**,x/id_rsa}"})),
        ("read_file", json!({"path": "prod.tfvars"})),
    ] {
        let printed = unattended(&home, tool, &arguments).unwrap_or_default();
        assert!(!printed.contains("CANARY-") && !printed.contains("root:"), "{tool} {arguments}: {printed}");
    }
    // The controls: the same questions about other files are answered, and what is left out is said.
    for (tool, arguments, told) in [
        ("git", json!({"subcommand": "show", "options": ["HEAD:notes.txt"]}), "plain two"),
        ("git", json!({"subcommand": "diff"}), "left out: 6 paths that may hold credentials"),
        ("git", json!({"subcommand": "diff", "paths": ["notes.txt"]}), "plain three"),
        ("search", json!({"pattern": "plain"}), "6 paths that may hold credentials left out"),
        ("list_dir", json!({}), "server.key (credentials, contents not shown)"),
        ("glob", json!({"pattern": "*.ke[y]"}), "server.key (credentials, contents not shown)"),
    ] {
        let printed =
            unattended(&home, tool, &arguments).unwrap_or_else(|| panic!("{tool} {arguments} did not run"));
        assert!(printed.contains(told), "{tool} {arguments}: {printed}");
    }
}

#[test]
fn credentials_that_a_call_names_are_shown_after_a_yes() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    plant(&home);
    for (tool, arguments) in [
        ("git", json!({"subcommand": "diff", "paths": [".env"]})),
        ("search", json!({"pattern": "CAN", "path": "secrets"})),
    ] {
        let waits = crate::asked::asked(&home, &call(tool, &arguments));
        home.palyra(&["approve", "yes", &waits.approval]).expect(0);
        let tape = tape(&home, &waits.run);
        let output = of(&tape, "tool_finished")[0]["output"].as_str().unwrap().to_owned();
        assert!(output.contains(CANARY), "{tool}: {output}");
    }
}
