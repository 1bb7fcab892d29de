//! The daemon as it is measured: the real program, a state directory of its own, the real client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use palyra_client::{Client, ConnectOptions, DaemonTarget, FollowEvent, RunFollower, StartPolicy};
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use super::spawned::SpawnedChild;
use crate::floor::client::TurnTimes;
use crate::model::directive::{AnswerDirective, CallPath};

/// The settings of the mock model.
const MODEL_TABLE: &str = "[providers.mock]\n";

/// The program that is the daemon.
#[derive(Debug, Clone)]
pub struct DaemonProgram {
    /// Its file.
    pub file: PathBuf,
    /// What comes before the arguments of `palyrad`.
    pub before: Vec<OsString>,
}

impl DaemonProgram {
    /// The daemon that is part of the bench program `own`.
    #[must_use]
    pub fn built_in(own: &Path) -> Self {
        Self { file: own.to_owned(), before: vec!["daemon".into()] }
    }
}

/// A home of one daemon: its state, its configuration, and a folder to work in.
#[derive(Debug, Clone)]
pub struct DaemonHome {
    folder: PathBuf,
}

impl DaemonHome {
    /// Makes a home in a folder that exists, whose default model is the mock.
    ///
    /// # Errors
    /// When files cannot be written.
    pub fn new(folder: &Path, model: &str) -> anyhow::Result<Self> {
        let home = Self { folder: folder.to_owned() };
        std::fs::create_dir_all(home.work())?;
        for at in 0..8 {
            for calls in [CallPath::Free, CallPath::Approved] {
                std::fs::write(home.work().join(calls.file(at)), "milk\nbread\n")?;
            }
        }
        let config = format!("[model]\ndefault = \"mock/mock\"\n\n{MODEL_TABLE}base_url = \"{model}\"\n");
        std::fs::write(home.config(), config)?;
        Ok(home)
    }

    /// Adds a provider to the configuration, which a daemon reads at its start.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_provider(&self, name: &str, base_url: &str) -> anyhow::Result<()> {
        let config = std::fs::read_to_string(self.config())?;
        let config = format!("{config}\n[providers.{name}]\nbase_url = \"{base_url}\"\n");
        Ok(std::fs::write(self.config(), config)?)
    }

    /// Returns the state directory.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// Returns the database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.state().join("journal.db")
    }

    /// Returns the database's write-ahead log.
    #[must_use]
    pub fn write_ahead_log(&self) -> PathBuf {
        self.state().join("journal.db-wal")
    }

    /// Returns the folder that tools work in.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Sets how much memory a command and all that it starts may have, which a daemon reads at its start.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn limit_commands(&self, memory_mib: u64) -> anyhow::Result<()> {
        let config = std::fs::read_to_string(self.config())?;
        let config = format!("{config}\n[commands]\nmemory_mib_max = {memory_mib}\n");
        Ok(std::fs::write(self.config(), config)?)
    }

    /// Sets how many requests the model is asked at once, which a daemon reads at its start.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn allow_model_requests(&self, at_once_max: usize) -> anyhow::Result<()> {
        let config = std::fs::read_to_string(self.config())?;
        let provider = format!("{MODEL_TABLE}parallel_requests_max = {at_once_max}\n");
        Ok(std::fs::write(self.config(), config.replace(MODEL_TABLE, &provider))?)
    }

    /// Sets the window of the model in tokens, which a daemon reads at its start.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn limit_window(&self, tokens: u32) -> anyhow::Result<()> {
        let config = std::fs::read_to_string(self.config())?;
        let provider = format!("{MODEL_TABLE}context_tokens = {tokens}\n");
        Ok(std::fs::write(self.config(), config.replace(MODEL_TABLE, &provider))?)
    }

    fn config(&self) -> PathBuf {
        self.folder.join("palyra.toml")
    }

    /// Starts the daemon, and connects to it until it answers.
    ///
    /// # Errors
    /// When it does not become ready.
    pub async fn start(&self, program: &DaemonProgram) -> anyhow::Result<DaemonProcess> {
        let begun = Instant::now();
        let process = self.spawn(program)?;
        let client = self.connect().await?;
        client.status().await.context("the daemon's status")?;
        Ok(DaemonProcess { process, client, home: self.clone(), healthy_after: begun.elapsed() })
    }

    /// Starts the daemon and leaves it alone.
    ///
    /// # Errors
    /// When it does not become ready.
    pub fn spawn(&self, program: &DaemonProgram) -> anyhow::Result<SpawnedChild> {
        let mut command = Command::new(&program.file);
        command
            .args(&program.before)
            .arg("--state-dir")
            .arg(self.state())
            .arg("--config")
            .arg(self.config())
            .env_clear()
            .env("HOME", &self.folder)
            .current_dir(self.work())
            .stderr(Stdio::null());
        SpawnedChild::start(&mut command)
    }

    /// Connects to the daemon that runs here.
    ///
    /// # Errors
    /// When none does.
    pub async fn connect(&self) -> anyhow::Result<Client> {
        let mut options = ConnectOptions::new(DaemonTarget::StateDir(self.state()));
        options.start = StartPolicy::Never;
        Client::connect(options).await.context("no way to the daemon")
    }
}

