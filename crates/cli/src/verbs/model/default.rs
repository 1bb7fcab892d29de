//! `palyra model use`: shows the default model, names another in the configuration file, or removes the name.
//!
//! Invariant: what is saved is a configuration that a daemon of this environment could start with.

use std::path::Path;
use std::time::Duration;

use palyra_client::{AskProviders, Client};
use palyra_config_text::{
    has_provider, named_default, provider_field, servers_with_model, set_default, without_default,
};
use palyra_types::ErrorCode;
use palyra_wire::v1;
use serde_json::json;

use super::config_file::{ConfigText, ModelInForce, checked_copy, default_before, save, take_on, way_back};
use crate::context::{Context, DEMO_MODEL};
use crate::daemon_hooks::{ConfigVerdict, DaemonHooks};
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_explain::{
    default_model_place, mend_of_server, missing_key, model_names, place_of_environment_model, unlisted_model,
};
use palyra_screen_text::clean_line;
use palyra_terminal::{NoteKind, Output};

const DEFAULT_KEY: &str = "model.default";
/// The variable that counts more than the file.
const DEFAULT_VARIABLE: &str = "PALYRA__MODEL__DEFAULT";
const DEMO_PROVIDER: &str = "demo";
/// Ends the message about a key that is missing.
const OTHER_MODEL: &str = "; set it, or use another model: ";
const NAME_CHARS_MAX: usize = 80;
const ERROR_CHARS_MAX: usize = 300;
/// How long servers are asked for their models after a default was saved.
const ASKING_MAX: Duration = Duration::from_secs(5);

/// Show or choose the default model.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra model use\n  palyra model use local/qwen3\n  palyra model use demo/demo\n  palyra model use --unset"
)]
pub(crate) struct UseArgs {
    /// The model, as PROVIDER/MODEL; without it the default model is shown
    name: Option<String>,
    /// Remove the default model from the configuration file: the environment chooses, or the built-in model answers
    #[arg(long, conflicts_with = "name")]
    unset: bool,
    /// The outcome as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: UseArgs) -> Result<Exit, Failure> {
    context.require_local("model use")?;
    let config = ConfigText::read(context.config_file()?)?;
    let named = named_default(&config.text);
    if args.unset {
        return unset(context, &config, named.as_deref(), args.json).await;
    }
    let in_force = ModelInForce::of(context).await;
    let was = default_before(context, in_force.as_ref(), named.as_deref());
    let Some(name) = args.name else {
        let file = named.is_some().then_some(config.file.as_path());
        return show(context, file, &was, in_force.as_ref(), args.json);
    };
    let name = match name.as_str() {
        DEMO_PROVIDER => DEMO_MODEL.to_owned(),
        given => match given.strip_suffix("/*").unwrap_or(given) {
            server if !server.contains('/') => only_model(context, &config, server).await?,
            model => model.to_owned(),
        },
    };
    let new = set_default(&config.text, &name).map_err(|error| config.unusable(&error))?;
    check(context.daemon, &config, &new)?;
    save(context, &config.file, &new)?;
    let notice = if named.as_ref() == Some(&name) {
        format!("the default model is {name}, as before")
    } else {
        format!("the default model is now {name} (was {was})")
    };
    context.output.note(NoteKind::Info, &notice);
    let own = (context.daemon.own_model)(context.global.config.as_deref()).name;
    note_override(&context.output, &own, &name);
    take_on(context, None, |config| {
        config.values.iter().any(|value| value.key == DEFAULT_KEY && value.value.trim_matches('"') == name)
    })
    .await?;
    let listed = match context.connect_running().await {
        Ok(client) => context.waiting("asking the server", listed(&client)).await,
        Err(_) => None,
    };
    if named.as_ref() != Some(&name) {
        let back = way_back(context.daemon, &new, named.as_deref());
        let is_unlisted = named.as_ref().is_some_and(|named| unlisted(listed.as_ref(), named).is_some());
        let is_doubtful = is_unlisted && back.ends_with("goes back");
        let doubt = if is_doubtful { ", to a model that its server does not list" } else { "" };
        context.output.note(NoteKind::Info, &format!("{back}{doubt}"));
    }
    let of_variable =
        place_of_environment_model(&name).filter(|_| own == name && !is_saved_server(&config.text, &name));
    of_variable.iter().for_each(|place| context.output.note(NoteKind::Info, place));
    if let Some(doubt) = unlisted(listed.as_ref(), &name) {
        context.output.note(NoteKind::Doubt, &doubt);
    }
    if args.json {
        context.output.json(&json!({
            "config_file": config.file.display().to_string(),
            "default_before": was,
            "default_model": name,
        }))?;
    }
    Ok(Exit::Done)
}

