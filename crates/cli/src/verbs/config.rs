//! `palyra config`: what is in force, what would be, and what there is to set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use palyra_client::{AskProviders, ClientError};
use palyra_config_text::has_provider;
use palyra_types::ErrorCode;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1::{ReloadConfigRequest, ReloadConfigResponse};
use serde_json::{Value, json};

use crate::context::Context;
use crate::daemon_hooks::{ConfigMistake, ConfigVerdict, PolicyWork};
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_doctor::servers_without_key;
use palyra_explain::missing_key;
use palyra_terminal::{NoteKind, Output};

/// A daemon that says nothing for so long is not asked which keys it has.
const ANSWERS_WITHIN: Duration = Duration::from_millis(1_500);

/// Look at the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show every setting in force; secrets are references
    #[command(after_help = "Example:\n  palyra config show --origin")]
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        /// As JSON, with origins
        #[arg(long)]
        json: bool,
    },
    /// Look for mistakes, without a daemon; exit code 2 if there are any
    #[command(after_help = "Examples:\n  palyra config check\n  palyra config check new.toml")]
    Check {
        /// The file [default: the one a daemon would read]
        file: Option<PathBuf>,
        /// The findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Say how a setting is changed: in the file
    #[command(hide = true, aliases = ["unset", "edit"], after_help = "Example:\n  palyra config check")]
    Set {
        /// A setting and its value
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Have the daemon read it again: all of it, or nothing where it has mistakes
    #[command(after_help = "Example:\n  palyra config reload")]
    Reload {
        /// The outcome as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show every setting there is, with range, default and meaning
    #[command(after_help = "Example:\n  palyra config schema --json > palyra.schema.json")]
    Schema {
        /// As a JSON schema, for editors
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, verb: ConfigVerb) -> Result<Exit, Failure> {
    match verb {
        ConfigVerb::Show { origin, json } => show(context, origin.into(), json.into()).await,
        ConfigVerb::Check { file, json } => {
            let file = file.as_ref().or(context.global.config.as_ref());
            let verdict = (context.daemon.check_config)(file.map(PathBuf::as_path));
            let exit = tell(context, &verdict, json.into())?;
            // A file that a daemon does not read says nothing about its keys.
            let is_read = file.is_none_or(|file| context.config_file().is_ok_and(|read| read == *file));
            if exit == Exit::Done && is_read && context.is_local() {
                let look = doubts_of_daemon(context);
                let notices = tokio::time::timeout(ANSWERS_WITHIN, look).await.unwrap_or_default();
                notices.iter().for_each(|notice| context.output.note(NoteKind::Doubt, notice));
            }
            Ok(exit)
        }
        ConfigVerb::Set { words } => {
            Err(edited_in_file(&context.config_file()?, &words, &(context.daemon.config_schema)()))
        }
        ConfigVerb::Reload { json } => reload(context, json.into()).await,
        ConfigVerb::Schema { json: true } => {
            let schema = (context.daemon.config_schema)();
            context.output.exact_line(&format!("{schema:#}"))?;
            Ok(Exit::Done)
        }
        ConfigVerb::Schema { json: false } => {
            context.output.verbatim(&(context.daemon.config_template)())?;
            Ok(Exit::Done)
        }
    }
}

/// Says that a daemon that runs reads another file, or which keys of this one it lacks.
async fn doubts_of_daemon(context: &Context) -> Vec<String> {
    let Ok(client) = context.connect_running().await else { return Vec::new() };
    if let Some(other) = context.other_file(&client).await {
        return vec![other.note()];
    }
    let text = context.config_file().ok().and_then(|file| std::fs::read_to_string(file).ok());
    let is_there = |server: &str| has_provider(text.as_deref().unwrap_or_default(), server).unwrap_or(true);
    let Ok(listed) = client.list_models(AskProviders::No).await else { return Vec::new() };
    servers_without_key(&listed, is_there)
}

/// Says where a setting is written; its value may be a secret and is not repeated.
fn edited_in_file(file: &Path, words: &[String], schema: &Value) -> Failure {
    let key = words.first().map_or("", |word| word.split('=').next().unwrap_or_default());
    let is_key =
        |key: &str| key.len() <= 64 && key.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let lines = match key.rsplit_once('.').filter(|_| is_key(key)) {
        Some(_) if !has_setting(schema, key) => {
            let message = format!("there is no setting `{key}`");
            let mend = "`palyra config schema` lists the settings".to_owned();
            return Failure::Input { code: ErrorCode::InvalidArgument, message, mend };
        }
        Some((section, name)) => format!(
            "write `{name} = ...` there, below the line `[{section}]`, in place of a `{name}` that is there"
        ),
        None => "write `name = value` there, below the line of its `[section]`".to_owned(),
    };
    Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: format!("settings are edited in the file {}", file.display()),
        mend: format!(
            "{lines}; then `palyra config check`, and `palyra config reload`, which says what needs a restart"
        ),
    }
}

/// Returns whether the JSON Schema of the configuration has a setting.
fn has_setting(schema: &Value, key: &str) -> bool {
    let found = key.split('.').try_fold(schema, |within, part| {
        within["properties"]
            .get(part)
            .or_else(|| within.get("additionalProperties").filter(|any| any.is_object()))
    });
    found.is_some()
}

async fn show(context: &Context, origin: OriginColumn, form: ConfigForm) -> Result<Exit, Failure> {
    let config = context.connect().await?.config().await?;
    if form == ConfigForm::Json {
        context.output.json(&to_json_with_defaults(&config))?;
        return Ok(Exit::Done);
    }
    let lines: Vec<_> =
        config.values.iter().map(|value| format!("{} = {}", value.key, value.value)).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).min(60);
    for (line, value) in lines.iter().zip(&config.values) {
        match origin {
            OriginColumn::Shown => context.output.line(&format!("{line:<width$}  # {}", value.origin))?,
            OriginColumn::Hidden => context.output.line(line)?,
        }
    }
    Ok(Exit::Done)
}

async fn reload(context: &Context, form: ConfigForm) -> Result<Exit, Failure> {
    let client = match context.connect_running().await {
        Ok(client) => client,
        Err(Failure::Client(ClientError::NotRunning { .. })) => return check_for_next_start(context, form),
        Err(failure) => return Err(failure),
    };
    let other = context.other_file(&client).await;
    if let (Some(_), Some(other)) = (&context.global.config, &other) {
        let message = other.not_read();
        return Err(Failure::Input { code: ErrorCode::InvalidArgument, message, mend: other.mend() });
    }
    let ReloadConfigResponse { digest, changed, needs_restart, mistakes } =
        client.call(ReloadConfigRequest {}).await?;
    let exit = if mistakes.is_empty() { Exit::Done } else { Exit::Usage };
    if form == ConfigForm::Json {
        let outcome = json!({
            "running": true,
            "digest": digest,
            "changed": changed,
            "needs_restart": needs_restart,
            "mistakes": mistakes,
        });
        context.output.json(&outcome)?;
        return Ok(exit);
    }
    if exit != Exit::Done {
        mistakes.iter().try_for_each(|mistake| context.output.line(mistake))?;
        context.output.note(NoteKind::Bad, "nothing changed: the old configuration stays in force");
        for missing in mistakes.iter().filter_map(|mistake| missing_key(mistake)) {
            context.output.note(NoteKind::Info, &missing.mend_of_daemon());
        }
        return Ok(exit);
    }
    tell_reloaded(&context.output, &changed, &needs_restart);
    other.iter().for_each(|other| context.output.note(NoteKind::Info, &other.note()));
    Ok(exit)
}

/// Says what is in force now, and what is only in the file yet.
fn tell_reloaded(output: &Output, changed: &[String], needs_restart: &[String]) {
    let in_force: Vec<&str> =
        changed.iter().filter(|key| !needs_restart.contains(key)).map(String::as_str).collect();
    let notice = match (in_force.as_slice(), needs_restart.is_empty()) {
        ([], true) => Some(
            "read again; no setting changed (secrets of the vault are used at once, without a reload)"
                .to_owned(),
        ),
        ([], false) => None,
        (in_force, _) => Some(format!("read again; changed: {}", in_force.join(", "))),
    };
    notice.into_iter().for_each(|notice| output.note(NoteKind::Good, &notice));
    if !needs_restart.is_empty() {
        let keys = needs_restart.join(", ");
        let notice = format!(
            "read, but not in force yet: {keys}; run `palyra admin stop`, and the next start of the daemon uses it"
        );
        output.note(NoteKind::Doubt, &notice);
    }
}

/// Checks what the next daemon would read: where none runs there is nothing else to do.
fn check_for_next_start(context: &Context, form: ConfigForm) -> Result<Exit, Failure> {
    let file = context.global.config.as_deref();
    let verdict = (context.daemon.check_config)(file);
    let mut mistakes: Vec<String> = verdict.mistakes.iter().map(|mistake| mistake.message.clone()).collect();
    if mistakes.is_empty() {
        let (config, state) = (context.config_file().ok(), context.state_dir().ok());
        let rules = (context.daemon.policies)(PolicyWork::Check, None, config.as_deref(), state.as_deref());
        mistakes = rules.mistakes;
    }
    let exit = if mistakes.is_empty() { Exit::Done } else { Exit::Usage };
    if form == ConfigForm::Json {
        context.output.json(&json!({ "running": false, "mistakes": mistakes }))?;
        return Ok(exit);
    }
    if exit == Exit::Done {
        let notice = "no daemon runs; the next start reads the configuration, which has no mistakes";
        context.output.note(NoteKind::Good, notice);
        return Ok(exit);
    }
    mistakes.iter().try_for_each(|mistake| context.output.line(mistake))?;
    context.output.note(NoteKind::Bad, "no daemon runs, and none would start with these mistakes");
    Ok(exit)
}

/// Tells what a look at the configuration found: findings on standard output, the sum of them on standard error.
fn tell(context: &Context, verdict: &ConfigVerdict, form: ConfigForm) -> Result<Exit, Failure> {
    let ConfigVerdict { file, mistakes, incomplete } = verdict;
    let exit = if mistakes.is_empty() { Exit::Done } else { Exit::Usage };
    if form == ConfigForm::Json {
        let found = json!({
            "file": file.as_ref().map(|file| file.display().to_string()),
            "valid": mistakes.is_empty(),
            "mistakes": mistakes.iter().map(as_json).collect::<Vec<_>>(),
            "incomplete": incomplete,
        });
        context.output.json(&found)?;
        return Ok(exit);
    }
    mistakes.iter().try_for_each(|mistake| context.output.line(&mistake.message))?;
    let file = match file {
        Some(file) => file.display().to_string(),
        None => "the configuration (there is no file)".to_owned(),
    };
    let in_environment = mistakes.iter().filter(|mistake| mistake.in_environment).count();
    let (what, have) = match in_environment {
        0 => (file, "has"),
        all if all == mistakes.len() => ("the environment".to_owned(), "has"),
        _ => (format!("{file} and the environment"), "have"),
    };
    match mistakes.len() {
        0 => context.output.note(NoteKind::Good, &format!("{what} has no mistakes")),
        1 => context.output.note(NoteKind::Bad, &format!("{what} has a mistake")),
        count if *incomplete => {
            context.output.note(NoteKind::Bad, &format!("{what} {have} {count} mistakes, and perhaps more"));
        }
        count => context.output.note(NoteKind::Bad, &format!("{what} {have} {count} mistakes")),
    }
    Ok(exit)
}

fn as_json(mistake: &ConfigMistake) -> Value {
    let mut found =
        json!({ "code": mistake.code.to_string(), "message": mistake.message, "key": mistake.key });
    if let Some((line, column)) = mistake.place {
        found["line"] = line.into();
        found["column"] = column.into();
    }
    found
}

/// Whether origins are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OriginColumn {
    Shown,
    Hidden,
}

impl From<bool> for OriginColumn {
    /// Reads the flag `--origin`.
    fn from(origin: bool) -> Self {
        if origin { Self::Shown } else { Self::Hidden }
    }
}

/// For whom the answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfigForm {
    Lines,
    Json,
}

impl From<bool> for ConfigForm {
    /// Reads the flag `--json`.
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_one_of_the_schema_or_a_field_of_any_provider() {
        let schema = json!({ "properties": {
            "limits": { "properties": { "turns_max": { "type": "integer" } }, "additionalProperties": false },
            "providers": { "additionalProperties": {
                "properties": { "base_url": { "type": "string" } }, "additionalProperties": false,
            } },
        } });
        for (key, is_setting) in [
            ("limits.turns_max", true),
            ("providers.mine.base_url", true),
            ("limits", true),
            ("limits.turns_mx", false),
            ("limits.turns_max.more", false),
            ("providers.mine.nothing", false),
            ("nothing.turns_max", false),
            ("turns_max", false),
        ] {
            assert_eq!(has_setting(&schema, key), is_setting, "{key}");
        }
    }
}
