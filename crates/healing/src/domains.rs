//! What each domain finds in its facts.

mod approvals;
mod artifacts;
mod browser;
mod channels;
mod journal;
mod providers;
mod runs;
mod sandbox;
mod tasks;
mod workers;

use crate::facts::HealingFacts;
use crate::finding::DomainLook;

/// Looks at every domain that was read.
pub(crate) fn look_at_all(look: &mut DomainLook<'_>, facts: &HealingFacts) {
    facts.runs.read().into_iter().flatten().for_each(|fact| runs::look(look, fact));
    facts.tasks.read().into_iter().flatten().for_each(|fact| tasks::look(look, fact));
    facts.approvals.read().into_iter().for_each(|facts| approvals::look(look, facts));
    facts.artifacts.read().into_iter().for_each(|fact| artifacts::look(look, fact));
    facts.channels.read().into_iter().flatten().for_each(|fact| channels::look(look, fact));
    facts.providers.read().into_iter().flatten().for_each(|fact| providers::look(look, fact));
    facts.journal.read().into_iter().for_each(|fact| journal::look(look, fact));
    facts.sandbox.read().into_iter().for_each(|fact| sandbox::look(look, fact));
    facts.workers.read().into_iter().flatten().for_each(|fact| workers::look(look, fact));
    facts.browser.read().into_iter().flatten().for_each(|fact| browser::look(look, fact));
}

#[cfg(test)]
mod tests;
