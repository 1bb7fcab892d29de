//! A folder with everything a daemon leaves on a disk, and the daemons started in it.
//!
//! Owns the layout: state, home, workspace and the file of effects lie together, so that a copy of the folder
//! is a copy of all that is known. Invariant: a daemon started here ends with the value that stands for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use palyra_client::{Client, ClientError, ConnectOptions, DaemonTarget, StartPolicy};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::tool_setup::{EFFECTS_VARIABLE, Rules, TestSettings};

/// A daemon serves again within this after it was killed: 2 s are a promise of the program that ships. A debug build, which
/// the suite runs beside other tests, has more time.
pub const SERVING_WITHIN: Duration = Duration::from_secs(if cfg!(debug_assertions) { 6 } else { 2 });
/// No daemon takes longer than this to start or to end, or it never does.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folder.
#[derive(Debug)]
pub struct TestHome {
    root: PathBuf,
}

/// What a daemon is started with.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The test daemon, or one that ships.
    pub daemon: PathBuf,
    /// What comes before the state directory on its command line.
    pub before: Vec<String>,
    /// Where its model is.
    pub model_url: String,
    /// What the daemon is told of its tools.
    pub setting: TestSettings,
}

/// A daemon, or the tracer that it is a child of.
#[derive(Debug)]
pub struct DaemonChild {
    child: Child,
    /// Its process id.
    pub pid: u32,
    // Kept open: what it says later must not end it.
    _out: BufReader<tokio::process::ChildStdout>,
}

/// How a start ended.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is taken apart at once")]
pub enum StartOutcome {
    /// It serves.
    Serving(DaemonChild),
    /// It was killed first.
    Killed,
    /// It refused with this line.
    Refused(String),
}

impl Programs {
    /// Returns those of a daemon that asks before it acts, with nothing before it on its command line.
    pub(crate) fn asking(daemon: &Path, model_url: String) -> Self {
        let setting = TestSettings { rules: Rules::AskFirst, ..TestSettings::default() };
        Self { daemon: daemon.to_owned(), before: Vec::new(), model_url, setting }
    }
}

impl TestHome {
    /// Makes a folder in which a daemon has been, and nothing else.
    ///
    /// # Errors
    /// When an undisturbed daemon does not do its part.
    pub(crate) async fn lived_in(root: &Path, programs: &Programs) -> Result<Self> {
        let house = Self::make(root)?;
        let (daemon, _, _) = house.serve(programs).await?;
        daemon.stop().await?;
        Ok(house)
    }

