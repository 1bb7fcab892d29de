//! One component that is tried both ways.

use std::io;
use std::path::PathBuf;

use palyra_testkit::component_text::{ECHO, Wat};

use super::call::Spec;
use super::watched::{Canary, both};
use crate::ground::Ground;
use crate::pair::{Found, Pair};
use crate::trial::{Place, told};

/// A component in a ground of its own, with an honest one beside it.
pub(super) struct Attempt {
    pub(super) ground: Ground,
    pub(super) spec: Spec,
}

impl Attempt {
    /// Writes a component down.
    pub(super) fn new(bytes: &[u8]) -> io::Result<Self> {
        let ground = Ground::new()?;
        let component = ground.scratch().join("component.wasm");
        std::fs::write(&component, bytes)?;
        std::fs::write(ground.scratch().join("honest.wasm"), Wat::running(ECHO).bytes())?;
        let spec = Spec::of(component, ground.work(), ground.scratch());
        Ok(Self { ground, spec })
    }

    /// The honest component.
    pub(super) fn honest(&self) -> PathBuf {
        self.ground.scratch().join("honest.wasm")
    }
}

/// Carries out an attack whose canaries are all in its host: `given` says what the held call gets.
pub(super) async fn in_host(
    bytes: impl Fn() -> Vec<u8>,
    given: impl Fn(&str, &Attempt) -> (Spec, Vec<Canary>),
    place: Place,
    pairs: Vec<Pair>,
) -> Vec<Found> {
    told(pairs, place.half, async |mechanism| {
        let attempt = Attempt::new(&bytes())?;
        let (spec, canaries) = given(&mechanism, &attempt);
        both(&place.program, (&spec, &spec), &canaries).await.map(Some)
    })
    .await
}
