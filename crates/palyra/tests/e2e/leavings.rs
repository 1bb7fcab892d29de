//! What commands leave behind: nothing that a person's own programs run, and everything that an agent's day makes.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::asked::{asked, is_whole, of, tape};
use crate::caller::{call, caller};
use crate::home::{Home, ended};
use crate::openai_server::{home_with, runtime, serve};

/// Makes a call that is asked about, says yes, and returns what came of it.
#[track_caller]
fn approved(home: &Home, tool: &str, arguments: &Value) -> String {
    let waits = asked(home, &call(tool, arguments));
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let tape = tape(home, &waits.run);
    let outcome = of(&tape, "tool_finished").first().copied().cloned();
    outcome.unwrap_or_else(|| panic!("{tape:#?}"))["output"].as_str().unwrap().to_owned()
}

/// A person's own git, with no settings but the repository's.
#[track_caller]
fn git(folder: &Path, words: &[&str]) -> String {
    let done = Command::new("git")
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_AUTHOR_NAME", "a")
        .env("EMAIL", "a@b.example")
        .output()
        .unwrap();
    assert!(done.status.success(), "{words:?} {done:?}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn repository(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    git(folder, &["init", "-q", "-b", "main"]);
    fs::write(folder.join("notes.txt"), "one\n").unwrap();
    git(folder, &["add", "notes.txt"]);
    git(folder, &["commit", "-q", "-m", "one"]);
}

#[test]
fn an_agents_ordinary_day_asks_about_its_commands_and_nothing_else() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    repository(&home.work());
    repository(&home.work().join("lib"));
    fs::write(home.work().join(".git/info/exclude"), "lib\ntree\nlantern\n").unwrap();
    home.write("Makefile", "lantern: lantern.c\n\tgcc -o lantern lantern.c\n\ntest: lantern\n\t./lantern\n");
    let source = "#include <stdio.h>\nint main(void) { puts(\"it shines\"); return 0; }\n";
    let made = approved(&home, "write_file", &json!({ "path": "lantern.c", "content": source }));
    assert!(made.starts_with("created"), "{made}");
    let lib = home.work().join("lib").display().to_string();
    let day: &[&[&str]] = &[
        &["make"],
        &["make", "test"],
        &["git", "add", "lantern.c", "Makefile"],
        &["git", "commit", "-q", "-m", "two"],
        &["git", "checkout", "-q", "-b", "topic"],
        &["git", "worktree", "add", "-q", "tree", "-b", "other"],
        &["git", "-C", "tree", "commit", "-q", "--allow-empty", "-m", "three"],
        &["git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &lib, "sub"],
        &["git", "commit", "-q", "-m", "four"],
        &["git", "-C", "sub", "commit", "-q", "--allow-empty", "-m", "five"],
        &["git", "commit", "-q", "-a", "-m", "six"],
    ];
    for argv in day {
        let told = approved(&home, "run_command", &json!({ "argv": argv }));
        assert!(told.starts_with("exit code 0") && !told.contains("kept aside"), "{argv:?}: {told}");
    }
    git(&home.work(), &["fsck", "--no-progress"]);
    assert_eq!(git(&home.work(), &["log", "--format=%s"]), "six\nfour\ntwo\none\n");
    assert_eq!(git(&home.work().join("tree"), &["log", "--format=%s", "-1"]), "three\n");
    assert_eq!(git(&home.work().join("sub"), &["log", "--format=%s", "-1"]), "five\n");
    is_whole(&home);
}

#[test]
fn a_job_whose_repository_is_configured_meanwhile_leaves_nothing_that_git_runs() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    repository(&home.work());
    let canary = home.work().with_file_name("canary");
    let evil = home.work().join("evil.sh");
    fs::write(&evil, format!("#!/bin/sh\ntouch {}\n", canary.display())).unwrap();
    fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = format!(
        "print('begun', flush=True)\nwhile True:\n  try:\n    open('.git/config', 'a').write('[core]\\n\\tfsmonitor = {}\\n')\n    \
         break\n  except OSError: pass\nimport time; time.sleep(1000)\n",
        evil.display()
    );
    home.write("watch.py", &script);
    let started = approved(&home, "start_job", &json!({ "argv": ["python3", "watch.py"] }));
    assert!(started.contains("started as job-1"), "{started}");
    let started = tape(&home, "last");
    let session = started[0]["session_id"].as_str().unwrap().to_owned();
    let look = || {
        home.palyra(&["run", "--session", &session, &call("tail_job", &json!({ "job": "job-1" }))]).expect(0);
        let tape = tape(&home, "last");
        of(&tape, "tool_finished")[0]["output"].as_str().unwrap().to_owned()
    };
    while !look().contains("begun") {}
    assert!(!fs::read_to_string(home.work().join(".git/config")).unwrap().contains("fsmonitor"));
    git(&home.work(), &["config", "branch.main.description", "lantern"]);
    let end = loop {
        let told = look();
        if !told.starts_with("still running") {
            break told;
        }
    };
    assert!(end.contains("was replaced from outside"), "{end}");
    git(&home.work(), &["status"]);
    assert!(!canary.exists(), "{end}");
    // The control: what the job wrote makes git run it.
    git(&home.work(), &["config", "core.fsmonitor", &evil.display().to_string()]);
    git(&home.work(), &["status"]);
    assert!(canary.exists());
}

