//! What commands left in protected places, and was kept aside: a person looks at it and puts it in place.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::asked::{asked, is_whole, of, tape};
use crate::caller::caller;
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

/// Makes a call that is asked about, says yes, and returns its run and what came of it.
#[track_caller]
fn approved(home: &Home, tool: &str, arguments: &Value) -> (String, String) {
    let waits = asked(home, &json!({ "tool": tool, "arguments": arguments }).to_string());
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let tape = tape(home, &waits.run);
    let outcome = of(&tape, "tool_finished").first().copied().cloned();
    let outcome = outcome.unwrap_or_else(|| panic!("{tape:#?}"));
    (waits.run, outcome["output"].as_str().unwrap().to_owned())
}

/// Has a command run that leaves something in protected places; returns its run.
#[track_caller]
fn left(home: &Home, script: &str) -> String {
    home.write("leave.sh", script);
    let (run, told) = approved(home, "run_command", &json!({ "argv": ["sh", "leave.sh"] }));
    assert!(told.starts_with("exit code 0"), "{told}");
    assert!(told.contains(&format!("`palyra runs kept list {run}`")), "{told}");
    run
}

#[track_caller]
fn show(home: &Home, run: &str, place: &str) -> Value {
    home.palyra(&["runs", "kept", "show", run, place, "--json"]).expect(0).json().remove(0)
}

/// Returns the digest of what is shown.
#[track_caller]
fn shown(home: &Home, run: &str, place: &str) -> String {
    let shown = show(home, run, place);
    assert_eq!(shown["refusal"], "", "{shown:#}");
    shown["shown_sha256"].as_str().unwrap().to_owned()
}

/// Returns where a kept file lies.
#[track_caller]
fn lies(home: &Home, run: &str, place: &str) -> PathBuf {
    let shown = show(home, run, place);
    home.state_dir().join("kept-aside").join(shown["file"]["kept_id"].as_str().unwrap())
}

#[test]
fn what_a_command_left_is_put_in_place_after_a_yes_to_what_was_shown() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let script = "mkdir made; echo '#!/bin/sh' > made/tasks.json; chmod 755 made/tasks.json; mv made .vscode; \
                  echo export A=1 > .envrc";
    let run = left(&home, script);
    let places = [".envrc", ".vscode"];
    assert!(places.iter().all(|place| !home.work().join(place).exists()));
    let listed = home.palyra(&["runs", "kept", "list", &run, "--json"]).expect(0).json();
    let mut named: Vec<_> = listed.iter().map(|file| file["place"].as_str().unwrap()).collect();
    named.sort_unstable();
    assert_eq!(named, places, "{listed:#?}");
    let table = home.palyra(&["runs", "kept", "list", &run]).expect(0);
    assert!(table.out.contains(".envrc") && table.out.contains("PLACE"), "{}", table.out);

    let seen = show(&home, &run, ".vscode");
    let difference = seen["difference"].as_str().unwrap();
    assert!(
        difference.contains("mode 0755, can be run\n--- /dev/null\n+++ .vscode/tasks.json"),
        "{difference}"
    );
    assert!(difference.contains("\n+#!/bin/sh"), "{difference}");

    // Nobody is there to be asked, and no digest of what was shown.
    let unasked = home.palyra(&["runs", "kept", "apply", &run, ".vscode"]).expect(2);
    assert!(unasked.err.contains("--shown"), "{}", unasked.err);
    let other = shown(&home, &run, ".envrc");
    let refused = home.palyra(&["runs", "kept", "apply", &run, ".vscode", "--shown", &other]).expect(5);
    assert!(
        refused.err.contains("PLY-4111") && refused.err.contains("not what was shown"),
        "{}",
        refused.err
    );
    assert!(!home.work().join(".vscode").exists());

    let digest = shown(&home, &run, ".vscode");
    let placed = home.palyra(&["runs", "kept", "apply", &run, ".vscode", "--shown", &digest]).expect(0);
    assert!(placed.err.contains("✓ .vscode/tasks.json: in place"), "{}", placed.err);
    let file = home.work().join(".vscode/tasks.json");
    assert_eq!(fs::read_to_string(&file).unwrap(), "#!/bin/sh\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o755);
    // The next command leaves it alone.
    let (_, told) = approved(&home, "run_command", &json!({ "argv": ["true"] }));
    assert!(!told.contains("kept aside") && file.exists(), "{told}");

    home.palyra(&["runs", "kept", "discard", &run, ".envrc"]).expect(2);
    home.palyra(&["runs", "kept", "discard", &run, ".envrc", "--yes"]).expect(0);
    let gone = home.palyra(&["runs", "kept", "show", &run, ".envrc"]);
    assert!(gone.err.contains("nothing was kept of `.envrc`"), "{}", gone.err);
    is_whole(&home);
}

#[test]
fn a_kept_file_that_changed_since_it_was_shown_is_not_put_in_place() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let run = left(&home, "echo export A=1 > .envrc");
    let apply = |digest: &str| home.palyra(&["runs", "kept", "apply", &run, ".envrc", "--shown", digest]);
    let kept = lies(&home, &run, ".envrc");
    let place = home.work().join(".envrc");
    let digest = shown(&home, &run, ".envrc");
    // Other bytes, other rights, another file at the place.
    fs::write(&kept, "touch pwned\n").unwrap();
    apply(&digest).expect(5);
    fs::write(&kept, "export A=1\n").unwrap();
    let mode = fs::metadata(&kept).unwrap().permissions();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o755)).unwrap();
    apply(&digest).expect(5);
    fs::set_permissions(&kept, mode).unwrap();
    fs::write(&place, "mine\n").unwrap();
    apply(&digest).expect(5);
    assert_eq!(fs::read_to_string(&place).unwrap(), "mine\n");
    fs::remove_file(&place).unwrap();
    // The control: as it was shown.
    apply(&digest).expect(0);
    assert_eq!(fs::read_to_string(&place).unwrap(), "export A=1\n");
}

