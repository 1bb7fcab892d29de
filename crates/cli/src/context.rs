//! What every verb is given: the global options, the streams, Ctrl-C, and the way to the daemon.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use palyra_backup_verb::BackupCommand;
use palyra_client::{Client, ClientError, ConnectOptions, DaemonTarget, StartPolicy, TcpAddress};
use palyra_service_verb::ServiceCommand;
use palyra_types::state_dir::{config_dir, data_dir, state_dir};
use palyra_types::{Content, ErrorCode};
use palyra_wire::json::to_json;
use prost::{Message, Name};
use tokio::time::Instant;

use crate::daemon_hooks::DaemonHooks;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_doctor::{notice_notes, other_file, unused_settings};
use palyra_explain::{
    ENVIRONMENT_PROVIDER, OtherFile, OwnFile, SERVER_VARIABLE, UNSET_COMMAND, is_same_model,
};
use palyra_screen_text::table;
use palyra_terminal::{InterruptListener, NoteKind, Output};

const TOKEN_VARIABLE: &str = "PALYRA_TOKEN";
const CONFIRMATION_VARIABLE: &str = "PALYRA_CONFIRMATION";
/// Work that is done sooner shows no progress.
const QUIET_FOR: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(500);
/// Below the user's data: what was seen of each journal.
const HEADS_FOLDER_NAME: &str = "heads";
/// The model that is built in.
pub(crate) const DEMO_MODEL: &str = "demo/demo";
const CONFIG_FILE_NAME: &str = "palyra.toml";

/// Options that every verb takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct GlobalArgs {
    /// The daemon's state directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use a TCP listener, with the token in PALYRA_TOKEN
    #[arg(long, global = true, value_name = "URL", conflicts_with = "state_dir")]
    pub(crate) connect: Option<String>,
    /// Exit with 4 where no daemon serves
    #[arg(long, global = true)]
    pub(crate) no_start: bool,
}

/// What every verb is given.
pub(crate) struct Context {
    pub(crate) global: GlobalArgs,
    pub(crate) output: Output,
    pub(crate) interrupts: InterruptListener,
    /// The definition of the command line, for those who write about it.
    pub(crate) definition: fn() -> clap::Command,
    /// What the daemon's side does for the command line.
    pub(crate) daemon: DaemonHooks,
}

impl Context {
    /// Returns the state directory.
    pub(crate) fn state_dir(&self) -> Result<PathBuf, Failure> {
        let dir = self.global.state_dir.clone().or_else(|| state_dir(|name| std::env::var_os(name)));
        Ok(dir.ok_or(ClientError::NoStateDir)?)
    }

    /// Returns the configuration file, whether it exists or not.
    pub(crate) fn config_file(&self) -> Result<PathBuf, Failure> {
        let usual = || config_dir(|name| std::env::var_os(name)).map(|dir| dir.join(CONFIG_FILE_NAME));
        let file = self.global.config.clone().or_else(usual);
        file.ok_or_else(|| {
            Failure::Usage("there is no home directory, so name the file with --config".to_owned())
        })
    }

    /// Returns the file that a running daemon reads, where that is not the one of this command line.
    pub(crate) async fn other_file(&self, client: &Client) -> Option<OtherFile> {
        let file = self.config_file().ok().filter(|_| self.is_local())?;
        let own =
            if self.global.config.is_some() { OwnFile::Named(whole(file)) } else { OwnFile::Usual(file) };
        other_file(client, own).await
    }

    /// Returns whether the daemon is reached over its own socket, where a workspace may be chosen.
    pub(crate) fn is_local(&self) -> bool {
        self.global.connect.is_none()
    }

