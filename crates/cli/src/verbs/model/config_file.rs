//! The configuration file as the verbs about models read, write and have it read again.
//!
//! Invariant: a file is replaced as a whole, and what is not changed stays, comments too.

use std::path::{Path, PathBuf};

use palyra_client::{AskProviders, Client, ClientError};
use palyra_config_text::{EditConfigError, set_default, write_whole};
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::context::Context;
use crate::daemon_hooks::{ConfigVerdict, DaemonHooks};
use crate::failure::Failure;
use palyra_explain::{keyless_notice, missing_key, stopped_notice};
use palyra_terminal::NoteKind;

/// The configuration file and what is in it before it is changed.
pub(super) struct ConfigText {
    pub(super) file: PathBuf,
    pub(super) text: String,
}

impl ConfigText {
    /// Reads a file; one that is not there is empty.
    pub(super) fn read(file: PathBuf) -> Result<Self, Failure> {
        Ok(Self { text: read(&file)?, file })
    }

    /// Says why it cannot be changed.
    pub(super) fn unusable(&self, error: &EditConfigError) -> Failure {
        Failure::local(ErrorCode::ConfigInvalid, format!("{}: {error}", self.file.display()))
    }
}

/// The default model of a daemon that runs; its environment may be another than the one here.
pub(super) struct ModelInForce {
    pub(super) name: String,
    /// The setting or variable that names it; empty where the daemon does not say so.
    pub(super) place: String,
}

impl ModelInForce {
    /// Asks the daemon that runs; `None` where none answers.
    pub(super) async fn of(context: &Context) -> Option<Self> {
        let client = context.connect_running().await.ok()?;
        let name = client.status().await.ok()?.default_model;
        let place = client.config().await.ok()?.model_origin.unwrap_or_default().place;
        Some(Self { name, place })
    }
}

/// Returns the default model that answered until now: that of the daemon which runs, else the one that the file names,
/// else the one that this environment selects.
pub(super) fn default_before(
    context: &Context,
    in_force: Option<&ModelInForce>,
    named: Option<&str>,
) -> String {
    let before = in_force.map(|in_force| in_force.name.as_str()).or(named).map(str::to_owned);
    before.unwrap_or_else(|| (context.daemon.own_model)(context.global.config.as_deref()).name)
}

/// Says how to go back to the default model of before; `saved` is the text of the file now.
pub(super) fn way_back(hooks: DaemonHooks, saved: &str, named_before: Option<&str>) -> String {
    match named_before {
        Some(named) if !is_usable(hooks, saved, named) => {
            "no daemon of this environment could start with that one".to_owned()
        }
        Some(named) => format!("`palyra model use {named}` goes back"),
        None => "no default model was named before: `palyra model use --unset` goes back".to_owned(),
    }
}

/// Returns whether a daemon of this environment could start with a default model.
fn is_usable(hooks: DaemonHooks, text: &str, model: &str) -> bool {
    let Ok(text) = set_default(text, model) else { return false };
    checked_copy(hooks, &text).map_or(true, |(_, verdict)| verdict.mistakes.is_empty())
}

/// Checks the text of a configuration file that is not saved; returns the path that mistakes name, which is gone, and what
/// was found.
pub(super) fn checked_copy(hooks: DaemonHooks, text: &str) -> Result<(String, ConfigVerdict), Failure> {
    let unwritten = |error: std::io::Error| {
        Failure::local(ErrorCode::StateDirUnusable, format!("no temporary file can be written: {error}"))
    };
    let folder = tempfile::Builder::new().prefix("palyra-model-").tempdir().map_err(unwritten)?;
    let copy = folder.path().join("palyra.toml");
    write_whole(&copy, text).map_err(unwritten)?;
    Ok((copy.display().to_string(), (hooks.check_config)(Some(&copy))))
}

fn read(file: &Path) -> Result<String, Failure> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::local(
            ErrorCode::ConfigUnreadable,
            format!("{} cannot be read: {error}", file.display()),
        )),
    }
}

/// Saves the file and says where.
pub(super) fn save(context: &Context, file: &Path, text: &str) -> Result<(), Failure> {
    write_whole(file, text).map_err(|error| {
        let message = format!("{} cannot be written: {error}", file.display());
        Failure::local(ErrorCode::ConfigUnreadable, message)
    })?;
    context.output.note(NoteKind::Good, &format!("saved in {}", file.display()));
    Ok(())
}

/// Has a daemon that runs read its configuration again; `server` is one whose key it may lack.
pub(super) async fn take_on(
    context: &Context,
    server: Option<&str>,
    is_in_force: impl Fn(&v1::GetConfigResponse) -> bool,
) -> Result<(), Failure> {
    let client = match context.connect_running().await {
        Ok(client) => client,
        Err(Failure::Client(ClientError::NotRunning { .. })) => return Ok(()),
        Err(failure) => return Err(failure),
    };
    let reloaded = client.call(v1::ReloadConfigRequest {}).await?;
    if let Some(mistake) = reloaded.mistakes.first() {
        replace(context, &client, mistake).await?;
    } else if is_in_force(&client.config().await?) {
        if let Some(server) = server
            && let Some(why) = without_key(&client, server).await?
        {
            context.output.note(NoteKind::Doubt, &keyless_notice(&why, is_set));
            return Ok(());
        }
        // Its own environment may select another one than this terminal's.
        let model = client.call(v1::GetStatusRequest {}).await?.default_model;
        context
            .output
            .note(NoteKind::Good, &format!("the running daemon uses it; its default model is {model}"));
    } else {
        let notice =
            "the running daemon reads another file; `palyra admin stop` lets the next start read this one";
        context.output.note(NoteKind::Doubt, notice);
    }
    Ok(())
}

/// Returns why a daemon has no key of a server, where its environment lacks the variable.
async fn without_key(client: &Client, server: &str) -> Result<Option<String>, Failure> {
    let listed = client.list_models(AskProviders::No).await?;
    let of_server = listed.models.into_iter().find(|model| model.model == server);
    Ok(of_server.map(|model| model.error).filter(|error| missing_key(error).is_some()))
}

/// Returns whether a variable of this environment has a value.
pub(super) fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Replaces a daemon whose environment lacks what the file names, where a daemon of this environment could start.
async fn replace(context: &Context, client: &Client, mistake: &str) -> Result<(), Failure> {
    let here = (context.daemon.check_config)(context.global.config.as_deref());
    if let Some(here) = here.mistakes.first() {
        let notice = format!(
            "the running daemon does not use it: {mistake}. It stays, because no other could start here: {}; correct that, then \
             `palyra config reload`",
            here.message
        );
        context.output.note(NoteKind::Doubt, &notice);
        return Ok(());
    }
    match client.make_room().await? {
        None => context.output.note(NoteKind::Info, &stopped_notice(mistake)),
        Some(why) => {
            let notice = format!(
                "the running daemon does not use it: {mistake}. It stays: {why}; `palyra admin stop` lets the next start \
                 read the file"
            );
            context.output.note(NoteKind::Doubt, &notice);
        }
    }
    Ok(())
}
