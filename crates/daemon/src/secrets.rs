//! What this process knows to be secret, and the scanner that keeps it out of texts, the journal and the log.
//!
//! There is one per process, because the log and the panic hook belong to the process. Values are kept
//! here to tell the scanner all of them at once, and shown to nobody else. Begin at [`know`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use palyra_ports::SecretName;
use palyra_providers::KeyReference;
use palyra_providers::detect::{detect_keys, explicit_selection};
use palyra_redaction::{REGISTERED_CHARS_MIN, REGISTERED_VALUES_MAX, RegisterError, SecretScanner};
use palyra_types::Content;

use crate::config::Config;

static SCANNER: LazyLock<Arc<SecretScanner>> = LazyLock::new(|| Arc::new(SecretScanner::new()));

/// Returns the process's scanner.
pub(crate) fn scanner() -> Arc<SecretScanner> {
    Arc::clone(&SCANNER)
}

/// Values that are no longer kept, and looked for until the daemon ends, at most.
const FORMER_MAX: usize = 256;
/// Values that were never kept, and looked for until the daemon ends, at most.
const NEVER_KEPT_MAX: usize = 64;

/// What the scanner is told, by where it comes from. Invariant: what is here is what the scanner looks for, but for
/// former values and those never kept for which there is no room.
#[derive(Clone)]
struct KnownSecrets {
    keys: Vec<Content<String>>,
    vault: BTreeMap<SecretName, Content<String>>,
    /// What was in the vault, the newest first: elsewhere it may still be worth something.
    former: VecDeque<Content<String>>,
    /// What was typed and refused, the newest first. It takes no place of a former value.
    never_kept: VecDeque<Content<String>>,
}

static KNOWN: Mutex<KnownSecrets> = Mutex::new(KnownSecrets::nothing());

fn known() -> MutexGuard<'static, KnownSecrets> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Replaces what is known by the keys of a configuration and an environment: of configured providers, of the
/// selected one, and of those that could be selected.
pub(crate) fn know(config: &Config, environment: &BTreeMap<String, String>) {
    let configured = config.providers().into_iter().filter_map(|settings| settings.key?.parse().ok());
    let selected = explicit_selection(environment).ok().flatten().and_then(|selection| selection.key);
    let webhook = config.webhook_secret().parse().ok();
    let offered = detect_keys(environment).into_iter().map(|found| found.key);
    let references: Vec<KeyReference> = configured.chain(selected).chain(webhook).chain(offered).collect();
    // A reference that leads nowhere is an error where the models are built; secrets of the vault are known already.
    let keys = references.iter().filter_map(|reference| reference.resolve(environment).ok());
    known().replace_keys(&SCANNER, keys.map(|key| key.to_be_redacted()).collect());
}

/// Looks for a secret's value from now on; for the one before it as well, until the daemon ends.
///
/// # Errors
/// [`RegisterError`] when it cannot be looked for; then nobody may have it.
pub(crate) fn hold(name: &SecretName, value: &Content<String>) -> Result<(), RegisterError> {
    known().hold(&SCANNER, name, value)
}

/// Does the same for many values at once; returns the names of those that cannot be looked for.
pub(crate) fn hold_all(values: Vec<(SecretName, Content<String>)>) -> Vec<SecretName> {
    known().hold_all(&SCANNER, values)
}

/// Looks for a value that is not kept, until the daemon ends, while there is room for it beside all that was kept.
pub(crate) fn look_for(value: Content<String>) {
    known().look_for(&SCANNER, value);
}

/// Says that a secret is no longer kept; its value is looked for until the daemon ends.
pub(crate) fn part_with(name: &SecretName) {
    known().part_with(name);
}

/// Returns whether a secret's value is looked for as one that is kept.
#[cfg(test)]
pub(crate) fn is_stored(name: &SecretName) -> bool {
    known().vault.contains_key(name)
}

impl KnownSecrets {
    const fn nothing() -> Self {
        Self {
            keys: Vec::new(),
            vault: BTreeMap::new(),
            former: VecDeque::new(),
            never_kept: VecDeque::new(),
        }
    }

    fn hold(
        &mut self,
        scanner: &SecretScanner,
        name: &SecretName,
        value: &Content<String>,
    ) -> Result<(), RegisterError> {
        if self.vault.get(name) == Some(value) {
            return Ok(());
        }
        let before = self.clone();
        self.replace(name.clone(), value.clone());
        self.tell(scanner).inspect_err(|_| *self = before)
    }

    fn hold_all(
        &mut self,
        scanner: &SecretScanner,
        values: Vec<(SecretName, Content<String>)>,
    ) -> Vec<SecretName> {
        for (name, value) in values {
            self.replace(name, value);
        }
        self.tell_what_fits(scanner)
    }

    fn replace_keys(&mut self, scanner: &SecretScanner, keys: Vec<Content<String>>) {
        self.keys = keys;
        let left_out = self.tell_what_fits(scanner);
        if !left_out.is_empty() {
            tracing::error!("{} secrets of the vault cannot be looked for in texts by now", left_out.len());
        }
    }

    fn part_with(&mut self, name: &SecretName) {
        if let Some(value) = self.vault.remove(name) {
            self.former.push_front(value);
            self.former.truncate(FORMER_MAX);
        }
    }

    fn look_for(&mut self, scanner: &SecretScanner, value: Content<String>) {
        let mut others = self.vault.values().chain(&self.former).chain(&self.never_kept);
        if others.all(|known| *known != value) {
            self.never_kept.push_front(value);
            self.never_kept.truncate(NEVER_KEPT_MAX);
            self.tell_what_fits(scanner);
        }
    }

