//! Paths by which a component would leave its workspace, and what it would write that runs later (53).

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::attempt::Attempt;
use super::call::{CallerKind, ComponentCall, FileAccess};
use super::reaching::reaching;
use super::watched::{HostCanary, hear};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::{SECRET, TrialFolder};

const OUT: &str = "the folder that a call is given";
const LATER: &str = "names that are kept";
const READ_ONLY: &str = "files to read only";
const NONE: &str = "no files at all";

/// Paths to the file outside, from the workspace on.
const PATHS: &[(&str, &str)] = &[
    ("`..`", "../outside/file"),
    ("`..` below a folder", "in/../../outside/file"),
    ("`..` many times", "in/../in/../../room/../outside/file"),
    ("`.` and `..`", "./.././outside/./file"),
    ("an absolute path", "{OUT}/file"),
    ("an absolute path with more", "//{OUT}//file"),
    ("the root of this process", "/proc/self/root{OUT}/file"),
    ("the folder of this process", "/proc/self/cwd{OUT}/file"),
    ("a link to the file", "link"),
    ("a link from the root on", "absolute-link"),
    ("a link to the folder", "folder-link/file"),
    ("a link to the folder, from the root on", "absolute-folder-link/file"),
    ("a link to a link", "link-to-link"),
    ("a link to above, below a folder", "in/up/outside/file"),
    ("`..` behind a link", "deep-link/../file"),
];

/// What is done with a path outside: how the component does it, and a path from the workspace on.
const DOING: &[(&str, &str, &str)] = &[
    ("a file is removed", UNLINK, "../outside/file"),
    ("a file is removed, by a link", UNLINK, "folder-link/file"),
    ("a folder is made", MKDIR, "../outside/made"),
    ("a folder is made, by a link", MKDIR, "folder-link/made"),
    ("a folder is removed", RMDIR, "../outside/empty"),
    ("a folder is removed, by a link", RMDIR, "folder-link/empty"),
    ("times are set", TIMES, "../outside/file"),
    ("times are set, by a link", TIMES, "folder-link/file"),
    ("a file is moved in", MOVE_IN, "../outside/file"),
    ("a file is moved in, by a link", MOVE_IN, "folder-link/file"),
    ("a file is moved out", MOVE_OUT, "../outside/moved"),
    ("a file is moved out, by a link", MOVE_OUT, "folder-link/moved"),
    ("a file gets another name inside", NAME_AND_WRITE, "../outside/file"),
    ("a link of its own to the file", LINK_AND_WRITE, "../outside/file"),
    ("a link of its own from the root on", LINK_AND_WRITE, "{OUT}/file"),
];

/// What runs, or is believed, later; and by which way it is written.
const KEPT: &[(&str, &str, &str)] = &[
    ("a hook of git", WRITE, ".git/hooks/post-commit"),
    ("a hook of git, in capitals", WRITE, ".GIT/hooks/post-commit"),
    ("a hook of git, by a link", WRITE, "hooks/post-commit"),
    ("a hook of git, by `..`", WRITE, "in/../.git/hooks/post-commit"),
    ("the settings of git", WRITE, "./.git/config"),
    ("the settings of git, moved there", MOVE_OUT, ".git/config"),
    ("a hook of git, by a link of its own", LINK_AND_WRITE, ".git/hooks/post-commit"),
    ("the modules of git", WRITE, ".gitmodules"),
    ("the git of a folder below", WRITE, "in/.git"),
    ("the variables of a folder", WRITE, ".envrc"),
    ("the tasks of an editor", WRITE, ".vscode/tasks.json"),
    ("the runs of another editor", WRITE, ".idea/workspace.xml"),
    ("a folder of ours", MKDIR, ".palyra"),
];

const WRITE: &str = "(call $save (local.get $ptr) (local.get $len))";
const READ: &str = "(call $show (local.get $ptr) (local.get $len))";
const UNLINK: &str =
    "(call $unlink (call $root) (local.get $ptr) (local.get $len) (i32.const 3220)) (call $done)";
const MKDIR: &str =
    "(call $mkdir (call $root) (local.get $ptr) (local.get $len) (i32.const 3220)) (call $done)";
const RMDIR: &str =
    "(call $rmdir (call $root) (local.get $ptr) (local.get $len) (i32.const 3220)) (call $done)";
const TIMES: &str = "(call $times (call $root) (i32.const 1) (local.get $ptr) (local.get $len)
    (i32.const 2) (i64.const 86400) (i32.const 0) (i32.const 2) (i64.const 86400) (i32.const 0) (i32.const 3220)) (call $done)";
/// `GET` is at 3007: a name inside.
const MOVE_IN: &str = "(local $root i32) (local.set $root (call $root))
    (call $rename (local.get $root) (local.get $ptr) (local.get $len) (local.get $root) (i32.const 3007) (i32.const 3)
      (i32.const 3220)) (call $done)";
const MOVE_OUT: &str = "(local $root i32) (drop (call $save (i32.const 3007) (i32.const 3))) (local.set $root (call $root))
    (call $rename (local.get $root) (i32.const 3007) (i32.const 3) (local.get $root) (local.get $ptr) (local.get $len)
      (i32.const 3220)) (call $done)";
const NAME_AND_WRITE: &str = "(local $root i32) (local.set $root (call $root))
    (call $link (local.get $root) (i32.const 0) (local.get $ptr) (local.get $len) (local.get $root) (i32.const 3007)
      (i32.const 3) (i32.const 3220))
    (if (i32.load8_u (i32.const 3220)) (then (return (call $no))))
    (call $save (i32.const 3007) (i32.const 3))";
