//! A kept file that a person puts in place (105): by a link elsewhere, and other bytes than were shown.
//!
//! The control copies what was kept, as a person does by hand who does not look again.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use palyra_commands::KeptStore;
use palyra_ports::{KeptContent, KeptFiles, RestoreFiles, RestoreOrder};
use palyra_tools::BuiltinTools;
use palyra_types::Redacted;
use palyra_types::effect::{FileBefore, PreImage};

use super::leavings::{looked_at, plainly};
use super::yard::{ShellYard, owned};
use crate::pair::{CasePair, PairResult};
use crate::trial::{AttackTrial, TrialContext, run_attempts};

const MECHANISM: &str = "kept files, the digest of what was shown, and the file tools' writes";
/// What a person has at the place.
const MINE: &str = "true # mine\n";

/// What happens between the look at a kept file and its placement.
#[derive(Debug, Clone, Copy)]
enum PlacementChange {
    /// The kept file has other bytes.
    Bytes,
    /// The kept file is a link to another.
    KeptLink,
    /// A folder on the way to the place is a link.
    FolderLink,
    /// The place is a link.
    PlaceLink,
    /// The person made a file there.
    Mine,
}

const PLACED: &[(&str, &str, PlacementChange)] = &[
    ("a kept file with other bytes than were shown", ".envrc", PlacementChange::Bytes),
    ("a kept folder with other bytes than were shown", ".vscode/tasks.json", PlacementChange::Bytes),
    ("a kept file that became a link", ".envrc", PlacementChange::KeptLink),
    ("a file of a kept folder that became a link", ".vscode/tasks.json", PlacementChange::KeptLink),
    ("a kept file whose place became a link", ".envrc", PlacementChange::PlaceLink),
    ("a kept folder whose place became a link", ".vscode/tasks.json", PlacementChange::FolderLink),
    ("a kept file of a folder within that became a link", "sub/.envrc", PlacementChange::FolderLink),
    ("a kept file in the place of another", ".envrc", PlacementChange::Mine),
];

/// Returns all of them.
pub(crate) fn trials() -> Vec<AttackTrial> {
    let trial = |&(variant, file, between): &(&'static str, &'static str, PlacementChange)| {
        let pair = CasePair::new(105, variant, MECHANISM);
        AttackTrial::new(vec![pair], move |place, pairs| {
            attempt(PlacementAttack { file, between }, place, pairs)
        })
    };
    PLACED.iter().map(trial).collect()
}

/// A workspace of which something harmless was kept, as it was shown.
struct KeptWorkspace {
    yard: ShellYard,
    store: KeptStore,
    shown: KeptContent,
}

async fn kept(place: &TrialContext, file: &str) -> io::Result<KeptWorkspace> {
    let yard = ShellYard::new()?;
    let ran = yard.work().join(super::yard::RAN);
    yard.program("evil.sh", &format!("#!/bin/sh\ntouch {}\n", ran.display()))?;
    // A folder comes into its place as a whole, so that no look meets it half made.
    let script = match file.strip_prefix(".vscode/") {
        Some(name) => format!("mkdir made; echo true > made/{name}; mv made .vscode"),
        None => format!("mkdir -p $(dirname {file}); echo true > {file}"),
    };
    let outcome = yard.as_tool(&place.sandbox, &owned(&["sh", "-c", &script])).await;
    let store = KeptStore::new(yard.trial_folder.scratch().join("aside"));
    let listed = store.list(None).await.map_err(io::Error::other)?;
    let [kept] = listed.as_slice() else { return Err(io::Error::other(outcome.text)) };
    let shown = store.read(kept.id.clone()).await.map_err(io::Error::other)?;
    Ok(KeptWorkspace { yard, store, shown })
}

impl KeptWorkspace {
    /// Returns where the kept file with the words lies.
    fn lies(&self) -> PathBuf {
        let item = self.yard.trial_folder.scratch().join("aside").join(&self.shown.file.id.0);
        if item.is_dir() { item.join("tasks.json") } else { item }
    }

    fn change(&self, file: &str, between: PlacementChange) -> io::Result<()> {
        let (work, outside) = (self.yard.work(), self.yard.trial_folder.outside());
        let (place, lies) = (work.join(file), self.lies());
        let evil = work.join("evil.sh");
        match between {
            PlacementChange::Bytes => fs::write(lies, format!("{}\n", evil.display())),
            PlacementChange::KeptLink => {
                fs::write(work.join("words"), format!("{}\n", evil.display()))?;
                fs::remove_file(&lies)?;
                symlink(work.join("words"), lies)
            }
            PlacementChange::FolderLink => {
                let folder = place.parent().unwrap_or(&place);
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => {}
                }
                symlink(outside, folder)
            }
            PlacementChange::PlaceLink => symlink(outside.join("file"), place),
            PlacementChange::Mine => fs::write(place, MINE),
        }
    }

    async fn touched(&self, file: &str, between: PlacementChange) -> io::Result<Vec<String>> {
        let place = self.yard.work().join(file);
        let is_mine = fs::read_to_string(&place).is_ok_and(|text| text == MINE);
        let mut touched = looked_at(&self.yard).await?;
        if matches!(between, PlacementChange::Mine) && !is_mine {
            touched.push("the person's file is gone".to_owned());
        }
        Ok(touched)
    }

    /// Puts the file in place as a person's yes does.
    async fn put_in_place(&self) -> io::Result<()> {
        let Ok(read) = self.store.read(self.shown.file.id.clone()).await else { return Ok(()) };
        if read.file.sha256 != self.shown.file.sha256 || read.refusal.is_some() {
            return Ok(());
        }
        let image = |entry: palyra_ports::KeptEntry| PreImage {
            path: Redacted::cleaned(entry.place.to_string_lossy().into_owned()),
            before: FileBefore::File { bytes: entry.bytes, mode: entry.mode },
            // Nothing was there when it was shown.
            after_sha256: None,
        };
        let files = read.entries.into_iter().map(image).collect();
        let order = RestoreOrder { workspace_root: Redacted::cleaned(self.yard.work()), files };
        BuiltinTools::new().restore(order).await;
        Ok(())
    }
}

async fn copied(kept: &KeptWorkspace, file: &str) -> io::Result<()> {
    let folder = Path::new(file).parent().map_or(String::from("."), |folder| folder.display().to_string());
    let script = format!("mkdir -p ./{folder}; cp -L {} {file}", kept.lies().display());
    plainly(&kept.yard, &script).await
}

/// A kept file, and what is changed before it is placed.
#[derive(Clone, Copy)]
struct PlacementAttack {
    file: &'static str,
    between: PlacementChange,
}

async fn attempt(
    PlacementAttack { file, between }: PlacementAttack,
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    let place = &place;
    run_attempts(pairs, place.half, |_| async move {
        let control = kept(place, file).await?;
        control.change(file, between)?;
        copied(&control, file).await?;
        let held = kept(place, file).await?;
        held.change(file, between)?;
        held.put_in_place().await?;
        Ok(Some((held.touched(file, between).await?, control.touched(file, between).await?)))
    })
    .await
}
