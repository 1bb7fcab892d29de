//! Whether the providers of models answer.

use std::time::Duration;

use palyra_client::{AskProviders, Client};
use palyra_explain::{SERVER_VARIABLE, mend_of_locked_vault, mend_of_refused_key, missing_key};
use palyra_screen_text::{clean_line, count};
use palyra_wire::v1;

use crate::{ERROR, OK, WARNING, check};

/// How long the providers may take to name their models.
const ANSWERS_WITHIN: Duration = Duration::from_millis(1_400);
const ERROR_CHARS_MAX: usize = 300;
const BUILT_IN: &str = "demo/";
/// Says that no variable with a key was there when the daemon started.
const NO_VARIABLE: &str = "no key is configured for `openai`";
/// Begins what a daemon says of a server whose key is not there.
const NO_KEY: &str = "no key for `";
/// The server that the environment selects, which may have no section in the configuration file.
const ENVIRONMENT_SERVER: &str = "openai";

/// Asks every provider for its models, for a time that a person waits.
pub async fn check_models(client: &Client) -> Vec<v1::Check> {
    let mut checks = Vec::new();
    let asked = tokio::time::timeout(ANSWERS_WITHIN, client.list_models(AskProviders::Yes)).await;
    match asked {
        Ok(Ok(listed)) => checks.extend(answers(&listed)),
        Ok(Err(error)) => checks.push(check("models", WARNING, error.to_string(), "`palyra model test`")),
        Err(_) => {
            let found = format!("no answer within {} ms", ANSWERS_WITHIN.as_millis());
            checks.push(check(
                "models",
                WARNING,
                found,
                "`palyra model test` waits longer for the default one",
            ));
        }
    }
    checks
}

/// Reports each provider that did not answer; an error where it is the default one's.
fn answers(listed: &v1::ListModelsResponse) -> Vec<v1::Check> {
    let default = listed.default_model.split('/').next().unwrap_or_default();
    let failed = listed.models.iter().filter(|model| !model.error.is_empty());
    let mut checks: Vec<_> = failed
        .map(|model| {
            let level = if model.model == default { ERROR } else { WARNING };
            let error = clean_line(&model.error, ERROR_CHARS_MAX);
            check("models", level, format!("{}: {error}", model.model), &mend_of(&model.model, &error))
        })
        .collect();
    if checks.is_empty() {
        let others = listed.models.iter().filter(|model| !model.model.starts_with(BUILT_IN)).count();
        let found = if others == 0 {
            "the built-in one".to_owned()
        } else {
            format!("{} of servers that answer", count(others as u64, "model"))
        };
        checks.push(check("models", OK, found, ""));
    }
    checks
}

/// Says which servers have no key in a running daemon, from its list without a question to them: the server of the default
/// model first, since a reload is refused there. `is_in_file` says whether the configuration file has a server.
#[must_use]
pub fn servers_without_key(
    listed: &v1::ListModelsResponse,
    is_in_file: impl Fn(&str) -> bool,
) -> Vec<String> {
    let default = listed.default_model.as_str();
    let (first, others): (Vec<_>, Vec<_>) = listed.models.iter().partition(|model| model.model == default);
    let models = first.into_iter().chain(others);
    let notices = models.filter_map(|model| {
        let server = model.model.split('/').next().unwrap_or_default();
        match is_in_file(server) {
            true => without_key(model, default),
            false => missing_key(why_unusable(model)).map(|missing| missing.of_removed_server()),
        }
    });
    notices.collect()
}

/// Returns why a server cannot be asked; the default model has it in its note.
fn why_unusable(model: &v1::Model) -> &str {
    if model.error.is_empty() { &model.note } else { &model.error }
}

/// Says that a server of the configuration file has no key in a running daemon.
fn without_key(model: &v1::Model, default: &str) -> Option<String> {
    let why = Some(why_unusable(model)).filter(|why| why.contains(NO_KEY))?;
    if model.model == default {
        return Some(format!(
            "the default model has no key in the running daemon, and `palyra config reload` refuses this file: {why}"
        ));
    }
    let mend = missing_key(why).map(|missing| format!("; {}", missing.mend_of_daemon()));
    Some(format!("the running daemon cannot use it all: {why}{}", mend.unwrap_or_default()))
}