const LINK_AND_WRITE: &str =
    "(call $symlink (call $root) (local.get $ptr) (local.get $len) (i32.const 3007) (i32.const 3)
      (i32.const 3220))
    (if (i32.load8_u (i32.const 3220)) (then (return (call $no))))
    (call $save (i32.const 3007) (i32.const 3))";

/// One thing that a component does with one path.
#[derive(Clone, Copy)]
struct PathAction {
    run: &'static str,
    path: &'static str,
    files: FileAccess,
}

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let one = |variant: String, mechanism: &str, doing: PathAction| {
        AttackTrial::new(vec![CasePair::new(53, variant, mechanism)], move |place, pairs| {
            carry_out(doing, place, pairs)
        })
    };
    let paths = PATHS.iter().flat_map(move |&(variant, path)| {
        [
            one(format!("{variant}, read"), OUT, PathAction { run: READ, path, files: FileAccess::Read }),
            one(
                format!("{variant}, written"),
                OUT,
                PathAction { run: WRITE, path, files: FileAccess::Change },
            ),
        ]
    });
    let change = FileAccess::Change;
    let doing = DOING.iter().map(move |&(variant, run, path)| {
        one(variant.to_owned(), OUT, PathAction { run, path, files: change })
    });
    let kept = KEPT.iter().map(move |&(variant, run, path)| {
        one(variant.to_owned(), LATER, PathAction { run, path, files: change })
    });
    let inside = [
        ("a file of the workspace is written", WRITE, READ_ONLY, FileAccess::Read),
        ("a file of the workspace is removed", UNLINK, READ_ONLY, FileAccess::Read),
        ("times of the workspace are set", TIMES, READ_ONLY, FileAccess::Read),
        ("a folder is made in the workspace", MKDIR, READ_ONLY, FileAccess::Read),
        ("a file of the workspace is read", READ, NONE, FileAccess::None),
        ("a file of the workspace is written", WRITE, NONE, FileAccess::None),
    ];
    let inside = inside.into_iter().map(move |(variant, run, mechanism, files)| {
        let path = if run == MKDIR { "made" } else { "own" };
        one(variant.to_owned(), mechanism, PathAction { run, path, files })
    });
    paths.chain(doing).chain(kept).chain(inside).collect()
}

async fn carry_out(doing: PathAction, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, async |_| {
        let bytes = reaching(doing.run).bytes();
        let mut touched = Vec::new();
        for way in [CallerKind::Held, CallerKind::Plain] {
            let attempt = Attempt::new(&bytes)?;
            lay_out(&attempt.trial_folder)?;
            let path = doing.path.replace("{OUT}", &attempt.trial_folder.outside().display().to_string());
            let before = look(&attempt.trial_folder, doing.files)?;
            let spec = ComponentCall { arguments: path, files: doing.files, ..attempt.spec.clone() };
            let heard = hear(&place.program, way, &spec, &[HostCanary::Secret]).await?;
            let mut seen = heard.touched(&[HostCanary::Secret]);
            if look(&attempt.trial_folder, doing.files)? != before {
                seen.push(format!("what has to stay changed ({})", heard.answer()));
            }
            touched.push(seen);
        }
        let control = touched.pop().unwrap_or_default();
        Ok(Some((touched.pop().unwrap_or_default(), control)))
    })
    .await
}

/// A workspace with links that lead out, and with what is kept.
fn lay_out(trial_folder: &TrialFolder) -> io::Result<()> {
    let (work, outside) = (trial_folder.work(), trial_folder.outside());
    fs::create_dir_all(work.join("in"))?;
    fs::create_dir_all(work.join(".git/hooks"))?;
    fs::create_dir_all(work.join(".GIT/hooks"))?;
    fs::create_dir_all(work.join(".vscode"))?;
    fs::create_dir_all(work.join(".idea"))?;
    fs::write(work.join("own"), SECRET)?;
    fs::write(work.join(".git/config"), "[core]\n")?;
    fs::create_dir(outside.join("empty"))?;
    fs::create_dir(outside.join("deep"))?;
    fs::write(outside.join("file"), SECRET)?;
    symlink("../outside/file", work.join("link"))?;
    symlink(outside.join("file"), work.join("absolute-link"))?;
    symlink("../outside", work.join("folder-link"))?;
    symlink(&outside, work.join("absolute-folder-link"))?;
    symlink("link", work.join("link-to-link"))?;
    symlink("../..", work.join("in/up"))?;
    symlink("../outside/deep", work.join("deep-link"))?;
    symlink(".git/hooks", work.join("hooks"))
}

/// What has to stay as it is: all that lies outside, what is kept, and where a call may only read the workspace, too.
fn look(trial_folder: &TrialFolder, files: FileAccess) -> io::Result<String> {
    let mut lines = Vec::new();
    below(&trial_folder.outside(), &mut lines)?;
    if files == FileAccess::Change {
        for name in [".git", ".GIT", ".gitmodules", ".envrc", ".vscode", ".idea", ".palyra", "in/.git"] {
            below(&trial_folder.work().join(name), &mut lines)?;
        }
    } else {
        below(&trial_folder.work(), &mut lines)?;
    }
    lines.sort();
    Ok(lines.join("\n"))
}

fn below(path: &Path, lines: &mut Vec<String>) -> io::Result<()> {
    let Ok(about) = fs::symlink_metadata(path) else { return Ok(()) };
    if about.is_dir() {
        lines.push(format!("{}", path.display()));
        for entry in fs::read_dir(path)? {
            below(&entry?.path(), lines)?;
        }
        return Ok(());
    }
    let held = if about.is_file() { fs::read(path)? } else { Vec::new() };
    lines.push(format!("{} {:?} {held:?}", path.display(), about.modified()?));
    Ok(())
}
