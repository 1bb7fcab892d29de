//! What people type first, said to the demo model through a real daemon with the tools that ship.
//!
//! The list is `crates/providers/tests/demo/sentences.tsv`. A sentence is judged by its tape and by the files of its
//! folder. It is *wrong with confidence* when it is not right and a call waited for a yes, a file changed, or the answer
//! does not say that something was not understood or not done.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

mod workspaces;

use self::workspaces::{furnish, git};
use crate::home::Home;

/// One sentence of so many is said in a run of the suite, another with each commit; a machine that looks at all sets
/// `PALYRA_TEST_SENTENCES=all`.
const EVERY: u64 = 3;
/// Calls of one sentence that get an answer, at most.
const ANSWERS_MAX: usize = 8;
const WORKERS: usize = 3;

/// How an answer says that something was not understood or not done.
const HONEST: [&str; 6] =
    ["I cannot", "did not understand", "need to know", "was not allowed", "did not succeed", "I do not"];
/// How an answer names a sentence to go on with.
const GOES_ON: [&str; 2] = ["Try ", "`palyra "];

const LIST: &str = include_str!("../../../providers/tests/demo/sentences.tsv");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Do,
    Ask,
    No,
}

#[derive(Debug)]
struct Row {
    verdict: Verdict,
    workspace: &'static str,
    sentence: String,
    alternatives: Vec<Vec<String>>,
}

/// Reads the list; `shell` rows become what its `shell-lines` line says.
fn rows() -> Vec<Row> {
    let ruling = LIST.lines().find_map(|line| line.strip_prefix("# shell-lines: ")).unwrap();
    let shell_lines = match ruling {
        "denied" => Verdict::No,
        "asked" => Verdict::Ask,
        other => panic!("shell-lines: {other}"),
    };
    let read = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [verdict, workspace, sentence, leads_to] = cells[..] else { panic!("{line}") };
        let is_shell = verdict == "shell";
        let verdict = match verdict {
            "do" => Verdict::Do,
            "ask" => Verdict::Ask,
            "no" => Verdict::No,
            "shell" => shell_lines,
            other => panic!("{other}: {line}"),
        };
        let leads_to = if is_shell && verdict == Verdict::No { "" } else { leads_to };
        let items = |text: &str| text.split(" & ").filter(|item| !item.is_empty()).map(unescaped).collect();
        let alternatives = leads_to.split(" || ").map(items).collect();
        Row { verdict, workspace, sentence: unescaped(sentence), alternatives }
    };
    LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(read).collect()
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t")
}

/// Returns what lies in a folder, without git's and python's own: files with their text, folders with `None`.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if [".git", "__pycache__"].iter().any(|own| path.ends_with(own)) {
                continue;
            }
            let is_folder = path.is_dir();
            let text = if is_folder { None } else { fs::read(&path).ok() };
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), text);
            if is_folder {
                folders.push(path);
            }
        }
    }
    found
}

/// What came of a sentence.
#[derive(Debug)]
struct Outcome {
    folder: PathBuf,
    changed: Vec<PathBuf>,
    before: BTreeMap<PathBuf, Option<Vec<u8>>>,
    asked: usize,
    calls: Vec<String>,
    outputs: Vec<String>,
    answer: String,
}

fn play(home: &Home, folder: &Path, sentence: &str) -> Outcome {
    let before = contents(folder);
    let palyra = |arguments: &[&str]| {
        let child = home.command(arguments).current_dir(folder).spawn().unwrap();
        crate::home::ended(child)
    };
    let mut tape = palyra(&["run", "--json", "--", sentence]).json();
    let run = tape[0]["run_id"].as_str().unwrap().to_owned();
    let mut answered = 0;
    while let Some(asked) = tape.iter().filter_map(|entry| entry.get("approval_requested")).nth(answered) {
        assert!(answered < ANSWERS_MAX, "{sentence}");
        let verb = if asked["prompt"]["tool"] == "http_fetch" { "no" } else { "yes" };
        palyra(&["approve", verb, asked["approval_id"].as_str().unwrap()]).expect(0);
        answered += 1;
        tape = palyra(&["runs", "tail", &run, "--json"]).json();
    }
    let after = contents(folder);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let call = |call: &Value| {
        let arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
        format!("{} {arguments}", call["tool"].as_str().unwrap())
    };
    let finished = tape.iter().rposition(|entry| entry.get("tool_finished").is_some()).map_or(0, |at| at + 1);
    Outcome {
        folder: folder.to_owned(),
        changed: before
            .keys()
            .chain(after.keys())
            .filter(|path| before.get(*path) != after.get(*path))
            .cloned()
            .collect(),
        before,
        asked: answered,
        calls: tape.iter().filter_map(|entry| entry.get("tool_proposed")).map(call).collect(),
        outputs: tape
            .iter()
            .filter_map(|entry| entry.get("tool_finished"))
            .filter(|finished| finished["error_code"].is_null())
            .map(|finished| text(&finished["output"]))
            .collect(),
        answer: tape[finished..].iter().map(|entry| text(&entry["model_text"]["text"])).collect(),
    }
}

