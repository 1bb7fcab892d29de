//! Writing as a tool does it: what is told, what is on the disk, and what is there after a crash at any step.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use palyra_ports::CancelFlag;
use palyra_types::effect::FileBefore;
use palyra_types::tool::ToolName;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{Fixture, describe, prepare_call};
use crate::writing::HaltAt;
use crate::writing::pace::StepWatch;
use crate::{apply_patch, edit_file, write_file};

const KEY: [u8; 32] = [7; 32];

/// One call, to be prepared and carried out.
struct Trial {
    fixture: Fixture,
    tool: &'static str,
    arguments: Value,
}

impl Trial {
    fn new(tool: &'static str, arguments: Value, files: &[(&str, &str)]) -> Self {
        Self { fixture: Fixture::with(files), tool, arguments }
    }

    fn prepare(&self) -> Result<PreparedCall, ToolFailure> {
        prepare_call(&ToolName::new(self.tool), &self.arguments.to_string(), &self.fixture.root())
    }

    fn plan(&self) -> String {
        self.prepare().unwrap().body.into_exposed()
    }

    fn execute(
        &self,
        plan: &str,
        execution: ExecutionAttempt,
        watch: &dyn StepWatch,
    ) -> Result<ToolResult, WriteEnd> {
        self.paced(plan, execution, &CallPace::watched(&CancelFlag::default(), watch))
    }

    fn paced(
        &self,
        plan: &str,
        execution: ExecutionAttempt,
        pace: &CallPace<'_>,
    ) -> Result<ToolResult, WriteEnd> {
        let workspace = Workspace::open(&self.fixture.root())?;
        let arguments = self.arguments.to_string();
        let order = match self.tool {
            write_file::NAME => write_file::order(&workspace, &arguments)?,
            edit_file::NAME => edit_file::order(&workspace, &arguments)?,
            _ => apply_patch::order(&workspace, &arguments)?,
        };
        execute(&workspace, &order, plan, execution, &KEY, pace)
    }

    fn files(&self) -> BTreeMap<String, String> {
        files_below(&self.fixture.root())
    }
}

