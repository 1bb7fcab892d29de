//! A rule that nothing is written below a folder: file tools are denied, and for programs the folder is read-only.

use std::fs;
use std::path::Path;

use palyra_model_server::{Behaviour, Reply};
use serde_json::{Value, json};

use crate::asked::{asked, is_whole, of, tape};
use crate::home::Home;
use crate::openai_server::{home_with, runtime, serve};

const RULE: &str = "@id(\"no-writes-in-src\")\n@reason(\"src is for people\")\nforbid (principal, action, resource in \
                    Capability::\"write_files\")\nwhen { context.folders.contains(\"src\") };\n";

/// Tries to change `src` in every way that a program has, and a folder beside it.
const SCRIPT: &str = r#"
import errno, os
def attempt(name, act):
    try:
        act()
        print(name, 'done')
    except OSError as e:
        print(name, errno.errorcode[e.errno])
def write(path):
    with open(path, 'w') as f: f.write('changed')
attempt('new', lambda: write('src/new'))
attempt('over', lambda: write('src/a.txt'))
attempt('deep', lambda: write('src/inner/b.txt'))
attempt('folder', lambda: os.mkdir('src/folder'))
attempt('mode', lambda: os.chmod('src/a.txt', 0o600))
attempt('time', lambda: os.utime('src/a.txt', (1, 1)))
attempt('twin', lambda: os.link('src/a.txt', 'twin'))
attempt('link', lambda: (os.symlink('src', 'way'), write('way/by-link')))
attempt('out', lambda: os.rename('src/a.txt', 'taken'))
attempt('in', lambda: (write('brought'), os.rename('brought', 'src/brought')))
attempt('away', lambda: os.rename('src', 'moved'))
attempt('gone', lambda: os.unlink('src/inner/b.txt'))
attempt('elsewhere', lambda: write('docs/new'))
print('reads', open('src/a.txt').read().strip())
"#;

fn caller() -> Behaviour {
    Behaviour::by(|body| {
        let last = body["messages"].as_array().unwrap().last().unwrap().clone();
        if last["role"] != "user" {
            return Reply::text("That is that.");
        }
        let call: Value = serde_json::from_str(last["content"].as_str().unwrap()).unwrap();
        Reply::empty().call(call["tool"].as_str().unwrap(), &call["arguments"].to_string())
    })
}

fn call(tool: &str, arguments: &Value) -> String {
    json!({ "tool": tool, "arguments": arguments }).to_string()
}

/// Runs the script as a command that a person approves; returns its run and what it printed.
#[track_caller]
fn approved(home: &Home) -> (String, String) {
    let waits = asked(home, &call("run_command", &json!({ "argv": ["python3", "change.py"] })));
    home.palyra(&["approve", "yes", &waits.approval]).expect(0);
    let tape = tape(home, &waits.run);
    let output = of(&tape, "tool_finished")[0]["output"].as_str().unwrap().to_owned();
    (waits.run, output)
}

fn fill(folder: &Path) {
    for inner in ["src/inner", "docs"] {
        fs::create_dir_all(folder.join(inner)).unwrap();
    }
    for file in ["src/a.txt", "src/inner/b.txt"] {
        fs::write(folder.join(file), "as it was\n").unwrap();
    }
    fs::write(folder.join("change.py"), SCRIPT).unwrap();
}