#[test]
fn no_link_leads_a_kept_file_elsewhere() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let run = left(&home, "mkdir made; echo evil > made/tasks.json; mv made .vscode");
    let outside = home.work().with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    let digest = shown(&home, &run, ".vscode");
    let apply = || home.palyra(&["runs", "kept", "apply", &run, ".vscode", "--shown", &digest]);
    symlink(&outside, home.work().join(".vscode")).unwrap();
    let refused = apply().expect(5);
    assert!(refused.err.contains("PLY-4111"), "{}", refused.err);
    assert_ne!(show(&home, &run, ".vscode")["refusal"], "");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    // A kept file that became a link to another place.
    fs::remove_file(home.work().join(".vscode")).unwrap();
    let inner = lies(&home, &run, ".vscode").join("tasks.json");
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::rename(&inner, outside.join("tasks.json")).unwrap();
    symlink(outside.join("secret"), &inner).unwrap();
    apply().expect(5);
    assert!(!home.work().join(".vscode").exists());
    fs::remove_file(&inner).unwrap();
    fs::rename(outside.join("tasks.json"), &inner).unwrap();
    // The control: without links.
    apply().expect(0);
    assert_eq!(fs::read_to_string(home.work().join(".vscode/tasks.json")).unwrap(), "evil\n");
}

#[test]
fn what_a_kept_file_displaces_is_kept_and_can_be_put_back() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let run = left(&home, "echo theirs > .envrc");
    let place = home.work().join(".envrc");
    fs::write(&place, "mine\n").unwrap();
    let seen = show(&home, &run, ".envrc");
    assert!(seen["difference"].as_str().unwrap().contains("-mine\n+theirs"), "{seen:#}");
    let digest = shown(&home, &run, ".envrc");
    home.palyra(&["runs", "kept", "apply", &run, ".envrc", "--shown", &digest]).expect(0);
    assert_eq!(fs::read_to_string(&place).unwrap(), "theirs\n");
    let listed = home.palyra(&["runs", "kept", "list", &run, "--json"]).expect(0).json();
    let displaced =
        listed.iter().find(|file| file["change"] == "displaced").unwrap_or_else(|| panic!("{listed:#?}"));
    let id = displaced["kept_id"].as_str().unwrap();
    let ambiguous = home.palyra(&["runs", "kept", "show", &run, ".envrc"]);
    assert!(ambiguous.err.contains(id), "{}", ambiguous.err);
    let digest = shown(&home, &run, id);
    home.palyra(&["runs", "kept", "apply", &run, id, "--shown", &digest]).expect(0);
    assert_eq!(fs::read_to_string(&place).unwrap(), "mine\n");
    is_whole(&home);
}

/// Returns whether a file below a folder holds a text.
fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        let bytes = if path.is_dir() { Vec::new() } else { fs::read(&path).unwrap_or_default() };
        (path.is_dir() && holds(&path, text)) || bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[test]
fn an_erasure_takes_what_was_kept_of_its_run() {
    const CANARY: &str = "canary-kept-of-a-command";
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let other = left(&home, "echo other > .envrc");
    let run = left(&home, &format!("echo {CANARY} > .envrc\n"));
    assert!(holds(&home.state_dir().join("kept-aside"), CANARY), "the control: it is there before");
    let erased = home.palyra(&["journal", "erase", "--run", &run, "--yes"]).expect(0);
    assert!(erased.out.contains("deleted 1 kept file"), "{}", erased.out);
    assert!(!holds(&home.state_dir().join("kept-aside"), CANARY));
    assert_eq!(home.palyra(&["runs", "kept", "list", &other, "--json"]).expect(0).json().len(), 1);
}

#[test]
fn what_the_rules_deny_is_not_put_in_place() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let run = left(&home, "echo export A=1 > .envrc");
    home.palyra(&["policy", "posture", "set", "write_file", "disabled"]).expect(0);
    let seen = show(&home, &run, ".envrc");
    assert!(seen["refusal"].as_str().unwrap().contains("denied"), "{seen:#}");
    let digest = seen["shown_sha256"].as_str().unwrap();
    home.palyra(&["runs", "kept", "apply", &run, ".envrc", "--shown", digest]).expect(5);
    assert!(!home.work().join(".envrc").exists());
    // The control: the rules as they ship.
    home.palyra(&["policy", "posture", "set", "write_file", "ask"]).expect(0);
    home.palyra(&["runs", "kept", "apply", &run, ".envrc", "--shown", digest]).expect(0);
}

#[test]
fn a_hook_that_a_command_made_runs_once_a_person_put_it_in_place() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(words)
            .current_dir(home.work())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("EMAIL", "a@b.example");
        assert!(git.env("GIT_CONFIG_NOSYSTEM", "1").status().unwrap().success(), "{words:?}");
    };
    git(&["init", "-q", "--template="]);
    let hook = ".git/hooks/pre-commit";
    let script = "mkdir made; printf '#!/bin/sh\\ntouch hooked\\n' > made/pre-commit; chmod 755 made/pre-commit; \
                  mv made .git/hooks";
    let run = left(&home, script);
    let commit = || git(&["-c", "user.name=a", "commit", "-q", "--allow-empty", "-m", "one"]);
    commit();
    assert!(!home.work().join("hooked").exists());
    let digest = shown(&home, &run, hook);
    home.palyra(&["runs", "kept", "apply", &run, hook, "--shown", &digest]).expect(0);
    commit();
    assert!(home.work().join("hooked").exists());
}
