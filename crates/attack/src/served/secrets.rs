//! A secret of the vault that belongs to somebody else (108), over real files. The control is its owner.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_ports::{NewSecret, SecretName, SecretReader, SecretStore};
use palyra_testkit::{ChangeSecrets, FixedEntropy};
use palyra_types::{Content, PrincipalId, Timestamp};
use palyra_vault::Vault;

use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};
use crate::trial_folder::{SECRET, TrialFolder};

const HOST: &str = "a.example";

/// What the other principal does, or has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PrincipalReach {
    Unbound,
    BoundToAnother,
    BindingRemoved,
    AddedOnDisk,
    AddedToAnother,
    NoPrincipal,
    OtherHost,
    OtherCase,
    FileOfAnotherSecret,
    AfterRotation,
}

const CASES: &[(&str, PrincipalReach)] = &[
    ("without a binding", PrincipalReach::Unbound),
    ("bound to another principal", PrincipalReach::BoundToAnother),
    ("a binding that was removed", PrincipalReach::BindingRemoved),
    ("a binding that was added to the file", PrincipalReach::AddedOnDisk),
    ("a binding that was changed in the file", PrincipalReach::AddedToAnother),
    ("a call of no principal", PrincipalReach::NoPrincipal),
    ("bound, for a host it is not for", PrincipalReach::OtherHost),
    ("a name of another case", PrincipalReach::OtherCase),
    ("the file under the name of one's own secret", PrincipalReach::FileOfAnotherSecret),
    ("a removed binding after a new value", PrincipalReach::AfterRotation),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |&(variant, reach): &(&'static str, PrincipalReach)| {
        let pair = CasePair::new(108, variant, "secrets by principal");
        AttackTrial::new(vec![pair], move |place, pairs| reached(reach, place, pairs))
    };
    CASES.iter().map(trial).collect()
}

async fn reached(reach: PrincipalReach, place: TrialContext, pairs: Vec<CasePair>) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| async move {
        let shelf = SecretVault::new()?;
        let seen = |reader, name: &str, host: &str| shelf.seen(reader, name, host);
        let bob = SecretReader::Principal(PrincipalId::from_parts(7, 7));
        let (name, host, reader) = shelf.attempt(reach)?;
        let touched = seen(reader.unwrap_or(bob), name, host)?;
        // Whatever was done to the files: a fresh shelf answers its owner.
        let control = SecretVault::new()?.seen(SecretReader::Owner, "forge", HOST)?;
        Ok(Some((touched, control)))
    })
    .await
}

/// A vault with one secret of the owner.
struct SecretVault {
    trial_folder: TrialFolder,
}

impl SecretVault {
    fn new() -> io::Result<Self> {
        let shelf = Self { trial_folder: TrialFolder::new()? };
        shelf.put("forge", SECRET)?;
        Ok(shelf)
    }

    fn vault(&self) -> Vault {
        Vault::open(&self.folder(), Arc::new(FixedEntropy::new(7)))
    }

    fn folder(&self) -> PathBuf {
        self.trial_folder.scratch().join("vault")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder().join(format!("{name}.sealed.json"))
    }

    fn put(&self, called: &str, value: &str) -> io::Result<()> {
        let secret = NewSecret {
            name: name(called)?,
            value: Content::new(value.to_owned()),
            hosts: Some([HOST.to_owned()].into()),
            sent_as: None,
            now: Timestamp(1),
        };
        self.vault().put(secret).map(drop).map_err(io::Error::other)
    }

    fn share(&self, called: &str, with: &[u64]) -> io::Result<()> {
        let principals = with.iter().map(|&number| PrincipalId::from_parts(number, number.into())).collect();
        self.vault().share(&name(called)?, principals).map(drop).map_err(io::Error::other)
    }

    fn edit(&self, called: &str, change: impl Fn(&str) -> String) -> io::Result<()> {
        let file = self.file(called);
        let before = fs::read_to_string(&file)?;
        let after = change(&before);
        if before == after {
            return Err(io::Error::other("the file was not changed"));
        }
        fs::write(file, after)
    }

    /// Does what the attacker does; returns what is asked for then, and by whom if not by them.
    fn attempt(
        &self,
        reach: PrincipalReach,
    ) -> io::Result<(&'static str, &'static str, Option<SecretReader>)> {
        let bob = PrincipalId::from_parts(7, 7);
        let eve = PrincipalId::from_parts(8, 8);
        let mut asked = ("forge", HOST, None);
        match reach {
            PrincipalReach::Unbound => {}
            PrincipalReach::BoundToAnother => self.share("forge", &[8])?,
            PrincipalReach::BindingRemoved => {
                self.share("forge", &[7, 8])?;
                self.share("forge", &[8])?;
            }
            PrincipalReach::AddedOnDisk => {
                self.edit("forge", |text| text.replacen('{', &format!("{{\"principals\":[\"{bob}\"],"), 1))?;
            }
            PrincipalReach::AddedToAnother => {
                self.share("forge", &[8])?;
                self.edit("forge", |text| text.replace(&eve.to_string(), &bob.to_string()))?;
            }
            PrincipalReach::NoPrincipal => asked.2 = Some(SecretReader::Principal(PrincipalId::NIL)),
            PrincipalReach::OtherHost => {
                self.share("forge", &[7])?;
                asked.1 = "b.example";
            }
            PrincipalReach::OtherCase => asked.0 = "Forge",
            PrincipalReach::FileOfAnotherSecret => {
                self.put("mine", "a value of Bob's own")?;
                self.share("mine", &[7])?;
                fs::copy(self.file("forge"), self.file("mine"))?;
                asked.0 = "mine";
            }
            PrincipalReach::AfterRotation => {
                self.share("forge", &[7])?;
                self.share("forge", &[])?;
                self.put("forge", SECRET)?;
            }
        }
        Ok(asked)
    }

    fn seen(&self, reader: SecretReader, called: &str, host: &str) -> io::Result<Vec<String>> {
        // A name that cannot be is the name of nothing.
        let Ok(name) = name(called) else { return Ok(Vec::new()) };
        let opened = self.vault().open(&name, host, reader);
        let seen = opened.is_ok_and(|secret| secret.value.expose().contains(SECRET));
        Ok(if seen { vec!["the secret was given out".to_owned()] } else { Vec::new() })
    }
}

fn name(text: &str) -> io::Result<SecretName> {
    text.parse().map_err(|_| io::Error::other("not a name"))
}
