//! What this process knows to be secret, and the scanner that keeps it out of texts, the journal and the log.
//!
//! There is one per process, because the log and the panic hook belong to the process. Values are given to the
//! scanner and kept nowhere else. Begin at [`know`].

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use palyra_providers::KeyReference;
use palyra_providers::detect::{detect_keys, explicit_selection};
use palyra_redaction::SecretScanner;
use palyra_types::Redacted;

use crate::config::Config;

static SCANNER: LazyLock<Arc<SecretScanner>> = LazyLock::new(|| Arc::new(SecretScanner::new()));

/// Returns the process's scanner.
pub(crate) fn scanner() -> Arc<SecretScanner> {
    Arc::clone(&SCANNER)
}

/// Replaces what is known by the keys of a configuration and an environment: of configured providers, of the
/// selected one, and of those that could be selected.
pub(crate) fn know(config: &Config, environment: &BTreeMap<String, String>) {
    let configured = config.providers().into_iter().filter_map(|settings| settings.key?.parse().ok());
    let selected = explicit_selection(environment).ok().flatten().and_then(|selection| selection.key);
    let offered = detect_keys(environment).into_iter().map(|found| found.key);
    let references: Vec<KeyReference> = configured.chain(selected).chain(offered).collect();
    // A reference that leads nowhere is told where the models are built.
    let keys = references.iter().filter_map(|reference| reference.resolve(environment).ok());
    let values: Vec<Redacted<String>> = keys.map(|key| key.to_be_redacted()).collect();
    SCANNER.register(&values);
}
