//! One component that is tried both ways.

use std::io;
use std::path::PathBuf;

use palyra_testkit::component_text::{ECHO, Wat};

use super::call::ComponentCall;
use super::watched::{HostCanary, both};
use crate::pair::{CasePair, PairResult};
use crate::trial::{TrialContext, run_attempts};
use crate::trial_folder::TrialFolder;

/// A component in a ground of its own, with an honest one beside it.
pub(super) struct Attempt {
    pub(super) trial_folder: TrialFolder,
    pub(super) spec: ComponentCall,
}

impl Attempt {
    /// Writes a component down.
    pub(super) fn new(bytes: &[u8]) -> io::Result<Self> {
        let trial_folder = TrialFolder::new()?;
        let component = trial_folder.scratch().join("component.wasm");
        std::fs::write(&component, bytes)?;
        std::fs::write(trial_folder.scratch().join("honest.wasm"), Wat::running(ECHO).bytes())?;
        let spec = ComponentCall::of(component, trial_folder.work(), trial_folder.scratch());
        Ok(Self { trial_folder, spec })
    }

    /// The honest component.
    pub(super) fn honest(&self) -> PathBuf {
        self.trial_folder.scratch().join("honest.wasm")
    }
}

/// Carries out an attack whose canaries are all in its host: `given` says what the held call gets.
pub(super) async fn in_host(
    bytes: impl Fn() -> Vec<u8>,
    given: impl Fn(&str, &Attempt) -> (ComponentCall, Vec<HostCanary>),
    place: TrialContext,
    pairs: Vec<CasePair>,
) -> Vec<PairResult> {
    run_attempts(pairs, place.half, async |mechanism| {
        let attempt = Attempt::new(&bytes())?;
        let (spec, canaries) = given(&mechanism, &attempt);
        both(&place.program, &spec, &canaries).await.map(Some)
    })
    .await
}
