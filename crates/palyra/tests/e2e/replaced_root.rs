//! A workspace that is replaced by a link while its run is at work, as a command of the folder around it could do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use palyra_model_server::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::asked::tape;
use crate::home::{Home, ended};
use crate::openai_server::{home_with, runtime, serve};

const PERMITS_ALL: &str = "@id(\"all\")\npermit (principal, action, resource);\n";
const CANARY: &str = "canary-5a1d27";

/// The calls of the run, in order; the workspace is replaced before the second.
fn calls() -> Vec<(&'static str, Value)> {
    let makes = |name: &str| json!({ "argv": ["python3", "-c", format!("open('{name}', 'w')")] });
    vec![
        ("list_dir", json!({})),
        ("git", json!({ "subcommand": "log" })),
        ("run_command", makes("made-by-command")),
        ("start_job", makes("made-by-job")),
        ("run_command", json!({ "argv": ["python3", "-c", "import time; time.sleep(0.3)"] })),
    ]
}

/// Makes one call after the other, and does something before the second.
fn one_by_one(before_the_second: impl Fn() + Send + Sync + 'static) -> Behaviour {
    Behaviour::by(move |body| {
        let messages = body["messages"].as_array().unwrap();
        let made = messages.iter().filter(|message| message["role"] == "tool").count();
        if made == 1 {
            before_the_second();
        }
        match calls().get(made) {
            Some((tool, arguments)) => Reply::empty().call(tool, &arguments.to_string()),
            None => Reply::text("That is that."),
        }
    })
}

/// Makes a repository whose only commit is the canary.
fn repository(at: &Path) {
    fs::create_dir_all(at).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(at);
        assert!(git.output().unwrap().status.success());
    };
    git(&["init", "-q", "."]);
    git(&["commit", "-q", "--allow-empty", "-m", CANARY]);
}

/// Runs the calls in `outer/sub`; returns what their outcomes say, and the folder that must not be reached.
fn outcomes(replaces: bool) -> (String, PathBuf, Home) {
    let runtime = runtime();
    let place = std::sync::Arc::new(std::sync::OnceLock::<PathBuf>::new());
    let known = std::sync::Arc::clone(&place);
    let server = serve(
        &runtime,
        one_by_one(move || {
            let outer = known.get().unwrap();
            if replaces && !outer.join("moved").exists() {
                fs::rename(outer.join("sub"), outer.join("moved")).unwrap();
                std::os::unix::fs::symlink(outer.with_file_name("private"), outer.join("sub")).unwrap();
            }
        }),
    );
    let home = home_with(&server);
    let (outer, private) = (home.work().join("outer"), home.work().join("private"));
    fs::create_dir_all(outer.join("sub")).unwrap();
    place.set(outer.clone()).unwrap();
    repository(&private);
    let rules = home.config_file().with_file_name("policies");
    fs::create_dir_all(&rules).unwrap();
    fs::write(rules.join("all.cedar"), PERMITS_ALL).unwrap();
    let mut run = home.command(&["run", "--approve", "never", "go"]);
    ended(run.current_dir(outer.join("sub")).spawn().unwrap());
    let newest = home.palyra(&["runs", "list", "--json"]).expect(0).json().remove(0);
    let entries = tape(&home, newest["run_id"].as_str().unwrap());
    (entries.iter().map(Value::to_string).collect::<Vec<_>>().join("\n"), private, home)
}

#[test]
fn no_program_is_started_in_what_a_replaced_workspace_leads_to() {
    let (told, private, home) = outcomes(true);
    assert!(!told.contains(CANARY), "{told}");
    assert!(told.contains("has become a link and is not entered"), "{told}");
    assert_eq!(fs::read_dir(&private).unwrap().count(), 1, "only `.git`: {told}");
    assert_eq!(fs::read_dir(home.work().join("outer/moved")).unwrap().count(), 0, "{told}");

    // The control: in a workspace that stays, the same calls do what they say.
    let (told, private, home) = outcomes(false);
    let made = |name: &str| home.work().join("outer/sub").join(name).exists();
    assert!(made("made-by-command") && made("made-by-job"), "{told}");
    assert_eq!(fs::read_dir(&private).unwrap().count(), 1);
}
