//! Which daemon is measured: named by whoever measures, and told with the figures.
//!
//! Owns the choice and what is told of it. Invariant: without a choice nothing is measured, and a daemon that is not
//! there is never replaced by another.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::daemon::{DaemonHome, DaemonProgram};

/// Which daemon to measure.
#[derive(Debug, Clone, Args)]
pub struct ChosenDaemon {
    /// The daemon's program as an absolute path; `cargo xtask` builds one and names it.
    #[arg(long, value_name = "FILE", env = "PALYRA_BENCH_DAEMON")]
    palyrad: Option<PathBuf>,
    /// Measures the daemon that is part of this program instead, which is as old as this program.
    #[arg(long, conflicts_with = "palyrad")]
    built_in: bool,
    /// The commit it was built from; `cargo xtask` says it.
    #[arg(long, value_name = "COMMIT", env = "PALYRA_BENCH_COMMIT", hide = true)]
    commit: Option<String>,
}

impl ChosenDaemon {
    /// Returns the program; `own` is this one.
    ///
    /// # Errors
    /// When none was chosen, or the one that was is named relative to a folder or is not there.
    pub fn program(&self, own: &Path) -> anyhow::Result<DaemonProgram> {
        if self.built_in {
            return Ok(DaemonProgram::built_in(own));
        }
        let file = self.palyrad.clone().context(
            "no daemon to measure: `cargo xtask bench` builds and names one; else say --palyrad FILE or --built-in",
        )?;
        anyhow::ensure!(
            file.is_absolute(),
            "{} is relative, and daemons start in folders of their own: name it from the root",
            file.display()
        );
        anyhow::ensure!(file.is_file(), "there is no daemon at {}", file.display());
        Ok(DaemonProgram { file, before: Vec::new() })
    }

    /// Starts the daemon once in a home and returns what it says of itself.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn identify(
        &self,
        program: &DaemonProgram,
        home: &DaemonHome,
    ) -> anyhow::Result<MeasuredDaemon> {
        let daemon = home.start(program).await?;
        let said = daemon.client.status().await?;
        daemon.stop().await?;
        let file = std::fs::metadata(&program.file)?;
        let written = file.modified()?.duration_since(UNIX_EPOCH)?.as_secs();
        Ok(MeasuredDaemon {
            file: program.file.clone(),
            version: said.version,
            build: said.build_id,
            written_unix_seconds: written,
            commit: self.commit.clone().filter(|_| !self.built_in),
            built_in: self.built_in,
        })
    }
}

/// The daemon that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredDaemon {
    /// Its program.
    pub file: PathBuf,
    /// The version that it says.
    pub version: String,
    /// The build that it says: its version, and the size and time of its file.
    pub build: String,
    /// When its file was written.
    pub written_unix_seconds: u64,
    /// The commit it was built from, where that is known.
    pub commit: Option<String>,
    /// Whether it is part of the measuring program.
    pub built_in: bool,
}

impl MeasuredDaemon {
    /// Says in one line which daemon it was.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { file, version, build, commit, .. } = self;
        let commit = commit.as_deref().unwrap_or("a commit that nobody named");
        format!("daemon {version} at {commit} (build {build}, {})", file.display())
    }

    /// Says what makes figures of this daemon worth less than they look.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.built_in.then(|| "the daemon was the one inside the bench program, not a palyrad".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(palyrad: Option<&str>) -> String {
        let chosen = ChosenDaemon { palyrad: palyrad.map(Into::into), built_in: false, commit: None };
        chosen.program(Path::new("/bench")).expect_err("refused").to_string()
    }

    #[test]
    fn no_other_daemon_takes_the_place_of_the_one_that_was_meant() {
        assert!(refused(None).starts_with("no daemon to measure"));
        assert!(refused(Some("target/release/palyrad")).contains("is relative"));
        assert_eq!(refused(Some("/no/palyrad")), "there is no daemon at /no/palyrad");
        let built_in = ChosenDaemon { palyrad: None, built_in: true, commit: None };
        assert_eq!(built_in.program(Path::new("/bench")).expect("chosen").before, ["daemon"]);
    }
}
