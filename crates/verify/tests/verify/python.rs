//! The verifier in Python gives the same answers on the same files.
//!
//! Owns driving it: one process, one file a line. A Python that is missing is a failure, not a reason to skip.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::tamper::{CLASSES, Seen, append_wrong, bases, run_class};
use crate::writer::{Chance, Shape, Wrong, shape};

/// A file, what is asked about it, and the answer in Rust: exit code and first bad seq.
struct PythonCase {
    name: String,
    question: Value,
    answer: (u64, Option<u64>),
}

fn ask(questions: &[PythonCase]) -> Vec<Value> {
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
        "PALYRA_TEST_PYTHON must name a Python with `cryptography`; run `cargo xtask test`, which installs one",
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verifier/verify.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg("--batch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("PALYRA_TEST_PYTHON can be started");
    let mut stdin = child.stdin.take().expect("piped");
    let lines: String = questions.iter().map(|asked| format!("{}\n", asked.question)).collect();
    let feeder = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    feeder.join().expect("fed").expect("it reads all questions");
    assert!(output.status.success(), "verify.py failed");
    let text = String::from_utf8(output.stdout).expect("JSON");
    text.lines().map(|line| serde_json::from_str(line).expect("an array")).collect()
}

fn demand_same(questions: &[PythonCase]) {
    let answers = ask(questions);
    assert_eq!(answers.len(), questions.len(), "one answer a question");
    for (asked, answer) in questions.iter().zip(&answers) {
        let python = (answer[0].as_u64().expect("a code"), answer[1].as_u64());
        assert_eq!(python, asked.answer, "{}: {answer}", asked.name);
    }
}

#[test]
fn python_finds_clean_logs_clean() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut questions = Vec::new();
    for (seed, of) in (300..).zip(Shape::ALL.into_iter().cycle().take(16)) {
        let log = shape(of, seed);
        let state = folder.path().join(seed.to_string());
        log.save_keys(&state);
        log.save(&state.join("journal.db"));
        let since = log.newest().map(|(_, signed)| signed.note.clone());
        let key = log.newest().map(|(_, signed)| log.vkey(&log.keys[signed.signers[0]].1));
        let question = json!({ "db": state.join("journal.db"), "keys": state, "since": since, "key": key });
        questions.push(PythonCase { name: format!("{of:?} {seed}"), question, answer: (0, None) });
    }
    demand_same(&questions);
}

#[test]
fn python_names_every_contradiction() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut questions = Vec::new();
    for (seed, wrong) in (0..).zip(Wrong::ALL) {
        let mut log = shape(Shape::Plain, seed);
        let (_, seq) = append_wrong(&mut log, wrong, &mut Chance::new(seed));
        let path = folder.path().join(format!("{seed}.db"));
        log.save(&path);
        let question = json!({ "db": path });
        questions.push(PythonCase { name: format!("{wrong:?}"), question, answer: (17, Some(seq)) });
    }
    demand_same(&questions);
}

#[test]
fn python_names_the_same_faults() {
    let folder = tempfile::tempdir().expect("a folder");
    let bases = bases(1, 200, folder.path());
    let mut questions = Vec::new();
    for class in CLASSES.iter().filter(|class| class.name != "bytes of the file") {
        run_class(class, &bases, 4, folder.path(), &mut |seen: &Seen<'_>| {
            let kept: PathBuf = folder.path().join(format!("broken-{}.db", questions.len()));
            std::fs::copy(seen.path, &kept).expect("a copy");
            let fault = seen.report.fault.as_ref();
            let (key, since) = (&seen.case.key, &seen.case.since);
            questions.push(PythonCase {
                name: format!("{} ({})", class.name, kept.display()),
                question: json!({ "db": kept, "keys": seen.state, "since": since, "key": key }),
                answer: (u64::from(seen.report.exit_code()), fault.and_then(|fault| fault.seq)),
            });
        });
    }
    demand_same(&questions);
}
