//! A workspace that others replace by a link while its run is at work (104), for whatever starts programs.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palyra_ports::{ConfinedCommand, NetworkAccess, WorkspaceAccess};
use palyra_ports::{ProcessLimits, ProcessSandbox, WorkspaceRoot};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use super::yard::{ShellYard, owned};
use crate::calls::{call, call_between};
use crate::pair::{CasePair, PairResult};
use crate::processes::{ConfinementKind, HOLDS};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// What becomes of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RootChange {
    Itself,
    Above,
    /// By a link to a link.
    Chained,
    /// By a link that stays in the folder around it.
    Beside,
}

const CHANGES: [(&str, RootChange); 4] = [
    ("a workspace that became a link", RootChange::Itself),
    ("a folder above that became a link", RootChange::Above),
    ("a workspace that became a link to a link", RootChange::Chained),
    ("a workspace that became a link to its neighbour", RootChange::Beside),
];

/// When it is changed.
const TIMES: [&str; 2] = ["before the look at the call", "between the look and the start"];

const TOOLS: [&str; 3] = ["git", "run_command", "start_job"];

/// Starts while the workspace and a link change places all the time; many more are refused.
const RACES: usize = 10;
/// How long a race may take, and how long nobody tries within it.
const SPAN: Duration = Duration::from_secs(20);
const BETWEEN: Duration = Duration::from_millis(1);

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let tools = CHANGES.iter().flat_map(|&(variant, change)| {
        TIMES.map(|time| {
            let pairs = TOOLS.map(|tool| CasePair::new(104, format!("{variant}, {time}"), tool));
            AttackTrial::new(pairs.to_vec(), move |place, pairs| by_tools(change, time, place, pairs))
        })
    });
    let holds = CHANGES.iter().map(|&(variant, change)| {
        let pairs = HOLDS.map(|hold| CasePair::new(104, variant, hold.name()));
        AttackTrial::new(pairs.to_vec(), move |place, pairs| by_holds(change, place, pairs))
    });
    let races =
        HOLDS.map(|hold| CasePair::new(104, "a workspace that changes places with a link", hold.name()));
    tools.chain(holds).chain([AttackTrial::new(races.to_vec(), raced).alone()]).collect()
}

/// A workspace below a folder, as one project in another is, and a folder that nobody may reach.
struct NestedWorkspace {
    yard: ShellYard,
}

impl NestedWorkspace {
    fn new() -> io::Result<Self> {
        let yard = ShellYard::new()?;
        for folder in ["outer/sub", "outer/beside"] {
            fs::create_dir_all(yard.work().join(folder))?;
        }
        let outside = yard.trial_folder.outside();
        fs::create_dir(outside.join("sub"))?;
        fs::copy(outside.join("file"), outside.join("sub/file"))?;
        fs::copy(outside.join("file"), yard.work().join("outer/beside/file"))?;
        yard.write("outer/sub/file", "own")?;
        let folders = ["outer/sub", "outer/beside"].map(|folder| yard.work().join(folder));
        for repository in folders.into_iter().chain([outside.clone(), outside.join("sub")]) {
            let mut init = std::process::Command::new("sh");
            init.args(["-c", "git init -q && git add file"]).current_dir(repository).status()?;
        }
        Ok(Self { yard })
    }

    fn root(&self) -> PathBuf {
        self.yard.work().join("outer/sub")
    }

    fn outside(&self) -> PathBuf {
        self.yard.trial_folder.outside()
    }

    fn change(&self, change: RootChange) -> io::Result<()> {
        let (root, outer) = (self.root(), self.yard.work().join("outer"));
        let away = |path: &Path| fs::rename(path, path.with_file_name("moved"));
        match change {
            RootChange::Itself => away(&root).and_then(|()| symlink(self.outside(), &root)),
            RootChange::Above => away(&outer).and_then(|()| symlink(self.outside(), &outer)),
            RootChange::Chained => {
                symlink(self.outside(), outer.join("link"))?;
                away(&root).and_then(|()| symlink("link", &root))
            }
            RootChange::Beside => away(&root).and_then(|()| symlink("beside", &root)),
        }
    }

    /// What was seen or made in what the links lead to.
    fn touched(&self, printed: &str) -> Vec<String> {
        let mut touched = Vec::new();
        if printed.contains(crate::trial_folder::SECRET) {
            touched.push("the secret was seen".to_owned());
        }
        let outer = self.yard.work().join("outer/beside");
        for folder in [self.outside(), self.outside().join("sub"), outer] {
            if folder.join("made").exists() {
                touched.push("a file was made there".to_owned());
            }
        }
        touched
    }
}

const SCRIPT: &str = "cat file; echo made > made; echo done";

async fn by_tools(
    change: RootChange,
    time: &'static str,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |tool| {
        let place = place.clone();
        async move {
            let arguments = match tool.as_str() {
                "git" => json!({ "subcommand": "grep", "options": ["-h", "-e", ""] }),
                _ => json!({ "argv": ["sh", "-c", SCRIPT] }),
            };
            let plain = match tool.as_str() {
                "git" => owned(&["git", "grep", "-h", "-e", ""]),
                _ => owned(&["sh", "-c", SCRIPT]),
            };
            let held = NestedWorkspace::new()?;
            let tools = held.yard.tools(&place.sandbox);
            let honest = call(&tools, &tool, &arguments, &held.root()).await;
            if !honest.begun {
                return Err(io::Error::other(format!("it is not begun at all: {}", honest.text)));
            }
            let mut said = String::new();
            let mut changed = Ok(());
            if time == TIMES[0] {
                held.change(change)?;
                said.push_str(&call(&tools, &tool, &arguments, &held.root()).await.text);
            } else {
                let meddle = || changed = held.change(change);
                said.push_str(&call_between(&tools, &tool, &arguments, &held.root(), meddle).await.text);
            }
            changed?;
            if tool == "start_job" {
                let tail = json!({ "job": "job-2" });
                said.push_str(&call(&tools, "tail_job", &tail, &held.root()).await.text);
            }

            // By the path, as anything is started.
            let control = NestedWorkspace::new()?;
            control.change(change)?;
            let root = control.root().display().to_string();
            let argv = owned(&["env", "-C", &root]).into_iter().chain(plain).collect::<Vec<_>>();
            let Some(printed) = control.yard.as_is(&argv, &[]).await? else { return Ok(None) };
            Ok(Some((held.touched(&said), control.touched(&printed))))
        }
    })
    .await
}

