//! What `git` tells of repositories that hold credentials, and what it is never asked.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::tests::Bench;
use crate::failure::CommandFailure;
use palyra_tool_kit::ToolResult;

const CANARY: &str = "CANARY-7f3a91";

fn git(folder: &Path, words: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example", "-c", "commit.gpgsign=false"]).args(words);
    let done = git
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output();
    let done = done.expect("git runs");
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// Files that hold credentials, tracked, in two versions; and plain ones with the same words.
const SECRET: [&str; 6] =
    [".env", ".ssh/id_rsa", "secrets/db", "deep/er/server.KEY", "prod.tfvars", "id_rsa"];
const PLAIN: [&str; 4] = ["notes.txt", ".env.example", "id_rsa.pub", "src/main.rs"];

fn repository() -> Bench {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "-q", "-b", "main"]);
    for version in ["one", "two", "three"] {
        for path in SECRET.iter().chain(&PLAIN) {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
            let what = if SECRET.contains(path) { CANARY } else { "plain" };
            std::fs::write(file, format!("{what} {version} {path}\n")).expect("a file");
        }
        if version != "three" {
            git(&root, &["add", "-A", "-f"]);
            git(&root, &["commit", "-q", "-m", version]);
        }
    }
    bench
}

async fn ask(bench: &Bench, arguments: &Value) -> Result<ToolResult, CommandFailure> {
    let mut granted = bench.granted("git", &arguments.to_string(), "");
    granted.limits.output_bytes_max = 256 * 1024;
    bench.execute(&granted).await
}

async fn printed(bench: &Bench, arguments: &Value) -> String {
    ask(bench, arguments).await.map_or_else(|failure| failure.to_string(), |made| made.text)
}

#[tokio::test]
async fn no_question_prints_what_credentials_hold() {
    let bench = repository();
    let blob = git(&bench.root(), &["rev-parse", "HEAD:.env"]);
    let older = git(&bench.root(), &["rev-parse", "HEAD~1:.env"]);
    let tree = git(&bench.root(), &["rev-parse", "HEAD:secrets"]);
    let asked = |subcommand: &str, options: &[&str]| json!({"subcommand": subcommand, "options": options});
    let in_tree = format!("{tree}:db");
    let blobs = format!("{older}..{blob}");
    let attacks = [
        asked("diff", &["--no-index", "/dev/null", ".env"]),
        asked("diff", &["--no-index", "/dev/null", "/etc/passwd"]),
        asked("diff", &["--no-inde", "/dev/null", ".ssh/id_rsa"]),
        asked("grep", &["--no-index", "-h", "", "--", ".env", "secrets", ".ssh"]),
        asked("diff", &[]),
        asked("diff", &["HEAD~1"]),
        asked("diff", &["HEAD~1", "HEAD", "-w"]),
        asked("diff", &["--", ".env"]),
        asked("diff", &[&older, &blob]),
        asked("diff", &[&blobs]),
        asked("diff", &["--word-diff", "--cached", "HEAD~1"]),
        asked("show", &[]),
        asked("show", &["HEAD:.env"]),
        asked("show", &[":.env"]),
        asked("show", &[":0:.env"]),
        asked("show", &["HEAD:./.env"]),
        asked("show", &["HEAD:deep/er/server.KEY"]),
        asked("show", &[&blob]),
        asked("show", &[&in_tree]),
        asked("log", &["-p"]),
        asked("log", &["-p", "--all", "-m"]),
        asked("log", &["-U0", "--reverse"]),
        asked("grep", &["CANARY"]),
        asked("grep", &["-h", "CANARY", "HEAD"]),
        asked("grep", &["-h", "-e", "CANARY", &blob]),
        asked("grep", &["-h", "--cached", "CANARY"]),
        asked("blame", &["--contents", ".env", "notes.txt"]),
        json!({"subcommand": "blame", "options": ["--", ".env"]}),
        json!({"subcommand": "grep", "options": ["-h", "."], "paths": [":(top,icase).ENV"]}),
        json!({"subcommand": "log", "options": ["-p"], "paths": ["."]}),
        json!({"subcommand": "show", "revisions": ["HEAD", "HEAD:.env"]}),
    ];
    for arguments in attacks {
        let printed = printed(&bench, &arguments).await;
        assert!(!printed.contains("CANARY-") && !printed.contains("root:x"), "{arguments}: {printed}");
    }
    // A pickaxe would say of each guess whether it is right.
    let guess = |text: &str| json!({"subcommand": "log", "options": ["--format=%s", "-S", text]});
    assert!(!printed(&bench, &guess("CANARY")).await.contains("two"));
    assert!(
        printed(&bench, &guess("plain")).await.contains("one"),
        "the control: other files are looked into"
    );
}