    /// Returns the folder that a person works in, where the daemon takes one.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let folder = std::env::current_dir().and_then(std::fs::canonicalize).ok();
        folder.filter(|_| self.is_local())
    }

    /// Refuses over TCP what concerns this machine's own daemon.
    pub(crate) fn require_local(&self, what: &str) -> Result<(), Failure> {
        if self.is_local() {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "`{what}` is about the daemon of this machine and does not go with --connect"
        )))
    }

    /// Returns how to connect, as the options say.
    pub(crate) fn connect_options(&self) -> Result<ConnectOptions, Failure> {
        let target = match &self.global.connect {
            Some(address) => {
                let secret =
                    |name| std::env::var(name).ok().filter(|text| !text.is_empty()).map(Content::new);
                let address = TcpAddress::parse(address, secret(TOKEN_VARIABLE))?;
                let address = address.with_confirmation(secret(CONFIRMATION_VARIABLE));
                if let Some(uid) = address.token_reader() {
                    let whose =
                        format!("a program of user {uid} listens at {address}", address = self.shown());
                    let note = format!(
                        "{whose} and gets the token in clear text; stop it if that is not your daemon's user"
                    );
                    self.output.note(NoteKind::Doubt, &note);
                }
                DaemonTarget::Tcp(address)
            }
            None => DaemonTarget::StateDir(self.state_dir()?),
        };
        let mut options = ConnectOptions::new(target);
        if self.global.no_start {
            options.start = StartPolicy::Never;
        }
        if let Some(config) = &self.global.config {
            options.serve_arguments = vec!["--config".into(), whole(config.clone()).into_os_string()];
        }
        options.heads = data_dir(|name| std::env::var_os(name)).map(|dir| dir.join(HEADS_FOLDER_NAME));
        let output = self.output.clone();
        let file = self.config_file().ok().map(|file| std::fs::canonicalize(&file).unwrap_or(file));
        options.notices = Arc::new(move |notice| {
            notice_notes(&notice, file.as_deref()).iter().for_each(|(kind, note)| output.note(*kind, note));
        });
        Ok(options)
    }

    /// Returns the address that was given, which holds no token.
    fn shown(&self) -> &str {
        self.global.connect.as_deref().unwrap_or_default()
    }

    /// Finds the daemon, or starts it where that is allowed.
    pub(crate) async fn connect(&self) -> Result<Client, Failure> {
        let options = self.connect_options()?;
        Ok(self.waiting("waiting for the daemon", Client::connect(options)).await?)
    }

    /// As [`Context::connect`], for what asks a model: the daemon's default model is the one that this environment
    /// selects, or the one that a configuration names. `chosen` is a model that was named, as provider/model.
    pub(crate) async fn connect_to_model(&self, chosen: Option<&str>) -> Result<Client, Failure> {
        let mut options = self.connect_options()?;
        if self.is_local() {
            let own = (self.daemon.own_model)(self.global.config.as_deref());
            // A provider that a file configures is the same one in each environment, and an environment that names no
            // server means the daemon's by this name.
            let is_demanded = chosen.is_none_or(|model| !is_same_model(model, &own.name));
            options.own_model = Some(own).filter(|_| is_demanded);
        }
        let client = self.waiting("waiting for the daemon", Client::connect(options)).await?;
        if self.is_local() {
            let other = if self.global.config.is_some() { self.other_file(&client).await } else { None };
            let unused = unused_settings(&client).await.into_iter();
            let notes = other.as_ref().map(OtherFile::not_used).into_iter().chain(unused);
            notes.for_each(|note| self.output.note(NoteKind::Doubt, &note));
        }
        Ok(client)
    }

    /// Returns the name of a model with its server, where it is the one that the environment selects and was named alone.
    pub(crate) fn whole_model(&self, model: Option<String>) -> Option<String> {
        let own = self.is_local().then(|| (self.daemon.own_model)(self.global.config.as_deref()).name);
        let is_own =
            own.as_deref().and_then(|own| own.strip_prefix(ENVIRONMENT_PROVIDER)) == model.as_deref();
        if model.is_some() && is_own { own } else { model }
    }

    /// As [`Context::connect`], but a journal that is not what it was is reported and no obstacle: for verbs that look
    /// at it, or mend it.
    pub(crate) async fn connect_to_inspect(&self) -> Result<Client, Failure> {
        let doubt = match self.connect().await {
            Err(Failure::Client(error @ (ClientError::RolledBack { .. } | ClientError::Forked { .. }))) => {
                error
            }
            connected => return connected,
        };
        self.output.note(NoteKind::Doubt, &format!("{doubt} ({})", doubt.code()));
        let mut options = self.connect_options()?;
        options.heads = None;
        Ok(Client::connect(options).await?)
    }

    /// Returns the folder of the signed heads that this account has seen, where there is one.
    pub(crate) fn heads_folder(&self) -> Result<Option<PathBuf>, Failure> {
        Ok(self.connect_options()?.heads)
    }

    /// Adds what helps here to a failure that depends on this environment: a model of the server that a variable
    /// selects is missing only where the configuration names the default model.
    pub(crate) fn with_mend(&self, failure: Failure) -> Failure {
        let Failure::Client(error) = &failure else { return failure };
        let (code, message) = (error.code(), error.to_string());
        let of_environment = message.contains(&format!("`{ENVIRONMENT_PROVIDER}"));
        if code != ErrorCode::ModelNotConfigured || !self.is_local() || !of_environment {
            return failure;
        }
        let own = (self.daemon.own_model)(self.global.config.as_deref());
        if !own.variables.contains(&SERVER_VARIABLE) {
            return failure;
        }
        let mend = format!("`{UNSET_COMMAND}` lets {SERVER_VARIABLE} of this environment choose the model");
        Failure::WithMend { code, message, mend }
    }

    /// Awaits long work; on a terminal a line tells how long it takes already.
    pub(crate) async fn waiting<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        show_waiting(&self.output, what, work).await
    }

    /// Prints a table, no wider than the terminal.
    pub(crate) fn table<const N: usize>(
        &self,
        head: [&str; N],
        rows: Vec<[String; N]>,
    ) -> Result<(), Failure> {
        Ok(table(head, rows, self.output.columns())
            .iter()
            .try_for_each(|line| self.output.exact_line(line))?)
    }

    /// Prints items as lines of JSON or as a table; where there are none, a person reads `none`.
    pub(crate) fn list<M: Message + Name, const N: usize>(
        &self,
        format: OutputFormat,
        items: Vec<M>,
        none: &str,
        head: [&str; N],
        row: impl Fn(M) -> [String; N],
    ) -> Result<Exit, Failure> {
        if format == OutputFormat::Json {
            items.iter().try_for_each(|item| self.output.json(&to_json(item)))?;
        } else if items.is_empty() {
            self.output.note(NoteKind::Info, none);
        } else {
            self.table(head, items.into_iter().map(row).collect())?;
        }
        Ok(Exit::Done)
    }

    /// Connects only to a daemon that serves already, without a check of its past: to stop, reload or back it up.
    pub(crate) async fn connect_running(&self) -> Result<Client, Failure> {
        Ok(Client::connect(self.running_options()?).await?)
    }

    pub(crate) fn running_options(&self) -> Result<ConnectOptions, Failure> {
        Ok(ConnectOptions { start: StartPolicy::Never, heads: None, ..self.connect_options()? })
    }

    /// Returns the parts of this process that the service needs.
    pub(crate) fn service_command(&self) -> Result<ServiceCommand<'_>, Failure> {
        self.require_local("palyra admin service")?;
        Ok(ServiceCommand {
            output: &self.output,
            state_dir: self.state_dir()?,
            config: self.global.config.clone(),
            daemon: self.running_options()?,
            model_variables: (self.daemon.own_model)(self.global.config.as_deref()).variables,
        })
    }

    /// Returns the parts of this process that backups need.
    pub(crate) fn backup_command(&self) -> Result<BackupCommand<'_>, Failure> {
        self.require_local("palyra backup")?;
        Ok(BackupCommand {
            output: &self.output,
            interrupts: &self.interrupts,
            state_dir: self.state_dir()?,
            config_file: self.config_file().ok(),
            daemon: self.running_options()?,
        })
    }
}

/// Returns a path that fits in every folder.
fn whole(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

async fn show_waiting<T>(output: &Output, what: &str, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let begun = Instant::now();
    let mut ticks = tokio::time::interval_at(begun + QUIET_FOR, TICK);
    loop {
        tokio::select! {
            biased;
            done = &mut work => {
                output.end_progress();
                return done;
            }
            _ = ticks.tick() => {
                output.progress(&format!("{what}, {} s", begun.elapsed().as_secs()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palyra_terminal::{CapturedKind, captured};

    #[tokio::test(start_paused = true)]
    async fn a_terminal_sees_how_long_work_takes_once_it_takes_long() {
        let (output, _, err) = captured(CapturedKind::Terminal);
        show_waiting(&output, "asking", tokio::time::sleep(Duration::from_millis(900))).await;
        assert_eq!(err.text(), "");
        show_waiting(&output, "asking", tokio::time::sleep(Duration::from_millis(2_200))).await;
        let note_text = err.text();
        assert!(
            note_text.contains("\r\u{1b}[Kasking, 1 s") && note_text.contains("asking, 2 s"),
            "{note_text:?}"
        );
        assert!(note_text.ends_with("\r\u{1b}[K"), "{note_text:?}");
    }
}