impl Outcome {
    fn is_honest(&self) -> bool {
        HONEST.iter().any(|words| self.answer.contains(words))
    }

    fn holds(&self, item: &str) -> bool {
        if item == "talk" {
            return self.calls.is_empty() && GOES_ON.iter().any(|words| self.answer.contains(words));
        }
        let (kind, rest) = item.split_once(':').unwrap();
        let pair = || rest.split_once('=').unwrap();
        match kind {
            "call" => self.calls.iter().any(|call| call.contains(rest)),
            "out" => self.outputs.iter().any(|output| output.contains(rest)),
            "say" => self.answer.contains(rest),
            "unsaid" => !self.answer.contains(rest),
            "diff" => self.diff(pair().0) == pair().1,
            "file" => fs::read_to_string(self.folder.join(pair().0)).is_ok_and(|text| text == pair().1),
            "made" => self.folder.join(rest).exists() && !self.before.contains_key(Path::new(rest)),
            "gone" => !self.folder.join(rest).exists(),
            "git" => {
                let (words, text) = rest.rsplit_once('=').unwrap();
                git(&self.folder, &words.split(' ').collect::<Vec<_>>()).trim_end() == text.trim_end()
            }
            other => panic!("{other}"),
        }
    }

    /// Returns the lines of a file that went, then those that came; lines in between two changes count as both.
    fn diff(&self, path: &str) -> String {
        let before = self.before.get(Path::new(path)).cloned().flatten().unwrap_or_default();
        let after = fs::read(self.folder.join(path)).unwrap_or_default();
        let (before, after) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
        let (mut old, mut new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
        let begin = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        old.drain(..begin);
        new.drain(..begin);
        while old.last().is_some_and(|last| new.last() == Some(last)) {
            old.pop();
            new.pop();
        }
        let signed = |sign: char, lines: Vec<&str>| {
            lines.into_iter().map(move |line| format!("{sign}{line}")).collect::<Vec<_>>()
        };
        let lines: Vec<String> = [signed('-', old), signed('+', new)].concat();
        lines.join("\n")
    }

    /// Returns whether everything that changed is named.
    fn is_named(&self, items: &[String]) -> bool {
        let named = |item: &String| {
            let (kind, rest) = item.split_once(':')?;
            match kind {
                "file" | "diff" => rest.split_once('=').map(|(path, _)| path.to_owned()),
                "made" | "gone" => Some(rest.to_owned()),
                _ => None,
            }
        };
        let named: Vec<String> = items.iter().filter_map(named).collect();
        self.changed
            .iter()
            .all(|path| named.iter().any(|name| path.starts_with(name) || Path::new(name).starts_with(path)))
    }

    fn is_right(&self, row: &Row) -> bool {
        row.alternatives.iter().any(|items| {
            let verdict = match row.verdict {
                _ if items.iter().any(|item| item == "talk") => self.asked == 0,
                Verdict::Do => self.asked == 0,
                Verdict::Ask => self.asked > 0,
                Verdict::No => self.asked == 0 && self.is_honest(),
            };
            verdict && self.is_named(items) && items.iter().all(|item| self.holds(item))
        })
    }

    fn is_confident(&self) -> bool {
        self.asked > 0 || !self.changed.is_empty() || !self.is_honest()
    }
}

/// Programs that a machine of tests need not have.
fn with_programs(home: &Home) {
    let tools = home.work().with_file_name("tools");
    fs::create_dir_all(&tools).unwrap();
    for name in ["cargo", "npm", "pytest"] {
        fs::write(tools.join(name), format!("#!/bin/sh\necho {name} \"$@\"\n")).unwrap();
        fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let tools = tools.display();
    let settings = format!("[commands]\npath = [\"{tools}\"]\nreadable = [\"{tools}\"]\n");
    fs::write(home.config_file(), settings).unwrap();
}

/// Workspaces with a history, whose sentences are a test of their own.
const WITH_HISTORY: [&str; 2] = ["shop", "desk"];

#[test]
fn the_sentences_of_the_list_lead_where_they_must() {
    lead_where_they_must(|row| !WITH_HISTORY.contains(&row.workspace));
}

#[test]
fn the_sentences_of_developers_lead_where_they_must() {
    lead_where_they_must(|row| WITH_HISTORY.contains(&row.workspace));
}

/// Leaves out what this run of the suite does not say.
fn drawn(rows: impl Iterator<Item = Row>) -> impl Iterator<Item = Row> {
    let takes_all = std::env::var("PALYRA_TEST_SENTENCES").is_ok_and(|said| said == "all");
    let every = if takes_all { 1 } else { EVERY };
    let first = palyra_testkit::suite_seed() % every;
    rows.zip(0..).filter(move |(_, at)| at % every == first).map(|(row, _)| row)
}

#[expect(clippy::print_stdout, reason = "the counts are the result of the list")]
fn lead_where_they_must(is_played: impl Fn(&Row) -> bool) {
    let home = Home::new();
    with_programs(&home);
    let rows: Vec<Row> = drawn(rows().into_iter().filter(is_played)).collect();
    home.palyra(&["run", "hello"]).expect(0);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failed = Vec::new();
        while let Some((at, row)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, rows.get(at)?)))
        {
            let folder = home.work().join(format!("{at}-{}", row.workspace));
            furnish(&folder, row.workspace);
            let outcome = play(&home, &folder, &row.sentence);
            if !outcome.is_right(row) {
                failed.push((at, outcome));
            }
        }
        failed
    };
    let mut failed: Vec<(usize, Outcome)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    failed.sort_by_key(|(at, _)| *at);
    let confident: Vec<_> = failed.iter().filter(|(_, outcome)| outcome.is_confident()).collect();
    let right = rows.len() - failed.len();
    let report: Vec<String> = failed
        .iter()
        .map(|(at, outcome)| {
            let kind = if outcome.is_confident() { "WRONG " } else { "honest" };
            let (row, answer) = (&rows[*at], outcome.answer.replace('\n', " / "));
            let answer: String = answer.chars().take(150).collect();
            format!(
                "{kind} {:?} [{}] {}\n         calls {:?}, changed {:?}\n         {answer}",
                row.verdict, row.workspace, row.sentence, outcome.calls, outcome.changed
            )
        })
        .collect();
    let of = |verdict: Verdict| {
        let missed = failed.iter().filter(|(at, _)| rows[*at].verdict == verdict).count();
        let all = rows.iter().filter(|row| row.verdict == verdict).count();
        format!("{} of {all}", all - missed)
    };
    let count = format!(
        "{} sentences: {right} right, {} honestly not, {} wrong with confidence; right of those that only look: {}, that ask: {}, that decline: {}",
        rows.len(),
        failed.len() - confident.len(),
        confident.len(),
        of(Verdict::Do),
        of(Verdict::Ask),
        of(Verdict::No),
    );
    println!("{count}");
    assert!(confident.is_empty() && right == rows.len(), "{count}\n{}", report.join("\n"));
}