/// Returns every file below a folder with its text.
fn files_below(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

fn map(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

const PATCH: &str = "diff --git a/one.txt b/one.txt
--- a/one.txt
+++ b/one.txt
@@ -1,2 +1,2 @@
 first
-second
+2nd
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/sub/new.txt b/sub/new.txt
new file mode 100644
--- /dev/null
+++ b/sub/new.txt
@@ -0,0 +1,2 @@
+hello
+world
diff --git a/old.txt b/moved/name.txt
similarity index 50%
rename from old.txt
rename to moved/name.txt
--- a/old.txt
+++ b/moved/name.txt
@@ -1 +1 @@
-name
+NAME
";
const BEFORE: &[(&str, &str)] = &[
    ("one.txt", "first\nsecond\n"),
    ("gone.txt", "bye\n"),
    ("old.txt", "name\n"),
    ("stays.txt", "as it is\n"),
];
const AFTER: &[(&str, &str)] = &[
    ("one.txt", "first\n2nd\n"),
    ("sub/new.txt", "hello\nworld\n"),
    ("moved/name.txt", "NAME\n"),
    ("stays.txt", "as it is\n"),
];

/// What is tried, what is there before, and what is there after.
type Case =
    (&'static str, Value, &'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);

fn cases() -> Vec<Case> {
    vec![
        ("write_file", json!({"path": "new.txt", "content": "new\n"}), &[], &[("new.txt", "new\n")]),
        ("write_file", json!({"path": "x/y/new.txt", "content": ""}), &[], &[("x/y/new.txt", "")]),
        ("write_file", json!({"path": "a", "content": "two\n"}), &[("a", "one\n")], &[("a", "two\n")]),
        (
            "edit_file",
            json!({"path": "a/b", "old": "o", "new": "0"}),
            &[("a/b", "one\n")],
            &[("a/b", "0ne\n")],
        ),
        ("apply_patch", json!({"patch": PATCH}), BEFORE, AFTER),
    ]
}

#[test]
fn every_tool_does_what_it_was_prepared_to_do() {
    for (tool, arguments, before, after) in cases() {
        let trial = Trial::new(tool, arguments, before);
        let plan = trial.plan();
        assert_eq!(trial.files(), map(before), "preparing changes nothing");
        let output =
            trial.paced(&plan, ExecutionAttempt::First, &CallPace::new(&CancelFlag::default())).unwrap();
        assert_eq!(trial.files(), map(after), "{tool}");
        for contents in ["hello", "2nd", "two", "0ne"] {
            assert!(!output.text.contains(contents), "{}", output.text);
        }
    }
}

#[test]
fn what_is_told_and_shown_names_files_sizes_and_lines() {
    let trial = Trial::new("apply_patch", json!({"patch": PATCH}), BEFORE);
    let prepared = trial.prepare().unwrap();
    assert_eq!(
        prepared.summary.expose(),
        "changes `one.txt` (+1 -1 lines, 10 bytes), creates `sub/new.txt` (12 bytes), \
         renames `old.txt` to `moved/name.txt` (+1 -1), removes `gone.txt` (+0 -1)"
    );
    let diff = prepared.preview.expose();
    for part in [
        "--- one.txt\n+++ one.txt\n@@ -1,2 +1,2 @@\n first\n-second\n+2nd\n",
        "--- /dev/null\n+++ sub/new.txt\n@@ -0,0 +1,2 @@\n+hello\n+world\n",
        "rename from old.txt\nrename to moved/name.txt\n",
        "--- gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n",
    ] {
        assert!(diff.contains(part), "{diff}");
    }
    let images: Vec<(&str, bool, bool)> = prepared
        .pre_images
        .iter()
        .map(|image| {
            (image.path.expose().as_str(), image.before == FileBefore::Absent, image.after_sha256.is_none())
        })
        .collect();
    assert_eq!(
        images,
        [
            ("one.txt", false, false),
            ("sub/new.txt", true, false),
            ("moved/name.txt", true, false),
            ("gone.txt", false, true),
            ("old.txt", false, true),
        ]
    );
    let output =
        trial.execute(prepared.body.expose(), ExecutionAttempt::First, &HaltAt::after(usize::MAX)).unwrap();
    assert!(output.text.starts_with("changed one.txt: 10 bytes, sha256 "), "{}", output.text);
    assert!(output.text.contains("\ncreated sub/new.txt: 12 bytes, sha256 "), "{}", output.text);
    assert!(output.text.contains("\nremoved gone.txt: sha256 "), "{}", output.text);
}

#[test]
fn a_twin_of_a_new_name_is_told_to_the_person() {
    let trial = Trial::new("write_file", json!({"path": "makefile", "content": "x"}), &[("Makefile", "y")]);
    assert_eq!(
        trial.prepare().unwrap().summary.expose(),
        "creates `makefile` (1 byte); `Makefile`, whose name looks alike, is there already and stays"
    );
}

#[test]
fn a_file_keeps_its_mode_and_a_new_one_has_the_usual_one() {
    let trial = Trial::new("write_file", json!({"path": "a.sh", "content": "two"}), &[("a.sh", "one")]);
    let path = trial.fixture.root().join("a.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    trial.paced(&trial.plan(), ExecutionAttempt::First, &CallPace::new(&CancelFlag::default())).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);

    let trial = Trial::new("write_file", json!({"path": "new", "content": "x"}), &[]);
    trial.paced(&trial.plan(), ExecutionAttempt::First, &CallPace::new(&CancelFlag::default())).unwrap();
    fs::write(trial.fixture.root().join("usual"), "").unwrap();
    let mode = |name: &str| fs::metadata(trial.fixture.root().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("new"), mode("usual"));
}

#[test]
fn a_rehearsal_says_whether_it_would_work_and_changes_nothing() {
    let trial = Trial::new("apply_patch", json!({"patch": PATCH, "dry_run": true}), BEFORE);
    let prepared = trial.prepare().unwrap();
    assert!(prepared.summary.expose().starts_with("changes nothing; it would be: changes `one.txt`"));
    assert!(prepared.pre_images.is_empty());
    let output =
        trial.paced(prepared.body.expose(), ExecutionAttempt::First, &CallPace::new(&CancelFlag::default()));
    assert!(output.unwrap().text.starts_with("nothing was changed; the patch applies: "));
    assert_eq!(trial.files(), map(BEFORE));
}

#[test]
fn what_cannot_work_is_refused_while_it_is_prepared() {
    let refused = |tool, arguments, files: &[(&str, &str)], expect: &str| {
        let trial = Trial::new(tool, arguments, files);
        let failure = describe(&trial.prepare().unwrap_err());
        assert!(failure.starts_with(expect), "{failure}\nexpected: {expect}");
        assert_eq!(trial.files(), map(files));
    };
    let new = json!({"path": "a", "content": "x", "mode": "create"});
    refused("write_file", new, &[("a", "y")], "file_conflict: `a` exists already");
    refused("write_file", json!({"path": "a/b", "content": "x"}), &[("a", "y")], "file_not_found: ");
    refused(
        "write_file",
        json!({"path": "a", "content": "x"}),
        &[("a/b", "y")],
        "file_unsuitable: `a` is a folder",
    );
    refused(
        "write_file",
        json!({"path": ".", "content": "x"}),
        &[],
        "file_unsuitable: the workspace root itself",
    );
    let secret = json!({"path": "a", "content": "k=<secret:aws-key>"});
    refused("write_file", secret, &[], "placeholder_in_arguments: ");
    let gone = json!({"path": "b", "old": "x", "new": "y"});
    refused(
        "edit_file",
        gone,
        &[("bb", "x")],
        "file_not_found: `b` does not exist; the workspace root holds `bb`",
    );
    refused(
        "edit_file",
        json!({"path": "a", "old": "x", "new": "x"}),
        &[("a", "x")],
        "tool_arguments_invalid: ",
    );
    refused("edit_file", json!({"path": "a", "old": "z", "new": "x"}), &[("a", "x")], "edit_not_unique: ");
    refused("apply_patch", json!({"patch": PATCH}), &BEFORE[1..], "file_not_found: `one.txt` does not exist");
    let twice = PATCH.replace("gone.txt", "one.txt");
    refused("apply_patch", json!({"patch": twice}), BEFORE, "patch_invalid: the patch names `one.txt` twice");
}

#[test]
fn a_file_that_changed_since_stays_as_it_is_and_so_do_the_others() {
    for (tool, arguments, before, _) in cases() {
        for (name, _) in before.iter().filter(|(name, _)| *name != "stays.txt") {
            let trial = Trial::new(tool, arguments.clone(), before);
            let plan = trial.plan();
            trial.fixture.write(name, b"first\nname\nbye\none\nsecond\n");
            let there = trial.files();
            let end = trial.execute(&plan, ExecutionAttempt::First, &HaltAt::after(usize::MAX)).unwrap_err();
            let WriteEnd::Failed(failure) = end else { panic!("{end:?}") };
            assert!(
                matches!(failure.code().slug(), "file_conflict" | "patch_invalid" | "edit_not_unique"),
                "{failure}"
            );
            assert_eq!(trial.files(), there, "{tool} {name}");
        }
    }
}

#[test]
fn nothing_is_done_without_a_plan() {
    let trial = Trial::new("write_file", json!({"path": "a", "content": "x"}), &[]);
    let first = trial.execute("", ExecutionAttempt::First, &HaltAt::after(usize::MAX));
    assert!(matches!(first, Err(WriteEnd::Failed(ToolFailure::System(_)))));
    assert_eq!(trial.execute("", ExecutionAttempt::Again, &HaltAt::after(usize::MAX)), Err(WriteEnd::Lost));
    let other = Trial::new("write_file", json!({"path": "b", "content": "x"}), &[]).plan();
    assert!(trial.execute(&other, ExecutionAttempt::First, &HaltAt::after(usize::MAX)).is_err());
    assert_eq!(
        trial.execute(&other, ExecutionAttempt::Again, &HaltAt::after(usize::MAX)),
        Err(WriteEnd::Lost)
    );
    assert_eq!(trial.files(), map(&[]));
}

/// Asserts that each file is as before or as after, and that nothing else is there but names that are swept later.
fn assert_no_mixture(trial: &Trial, before: &[(&str, &str)], after: &[(&str, &str)], at: usize) {
    let (before, after, there) = (map(before), map(after), trial.files());
    for name in before.keys().chain(after.keys()) {
        let found = there.get(name);
        assert!(found == before.get(name) || found == after.get(name), "step {at}: {name} is {found:?}");
    }
    for name in there.keys().filter(|name| !before.contains_key(*name) && !after.contains_key(*name)) {
        let base = name.rsplit('/').next().unwrap();
        assert!(base.starts_with(".palyra-"), "step {at}: {name}");
    }
}

#[test]
fn a_crash_at_any_step_leaves_before_or_after_and_again_finishes_it() {
    for (tool, arguments, before, after) in cases() {
        let mut steps = 0;
        loop {
            let trial = Trial::new(tool, arguments.clone(), before);
            let plan = trial.plan();
            let end = trial.execute(&plan, ExecutionAttempt::First, &HaltAt::after(steps));
            if end.is_ok() {
                break;
            }
            assert_eq!(end, Err(WriteEnd::Halted));
            assert_no_mixture(&trial, before, after, steps);
            trial.execute(&plan, ExecutionAttempt::Again, &HaltAt::after(usize::MAX)).unwrap();
            assert_eq!(trial.files(), map(after), "{tool}, step {steps}");
            // It is done, and stays so however often it is looked at.
            trial.execute(&plan, ExecutionAttempt::Again, &HaltAt::after(usize::MAX)).unwrap();
            assert_eq!(trial.files(), map(after), "{tool}, step {steps}");
            steps += 1;
        }
        assert!(steps >= 7, "{tool} has only {steps} steps");
    }
}

#[test]
fn a_crash_while_a_crash_is_repaired_is_repaired_too() {
    let (tool, arguments, before, after) = cases().remove(4);
    for first in 0.. {
        let trial = Trial::new(tool, arguments.clone(), before);
        let plan = trial.plan();
        if trial.execute(&plan, ExecutionAttempt::First, &HaltAt::after(first)).is_ok() {
            break;
        }
        // The repairs of one trial follow each other, each cut off one step later.
        for second in 0.. {
            let end = trial.execute(&plan, ExecutionAttempt::Again, &HaltAt::after(second));
            assert_no_mixture(&trial, before, after, first);
            if end.is_ok() {
                break;
            }
        }
        assert_eq!(trial.files(), map(after), "step {first}");
    }
}

/// Does something at one step, and lets the work go on.
struct MeddleAt<'m> {
    left: std::cell::Cell<usize>,
    meddle: &'m dyn Fn(),
}

impl StepWatch for MeddleAt<'_> {
    fn reached(&self) -> ControlFlow<()> {
        if self.left.get() == 0 {
            (self.meddle)();
        }
        self.left.set(self.left.get().wrapping_sub(1));
        ControlFlow::Continue(())
    }
}

/// A way to save a file, with its name.
type Way<'w> = (&'static str, &'w dyn Fn(&Path));

#[test]
fn what_somebody_else_saves_meanwhile_is_never_lost() {
    const THEIRS: &str = "theirs\n";
    let ways: [Way<'_>; 2] = [
        ("in place", &|path| fs::write(path, THEIRS).unwrap()),
        ("by a rename", &|path| {
            let spare = path.with_file_name("spare");
            fs::write(&spare, THEIRS).unwrap();
            fs::rename(&spare, path).unwrap();
        }),
    ];
    for (tool, arguments, before, after) in cases() {
        for (way, save) in ways {
            for (name, _) in before.iter().filter(|(name, _)| *name != "stays.txt") {
                for steps in 0..40 {
                    let trial = Trial::new(tool, arguments.clone(), before);
                    let plan = trial.plan();
                    let path = trial.fixture.root().join(name);
                    let meddle = || save(&path);
                    let watch = MeddleAt { left: steps.into(), meddle: &meddle };
                    let end = trial.execute(&plan, ExecutionAttempt::First, &watch);
                    let there = trial.files();
                    let at = format!("{tool} {name} {way}, step {steps}");
                    if watch.left.get() < usize::MAX / 2 {
                        assert!(end.is_ok() && there == map(after), "{at}");
                        break;
                    }
                    assert_eq!(there.get(*name).map(String::as_str), Some(THEIRS), "{at}: {there:?}");
                    let mut others = there;
                    others.remove(*name);
                    let (mut old, mut new) = (map(before), map(after));
                    old.remove(*name);
                    new.remove(*name);
                    match end {
                        Ok(_) => assert_eq!(others, new, "{at}"),
                        Err(WriteEnd::Failed(_)) => assert_eq!(others, old, "{at}"),
                        Err(end) => panic!("{at}: {end:?}"),
                    }
                }
            }
        }
    }
}

#[test]
fn after_a_crash_what_somebody_else_saved_stays_and_the_outcome_is_unknown() {
    let (tool, arguments, before, after) = cases().remove(4);
    for steps in 0.. {
        let trial = Trial::new(tool, arguments.clone(), before);
        let plan = trial.plan();
        if trial.execute(&plan, ExecutionAttempt::First, &HaltAt::after(steps)).is_ok() {
            break;
        }
        trial.fixture.write("one.txt", b"theirs\n");
        let end = trial.execute(&plan, ExecutionAttempt::Again, &HaltAt::after(usize::MAX));
        assert_eq!(end, Err(WriteEnd::Lost), "step {steps}");
        assert_eq!(trial.files().get("one.txt").map(String::as_str), Some("theirs\n"));
        trial.fixture.write("one.txt", b"first\nsecond\n");
        assert_no_mixture(&trial, before, after, steps);
        assert!(
            !trial.files().keys().any(|name| name.contains(".palyra-")),
            "step {steps}: {:?}",
            trial.files()
        );
    }
}

/// Raises the flag at one step.
struct CancelAt<'c> {
    left: std::cell::Cell<usize>,
    cancel: &'c CancelFlag,
}