/// A program whose workspace was opened before it was replaced.
fn command(hold: ConfinementKind, root: WorkspaceRoot) -> ConfinedCommand {
    let path = root.path().to_owned();
    ConfinedCommand {
        tier: hold.tier(),
        program: "/bin/sh".into(),
        arguments: [
            "sh",
            "-c",
            "cat file \"$ROOT/file\"; echo made > made; echo made > \"$ROOT/made\"; true",
        ]
        .map(Into::into)
        .to_vec(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("ROOT".into(), path.clone().into())],
        directory: path,
        workspace: root,
        access: WorkspaceAccess::Change,
        kept: Vec::new(),
        readable: Vec::new(),
        sealed: Vec::new(),
        network: NetworkAccess::None,
        limits: ProcessLimits::default(),
    }
}

/// Starts it; a refusal is an answer, too.
async fn printed(
    place: &TrialContext,
    hold: ConfinementKind,
    command: ConfinedCommand,
) -> io::Result<Option<String>> {
    let Ok(mut process) = hold.sandbox(place).start(command).await else { return Ok(None) };
    let Some((output, _errors)) = process.take_output() else { return Ok(None) };
    let reading = tokio::task::spawn_blocking(move || io::read_to_string(fs::File::from(output)));
    process.wait().await;
    reading.await.map_err(io::Error::other)?.map(Some)
}

fn plainly(root: &Path) -> io::Result<String> {
    let mut plain = std::process::Command::new("/bin/sh");
    plain.args(["-c", "cat \"$ROOT/file\"; echo made > \"$ROOT/made\""]).env("ROOT", root);
    Ok(String::from_utf8_lossy(&plain.output()?.stdout).into_owned())
}

fn hold_of(mechanism: &str) -> ConfinementKind {
    HOLDS.into_iter().find(|hold| hold.name() == mechanism).unwrap_or(ConfinementKind::Isolated)
}

fn open(root: &Path) -> io::Result<WorkspaceRoot> {
    WorkspaceRoot::open(root).map_err(io::Error::other)
}

async fn by_holds(change: RootChange, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |mechanism| async move {
        let hold = hold_of(&mechanism);
        let honest = NestedWorkspace::new()?;
        let said = printed(place, hold, command(hold, open(&honest.root())?)).await?;
        if !said.is_some_and(|said| said.contains("ownown")) {
            return Err(io::Error::other("a workspace that stays is not worked in"));
        }
        let (held, control) = (NestedWorkspace::new()?, NestedWorkspace::new()?);
        let command = command(hold, open(&held.root())?);
        held.change(change)?;
        let said = printed(place, hold, command).await?.unwrap_or_default();
        control.change(change)?;
        let plain = plainly(&control.root())?;
        Ok(Some((held.touched(&said), control.touched(&plain))))
    })
    .await
}

/// Exchanges two names over and over until it is dropped.
struct NameExchanger {
    end: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl NameExchanger {
    fn start(nested: &NestedWorkspace) -> io::Result<Self> {
        let (root, link) = (nested.root(), nested.yard.work().join("outer/link"));
        symlink(nested.outside(), &link)?;
        let end = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&end);
        let thread = std::thread::spawn(move || {
            // Sometimes long enough for a start, sometimes not.
            for pause in (0..u64::MAX).map(|round| round * 7 % 23) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let _ = renameat_with(CWD, &root, CWD, &link, RenameFlags::EXCHANGE);
                std::thread::sleep(Duration::from_millis(pause));
            }
        });
        Ok(Self { end, thread: Some(thread) })
    }
}

impl Drop for NameExchanger {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn raced(place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |mechanism| async move {
        let hold = hold_of(&mechanism);
        let (held, control) = (NestedWorkspace::new()?, NestedWorkspace::new()?);
        let exchanging = NameExchanger::start(&held)?;
        let (mut ran, mut said) = (0, String::new());
        let until = Instant::now() + SPAN;
        while ran < RACES && Instant::now() < until {
            tokio::time::sleep(BETWEEN).await;
            let Ok(root) = WorkspaceRoot::open(&held.root()) else { continue };
            if let Some(printed) = printed(place, hold, command(hold, root)).await? {
                said.push_str(&printed);
                ran += 1;
            }
        }
        drop(exchanging);
        if ran == 0 {
            return Err(io::Error::other("none was ever started"));
        }
        let exchanging = NameExchanger::start(&control)?;
        let mut fooled = Vec::new();
        let until = Instant::now() + SPAN;
        while fooled.is_empty() && Instant::now() < until {
            tokio::time::sleep(BETWEEN).await;
            // It looks first, and goes there by the path.
            if fs::symlink_metadata(control.root()).is_ok_and(|data| !data.is_symlink()) {
                fooled = control.touched(&plainly(&control.root())?);
            }
        }
        drop(exchanging);
        Ok(Some((held.touched(&said), fooled)))
    })
    .await
}
