//! Journals that a real daemon writes, with the demo model.
//!
//! Owns the runs that are made, and stopping the daemon again. The folder is a home of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Starts of the daemon in the journal that has several.
const STARTS: usize = 4;
/// Runs in the journal that is long enough for tiles.
const RUNS: usize = 40;
/// A picture of one pixel, with a tail that makes it two parts.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";
const PICTURE_BYTES: usize = 70_000;

/// Lets a daemon write journals below `homes`; returns their files, which nobody holds any more.
pub(super) fn write(palyra: &Path, homes: &Path) -> Result<Vec<PathBuf>> {
    let starts = JournalHome::make(palyra, &homes.join("starts"))?;
    for _ in 0..STARTS {
        starts.say(&["run", "--attach", "dot.png", "Read long.txt and tell me what it says"])?;
        starts.say(&["run", "List the files"])?;
        starts.say(&["admin", "stop"])?;
    }
    // With its keys beside it, as a state directory has them.
    let sealed = JournalHome::make(palyra, &homes.join("sealed"))?;
    sealed.say(&["run", "--attach", "dot.png", "Read long.txt and tell me what it says"])?;
    sealed.say(&["run", "Read short.txt"])?;
    sealed.say(&["journal", "erase", "--run", "last", "--yes"])?;
    sealed.say(&["run", "Read short.txt"])?;
    sealed.say(&["admin", "stop"])?;
    let long = JournalHome::make(palyra, &homes.join("long"))?;
    for _ in 0..RUNS {
        long.say(&["run", "Read short.txt"])?;
    }
    long.say(&["journal", "checkpoint", "--rotate-key"])?;
    long.say(&["journal", "erase", "--range", "100..120", "--reason", "retention", "--yes"])?;
    long.say(&["run", "Read short.txt"])?;
    long.say(&["admin", "stop"])?;
    Ok(vec![starts.journal(), sealed.journal(), long.journal()])
}

struct JournalHome {
    palyra: PathBuf,
    folder: PathBuf,
}

impl JournalHome {
    fn make(palyra: &Path, folder: &Path) -> Result<Self> {
        let work = folder.join("work");
        std::fs::create_dir_all(&work).with_context(|| format!("could not make {}", work.display()))?;
        let picture = [PICTURE, &vec![7; PICTURE_BYTES]].concat();
        for (name, bytes) in [
            ("dot.png", picture),
            ("long.txt", b"a line of a long file\n".repeat(9_000)),
            ("short.txt", b"a short file\n".to_vec()),
        ] {
            std::fs::write(work.join(name), bytes).with_context(|| format!("could not write {name}"))?;
        }
        Ok(Self { palyra: palyra.to_owned(), folder: folder.to_owned() })
    }

    fn say(&self, arguments: &[&str]) -> Result<()> {
        let output = Command::new(&self.palyra)
            .args(arguments)
            .current_dir(self.folder.join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.folder)
            .env("PALYRA__JOURNAL__SEAL", if self.folder.ends_with("sealed") { "true" } else { "false" })
            .stdin(Stdio::null())
            .output()
            .context("could not start palyra")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`palyra {}` failed ({}): {}", arguments.join(" "), output.status, said.trim());
        }
        Ok(())
    }

    fn journal(&self) -> PathBuf {
        self.folder.join(".local/state/palyra/journal.db")
    }
}
