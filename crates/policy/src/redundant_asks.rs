//! Permits of `execute` that only repeat what ships: such a call asks with them as without them.
//!
//! Owns naming them and the action that runs calls without asking. Invariant: nothing here decides.

use std::collections::BTreeSet;

use cedar_policy::{ActionConstraint, Effect};

use crate::policies::{KnownPolicy, PolicyFile, PolicyMistake, PolicySet, StatedTerms};

/// The mend for a rule with `execute` whose author expects no question.
const MEND: &str = "the action that runs calls without asking is Action::\"execute_unattended\"";

/// Returns a warning for each permit of `execute` outside of the shipped files that states no terms, where a shipped rule asks
/// about every tool that it is about.
pub(crate) fn redundant_asks(policies: &PolicySet) -> Vec<PolicyMistake> {
    let shipped = shipped_files();
    let asks: Vec<&KnownPolicy> = policies.all().filter(|known| is_plain_ask(policies, known)).collect();
    let (ours, theirs): (Vec<_>, Vec<_>) = asks.into_iter().partition(|known| shipped.contains(&known.file));
    let warning = |known: &KnownPolicy| {
        let by = covering(policies, known, &ours)?;
        let what = format!("`{}` permits what asks a person already, by `{by}`", known.annotations.id);
        let file = known.file.clone();
        Some(PolicyMistake { file, line: known.line, column: 1, what, mend: MEND.to_owned() })
    };
    theirs.into_iter().filter_map(warning).collect()
}

/// Says which of the rules that ask about a call is written as if it let it run, and by which action it would; `deciding` are
/// all that permit the call.
pub(crate) fn unattended_hint(policies: &PolicySet, deciding: &[&KnownPolicy]) -> Option<String> {
    let shipped = shipped_files();
    let of_person = |known: &&&KnownPolicy| !shipped.contains(&known.file) && is_plain_ask(policies, known);
    let meant = deciding.iter().find(of_person).filter(|_| deciding.len() > 1)?;
    Some(format!("`{}` permits the action `execute`, which asks a person; {MEND}", meant.annotations.id))
}

fn shipped_files() -> BTreeSet<String> {
    PolicyFile::shipped().into_iter().map(|file| file.name).collect()
}

/// Returns whether a rule permits `execute` alone, and says nothing about who answers and for how long.
fn is_plain_ask(policies: &PolicySet, known: &KnownPolicy) -> bool {
    let execute = &policies.words().execute;
    let asks = match known.policy.action_constraint() {
        ActionConstraint::Any => false,
        ActionConstraint::Eq(action) => action == *execute,
        ActionConstraint::In(actions) => actions.iter().all(|action| action == execute),
    };
    asks && known.policy.effect() == Effect::Permit && known.annotations.terms == StatedTerms::default()
}

/// Returns a shipped rule that asks about a tool of this rule, where one asks about each of them.
fn covering(policies: &PolicySet, known: &KnownPolicy, ours: &[&KnownPolicy]) -> Option<String> {
    let mut by = None;
    for slice in policies.execute_slices() {
        if slice.policy(known.policy.id()).is_none() {
            continue;
        }
        let ask = ours.iter().find(|ours| slice.policy(ours.policy.id()).is_some())?;
        by.get_or_insert_with(|| ask.annotations.id.clone());
    }
    by
}