/// What is in a folder, and its bytes.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(content(&entry.path()));
        } else {
            found.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

fn with_rule(home: &Home) {
    let rules = home.config_file().with_file_name("policies");
    fs::create_dir_all(&rules).unwrap();
    fs::write(rules.join("mine.cedar"), RULE).unwrap();
}

#[test]
fn a_folder_that_a_rule_closes_is_read_only_for_programs_and_closed_to_file_tools() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    with_rule(&home);
    fill(&home.work());
    let before = content(&home.work().join("src"));

    let (run, output) = approved(&home);
    let said = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name}: {output}")).to_owned()
    };
    for name in ["new", "over", "deep", "folder", "mode", "time", "link", "gone"] {
        assert_eq!(said(name), "EROFS", "{name}: {output}");
    }
    for (name, errno) in [("twin", "EXDEV"), ("out", "EXDEV"), ("in", "EXDEV"), ("away", "EBUSY")] {
        assert_eq!(said(name), errno, "{name}: {output}");
    }
    assert_eq!((said("elsewhere"), said("reads")), ("done".to_owned(), "as it was".to_owned()));
    assert_eq!(content(&home.work().join("src")), before);
    assert_eq!(fs::read_to_string(home.work().join("docs/new")).unwrap(), "changed");
    let explained = home.palyra(&["policy", "explain", &run, "1"]).expect(0);
    let line = "`src` is read-only for the program by no-writes-in-src";
    assert!(explained.out.contains(line), "{}", explained.out);

    let write = call("write_file", &json!({ "path": "src/new", "content": "x" }));
    let denied = home.palyra(&["run", &write]).expect(3);
    assert!(denied.err.contains("`no-writes-in-src` (src is for people)"), "{}", denied.err);
    let explained = home.palyra(&["policy", "explain", "last"]).expect(0);
    assert!(explained.out.contains("looked at context.folders: [\"src\"]\n"), "{}", explained.out);
    assert_eq!(explained.out.matches("forbidden").count(), 1, "{}", explained.out);
    is_whole(&home);

    // The control: without the rule the same program changes it.
    let home = home_with(&server);
    fill(&home.work());
    let (_, output) = approved(&home);
    assert!(output.lines().filter(|line| line.ends_with(" done")).count() == 12, "{output}");
    assert!(!home.work().join("src").exists() && home.work().join("moved/new").exists(), "{output}");
}

#[test]
fn a_program_that_fails_to_write_to_a_closed_folder_names_the_rule() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    with_rule(&home);
    fill(&home.work());
    let waits = asked(&home, &call("run_command", &json!({ "argv": ["touch", "src/new"] })));
    let yes = home.palyra(&["approve", "yes", &waits.approval, "--wait"]);
    assert!(yes.err.contains("`src` is read-only for it by `no-writes-in-src`"), "{}", yes.err);
    let tape = tape(&home, &waits.run);
    let output = of(&tape, "tool_finished")[0]["output"].as_str().unwrap();
    assert!(output.contains("a rule of the policy makes `src` read-only for this command"), "{output}");
    // The command that it names.
    assert!(output.contains("`palyra policy explain last`"), "{output}");
    let explained = home.palyra(&["policy", "explain", "last"]).expect(0).out;
    assert!(explained.contains("no-writes-in-src"), "{explained}");
}

#[test]
fn a_question_that_is_asked_again_says_that_a_folder_became_read_only_and_by_which_rule() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let home = home_with(&server);
    fill(&home.work());
    let waits = asked(&home, &call("run_command", &json!({ "argv": ["python3", "change.py"] })));
    let first = home.palyra(&["approve", "show", &waits.approval]).expect(0);
    assert!(!first.out.contains("\nchanged "), "{}", first.out);
    with_rule(&home);
    home.palyra(&["config", "reload"]).expect(0);
    let yes = home.palyra(&["approve", "yes", &waits.approval]);
    assert!(yes.err.contains("has changed since it was asked, so nothing ran"), "{yes:?}");
    let again = home.palyra(&["approve", "show", "last"]).expect(0);
    for (told, part) in [
        (&yes.out, "new: read-only src"),
        (&yes.out, "new: \"src\" is read-only for it by `no-writes-in-src`"),
        (&again.out, "changed   new: read-only src"),
    ] {
        let words = told.replace('\n', " ").replace("`src`", "\"src\"");
        assert!(words.contains(part), "{part}: {told}");
    }
    assert!(home.work().join("src/a.txt").exists(), "nothing ran");
}

#[test]
fn a_closed_folder_that_is_not_there_yet_is_not_left_behind_by_a_program() {
    let runtime = runtime();
    let server = serve(&runtime, caller());
    let make = "import os\nos.mkdir('made')\nopen('made/new', 'w').write('x')\nopen('beside', 'w').write('x')\n\
                os.rename('made', 'src')\n";
    for is_closed in [true, false] {
        let home = home_with(&server);
        if is_closed {
            with_rule(&home);
        }
        home.write("change.py", make);
        let (_, output) = approved(&home);
        assert!(output.starts_with("exit code 0"), "{output}");
        assert!(home.work().join("beside").exists());
        assert_eq!(home.work().join("src").exists(), !is_closed, "{output}");
        assert_eq!(output.contains("kept aside") && output.contains("src (new)"), is_closed, "{output}");
    }
}
