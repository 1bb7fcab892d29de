//! Settings and rules that somebody else could have written (114). What is there lets a model write unasked; the control
//! finds the same where only the daemon's user may write.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use super::home::{ServedHome, blocking};
use crate::pair::{AttackerUser, CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

/// Who has nothing, and their group.
const NOBODY: u32 = 65534;
const PERMITS_ALL: &str =
    "@id(\"mine\")\npermit (principal, action == Action::\"execute_unattended\", resource);\n";
const ALWAYS: &str = "[policy]\nalways_allow = [\"write_file\"]\n";

/// What others may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WritableTarget {
    RuleFile,
    RuleFolder,
    SettingsFile,
    SettingsFolder,
    FolderAbove,
    HomeFolder,
    OtherRuleFolder,
    LinkedRuleFile,
    FolderOfLinkedRule,
    LinkedRuleFolder,
    LinkedSettings,
}

/// By what they may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriterKind {
    Everybody,
    Group,
    OtherOwner,
}

const TARGETS: &[(&str, WritableTarget)] = &[
    ("a file of rules", WritableTarget::RuleFile),
    ("the folder of rules", WritableTarget::RuleFolder),
    ("the file of settings", WritableTarget::SettingsFile),
    ("the folder of settings", WritableTarget::SettingsFolder),
    ("the folder above", WritableTarget::FolderAbove),
    ("the home", WritableTarget::HomeFolder),
    ("a folder of rules that is configured", WritableTarget::OtherRuleFolder),
    ("a file that a rule's name leads to", WritableTarget::LinkedRuleFile),
    ("the folder that a rule's name leads to", WritableTarget::FolderOfLinkedRule),
    ("a folder that the name of rules leads to", WritableTarget::LinkedRuleFolder),
    ("a file that the name of settings leads to", WritableTarget::LinkedSettings),
];
const OPEN: &[(&str, WriterKind)] = &[
    ("written by everybody", WriterKind::Everybody),
    ("written by a group", WriterKind::Group),
    ("of another user", WriterKind::OtherOwner),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let all = TARGETS.iter().flat_map(|&target| OPEN.iter().map(move |&open| (target, open)));
    let trial =
        |((name, target), (how, openness)): ((&'static str, WritableTarget), (&'static str, WriterKind))| {
            let pair = CasePair::new(114, format!("{name}, {how}"), "the look at who may write settings");
            AttackTrial::new(vec![pair], move |place, pairs| believed(target, openness, place, pairs))
        };
    all.map(trial).collect()
}

async fn believed(
    target: WritableTarget,
    openness: WriterKind,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, |_| {
        let place = place.clone();
        blocking(move || {
            if place.half == AttackerUser::User && openness == WriterKind::OtherOwner {
                // Only root can give a file away.
                return Ok(None);
            }
            Ok(Some((attempt(target, Some(openness), &place)?, attempt(target, None, &place)?)))
        })
    })
    .await
}

fn attempt(
    target: WritableTarget,
    openness: Option<WriterKind>,
    place: &TrialContext,
) -> io::Result<Vec<String>> {
    let home = ServedHome::new(place)?;
    let path = prepare(target, &home)?;
    if let Some(openness) = openness {
        open(&path, openness, place.half)?;
    }
    home.palyra(&["run", "create pwned.txt with hello"])?;
    let written = home.work().join("pwned.txt").exists();
    Ok(if written { vec!["pwned.txt was written unasked".to_owned()] } else { Vec::new() })
}

/// Puts what lets a model write where the daemon looks; returns what others are going to be able to write.
fn prepare(target: WritableTarget, home: &ServedHome) -> io::Result<PathBuf> {
    let settings = home.settings()?;
    let rules = settings.join("policies");
    let (rule, file) = (rules.join("mine.cedar"), settings.join("palyra.toml"));
    let other = home.outside().join("rules");
    fs::create_dir(&other)?;
    let there = other.join("mine.cedar");
    Ok(match target {
        WritableTarget::RuleFile => write(&rule, PERMITS_ALL)?,
        WritableTarget::RuleFolder => write(&rule, PERMITS_ALL).map(|_| rules)?,
        WritableTarget::SettingsFile => write(&file, ALWAYS)?,
        WritableTarget::SettingsFolder => write(&file, ALWAYS).map(|_| settings)?,
        WritableTarget::FolderAbove => write(&file, ALWAYS).map(|_| above(&settings, 1))?,
        WritableTarget::HomeFolder => write(&file, ALWAYS).map(|_| above(&settings, 2))?,
        WritableTarget::OtherRuleFolder => {
            write(&there, PERMITS_ALL)?;
            write(&file, &format!("[policy]\ndir = \"{}\"\n", other.display()))?;
            other
        }
        WritableTarget::LinkedRuleFile | WritableTarget::FolderOfLinkedRule => {
            write(&there, PERMITS_ALL)?;
            symlink(&there, rule)?;
            if target == WritableTarget::LinkedRuleFile { there } else { other }
        }
        WritableTarget::LinkedRuleFolder => {
            write(&there, PERMITS_ALL)?;
            fs::remove_dir(&rules)?;
            symlink(&other, rules)?;
            other
        }
        WritableTarget::LinkedSettings => {
            let there = write(&other.join("palyra.toml"), ALWAYS)?;
            symlink(&there, file)?;
            there
        }
    })
}

fn write(path: &Path, text: &str) -> io::Result<PathBuf> {
    fs::write(path, text)?;
    Ok(path.to_owned())
}

fn above(path: &Path, folders: usize) -> PathBuf {
    path.ancestors().nth(folders).unwrap_or(path).to_owned()
}

fn open(path: &Path, openness: WriterKind, half: AttackerUser) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    let more = match openness {
        WriterKind::Everybody => 0o022,
        WriterKind::Group => {
            if half == AttackerUser::Root {
                chown(path, None, Some(NOBODY))?;
            }
            0o020
        }
        WriterKind::OtherOwner => return chown(path, Some(NOBODY), None),
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode | more))
}