/// Says a sentence of which `asked` calls have to be asked about, and returns what came of it.
#[track_caller]
fn said(home: &Home, sentence: &str, asked: usize) -> Outcome {
    let outcome = play(home, &home.work(), sentence);
    let fine = outcome.asked == asked
        && outcome.outputs.len() == outcome.calls.len()
        && outcome.outputs.iter().all(|output| !output.contains("kept aside"));
    assert!(fine, "{sentence}: {outcome:#?}");
    outcome
}

#[test]
fn an_ordinary_day_is_asked_for_in_sentences_and_asks_about_its_commands_only() {
    let home = Home::new();
    let work = home.work();
    for folder in [&work, &work.join("lib")] {
        fs::create_dir_all(folder).unwrap();
        git(folder, &["init", "-q", "-b", "main"]);
        fs::write(folder.join("notes.txt"), "one\n").unwrap();
        git(folder, &["add", "notes.txt"]);
        git(folder, &["commit", "-q", "-m", "one"]);
    }
    fs::write(work.join(".git/info/exclude"), "lib\ntree\nlantern\n").unwrap();
    home.write("Makefile", "lantern: lantern.c\n\tgcc -o lantern lantern.c\n\ntest: lantern\n\t./lantern\n");
    home.write("lantern.c", "#include <stdio.h>\nint main(void) { puts(\"it glows\"); return 0; }\n");
    said(&home, "replace \"it glows\" with \"it shines\" in lantern.c", 1);
    said(&home, "run make", 1);
    assert!(said(&home, "run the tests", 1).answer.contains("it shines"));
    assert!(said(&home, "what changed?", 0).answer.contains("lantern.c"));
    said(&home, "git add -A", 1);
    said(&home, "commit this with message 'two'", 1);
    said(&home, "make a branch topic", 1);
    assert!(said(&home, "which branch am I on?", 0).answer.contains("topic"));
    said(&home, "git worktree add -q tree -b other", 1);
    said(&home, "git -C tree commit -q --allow-empty -m three", 1);
    let submodule =
        format!("git -c protocol.file.allow=always submodule --quiet add {} sub", work.join("lib").display());
    said(&home, &submodule, 1);
    said(&home, "commit everything with message \"four\"", 2);
    assert!(said(&home, "show me the last commit", 0).answer.contains("four"));
    said(&home, "add \"two\" to notes.txt and commit everything with message \"five\"", 3);
    git(&work, &["fsck", "--no-progress"]);
    assert_eq!(git(&work, &["log", "--format=%s"]), "five\nfour\ntwo\none\n");
    assert_eq!(git(&work.join("tree"), &["log", "--format=%s", "-1"]), "three\n");
    assert_eq!(fs::read_to_string(work.join("notes.txt")).unwrap(), "one\ntwo\n");
    crate::asked::is_whole(&home);
}

