//! Folders and files that are swapped for links while a tool is at work (27, 35).

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::field::{Field, PAYLOAD, changed, plainly, seen};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Calls of a tool during one race.
const ROUNDS: usize = 250;
/// How often careless code tries; a few are enough.
const CONTROL_ROUNDS_MAX: usize = 200_000;

const READING: &str = "descriptor resolution, reading tools";
const WRITING: &str = "descriptor resolution, writing tools";

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let both =
        |variant: &str| [READING, WRITING].map(|mechanism| CasePair::new(27, variant, mechanism)).to_vec();
    let listed_or_searched =
        ["list_dir", "search"].map(|tool| CasePair::new(35, "a folder for a link", tool)).to_vec();
    vec![
        AttackTrial::new(both("a folder for a link"), |place, pairs| swapped("swapped/file", place, pairs))
            .alone(),
        AttackTrial::new(both("a file for a link"), |place, pairs| swapped("swapped", place, pairs)).alone(),
        AttackTrial::new(listed_or_searched, listed).alone(),
    ]
}

/// Swaps two names over and over until it is dropped.
struct NameSwapper {
    end: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl NameSwapper {
    fn start(root: &Path) -> Self {
        let (one, other): (PathBuf, PathBuf) = (root.join("swapped"), root.join("other"));
        let end = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
            }
        });
        Self { end, thread: Some(thread) }
    }
}

impl Drop for NameSwapper {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes something harmless and a link to the outside that take each other's place.
fn prepare(path: &str) -> io::Result<Field> {
    let field = Field::new()?;
    let root = field.root();
    if path.contains('/') {
        fs::create_dir(root.join("swapped"))?;
        fs::write(root.join("swapped/file"), "harmless\n")?;
        symlink(field.outside(), root.join("other"))?;
    } else {
        fs::write(root.join("swapped"), "harmless\n")?;
        symlink(field.outside().join("file"), root.join("other"))?;
    }
    Ok(field)
}

/// Whether a path has no link in it, as careless code looks.
fn looks_harmless(field: &Field, path: &str) -> bool {
    let above = path.split('/').next().unwrap_or_default();
    [above, path]
        .iter()
        .all(|part| fs::symlink_metadata(field.root().join(part)).is_ok_and(|data| !data.is_symlink()))
}

async fn swapped(path: &'static str, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let (held, control) = (prepare(path)?, prepare(path)?);
        let before = held.look();
        let swapping = NameSwapper::start(&held.root());
        let mut said = String::new();
        for round in 0..ROUNDS {
            said.push_str(&if mechanism == READING {
                held.call("read_file", &json!({ "path": path })).await
            } else if round % 2 == 0 {
                held.call("write_file", &json!({ "path": path, "content": PAYLOAD, "mode": "overwrite" }))
                    .await
            } else {
                held.call("edit_file", &json!({ "path": path, "old": "\n", "new": "x\n", "all": true })).await
            });
        }
        drop(swapping);
        let mut touched = seen(&said);
        touched.extend(changed(&before, &held.look()));

        let before = control.look();
        let swapping = NameSwapper::start(&control.root());
        let mut fooled = Vec::new();
        for round in 0..CONTROL_ROUNDS_MAX {
            if !fooled.is_empty() {
                break;
            }
            if looks_harmless(&control, path) {
                let full = control.root().join(path);
                if mechanism == READING {
                    fooled = seen(&fs::read_to_string(full).unwrap_or_default());
                } else {
                    // It may be gone for a moment; then it is tried again.
                    let _ = fs::write(full, PAYLOAD);
                }
            }
            if mechanism == WRITING && round % 50 == 49 {
                fooled = changed(&before, &control.look());
            }
        }
        drop(swapping);
        Ok(Some((touched, fooled)))
    })
    .await
}

async fn listed(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |tool| async move {
        let path = "swapped/file";
        let (held, control) = (prepare(path)?, prepare(path)?);
        let swapping = NameSwapper::start(&held.root());
        let mut said = String::new();
        for round in 0..ROUNDS {
            let path = if round % 2 == 0 { "." } else { "swapped" };
            let arguments = match tool.as_str() {
                "search" => json!({ "pattern": ".", "path": path }),
                _ => json!({ "path": path, "depth": 4 }),
            };
            said.push_str(&held.call(&tool, &arguments).await);
        }
        drop(swapping);
        let swapping = NameSwapper::start(&control.root());
        let mut fooled = Vec::new();
        for _ in 0..CONTROL_ROUNDS_MAX {
            if fooled.is_empty() && looks_harmless(&control, "swapped") {
                fooled = seen(&plainly(&control.root().join("swapped")).unwrap_or_default());
            }
        }
        drop(swapping);
        Ok(Some((seen(&said), fooled)))
    })
    .await
}
