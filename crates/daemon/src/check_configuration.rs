//! Looks for mistakes in the configuration that a daemon would start with from here, without a daemon or a network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_types::ErrorCode;

use crate::config::{self, Config, ListExtent, ValueOrigin};
use crate::model_answers::ModelAnswers;
use crate::model_keys::KeySources;
use crate::models::{self, MissingSecret};
use crate::prices;
use crate::refusal::{chain, in_this_environment};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckVerdict {
    /// The file that was read; `None` where there is none, so that defaults and environment hold.
    pub file: Option<PathBuf>,
    /// Every mistake, in reading order; empty for a configuration that a daemon can start with.
    pub findings: Vec<ConfigFinding>,
    /// Whether there may be more of them.
    pub more: ListExtent,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFinding {
    /// Its stable code.
    pub code: ErrorCode,
    /// What is wrong, with place and mend.
    pub message: String,
    /// Where it is.
    pub origin: Option<ValueOrigin>,
    /// The key it is about.
    pub key: Option<String>,
}

/// Reads all layers as a daemon started here would, and checks them.
#[must_use]
pub fn check_configuration(explicit: Option<&Path>, environment: &BTreeMap<String, String>) -> CheckVerdict {
    let usual = || config::default_path(environment).filter(|path| path.exists());
    let file = explicit.map(Path::to_owned).or_else(usual);
    match config::load(explicit, environment, &[]) {
        Ok(config) => {
            let mut findings = check_folders(&config);
            findings.extend(check_models(&config, environment));
            findings.extend(check_certificate(&config));
            findings.extend(check_prices(&config));
            CheckVerdict { file, findings, more: ListExtent::No }
        }
        Err(mistakes) => {
            let finding = |mistake: &config::ConfigError| ConfigFinding {
                code: mistake.code(),
                message: mistake.to_string(),
                origin: mistake.origin().cloned(),
                key: mistake.key().map(str::to_owned),
            };
            CheckVerdict { file, findings: mistakes.list.iter().map(finding).collect(), more: mistakes.more }
        }
    }
}

/// Finds settings that name a folder which does not exist: what lies there is not in force, and nothing else says so.
fn check_folders(config: &Config) -> Vec<ConfigFinding> {
    let named = [("policy.dir", config.policy_dir()), ("policy.shadow_dir", config.policy_shadow_dir())];
    let missing = named.into_iter().filter(|(_, folder)| !folder.is_empty() && !Path::new(folder).is_dir());
    missing
        .map(|(key, folder)| {
            let origin = config.origin(key);
            let message = format!(
                "{}: `{key}` names {folder}, which is not a folder; create it, or remove the setting",
                origin.place()
            );
            ConfigFinding {
                code: ErrorCode::ConfigInvalid,
                message,
                origin: Some(origin),
                key: Some(key.to_owned()),
            }
        })
        .collect()
}

/// Finds a certificate that the HTTP API cannot be served with, as a start does.
fn check_certificate(config: &Config) -> Option<ConfigFinding> {
    const KEY: &str = "http.tls_cert";
    let files = config.http()?.tls?;
    let error = palyra_http::server_config(&files).err()?;
    let origin = config.origin(KEY);
    Some(ConfigFinding {
        code: ErrorCode::ConfigInvalid,
        message: format!("{}: `{KEY}`: {error}", origin.place()),
        origin: Some(origin),
        key: Some(KEY.to_owned()),
    })
}

/// Finds a price catalogue that a start refuses.
fn check_prices(config: &Config) -> Option<ConfigFinding> {
    let error = prices::load(config).err()?;
    Some(ConfigFinding {
        code: ErrorCode::ConfigInvalid,
        message: error.to_string(),
        origin: Some(error.origin),
        key: Some(prices::PRICES_KEY.to_owned()),
    })
}

fn check_models(config: &Config, environment: &BTreeMap<String, String>) -> Vec<ConfigFinding> {
    // Fails only when a provider of cryptography is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // Only a selection by the environment has no setting.
    let variable = ValueOrigin::Variable { name: models::SERVER_VARIABLE.to_owned() };
    let finding = |error: &models::ModelsError| ConfigFinding {
        code: error.code(),
        message: in_this_environment(&chain(error)),
        origin: Some(error.origin().unwrap_or(&variable).clone()),
        key: error.key(),
    };
    let sources = KeySources {
        environment: Arc::new(environment.clone()),
        vault: None,
        gateways: palyra_ports::GatewayTrail::default(),
        answers: ModelAnswers::default(),
    };
    models::plan(config, &sources, MissingSecret::Refused)
        .err()
        .unwrap_or_default()
        .iter()
        .map(finding)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn mistakes_that_only_the_models_show_are_all_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("palyra.toml");
        let text = "model.default = \"nope/m\"\nmodel.fallbacks = [\"demo/demo\", \"none/m\", \"b/m\"]\n\
                    [providers.a]\nbase_url = \"nonsense\"\n[providers.b]\nbase_url = \"http://h\"\nkey = \"env:UNSET\"\n";
        std::fs::write(&file, text).expect("written");
        let verdict = check_configuration(Some(&file), &environment(&[("OPENAI_BASE_URL", "nonsense")]));
        let begin = |wanted: &str| verdict.findings.iter().any(|finding| finding.message.contains(wanted));
        assert!(begin(":1:17: `model.default` is `nope/m`; it takes provider/model"), "{verdict:?}");
        assert!(begin(":2:19: `model.fallbacks` names `none/m`; it takes provider/model"), "{verdict:?}");
        assert!(begin(":4:12: provider `a` cannot be set up"), "{verdict:?}");
        assert!(
            begin(":7:7: no key for provider `b`: `UNSET` is not set in this environment"),
            "{verdict:?}"
        );
        assert!(begin("OPENAI_BASE_URL cannot be used"), "{verdict:?}");
        let is_of_variable =
            |finding: &&ConfigFinding| matches!(finding.origin, Some(ValueOrigin::Variable { .. }));
        let of_variable = verdict.findings.iter().find(is_of_variable).expect("one of the environment");
        assert!(of_variable.message.contains("OPENAI_BASE_URL cannot be used"), "{verdict:?}");
        assert_eq!(verdict.findings.len(), 5);
        assert_eq!(verdict.file, Some(file));
    }

    #[test]
    fn a_folder_that_does_not_exist_is_a_mistake() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("palyra.toml");
        let check = |dir: &str| {
            std::fs::write(&file, format!("[policy]\ndir = \"{dir}\"\n")).expect("written");
            check_configuration(Some(&file), &environment(&[]))
        };
        let verdict = check("/no/such");
        assert_eq!(verdict.findings.len(), 1, "{verdict:?}");
        let message = &verdict.findings[0].message;
        assert!(message.contains(":2:") && message.contains("`policy.dir` names /no/such"), "{message}");
        assert_eq!(check(folder.path().to_str().expect("text")).findings, []);
    }

    #[test]
    fn a_certificate_that_a_start_refuses_is_a_mistake() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("palyra.toml");
        std::fs::write(&file, "[http]\ntls_cert = \"/nowhere/c.pem\"\ntls_key = \"/nowhere/k.pem\"\n")
            .expect("written");
        let verdict = check_configuration(Some(&file), &environment(&[]));
        assert_eq!(verdict.findings.len(), 1, "{verdict:?}");
        assert!(verdict.findings[0].message.contains(":2:"), "{verdict:?}");
        assert!(verdict.findings[0].message.contains("/nowhere/c.pem holds no certificate"), "{verdict:?}");
    }

    #[test]
    fn a_price_catalogue_that_a_start_refuses_is_a_mistake() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("palyra.toml");
        let prices = folder.path().join("prices.toml");
        let check = |text: &str| {
            std::fs::write(&prices, text).expect("written");
            std::fs::write(&file, format!("prices.file = \"{}\"\n", prices.display())).expect("written");
            check_configuration(Some(&file), &environment(&[]))
        };
        let verdict = check("currency = \"EUR\"\n\n[[prices]]\n");
        assert_eq!(verdict.findings.len(), 1, "{verdict:?}");
        let finding = &verdict.findings[0];
        assert_eq!((finding.code, finding.key.as_deref()), (ErrorCode::ConfigInvalid, Some("prices.file")));
        for part in [":1:15: `prices.file`", "prices.toml: line 3 of", "unknown key `prices`", "known keys"] {
            assert!(finding.message.contains(part), "{part}: {}", finding.message);
        }
        assert_eq!(check("currency = \"EUR\"\n").findings, []);
    }

    #[test]
    fn no_file_is_no_mistake_unless_it_was_named() {
        let nothing = check_configuration(None, &environment(&[("HOME", "/nowhere")]));
        assert_eq!(nothing, CheckVerdict { file: None, findings: Vec::new(), more: ListExtent::No });
        let missing = check_configuration(Some(Path::new("/nowhere/palyra.toml")), &environment(&[]));
        assert_eq!(missing.findings[0].code, ErrorCode::ConfigUnreadable);
    }
}