/// A running daemon with a client; dropping it ends it at once.
pub struct DaemonProcess {
    /// The process.
    pub process: SpawnedChild,
    /// A client.
    pub client: Client,
    /// Where it lives.
    pub home: DaemonHome,
    /// From its start until it answered.
    pub healthy_after: std::time::Duration,
}

impl DaemonProcess {
    /// Opens a session over the first connection.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub async fn seat(&self) -> anyhow::Result<SessionClient> {
        SessionClient::open(&self.client, &self.home).await
    }

    /// Asks it to stop and waits for its end.
    ///
    /// # Errors
    /// When it stays.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.client.stop_daemon().await.context("the daemon did not stop")?;
        self.process.wait()
    }
}

/// A place to ask from: a connection, a session, a folder for its tools.
pub struct SessionClient {
    client: Client,
    session: String,
    workspace: String,
    /// What comes before each question.
    preface: String,
}

impl SessionClient {
    /// Opens a new session over a connection.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub async fn open(client: &Client, home: &DaemonHome) -> anyhow::Result<Self> {
        let opened = client.call(v1::ResolveSessionRequest::default()).await?;
        let session = opened.session.context("a session was not described")?.session_id;
        let workspace = home.work().display().to_string();
        Ok(Self { client: client.clone(), session, workspace, preface: String::new() })
    }

    /// Makes each question longer by so many bytes.
    #[must_use]
    pub fn with_long_questions(self, bytes: usize) -> Self {
        Self { preface: "milk and bread ".chars().cycle().take(bytes).collect(), ..self }
    }

    /// Returns the request that asks a question here.
    #[must_use]
    pub fn request(&self, directive: &AnswerDirective) -> v1::StartRunRequest {
        let selector = v1::SessionSelector { session_id: self.session.clone(), ..Default::default() };
        v1::StartRunRequest {
            session: Some(selector),
            input: self.preface.clone() + &directive.question(),
            workspace_root: self.workspace.clone(),
            ..Default::default()
        }
    }

    /// Asks a question whose tool runs on, says yes to it, and returns as soon as it has started.
    ///
    /// # Errors
    /// The daemon's refusal, or a run that ended without.
    pub async fn begin(&self, directive: &AnswerDirective) -> anyhow::Result<RunFollower> {
        let mut run = RunFollower::start(&self.client, self.request(directive));
        while let Some(event) = run.next().await? {
            let FollowEvent::Entry(entry) = event else { continue };
            match entry.event {
                Some(Event::ApprovalRequested(asked)) => self.say_yes(asked.approval_id).await?,
                Some(Event::ToolStarted(_)) => return Ok(run),
                Some(Event::RunFinished(_)) => break,
                _ => {}
            }
        }
        anyhow::bail!("a run ended before its tool began")
    }

    async fn say_yes(&self, approval: String) -> anyhow::Result<()> {
        let answer = self.client.call(yes(approval)).await?;
        anyhow::ensure!(answer.counted, "a yes did not count");
        Ok(())
    }

    /// Asks one question, says yes to every call that waits for it, and hears the run to its end.
    ///
    /// # Errors
    /// The daemon's refusal, or a run that did not end with an answer.
    pub async fn ask(&self, directive: &AnswerDirective) -> anyhow::Result<TurnTimes> {
        let begun = Instant::now();
        let mut run = RunFollower::start(&self.client, self.request(directive));
        let mut first = None;
        while let Some(event) = run.next().await? {
            match event {
                FollowEvent::Entry(entry) => match entry.event {
                    Some(Event::ModelText(_)) => first = first.or_else(|| Some(begun.elapsed())),
                    Some(Event::ApprovalRequested(asked)) => self.say_yes(asked.approval_id).await?,
                    _ => {}
                },
                FollowEvent::Ended(end) => {
                    anyhow::ensure!(end.state() == v1::RunState::Done, "a run ended as {:?}", end.state());
                    let first = first.context("a run without text")?;
                    return Ok(TurnTimes { first, total: begun.elapsed() });
                }
                _ => {}
            }
        }
        anyhow::bail!("a run's stream ended without its end")
    }
}

fn yes(approval_id: String) -> v1::ResolveApprovalRequest {
    let decision = v1::ApprovalDecision::Approve.into();
    v1::ResolveApprovalRequest { approval_id, decision, ..Default::default() }
}