/// Says what to do about a provider that did not answer, by what it said instead.
fn mend_of(provider: &str, error: &str) -> String {
    let lower = error.to_lowercase();
    if lower.contains("certificate") || lower.contains("unknownissuer") {
        return format!(
            "the certificate of `providers.{provider}.base_url` is not valid for this machine: renew it, or put its \
             authority into the system's store"
        );
    }
    if let Some(missing) = missing_key(error) {
        return missing.mend_of_daemon();
    }
    if error.contains("`palyra admin vault ") {
        return "do what it says, then `palyra doctor` again".to_owned();
    }
    if let Some(mend) = mend_of_locked_vault(error).map(str::to_owned).or_else(|| mend_of_refused_key(error))
    {
        return mend;
    }
    let is_of_environment = provider == ENVIRONMENT_SERVER;
    let (key, address, test) = if is_of_environment {
        ("OPENAI_API_KEY".to_owned(), SERVER_VARIABLE.to_owned(), "`palyra model test`".to_owned())
    } else {
        let setting = |name: &str| format!("`providers.{provider}.{name}`");
        (setting("key"), setting("base_url"), format!("`palyra model test {provider}/MODEL`"))
    };
    if is_of_environment && error.contains(NO_VARIABLE) {
        return "set OPENAI_API_KEY in this shell; `palyra admin stop`, then `palyra model test` there"
            .to_owned();
    }
    if error.contains("PLY-3001") || error.contains("PLY-3002") {
        return format!("correct the key that {key} names; `palyra admin stop`, then {test}");
    }
    format!("start its server, or correct {address}; then {test}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_provider_that_does_not_answer_is_an_error() {
        let failed = |model: &str, error: &str| v1::Model {
            model: model.to_owned(),
            error: error.to_owned(),
            ..Default::default()
        };
        let listed = v1::ListModelsResponse {
            models: vec![
                failed("box", "PLY-3010: no connection to the server: refused"),
                failed("far", "PLY-3010: no connection: invalid peer certificate: UnknownIssuer"),
                failed("keyed", "PLY-3001: no"),
                failed(
                    "late",
                    "PLY-3001: no key for `late`: `LATE_KEY` is not set in the daemon's environment",
                ),
            ],
            default_model: "box/m".to_owned(),
            ..Default::default()
        };
        let checks = answers(&listed);
        let levels: Vec<_> = checks.iter().map(|check| check.level()).collect();
        assert_eq!(levels, [ERROR, WARNING, WARNING, WARNING]);
        assert!(checks[3].mend.contains("`palyra admin stop`"), "{checks:?}");
        assert!(checks[0].mend.contains("start its server"), "{checks:?}");
        assert!(
            checks[1].mend.contains("certificate") && checks[2].mend.contains("providers.keyed.key"),
            "{checks:?}"
        );
        for (provider, error, said) in [
            ("openai", "PLY-3001: no", "correct the key that OPENAI_API_KEY names"),
            (
                "openai",
                "PLY-3001: HTTP 401: no; no key is configured for `openai`: OPENAI_API_KEY, or `key` in its section",
                "set OPENAI_API_KEY in this shell",
            ),
            ("openai", "PLY-3010: refused", "correct OPENAI_BASE_URL; then `palyra model test`"),
            ("box", "PLY-3001: HTTP 401: no; the key is `vault:my`", "`palyra admin vault rotate my`"),
            (
                "box",
                "PLY-3001: no key for `box`: locked: `palyra admin vault unlock`, then",
                "do what it says",
            ),
            (
                "box",
                "PLY-3001: the vault is locked: the key file `root.key` is not there",
                "`vault/root.key`",
            ),
        ] {
            let mend = mend_of(provider, error);
            assert!(mend.contains(said) && !mend.contains("providers.openai"), "{mend}");
        }
    }

    #[test]
    fn the_default_model_without_its_key_comes_first_and_is_what_a_reload_refuses() {
        const OF_VAULT: &str = "no key for `box`: `providers.box.key` names the secret `box`, which the vault does not have: \
                                `palyra admin vault put box --host h`, then `palyra config reload`";
        const OF_VARIABLE: &str = "PLY-3001: no key for `a`: `A_KEY` is not set in the daemon's environment";
        let spare = |model: &str, error: &str| v1::Model {
            model: model.to_owned(),
            error: error.to_owned(),
            ..Default::default()
        };
        let default =
            v1::Model { model: "box/m".to_owned(), note: OF_VAULT.to_owned(), ..Default::default() };
        let listed = v1::ListModelsResponse {
            models: vec![spare("a", OF_VARIABLE), default, spare("demo", "")],
            default_model: "box/m".to_owned(),
            ..Default::default()
        };
        let notices = servers_without_key(&listed, |_| true);
        assert_eq!(notices.len(), 2, "{notices:?}");
        assert!(notices[0].starts_with("the default model has no key"), "{notices:?}");
        assert!(notices[0].contains("`palyra admin vault put box --host h`"), "{notices:?}");
        assert!(notices[1].contains("cannot use it all: PLY-3001: no key for `a`"), "{notices:?}");
        assert!(notices[1].contains("in a shell where A_KEY is exported"), "{notices:?}");
        let removed = servers_without_key(&listed, |server| server != "a");
        assert!(removed[1].contains("still has the server `a`"), "{removed:?}");
    }
}