#[test]
fn a_commit_without_a_name_says_which_setting_gives_one() {
    let home = Home::new();
    let settings = "[commands]\nenvironment = [\"GIT_COMMITTER_NAME=\", \"GIT_AUTHOR_NAME=\"]\n";
    fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    fs::write(home.config_file(), settings).unwrap();
    git(&home.work(), &["init", "-q", "-b", "main"]);
    home.write("notes.txt", "one\n");
    let refused = play(&home, &home.work(), "commit everything with message \"one\"");
    assert!(
        refused.answer.contains("did not succeed") && refused.answer.contains("commands.environment"),
        "{refused:#?}"
    );
    assert_eq!(git(&home.work(), &["log", "--format=%s"]), "");
    // The control: with a name it is done, under that name.
    home.palyra(&["admin", "stop"]).expect(0);
    fs::write(home.config_file(), settings.replace("NAME=", "NAME=Agent Lantern")).unwrap();
    play(&home, &home.work(), "commit everything with message \"one\"");
    assert_eq!(
        git(&home.work(), &["log", "--format=%s by %an, %cn"]),
        "one by Agent Lantern, Agent Lantern\n"
    );
}

#[test]
fn an_item_of_memory_is_forgotten_by_its_words_and_of_several_none_is() {
    let home = Home::new();
    said(&home, "remember that I prefer short answers", 0);
    said(&home, "remember that deploys are on Fridays", 0);
    said(&home, "remember that a late deploy needs a yes", 0);
    let several = said(&home, "forget what I told you about deploys", 0);
    assert!(several.answer.contains("2 items fit") && several.answer.contains("deploys are on Fridays"));
    assert!(!several.calls.iter().any(|call| call.starts_with("memory_write")), "{several:#?}");
    let one = said(&home, "forget that I prefer short answers", 0);
    assert!(one.answer.contains("I forgot this: I prefer short answers"), "{one:#?}");
    said(&home, "forget that deploys are on Fridays", 0);
    let none = said(&home, "forget that I prefer short answers", 0);
    assert!(none.answer.contains("I cannot forget that"), "{none:#?}");
    let left = said(&home, "what do you remember about me?", 0);
    let [shown] = &left.outputs[..] else { panic!("{left:#?}") };
    assert!(shown.starts_with("1 item\n") && shown.ends_with("a late deploy needs a yes"), "{shown}");
}