    fn replace(&mut self, name: SecretName, value: Content<String>) {
        if self.vault.get(&name) != Some(&value) {
            self.part_with(&name);
            self.former.retain(|former| *former != value);
            self.never_kept.retain(|refused| *refused != value);
            self.vault.insert(name, value);
        }
    }

    /// Leaves out secrets, the last by name first, until the rest can be looked for.
    fn tell_what_fits(&mut self, scanner: &SecretScanner) -> Vec<SecretName> {
        let mut left_out = Vec::new();
        while let Err(error) = self.tell(scanner) {
            match self.vault.pop_last() {
                Some((name, _)) => left_out.push(name),
                None => {
                    tracing::error!("what is secret cannot be looked for in texts: {error}");
                    break;
                }
            }
        }
        left_out
    }

    fn tell(&self, scanner: &SecretScanner) -> Result<(), RegisterError> {
        let mut values = BTreeSet::new();
        self.keys.iter().chain(self.vault.values()).for_each(|value| values.extend(parts(value)));
        if values.len() > REGISTERED_VALUES_MAX {
            return Err(RegisterError::TooMany);
        }
        for former in self.former.iter().chain(&self.never_kept) {
            let more: Vec<_> = parts(former).filter(|part| !values.contains(part)).collect();
            if values.len() + more.len() > REGISTERED_VALUES_MAX {
                tracing::warn!("there is no room to look for every value that was in the vault or refused");
                break;
            }
            values.extend(more);
        }
        let values: Vec<_> = values.into_iter().map(|value| Content::new(value.to_owned())).collect();
        scanner.register(&values)
    }
}

/// Returns what is looked for of a value: a pair is sent as one, and told as two.
fn parts(value: &Content<String>) -> impl Iterator<Item = &str> {
    let password = value.expose().split_once(':').map(|(_, password)| password);
    let long = |part: &&str| part.chars().count() >= REGISTERED_CHARS_MIN;
    std::iter::once(value.expose().as_str()).chain(password).filter(long)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(at: usize) -> SecretName {
        format!("secret-{at:04}").parse().unwrap()
    }

    fn pair(at: usize) -> Content<String> {
        Content::new(format!("somebody:canary-password-{at:04}"))
    }

    fn shows(scanner: &SecretScanner, at: usize) -> bool {
        use palyra_ports::Redactor;
        let said = format!("the password is canary-password-{at:04}.");
        scanner.redact(said.as_str().into()).text.expose().contains("canary")
    }

    #[test]
    fn what_finds_no_room_is_refused_and_not_left_out_silently() {
        let (scanner, mut known) = (SecretScanner::new(), KnownSecrets::nothing());
        let room = REGISTERED_VALUES_MAX / 2;
        let left_out = known.hold_all(&scanner, (0..room + 3).map(|at| (name(at), pair(at))).collect());
        assert_eq!(left_out, [name(room + 2), name(room + 1), name(room)]);
        assert!(!shows(&scanner, 0) && !shows(&scanner, room - 1));
        assert_eq!(known.hold(&scanner, &name(room), &pair(room)), Err(RegisterError::TooMany));
        assert!(shows(&scanner, room), "the control: nobody looks for it");
        assert!(!shows(&scanner, room - 1), "and the rest is looked for as before");
        // Where one goes, another finds room, and the one that went makes way.
        known.part_with(&name(0));
        known.hold(&scanner, &name(room), &pair(room)).unwrap();
        assert!(!shows(&scanner, room));
    }

    #[test]
    fn a_former_value_is_looked_for_and_never_takes_the_place_of_one_that_is_kept() {
        let (scanner, mut known) = (SecretScanner::new(), KnownSecrets::nothing());
        for at in 0..FORMER_MAX + 2 {
            known.hold(&scanner, &name(0), &pair(at)).unwrap();
        }
        assert!(!shows(&scanner, FORMER_MAX + 1) && !shows(&scanner, FORMER_MAX) && !shows(&scanner, 1));
        assert!(shows(&scanner, 0), "the newest of them only");
        known.replace_keys(&scanner, vec!["a-key-of-a-provider".into()]);
        known.look_for(&scanner, pair(FORMER_MAX + 7));
        assert!(!shows(&scanner, FORMER_MAX + 7), "one that was never kept");
        assert!(!shows(&scanner, FORMER_MAX));
    }

    #[test]
    fn keys_that_were_refused_take_no_place_of_former_values() {
        let (scanner, mut known) = (SecretScanner::new(), KnownSecrets::nothing());
        for at in 0..=FORMER_MAX {
            known.hold(&scanner, &name(0), &pair(at)).unwrap();
        }
        let refused = FORMER_MAX + 1..FORMER_MAX + 301;
        refused.clone().for_each(|at| known.look_for(&scanner, pair(at)));
        assert!(!shows(&scanner, 0) && !shows(&scanner, FORMER_MAX), "what was or is in the vault");
        assert!(!shows(&scanner, refused.end - 1), "the newest that was refused");
        assert!(shows(&scanner, refused.start), "the control: the oldest that was refused made way");
        known.hold(&scanner, &name(1), &pair(refused.end - 1)).unwrap();
        known.part_with(&name(1));
        assert_eq!(known.former.len(), FORMER_MAX, "one that was kept after all is a former value");
        assert!(!known.never_kept.contains(&pair(refused.end - 1)));
    }
}
