//! One attack, ready to be carried out: once without anything in its way, and once against each mechanism.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_sandbox::Sandbox;

use crate::pair::{AttackerUser, CasePair, PairDivision, PairResult};

/// What every attack is given.
#[derive(Debug, Clone)]
pub struct TrialContext {
    /// As whom it runs.
    pub half: AttackerUser,
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
pub type Run = Arc<dyn Fn(TrialContext, Vec<CasePair>) -> BoxFuture<'static, Vec<PairResult>> + Send + Sync>;

/// Whether an attack may be carried out beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialIsolation {
    /// It minds its own canaries only.
    Others,
    /// It looks at what all processes of this one share.
    Alone,
}

/// One attack and the mechanisms that it is tried against.
#[derive(Clone)]
pub struct AttackTrial {
    /// The pairs that come of it.
    pub pairs: Vec<CasePair>,
    /// Whether it needs the user who may do everything, even to touch what nobody guards.
    pub root_only: bool,
    /// Beside whom.
    pub company: TrialIsolation,
    /// How.
    pub run: Run,
}

impl AttackTrial {
    /// Makes an attack of what runs it.
    pub fn new<F>(
        pairs: Vec<CasePair>,
        run: impl Fn(TrialContext, Vec<CasePair>) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Vec<PairResult>> + Send + 'static,
    {
        let run: Run = Arc::new(move |place, pairs| Box::pin(run(place, pairs)));
        Self { pairs, root_only: false, company: TrialIsolation::Others, run }
    }

    /// The same, alone.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { company: TrialIsolation::Alone, ..self }
    }

    /// Leaves the pairs whose text holds a pattern.
    #[must_use]
    pub fn only(mut self, pattern: &str) -> Option<Self> {
        self.pairs.retain(|pair| pair.text().contains(pattern));
        (!self.pairs.is_empty()).then_some(self)
    }

    /// Leaves the pairs of one half, where each pair is carried out as one of two users.
    #[must_use]
    pub(crate) fn of_half(mut self, division: PairDivision, half: AttackerUser) -> Option<Self> {
        if !self.root_only {
            self.pairs.retain(|pair| division.half_of(pair) == half);
        }
        (!self.pairs.is_empty()).then_some(self)
    }
}

/// Carries out one attempt for each pair: what was touched, and what the control touched; `None` leaves it out.
pub(crate) async fn run_attempts<F>(
    pairs: Vec<CasePair>,
    half: AttackerUser,
    attempt: impl Fn(String) -> F,
) -> Vec<PairResult>
where
    F: Future<Output = io::Result<Option<(Vec<String>, Vec<String>)>>>,
{
    let mut found = Vec::new();
    for pair in pairs {
        found.push(match attempt(pair.mechanism.clone()).await {
            Ok(Some((touched, control))) => PairResult::new(pair, half, touched, control),
            Ok(None) => PairResult::left_out(pair, half),
            Err(error) => PairResult::broken(pair, half, error.to_string()),
        });
    }
    found
}
