//! Paths that lead out (24), by links (25, 26, 28) and by descriptors (30).

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::field::{Field, PAYLOAD, changed, plainly, seen};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// A path, what makes it lead out, and how careless code reads it.
struct EscapePath {
    case: u8,
    variant: &'static str,
    path: &'static str,
    prepare: fn(&Field) -> io::Result<()>,
    careless: fn(&str) -> String,
    both: AffectedTools,
}

/// Which tools must not go that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AffectedTools {
    Yes,
    WritingOnly,
}

const READING: &str = "descriptor resolution, reading tools";
const WRITING: &str = "descriptor resolution, writing tools";

fn nothing(_field: &Field) -> io::Result<()> {
    Ok(())
}

fn as_it_is(path: &str) -> String {
    path.to_owned()
}

fn links(field: &Field) -> io::Result<()> {
    let root = field.root();
    symlink(field.outside().join("file"), root.join("final"))?;
    symlink("../outside/file", root.join("relative"))?;
    symlink("relative", root.join("chained"))?;
    symlink(field.outside(), root.join("folder"))?;
    symlink("..", root.join("up"))?;
    symlink("/proc/self/cwd/../../../../../../../../../..", root.join("proc"))?;
    symlink("../outside/later", root.join("dangling"))?;
    symlink("../outside/made", root.join("dangling-folder"))?;
    fs::hard_link(field.outside().join("file"), root.join("hard"))
}

const fn spelled(variant: &'static str, path: &'static str) -> EscapePath {
    EscapePath { case: 24, variant, path, prepare: nothing, careless: as_it_is, both: AffectedTools::Yes }
}

const fn linked(variant: &'static str, path: &'static str) -> EscapePath {
    EscapePath { case: 25, variant, path, prepare: links, careless: as_it_is, both: AffectedTools::Yes }
}

const WAYS: &[EscapePath] = &[
    spelled("dots", "../outside/file"),
    spelled("dots below a folder", "a/../../outside/file"),
    spelled("dots below dots", "a/b/../../../outside/file"),
    spelled("a dot and dots", "./../outside/file"),
    spelled("out and in and out", "../room/../outside/file"),
    spelled("slashes without end", "..////outside///file"),
    spelled("absolute", "{OUT}/file"),
    spelled("absolute, twice the slash", "/{OUT}/file"),
    spelled("absolute, by the root of a process", "/proc/self/root{OUT}/file"),
    spelled("absolute, by the folder of a process", "/proc/self/cwd{OUT}/file"),
    EscapePath {
        careless: |path| path.replace("%2e", ".").replace("%2f", "/"),
        ..spelled("encoded", "%2e%2e%2foutside%2ffile")
    },
    EscapePath {
        careless: |path| path.replace("%252e", ".").replace("%252f", "/"),
        ..spelled("encoded twice", "%252e%252e%252foutside%252ffile")
    },
    EscapePath { careless: |path| path.replace('\\', "/"), ..spelled("backslashes", "..\\outside\\file") },
    EscapePath {
        careless: |path| path.replace('\u{ff0e}', ".").replace('\u{ff0f}', "/"),
        ..spelled("wide dots", "\u{ff0e}\u{ff0e}\u{ff0f}outside\u{ff0f}file")
    },
    EscapePath {
        careless: |path| path.replace('\u{2024}', ".").replace('\u{2215}', "/"),
        ..spelled("other dots", "\u{2024}\u{2024}\u{2215}outside\u{2215}file")
    },
    EscapePath {
        careless: |path| path.split('\0').next().unwrap_or_default().to_owned(),
        ..spelled("a NUL", "../outside/file\0.txt")
    },
    EscapePath { careless: |path| path.trim().to_owned(), ..spelled("blanks around", " ../outside/file ") },
    EscapePath { careless: |path| path.replace("~", ".."), ..spelled("the home folder", "~/outside/file") },
    EscapePath {
        careless: |path| path.trim_start_matches("file://").to_owned(),
        ..spelled("a URL", "file://{OUT}/file")
    },
    linked("at the end", "final"),
    linked("at the end, relative", "relative"),
    linked("a chain", "chained"),
    linked("in the middle", "folder/file"),
    linked("in the middle, up", "up/outside/file"),
    linked("by a process", "proc{OUT}/file"),
    EscapePath {
        case: 26,
        both: AffectedTools::WritingOnly,
        ..linked("a dangling link at the end", "dangling")
    },
    EscapePath {
        case: 26,
        both: AffectedTools::WritingOnly,
        careless: |path| path.replace("dangling-folder", "../outside"),
        ..linked("a dangling link in the middle", "dangling-folder/new")
    },
    EscapePath { case: 28, both: AffectedTools::WritingOnly, ..linked("a hard link", "hard") },
    EscapePath { case: 30, ..spelled("/dev/fd", "/dev/fd/{FD}") },
    EscapePath { case: 30, ..spelled("/proc/self/fd", "/proc/self/fd/{FD}") },
    EscapePath { case: 30, ..spelled("/proc/PID/fd", "/proc/{PID}/fd/{FD}") },
    EscapePath { case: 30, ..spelled("/proc/thread-self/fd", "/proc/thread-self/fd/{FD}") },
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |way: &'static EscapePath| {
        let mechanisms: &[&str] =
            if way.both == AffectedTools::Yes { &[READING, WRITING] } else { &[WRITING] };
        let pairs = mechanisms.iter().map(|mechanism| CasePair::new(way.case, way.variant, *mechanism));
        AttackTrial::new(pairs.collect(), move |place, pairs| gone(way, place, pairs))
    };
    WAYS.iter().map(trial).collect()
}

async fn gone(way: &'static EscapePath, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |mechanism| async move {
        let (held, control) = (Field::new()?, Field::new()?);
        held.works().await?;
        for field in [&held, &control] {
            (way.prepare)(field)?;
        }
        let open =
            |field: &Field| fs::File::options().read(true).write(true).open(field.outside().join("file"));
        let (for_held, for_control) = (open(&held)?, open(&control)?);
        let path = |field: &Field, file: &fs::File| {
            field.path(way.path).replace("{FD}", &std::os::fd::AsRawFd::as_raw_fd(file).to_string())
        };
        let aimed = path(&held, &for_held);
        let meant = (way.careless)(&path(&control, &for_control));
        let meant = control.root().join(Path::new(&meant));
        if mechanism == READING {
            return Ok(Some((seen(&held.read(&aimed).await), seen(&plainly(&meant)?))));
        }
        let before = held.look();
        let said = held.write(&aimed).await;
        let mut touched = changed(&before, &held.look());
        touched.extend(seen(&said.replace(&aimed, "")));
        let before = control.look();
        fs::write(&meant, PAYLOAD)?;
        Ok(Some((touched, changed(&before, &control.look()))))
    })
    .await
}