impl StepWatch for CancelAt<'_> {
    fn reached(&self) -> ControlFlow<()> {
        if self.left.get() == 0 {
            self.cancel.cancel();
        }
        self.left.set(self.left.get().saturating_sub(1));
        ControlFlow::Continue(())
    }
}

#[test]
fn a_cancel_stops_it_only_before_anything_is_in_place() {
    for (tool, arguments, before, after) in cases() {
        let mut stopped = 0;
        for steps in 0..60 {
            let trial = Trial::new(tool, arguments.clone(), before);
            let plan = trial.plan();
            let cancel = CancelFlag::default();
            let watch = CancelAt { left: steps.into(), cancel: &cancel };
            match trial.paced(&plan, ExecutionAttempt::First, &CallPace::watched(&cancel, &watch)) {
                Ok(_) => assert_eq!(trial.files(), map(after), "{tool}, step {steps}"),
                Err(end) => {
                    assert_eq!(end, WriteEnd::Failed(ToolFailure::Cancelled));
                    assert_eq!(trial.files(), map(before), "{tool}, step {steps}");
                    assert!(!trial.fixture.root().join("x").exists(), "a folder that was made is left");
                    stopped += 1;
                }
            }
        }
        assert!(stopped > 0, "{tool} was never stopped");
    }
}