/// Returns the models that the servers name; `None` where they cannot be asked.
async fn listed(client: &Client) -> Option<v1::ListModelsResponse> {
    tokio::time::timeout(ASKING_MAX, client.list_models(AskProviders::Yes)).await.ok()?.ok()
}

/// Says that the server does not list a model, and which ones it has; `None` where it lists the model or does not answer.
fn unlisted(listed: Option<&v1::ListModelsResponse>, name: &str) -> Option<String> {
    let (server, model) = name.split_once('/').filter(|(server, _)| *server != DEMO_PROVIDER)?;
    unlisted_model(server, model, &models_of(server, listed?.clone()))
}

/// Returns the models of a server, as SERVER/MODEL.
fn models_of(server: &str, listed: v1::ListModelsResponse) -> Vec<String> {
    let prefix = format!("{server}/");
    let names = listed.models.into_iter().map(|model| model.model);
    names.filter(|name| name.starts_with(&prefix)).collect()
}

/// Returns the configured or only model of a server that is named without a model.
async fn only_model(context: &Context, config: &ConfigText, server: &str) -> Result<String, Failure> {
    let refused =
        |message: String, mend: String| Failure::Input { code: ErrorCode::InvalidArgument, message, mend };
    if !has_provider(&config.text, server).map_err(|error| config.unusable(&error))? {
        let shown = clean_line(server, NAME_CHARS_MAX);
        let notice = format!(
            "a model is named as SERVER/MODEL, such as {DEMO_MODEL}; {} has no server `{shown}`",
            config.file.display()
        );
        return Err(refused(notice, mend_of_server(&servers_with_model(&config.text, server), server)));
    }
    if let Some(model) = provider_field(&config.text, server, "model") {
        return Ok(format!("{server}/{model}"));
    }
    let client = context.connect().await?;
    let asked = context.waiting("asking the server", client.list_models(AskProviders::Yes)).await?;
    let failed = asked.models.iter().find(|model| model.model == server && !model.error.is_empty());
    let failed = failed.map(|model| clean_line(&model.error, ERROR_CHARS_MAX));
    let names = models_of(server, asked);
    if let Some(error) = failed {
        let mend = match missing_key(&error) {
            Some(missing) => missing.mend(),
            None => format!("name one of its models: `palyra model use {server}/MODEL`"),
        };
        return Err(refused(
            format!("the server `{server}` does not say which models it has: {error}"),
            mend,
        ));
    }
    match names.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(refused(
            format!("`{server}` is a server, and it does not say which models it has"),
            format!("name one of its models: `palyra model use {server}/MODEL`"),
        )),
        [first, others @ ..] => Err(refused(
            format!("`{server}` is a server with {} models", names.len()),
            format!(
                "name one: `palyra model use {}`; the others: {}",
                clean_line(first, NAME_CHARS_MAX),
                model_names(others)
            ),
        )),
    }
}

/// Returns whether the server of a model is one of the file.
fn is_saved_server(text: &str, model: &str) -> bool {
    model.split_once('/').is_some_and(|(server, _)| has_provider(text, server).unwrap_or(true))
}

