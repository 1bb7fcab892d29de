//! What to do about a model that fails its test, or that its server does not list.

use palyra_screen_text::{clean_line, shell_word};
use palyra_types::ErrorCode;
use palyra_types::spelling::nearest_name;

use crate::key_mends::{mend_of_environment_key, mend_of_refused_key};
use crate::refusal_mends::mend_of_locked_vault;

const NAME_CHARS_MAX: usize = 80;
/// Models of a server that a message names.
const MODELS_NAMED_MAX: usize = 8;
/// What a server adds to the name of a model of which it has versions.
const NEWEST_VERSION: &str = ":latest";
/// The name of the model of the environment's server until the server says which models it has.
const MODEL_UNKNOWN: &str = "openai/default";
/// What the mends of codes have in the place of a model.
const MODEL_PLACEHOLDER: &str = " PROVIDER/MODEL";
/// The model that is built in.
const DEMO_MODEL: &str = "demo/demo";
/// Begins a command that gives a key of the vault out.
const VAULT_COMMAND: &str = "`palyra admin vault ";
/// Says that no variable with a key was there when the daemon started.
const NO_VARIABLE: &str = "no key is configured for `openai`: OPENAI_API_KEY";
/// What a daemon says of a run whose model it does not have.
const NOT_CONFIGURED: &str = "the run's model is no longer configured";
/// How servers begin what they say of a model that they do not have, or name the kind of that error.
const NAMES_MODEL: [&str; 5] = ["model '", "model `", "model \"", "the model ", "model: "];
/// How they go on.
const SAYS_MISSING: [&str; 2] = ["does not exist", "not found"];
/// The kind of that error at servers that speak Chat Completions.
const MISSING_KIND: &str = "model_not_found";
/// The server that the environment selects.
const ENVIRONMENT_SERVER: &str = "openai";
/// Ends the name of a variable in what a daemon says of a key that it does not have.
const NOT_SET: &str = "` is not set in the daemon's environment";

/// Returns what to do after a model failed its test, where the mend of the code is another test.
fn mend_of_known(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::ModelAuth => Some(
            "correct its key: OPENAI_API_KEY, or what `key` in its section of the configuration file names; a daemon reads \
             variables once, so `palyra admin stop` after a change of one; then the same command again",
        ),
        ErrorCode::ModelPermission => Some(
            "allow the model for this key at the provider, or choose another with --model (`palyra model list --ask` lists them)",
        ),
        ErrorCode::ModelPermanent => Some(
            "check the model's name (`palyra model list --ask`), and its address, which often ends in /v1: OPENAI_BASE_URL, or \
             `base_url` in its section of the configuration file",
        ),
        ErrorCode::ModelMalformed => Some(
            "check its address and format: `base_url` and `format` in its section of the configuration file",
        ),
        ErrorCode::ModelNetwork => Some(
            "check the network and its address: OPENAI_BASE_URL, or `base_url` in its section of the configuration file",
        ),
        _ => None,
    }
}

/// Returns what to do about a server of the environment that wants a key, where the daemon's environment has none.
///
/// The name of the model may be a guess in that case, so no command names it.
fn mend_of_unset_key(message: &str) -> Option<&'static str> {
    message.contains(NO_VARIABLE).then_some(
        "`export OPENAI_API_KEY=…` in this shell, then the same command again: an idle daemon is replaced by one that has it; for \
         one that stays, PLY-1408 says why",
    )
}

/// Returns what to do after a request to a model failed, where the mend of its code does not fit; `model` is the one that was
/// asked, empty where it is not known.
#[must_use]
pub fn mend_of_model(code: ErrorCode, message: &str, model: &str) -> Option<String> {
    if code == ErrorCode::ModelWithoutPrice
        && let Some(budget) = budget_without_price(message)
    {
        return Some(code.mend().replace("remove NAME", &format!("remove {}", shell_word(budget))));
    }
    if code == ErrorCode::ModelPermanent && is_missing_at_server(message) {
        return Some(mend_of_missing_model(model));
    }
    let is_made_up = model == MODEL_UNKNOWN && code.mend().contains(MODEL_PLACEHOLDER);
    mend_of_cause(message, model).or_else(|| is_made_up.then(|| code.mend().replace(MODEL_PLACEHOLDER, "")))
}

/// Returns whether a server says that it does not have the model.
fn is_missing_at_server(message: &str) -> bool {
    let said = message.to_lowercase();
    let names_it = NAMES_MODEL.iter().any(|begin| said.contains(begin));
    said.contains(MISSING_KIND) || (names_it && SAYS_MISSING.iter().any(|end| said.contains(end)))
}

