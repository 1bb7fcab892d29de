//! What this process knows to be secret, and the scanner that keeps it out of texts, the journal and the log.
//!
//! There is one per process, because the log and the panic hook belong to the process. Values are kept
//! here to tell the scanner all of them at once, and shown to nobody else. Begin at [`know`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

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

/// Values that are no longer kept, and looked for until the daemon ends, at most.
const FORMER_MAX: usize = 256;

/// What the scanner is told, by where it comes from.
struct Known {
    keys: Vec<Redacted<String>>,
    vault: Vec<Redacted<String>>,
    /// What was in the vault, the newest first: elsewhere it may still be worth something.
    former: VecDeque<Redacted<String>>,
}

static KNOWN: Mutex<Known> =
    Mutex::new(Known { keys: Vec::new(), vault: Vec::new(), former: VecDeque::new() });

/// Replaces what is known by the keys of a configuration and an environment: of configured providers, of the
/// selected one, and of those that could be selected.
pub(crate) fn know(config: &Config, environment: &BTreeMap<String, String>) {
    let configured = config.providers().into_iter().filter_map(|settings| settings.key?.parse().ok());
    let selected = explicit_selection(environment).ok().flatten().and_then(|selection| selection.key);
    let offered = detect_keys(environment).into_iter().map(|found| found.key);
    let references: Vec<KeyReference> = configured.chain(selected).chain(offered).collect();
    // A reference that leads nowhere is told where the models are built.
    let keys = references.iter().filter_map(|reference| reference.resolve(environment).ok());
    change(|known| known.keys = keys.map(|key| key.to_be_redacted()).collect());
}

/// Replaces what is known of the vault. What was there before is looked for as well, until the daemon ends.
pub(crate) fn know_vault(values: Vec<Redacted<String>>) {
    change(|known| {
        for before in std::mem::replace(&mut known.vault, values) {
            if !known.vault.contains(&before) && !known.former.contains(&before) {
                known.former.push_front(before);
            }
        }
        known.former.truncate(FORMER_MAX);
    });
}

/// Adds a value that is about to be kept.
pub(crate) fn know_more(value: Redacted<String>) {
    change(|known| known.vault.push(value));
}

fn change(how: impl FnOnce(&mut Known)) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    how(&mut known);
    let whole = known.vault.iter().chain(&known.keys).chain(&known.former);
    // A pair is sent as one, and told as two.
    let passwords = whole.clone().filter_map(|value| value.expose().split_once(':'));
    let passwords = passwords.map(|(_, password)| Redacted::new(password.to_owned()));
    let values: Vec<_> = whole.cloned().chain(passwords).collect();
    SCANNER.register(&values);
}