/// Removes the name of the default model from the file, and has a daemon that runs read the file again.
async fn unset(
    context: &Context,
    config: &ConfigText,
    was: Option<&str>,
    json: bool,
) -> Result<Exit, Failure> {
    let notice = match was {
        Some(was) => {
            let new = without_default(&config.text).map_err(|error| config.unusable(&error))?;
            check(context.daemon, config, &new)?;
            save(context, &config.file, &new)?;
            format!(
                "no default model is configured now (was {was}); {}",
                way_back(context.daemon, &new, Some(was))
            )
        }
        None => format!("no default model is configured in {}", config.file.display()),
    };
    context.output.note(NoteKind::Info, &notice);
    // A daemon keeps its default model until it reads the file, also one that was edited by hand.
    take_on(context, None, |config| {
        config.values.iter().all(|value| value.key != DEFAULT_KEY || value.value.trim_matches('"').is_empty())
    })
    .await?;
    let own = (context.daemon.own_model)(context.global.config.as_deref()).name;
    let in_force = ModelInForce::of(context).await.map(|in_force| in_force.name);
    if in_force.as_ref() != Some(&own) {
        // A daemon keeps the environment that it was started in.
        let when = if in_force.is_some() { "; a daemon that is started in it uses that" } else { "" };
        context.output.note(NoteKind::Info, &format!("this environment selects {own}{when}"));
    }
    if json {
        context.output.json(&json!({
            "config_file": config.file.display().to_string(),
            "default_before": was,
            "default_model": in_force.unwrap_or(own),
        }))?;
    }
    Ok(Exit::Done)
}

/// Shows the default model; `file` is the configuration file that names one.
fn show(
    context: &Context,
    file: Option<&Path>,
    name: &str,
    in_force: Option<&ModelInForce>,
    json: bool,
) -> Result<Exit, Failure> {
    if json {
        let place = file.map(|file| file.display().to_string());
        context.output.json(&json!({ "default_model": name, "config_file": place }))?;
        return Ok(Exit::Done);
    }
    context.output.line(name)?;
    let place = in_force.map_or("", |in_force| in_force.place.as_str());
    let variable = std::env::var_os(DEFAULT_VARIABLE).filter(|value| !value.is_empty());
    let notice = default_model_place(file, place, variable.as_deref());
    context.output.note(NoteKind::Info, &notice);
    Ok(Exit::Done)
}

/// Refuses what no daemon of this environment could start with, before the file is touched.
fn check(hooks: DaemonHooks, config: &ConfigText, new: &str) -> Result<(), Failure> {
    let (checked, verdict) = checked_copy(hooks, new)?;
    let Some(mistake) = verdict.mistakes.first() else { return Ok(()) };
    let of_name = mistake.key.as_deref() == Some(DEFAULT_KEY) || config.text.is_empty();
    let mut message = mistake.message.clone();
    if let Some((line, column)) = mistake.place.filter(|_| of_name) {
        // The file does not have that line: it is of the text that was to be saved.
        message = message.replace(&format!("{checked}:{line}:{column}"), &checked);
        message = message.replace(&format!("{checked}:{line}"), &checked);
    }
    let message = message.replace(&checked, &config.file.display().to_string());
    // The file that is there has no mistake where only the new default makes it one.
    let is_new = |(_, verdict): (String, ConfigVerdict)| verdict.mistakes.is_empty();
    if let Some((what, _)) = message.split_once(OTHER_MODEL)
        && checked_copy(hooks, &config.text).is_ok_and(is_new)
    {
        let message = what.to_owned();
        let mend = "set it in this shell, then the same command again; `palyra explain vault` says how to keep a key in the vault";
        return Err(Failure::Input { code: mistake.code, message, mend: mend.to_owned() });
    }
    let mend = if mistake.message.starts_with("environment variable") {
        "correct or unset the variable; `palyra config check` lists every mistake"
    } else if of_name {
        "`palyra model list --ask` shows the models there are, `palyra model add` adds a server"
    } else {
        "correct it first; `palyra config check` lists every mistake"
    };
    Err(Failure::Input { code: mistake.code, message, mend: mend.to_owned() })
}

/// Says when something of this environment counts more than the file.
fn note_override(output: &Output, own: &str, name: &str) {
    if own != name {
        let notice = format!("this environment names {own}, which counts more: {DEFAULT_VARIABLE}; unset it");
        output.note(NoteKind::Doubt, &notice);
    }
}