/// Returns what to do about a model that its server does not have: a test of that very name cannot help.
fn mend_of_missing_model(model: &str) -> String {
    let server = model.split_once('/').map_or("", |(server, _)| server);
    if server.is_empty() {
        return "`palyra model list --ask` lists the models that there are; choose one of them with --model"
            .to_owned();
    }
    let server = shell_word(&clean_line(server, NAME_CHARS_MAX));
    format!(
        "`palyra model list {server} --ask` lists the models that its server has; choose one of them with --model, or make it \
         the default with `palyra model use {server}/MODEL`"
    )
}

/// Returns the budget that limits money, as a refused request names it.
fn budget_without_price(message: &str) -> Option<&str> {
    let (before, _) = message.split_once(" limits money")?;
    before.rsplit_once("budget `")?.1.split('`').next()
}

/// Returns what to do after a test of a model failed, where the mend of its code does not fit: it may be another test.
#[must_use]
pub fn mend_of_test(code: ErrorCode, message: &str, model: &str) -> Option<String> {
    mend_of_cause(message, model).or_else(|| mend_of_known(code).map(str::to_owned))
}

/// Returns what to do about the cause that a message names.
fn mend_of_cause(message: &str, model: &str) -> Option<String> {
    if let Some(missing) = missing_key(message) {
        return Some(missing.mend());
    }
    if message.contains(NOT_CONFIGURED) && !model.is_empty() {
        return Some(mend_of_lost_server(model));
    }
    if message.contains(VAULT_COMMAND) {
        return Some("then the same command again".to_owned());
    }
    let fixed = mend_of_demo(message, model).or_else(|| mend_of_unset_key(message));
    let fixed = fixed.or_else(|| mend_of_locked_vault(message)).map(str::to_owned);
    fixed.or_else(|| mend_of_environment_key(message, model)).or_else(|| mend_of_refused_key(message))
}

/// Returns what to do about a run whose server the daemon does not have any more: a test of it cannot help.
fn mend_of_lost_server(model: &str) -> String {
    let server = model.split('/').next().unwrap_or_default();
    let again = "then ask again, which is a new run: this one is over";
    if server == ENVIRONMENT_SERVER {
        return format!(
            "its server came from the environment of an earlier daemon: set OPENAI_BASE_URL, PALYRA_MODEL and OPENAI_API_KEY in \
             this shell as they were there, {again}"
        );
    }
    format!(
        "the configuration has no server `{0}` any more: `palyra model add {0}` with its address adds it, {again}",
        clean_line(server, NAME_CHARS_MAX)
    )
}

/// Returns what to do where the demo model was asked for an answer by a schema, or by another name: another attempt
/// cannot differ.
fn mend_of_demo(message: &str, model: &str) -> Option<&'static str> {
    if message.contains("the demo provider has one model") {
        return Some("choose it with --model demo/demo, or another of those that `palyra model list` shows");
    }
    (model == DEMO_MODEL && message.contains("does not fit the schema")).then_some(
        "the demo model cannot answer by a schema: `palyra model add` adds a model that can, for all later runs",
    )
}

/// Says that a key of the vault is not there for a test before a server is saved, and what to do one by one: `secret` is its
/// name in the vault, `host` the server with its port.
#[must_use]
pub fn vault_key_untested(secret: &str, host: &str, model: &str) -> String {
    let secret = shell_word(secret);
    format!(
        "--key vault:{secret}: the test before saving has no access to the vault. `palyra admin vault put {secret} --host {host}` \
         stores the key and binds it (`palyra admin vault bind {secret} {host}` where it is stored already); then the same command \
         with --no-test saves the server, and `palyra model test {}` tests it",
        shell_word(model)
    )
}

/// Returns what to do after a server did not answer that is not saved yet.
#[must_use]
pub fn mend_of_try(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::ModelAuth | ErrorCode::ModelPermission => {
            "check what --key names, then give the same command again"
        }
        ErrorCode::ModelNetwork => "check --base-url and the network, then give the same command again",
        ErrorCode::ModelPermanent => {
            "check --model and --base-url, which often ends in /v1, then give the same command again"
        }
        ErrorCode::ModelMalformed => {
            "the address does not lead to a model server that speaks this format: check --base-url and --format, then \
             give the same command again"
        }
        ErrorCode::ModelQuota => "raise the quota at the provider, then give the same command again",
        _ => "give the same command again in a while",
    }
}

