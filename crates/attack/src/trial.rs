//! One attack, ready to be carried out: once without anything in its way, and once against each mechanism.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_sandbox::Sandbox;

use crate::pair::{Found, Half, Pair};

/// What every attack is given.
#[derive(Debug, Clone)]
pub struct Place {
    /// As whom it runs.
    pub half: Half,
    /// This executable, in a way that stays right whatever becomes of the file.
    pub program: PathBuf,
    /// The program that ships, in a folder that everybody may enter; none where it was not built.
    pub palyra: Option<PathBuf>,
    /// What this host has to hold programs with; one for all, as a daemon has one.
    pub sandbox: Sandbox,
    /// The same, on a host that gives nobody namespaces.
    pub without_namespaces: Sandbox,
}

/// Carries out an attack.
pub type Run = Arc<dyn Fn(Place, Vec<Pair>) -> BoxFuture<'static, Vec<Found>> + Send + Sync>;

/// Whether an attack may be carried out beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// It minds its own canaries only.
    Others,
    /// It looks at what all processes of this one share.
    Alone,
}

/// One attack and the mechanisms that it is tried against.
#[derive(Clone)]
pub struct Trial {
    /// The pairs that come of it.
    pub pairs: Vec<Pair>,
    /// Whether it needs the user who may do everything, even to touch what nobody guards.
    pub root_only: bool,
    /// Beside whom.
    pub company: Company,
    /// How.
    pub run: Run,
}

impl Trial {
    /// Makes an attack of what runs it.
    pub fn new<F>(
        pairs: Vec<Pair>,
        run: impl Fn(Place, Vec<Pair>) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Vec<Found>> + Send + 'static,
    {
        let run: Run = Arc::new(move |place, pairs| Box::pin(run(place, pairs)));
        Self { pairs, root_only: false, company: Company::Others, run }
    }

    /// The same, alone.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { company: Company::Alone, ..self }
    }

    /// Leaves the pairs whose text holds a pattern.
    #[must_use]
    pub fn only(mut self, pattern: &str) -> Option<Self> {
        self.pairs.retain(|pair| pair.text().contains(pattern));
        (!self.pairs.is_empty()).then_some(self)
    }
}

/// Carries out one attempt for each pair: what was touched, and what the control touched; `None` leaves it out.
pub(crate) async fn told<F>(pairs: Vec<Pair>, half: Half, attempt: impl Fn(String) -> F) -> Vec<Found>
where
    F: Future<Output = io::Result<Option<(Vec<String>, Vec<String>)>>>,
{
    let mut found = Vec::new();
    for pair in pairs {
        found.push(match attempt(pair.mechanism.clone()).await {
            Ok(Some((touched, control))) => Found::new(pair, half, touched, control),
            Ok(None) => Found::left_out(pair, half),
            Err(error) => Found::broken(pair, half, error.to_string()),
        });
    }
    found
}
