//! Hears where programs are, and lets them go on; the one that is to be disturbed it keeps waiting.
//!
//! Owns the pipes. Begin at [`ProgramConductor::conduct`].

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

use super::programs::{ALL, BESIDE, JOB, NEVER, SAID, STEPS, go};
use crate::test_home::TestHome;

/// Hears programs of one life of the daemon.
pub(super) struct ProgramConductor {
    said: Lines<BufReader<Receiver>>,
    gos: BTreeMap<&'static str, Sender>,
    _never: Sender,
    job: JobPhase,
    /// Whether the program beside the job waits for it.
    held: bool,
}

/// Whether the program beside the job has to wait until the job has done what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobPhase {
    /// It is on its way.
    Coming,
    /// It is there, or will never come.
    Settled,
}

impl ProgramConductor {
    /// Makes the pipes anew: what was said to a program that is gone is not heard by the next one.
    pub(super) fn begin(house: &TestHome, job: JobPhase) -> Result<Self> {
        let pipe = |name: &str| -> Result<_> {
            let path = house.work().join(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                Ok(()) | Err(_) => {}
            }
            mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)
                .context("could not make a pipe")?;
            Ok(path)
        };
        // Open at both ends, so that it never ends.
        let sender =
            |name: &str| -> Result<_> { Ok(OpenOptions::new().read_write(true).open_sender(pipe(name)?)?) };
        let said = OpenOptions::new().read_write(true).open_receiver(pipe(SAID)?)?;
        let gos = ALL.into_iter().map(|name| Ok((name, sender(&go(name))?))).collect::<Result<_>>()?;
        let never = sender(NEVER)?;
        Ok(Self { said: BufReader::new(said).lines(), gos, _never: never, job, held: false })
    }

    /// Lets programs go on until one of them is at `place`, such as `c1 counted`; that one it keeps waiting. Nothing is
    /// lost when this is dropped.
    pub(super) async fn conduct(&mut self, place: Option<&str>) -> Result<()> {
        loop {
            let line = self.said.next_line().await.context("could not hear the programs")?;
            let line = line.context("the programs' pipe ended")?;
            if place == Some(line.as_str()) {
                return Ok(());
            }
            let (name, step) = line.split_once(' ').context("a program says something strange")?;
            if name == BESIDE && self.job == JobPhase::Coming {
                self.held = true;
            } else {
                self.let_go_on(name).await?;
            }
            if name == JOB && step == STEPS[STEPS.len() - 1] {
                self.job = JobPhase::Settled;
                if std::mem::take(&mut self.held) {
                    self.let_go_on(BESIDE).await?;
                }
            }
        }
    }

    async fn let_go_on(&mut self, name: &str) -> Result<()> {
        let go = self.gos.get_mut(name).context("no such program")?;
        go.write_all(b"go\n").await.context("could not let a program go on")
    }
}