#[tokio::test]
async fn other_files_are_shown_and_what_is_left_out_is_said() {
    let bench = repository();
    for arguments in [
        json!({"subcommand": "diff"}),
        json!({"subcommand": "diff", "options": ["HEAD~1", "HEAD"]}),
        json!({"subcommand": "show"}),
        json!({"subcommand": "log", "options": ["-p"]}),
        json!({"subcommand": "grep", "options": ["-n", "plain"]}),
    ] {
        let printed = printed(&bench, &arguments).await;
        for path in PLAIN {
            assert!(
                printed.contains(&format!("plain two {path}"))
                    || printed.contains(&format!("plain three {path}")),
                "{arguments}: {printed}"
            );
        }
        match arguments["subcommand"].as_str() {
            Some("log") => assert!(printed.contains("credentials are left out"), "{printed}"),
            _ => assert!(
                printed.contains("[left out: 6 paths that may hold credentials ("),
                "{arguments}: {printed}"
            ),
        }
    }
    // Where nothing is left out, nothing is said.
    let arguments = json!({"subcommand": "diff", "paths": ["notes.txt"]});
    let printed = printed(&bench, &arguments).await;
    assert!(printed.contains("plain three notes.txt") && !printed.contains("left out"), "{printed}");
    assert!(
        !self::printed(&bench, &json!({"subcommand": "show", "revisions": ["HEAD:notes.txt"]}))
            .await
            .contains("left out")
    );
}

#[tokio::test]
async fn credentials_that_the_call_names_are_shown() {
    let bench = repository();
    for arguments in [
        json!({"subcommand": "diff", "paths": [".env"]}),
        json!({"subcommand": "log", "options": ["-p"], "paths": [".env", "secrets"]}),
        json!({"subcommand": "grep", "options": ["CANARY"], "paths": [".ssh"]}),
        json!({"subcommand": "blame", "paths": [".env"]}),
    ] {
        let printed = printed(&bench, &arguments).await;
        assert!(printed.contains(CANARY) && !printed.contains("left out"), "{arguments}: {printed}");
    }
}

#[tokio::test]
async fn the_usual_questions_are_answered() {
    let bench = repository();
    let root = bench.root();
    bench.write("new.txt", "x");
    for (subcommand, options, expect) in [
        ("status", &["--short"][..], "?? new.txt"),
        ("status", &["-sb"], "## main"),
        ("log", &["--oneline", "-n", "1"], "two"),
        ("log", &["--graph", "--all", "--format=%h %s", "--since=2001-01-01"], "one"),
        ("log", &["--stat", "-1"], ".env"),
        ("log", &["main~1..main", "--oneline"], "two"),
        ("show", &["--stat", "HEAD"], "notes.txt"),
        ("show", &["HEAD~1:notes.txt"], "plain one notes.txt"),
        ("show", &["@"], "plain two notes.txt"),
        ("branch", &["-vv"], "* main"),
        ("branch", &["--show-current"], "main"),
        ("branch", &["--contains", "HEAD"], "main"),
        ("ls-files", &["-o", "--exclude-standard"], "new.txt"),
        ("rev-parse", &["--abbrev-ref", "HEAD"], "main"),
        ("rev-parse", &["--show-toplevel"], root.to_str().expect("text")),
        ("grep", &["-n", "plain", "--", "src"], "src/main.rs:1:plain three"),
        ("describe", &["--always"], "exit code 0"),
        ("blame", &["-L", "1,1", "--", "notes.txt"], "plain three"),
        ("diff", &["--name-only"], "notes.txt"),
    ] {
        let arguments = json!({"subcommand": subcommand, "options": options});
        let printed = printed(&bench, &arguments).await;
        assert!(printed.starts_with("exit code 0\n") && printed.contains(expect), "{arguments}: {printed}");
    }
}

#[tokio::test]
async fn a_filter_of_the_repository_is_not_started() {
    let bench = repository();
    let root = bench.root();
    let ran = root.join("ran");
    bench.write("evil.sh", &format!("touch {}\ncat\n", ran.display()));
    for (name, value) in [("filter.e.v=il.clean", "sh evil.sh"), ("filter.e.v=il.required", "true")] {
        git(&root, &["config", name, value]);
    }
    bench.write(".gitattributes", "*.txt filter=e.v=il\n");
    for subcommand in ["status", "diff", "show", "blame", "grep"] {
        let options: &[&str] = if subcommand == "grep" { &["plain"] } else { &[] };
        let paths: &[&str] = if subcommand == "blame" { &["notes.txt"] } else { &[] };
        let printed =
            printed(&bench, &json!({"subcommand": subcommand, "options": options, "paths": paths})).await;
        assert!(printed.starts_with("exit code 0"), "{printed}");
        assert!(!ran.exists(), "{subcommand} started the filter");
    }
    // The control: git as it is.
    git(&root, &["status"]);
    git(&root, &["diff"]);
    assert!(ran.exists());
}