#[test]
fn no_command_changes_what_decides_over_the_daemon() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    let settings = home.config_file().parent().unwrap().parent().unwrap().to_owned();
    let script = "import os\nfor path in 'palyra/policies/z.cedar', 'palyra/palyra.toml', 'palyra/anchors/x', 'other':\n  try:\n    \
                  os.makedirs(os.path.dirname(path) or '.', exist_ok=True)\n    open(path, 'a').write('# evil\\n')\n    \
                  print('wrote', path)\n  except OSError as e: print('no', e.errno, path)\n";
    fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    if !home.config_file().exists() {
        fs::write(home.config_file(), "# settings\n").unwrap();
    }
    fs::write(settings.join("build.py"), script).unwrap();
    let before = fs::read_to_string(home.config_file()).unwrap();
    let words = call("run_command", &json!({ "argv": ["python3", "build.py"] }));
    let there = |words: &[&str]| ended(home.command(words).current_dir(&settings).spawn().unwrap());
    let asks = there(&["run", &words]);
    there(&["approve", "yes", "last"]).expect(0);
    let told = there(&["runs", "tail", "last", "--json"]).expect(0).json();
    let output = of(&told, "tool_finished")[0]["output"].as_str().unwrap();
    assert!(output.contains("wrote other") && output.matches("no ").count() == 3, "{output} {asks:?}");
    assert_eq!(fs::read_to_string(home.config_file()).unwrap(), before);
    assert!(!home.config_file().with_file_name("policies").join("z.cedar").exists());
    // The control: nothing else is in the way.
    let plain = Command::new("python3").arg("build.py").current_dir(&settings).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&plain.stdout).matches("wrote").count(), 4);
}

/// Looks at a job until what is said of it has some words.
#[track_caller]
fn tail_until(home: &Home, session: &str, words: &str) -> String {
    let look = json!({ "tool": "tail_job", "arguments": { "job": "job-1" } }).to_string();
    for _ in 0..400 {
        home.palyra(&["run", "--session", session, &look]).expect(0);
        let tape = tape(home, "last");
        let told = of(&tape, "tool_finished")[0]["output"].as_str().unwrap().to_owned();
        if told.contains(words) {
            return told;
        }
    }
    panic!("nobody says {words}")
}

fn session_of(home: &Home) -> String {
    tape(home, "last")[0]["session_id"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_tool_writes_after_a_yes_stays_beside_a_running_job() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write(
        "job.sh",
        "until [ -e one ]; do sleep 0.1; done; mkdir .vscode; touch .vscode/a\n\
         until [ -e two ]; do sleep 0.1; done; echo evil > .envrc; sleep 1000\n",
    );
    approved(&home, "start_job", &json!({ "argv": ["sh", "job.sh"] }));
    let session = session_of(&home);
    let place = home.work().join(".envrc");
    let told = approved(&home, "write_file", &json!({ "path": ".envrc", "content": "export A=1\n" }));
    assert!(told.starts_with("created .envrc"), "{told}");
    // What the job makes is taken by a look that has met the other file as well.
    home.write("one", "");
    let told = tail_until(&home, &session, ".vscode (new)");
    assert!(!told.contains(".envrc"), "{told}");
    assert_eq!(fs::read_to_string(&place).unwrap(), "export A=1\n");
    // The control: what the job writes there is not granted, and what the person said yes to is put back.
    home.write("two", "");
    tail_until(&home, &session, ".envrc (changed, and as before again)");
    assert_eq!(fs::read_to_string(&place).unwrap(), "export A=1\n");
}

#[test]
fn a_protected_file_that_a_job_replaced_is_put_back_after_a_crash() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    home.write(".envrc", "before\n");
    // A second name of it, which no mount covers.
    fs::hard_link(home.work().join(".envrc"), home.work().join("other")).unwrap();
    home.write("job.sh", "until [ -e go ]; do sleep 0.1; done; echo evil > other; sleep 1000\n");
    approved(&home, "start_job", &json!({ "argv": ["sh", "job.sh"] }));
    let pid = home.daemon_pid();
    let now = || fs::read_to_string(home.work().join(".envrc")).unwrap_or_default();
    home.write("go", "");
    while now() == "before\n" {
        std::thread::yield_now();
    }
    kill_process(pid, Signal::KILL).unwrap();
    home.palyra(&["runs", "list"]).expect(0);
    assert_eq!(now(), "before\n");
}