/// The same, where no key was named.
#[must_use]
pub fn mend_without_key(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::ModelAuth | ErrorCode::ModelPermission => {
            "give the same command again with --key env:NAME, the variable that has the server's key"
        }
        _ => mend_of_try(code),
    }
}

/// A server of models whose key is in a variable that the daemon's environment lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingKey<'a> {
    /// The server, as the configuration names it.
    pub server: &'a str,
    /// The variable.
    pub variable: &'a str,
}

impl MissingKey<'_> {
    /// Returns what to do after a command that asks a model. The default model stays what it is.
    ///
    /// A daemon keeps the environment that it was started in, so a variable that is exported later needs another daemon.
    #[must_use]
    pub fn mend(&self) -> String {
        format!("{}, then the same command again there", self.stop())
    }

    /// Returns what to do after a look at the daemon.
    #[must_use]
    pub fn mend_of_daemon(&self) -> String {
        format!("{}, and the next command there starts a daemon that has it", self.stop())
    }

    /// Says that a daemon still has the server, which its file has no more.
    #[must_use]
    pub fn of_removed_server(&self) -> String {
        format!(
            "the running daemon still has the server `{}`, which this file has no more; `palyra admin stop`, and the next command \
             starts a daemon with the file as it is now",
            self.server
        )
    }

    fn stop(&self) -> String {
        format!("in a shell where {} is exported: `palyra admin stop`", self.variable)
    }
}

/// Returns the key that is missing, where a message of a daemon says that its environment lacks the variable.
#[must_use]
pub fn missing_key(message: &str) -> Option<MissingKey<'_>> {
    let (before, _) = message.split_once(NOT_SET)?;
    let (said, variable) = before.rsplit_once("`: `")?;
    let (said, server) = said.rsplit_once('`')?;
    let is_key = ["no key for ", "no key for provider "].iter().any(|begin| said.ends_with(begin));
    let is_plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ['_', '-'].contains(&c))
    };
    (is_key && is_plain(server) && is_plain(variable)).then_some(MissingKey { server, variable })
}

/// Says that a known server has another key now.
#[must_use]
pub fn replaced_key(server: &str, former: Option<&str>, key: Option<&str>) -> Option<String> {
    let former = former.filter(|former| key.is_some_and(|key| key != *former))?;
    Some(format!("the key of {server} is now {} (was {former})", key.unwrap_or_default()))
}

/// Says how a daemon gets the key of a server that is not its default one: its other models work, so it is not stopped.
#[must_use]
pub fn keyless_notice(why: &str, is_set: impl Fn(&str) -> bool) -> String {
    let mend = match missing_key(why) {
        Some(missing) if is_set(missing.variable) => format!(
            "`palyra admin stop` lets your next command start a daemon of this environment, where {} is set",
            missing.variable
        ),
        Some(missing) => missing.mend_of_daemon(),
        None => "`palyra admin stop` lets the next start try again".to_owned(),
    };
    format!("the running daemon cannot ask it: {why}; {mend}")
}

/// Says that a daemon was stopped, why, and what starts the next one.
#[must_use]
pub fn stopped_notice(mistake: &str) -> String {
    let next = "your next command here starts one with this environment";
    match missing_key(mistake) {
        Some(missing) => format!(
            "the running daemon was stopped, because {0} is not set in its environment; {next}, where {0} is set",
            missing.variable
        ),
        None => {
            format!("the running daemon was stopped, because it could not use the file: {mistake}; {next}")
        }
    }
}

/// Says that a server does not list a model, and which ones it has; `None` where it lists the model, or none at all.
#[must_use]
pub fn unlisted_model(server: &str, model: &str, names: &[String]) -> Option<String> {
    let wanted = format!("{server}/{model}");
    // A server that has versions of a model takes its name for the newest one.
    let is_it =
        |known: &String| *known == wanted || known.strip_suffix(NEWEST_VERSION) == Some(wanted.as_str());
    let first = names.first().filter(|_| !names.iter().any(is_it))?;
    let near = nearest_name(&wanted, names);
    Some(format!(
        "the server `{server}` does not list the model {}, so runs may fail; it has {}: `palyra model use {}` names that \
         one",
        clean_line(model, NAME_CHARS_MAX),
        model_names(names),
        clean_line(near.unwrap_or(first), NAME_CHARS_MAX)
    ))
}

/// Names models, and says how many more there are.
#[must_use]
pub fn model_names(names: &[String]) -> String {
    let shown: Vec<String> =
        names.iter().take(MODELS_NAMED_MAX).map(|name| clean_line(name, NAME_CHARS_MAX)).collect();
    let more = names.len().saturating_sub(MODELS_NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests;
