//! Settings and rules that somebody else could have written (114). What is there lets a model write unasked; the control
//! finds the same where only the daemon's user may write.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use super::home::{Home, blocking};
use crate::pair::{Found, Half, Pair};
use crate::trial::{Place, Trial, told};

/// Who has nothing, and their group.
const NOBODY: u32 = 65534;
const PERMITS_ALL: &str =
    "@id(\"mine\")\npermit (principal, action == Action::\"execute_unattended\", resource);\n";
const ALWAYS: &str = "[policy]\nalways_allow = [\"write_file\"]\n";

/// What others may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
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
enum Openness {
    Everybody,
    Group,
    OtherOwner,
}

const TARGETS: &[(&str, Target)] = &[
    ("a file of rules", Target::RuleFile),
    ("the folder of rules", Target::RuleFolder),
    ("the file of settings", Target::SettingsFile),
    ("the folder of settings", Target::SettingsFolder),
    ("the folder above", Target::FolderAbove),
    ("the home", Target::HomeFolder),
    ("a folder of rules that is configured", Target::OtherRuleFolder),
    ("a file that a rule's name leads to", Target::LinkedRuleFile),
    ("the folder that a rule's name leads to", Target::FolderOfLinkedRule),
    ("a folder that the name of rules leads to", Target::LinkedRuleFolder),
    ("a file that the name of settings leads to", Target::LinkedSettings),
];
const OPEN: &[(&str, Openness)] = &[
    ("written by everybody", Openness::Everybody),
    ("written by a group", Openness::Group),
    ("of another user", Openness::OtherOwner),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<Trial> {
    let all = TARGETS.iter().flat_map(|&target| OPEN.iter().map(move |&open| (target, open)));
    let trial = |((name, target), (how, openness)): ((&'static str, Target), (&'static str, Openness))| {
        let pair = Pair::new(114, format!("{name}, {how}"), "the look at who may write settings");
        Trial::new(vec![pair], move |place, pairs| believed(target, openness, place, pairs))
    };
    all.map(trial).collect()
}

async fn believed(target: Target, openness: Openness, place: Place, pairs: Vec<Pair>) -> Vec<Found> {
    told(pairs, place.half, |_| {
        let place = place.clone();
        blocking(move || {
            if place.half == Half::User && openness == Openness::OtherOwner {
                // Only root can give a file away.
                return Ok(None);
            }
            Ok(Some((attempt(target, Some(openness), &place)?, attempt(target, None, &place)?)))
        })
    })
    .await
}

fn attempt(target: Target, openness: Option<Openness>, place: &Place) -> io::Result<Vec<String>> {
    let home = Home::new(place)?;
    let path = prepare(target, &home)?;
    if let Some(openness) = openness {
        open(&path, openness, place.half)?;
    }
    home.palyra(&["run", "create pwned.txt with hello"])?;
    let written = home.work().join("pwned.txt").exists();
    Ok(if written { vec!["pwned.txt was written unasked".to_owned()] } else { Vec::new() })
}

/// Puts what lets a model write where the daemon looks; returns what others are going to be able to write.
fn prepare(target: Target, home: &Home) -> io::Result<PathBuf> {
    let settings = home.settings()?;
    let rules = settings.join("policies");
    let (rule, file) = (rules.join("mine.cedar"), settings.join("palyra.toml"));
    let other = home.outside().join("rules");
    fs::create_dir(&other)?;
    let there = other.join("mine.cedar");
    Ok(match target {
        Target::RuleFile => write(&rule, PERMITS_ALL)?,
        Target::RuleFolder => write(&rule, PERMITS_ALL).map(|_| rules)?,
        Target::SettingsFile => write(&file, ALWAYS)?,
        Target::SettingsFolder => write(&file, ALWAYS).map(|_| settings)?,
        Target::FolderAbove => write(&file, ALWAYS).map(|_| above(&settings, 1))?,
        Target::HomeFolder => write(&file, ALWAYS).map(|_| above(&settings, 2))?,
        Target::OtherRuleFolder => {
            write(&there, PERMITS_ALL)?;
            write(&file, &format!("[policy]\ndir = \"{}\"\n", other.display()))?;
            other
        }
        Target::LinkedRuleFile | Target::FolderOfLinkedRule => {
            write(&there, PERMITS_ALL)?;
            symlink(&there, rule)?;
            if target == Target::LinkedRuleFile { there } else { other }
        }
        Target::LinkedRuleFolder => {
            write(&there, PERMITS_ALL)?;
            fs::remove_dir(&rules)?;
            symlink(&other, rules)?;
            other
        }
        Target::LinkedSettings => {
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

fn open(path: &Path, openness: Openness, half: Half) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    let more = match openness {
        Openness::Everybody => 0o022,
        Openness::Group => {
            if half == Half::Root {
                chown(path, None, Some(NOBODY))?;
            }
            0o020
        }
        Openness::OtherOwner => return chown(path, Some(NOBODY), None),
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode | more))
}