    /// Makes the folder anew.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(root: &Path) -> Result<Self> {
        let house = Self { root: root.to_owned() };
        for folder in [house.home(), house.state(), house.work()] {
            fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        }
        Ok(house)
    }

    /// Names a folder that is there.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Copies another house to `root`, which is emptied first.
    ///
    /// # Errors
    /// When something cannot be copied.
    pub fn copy_of(other: &Self, root: &Path) -> Result<Self> {
        if root.exists() {
            fs::remove_dir_all(root).with_context(|| format!("could not empty {}", root.display()))?;
        }
        copy(&other.root, root).with_context(|| format!("could not copy {}", other.root.display()))?;
        Ok(Self { root: root.to_owned() })
    }

    /// Copies the house of a story that failed out of the folder of its suite; returns where it is, the place itself where
    /// that fails.
    #[must_use]
    pub fn keep(place: &Path, name: &str) -> PathBuf {
        let kept = std::env::temp_dir().join(format!("palyra-failures-{}-{name}", std::process::id()));
        match Self::copy_of(&Self::at(place), &kept) {
            Ok(_) => kept,
            Err(_) => place.to_owned(),
        }
    }

    /// Returns the state directory.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// Returns the file of effects.
    #[must_use]
    pub fn effects(&self) -> PathBuf {
        self.path("effects")
    }

    /// Returns the log of the server that the keyed tool asks.
    #[must_use]
    pub fn keyed_log(&self) -> PathBuf {
        self.path("keyed")
    }

    /// Returns the path of something in this house.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns the folder that tools see.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Starts a daemon, as a child of the program that `tracer` names with its arguments, if it names one.
    ///
    /// # Errors
    /// When nothing can be started, or nothing happens for too long.
    pub async fn start(&self, programs: &Programs, tracer: &[String]) -> Result<StartOutcome> {
        let words: Vec<&str> = tracer.iter().map(String::as_str).collect();
        let daemon = programs.daemon.display().to_string();
        let words = [&words[..], &[daemon.as_str()]].concat();
        let log = fs::File::options().create(true).append(true).open(self.root.join("daemon.log"));
        let log = log.context("could not open daemon.log")?;
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(&programs.before)
            .arg(self.state())
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("OPENAI_BASE_URL", &programs.model_url)
            .env(EFFECTS_VARIABLE, self.effects())
            .envs(programs.setting.variables())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("could not start {}", words[0]))?;
        let mut out = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, out.read_line(&mut line)).await;
        read.context("the daemon says nothing")?.context("could not hear the daemon")?;
        let said: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        if said["ready"] == true {
            let pid = said["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
            let pid = pid.context("the daemon does not say its number")?;
            return Ok(StartOutcome::Serving(DaemonChild { child, pid, _out: out }));
        }
        child.wait().await.context("could not wait for the daemon")?;
        Ok(if line.is_empty() { StartOutcome::Killed } else { StartOutcome::Refused(line) })
    }

    /// Starts a daemon that nothing disturbs, and waits until it answers; returns how long that took.
    ///
    /// # Errors
    /// When it does not serve.
    pub async fn serve(&self, programs: &Programs) -> Result<(DaemonChild, Client, Duration)> {
        let begun = Instant::now();
        let daemon = match self.start(programs, &[]).await? {
            StartOutcome::Serving(daemon) => daemon,
            StartOutcome::Killed => bail!("the daemon died as it started; see daemon.log"),
            StartOutcome::Refused(line) => bail!("the daemon does not start: {}", line.trim()),
        };
        let client = self.client().await.context("could not connect")?;
        client.status().await.context("the daemon does not answer")?;
        Ok((daemon, client, begun.elapsed()))
    }

    /// Connects to the daemon that serves.
    ///
    /// # Errors
    /// When none does.
    pub async fn client(&self) -> Result<Client, ClientError> {
        let mut options = ConnectOptions::new(DaemonTarget::StateDir(self.state()));
        options.start = StartPolicy::Never;
        // A witness: after each restart it demands that the journal continues the signed heads it has seen.
        options.heads = Some(self.root.join("heads"));
        Client::connect(options).await
    }
}

impl DaemonChild {
    /// Resolves when it, or its tracer, has ended.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub async fn ended(&mut self) -> Result<ExitStatus> {
        self.child.wait().await.context("could not wait for the daemon")
    }

    /// Ends it as a crash does.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn kill(mut self) -> Result<()> {
        self.signal(Signal::KILL);
        self.ended().await.map(|_| ())
    }

    /// Asks it to stop and waits for its end.
    ///
    /// # Errors
    /// When it does not end in time.
    pub async fn stop(mut self) -> Result<ExitStatus> {
        self.signal(Signal::TERM);
        tokio::time::timeout(PATIENCE, self.ended()).await.context("the daemon does not stop")?
    }

    /// Kills it, and does not wait for its end.
    pub(crate) fn strike(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            // It may have ended by itself; its parent has not waited for it yet, so the number is still its own.
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for DaemonChild {
    fn drop(&mut self) {
        // A tracer that is killed lets its daemon go, so that goes first.
        if self.child.id().is_some() {
            self.signal(Signal::KILL);
        }
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            // Sockets are left out: they belong to a daemon that is gone.
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
