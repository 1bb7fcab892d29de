//! A request beside a run whose end is not recorded.

use palyra_governance::RequestOutcome;
use palyra_ports::NewEntry;
use palyra_types::Timestamp;
use palyra_types::budget::{
    AuxiliaryPurpose, AuxiliaryUse, BudgetEvent, PursePath, RequestSize, ReservationId,
};
use palyra_types::model::{ModelRef, TokenUsage, UsageSource};

/// A request beside a run whose end is not recorded.
#[derive(Debug, Clone)]
pub(super) struct UnsettledCall {
    pub(super) path: PursePath,
    pub(super) id: ReservationId,
    pub(super) purpose: AuxiliaryPurpose,
    pub(super) model: ModelRef,
    pub(super) size: RequestSize,
    /// How it ended, as far as it is known.
    pub(super) outcome: RequestOutcome,
    /// Whether accounts have its reservation, or may have it.
    pub(super) is_reserved: bool,
}

impl UnsettledCall {
    /// Returns whether its end is to be recorded.
    pub(super) fn has_end_to_record(&self) -> bool {
        self.is_reserved || self.usage().is_some()
    }

    /// Returns the entry that says what it used; `None` where it used nothing.
    pub(super) fn use_entry(&self, time: Timestamp) -> Option<NewEntry> {
        let used = AuxiliaryUse {
            purpose: self.purpose,
            session: self.path.session,
            agent: self.path.agent,
            usage: self.usage()?,
            model: Some(self.model.clone()).into(),
        };
        Some(NewEntry {
            time,
            principal: self.path.principal,
            session: self.path.session,
            run: None,
            event: BudgetEvent::AuxiliaryUsed(used).into(),
        })
    }

    /// What it used: of an answer that was lost, or that came without a count, as much as was reserved.
    fn usage(&self) -> Option<TokenUsage> {
        match self.outcome {
            RequestOutcome::Answered { usage: Some(usage) } => Some(usage),
            RequestOutcome::Answered { usage: None } | RequestOutcome::Lost => Some(TokenUsage {
                input_tokens: self.size.input_tokens,
                output_tokens: self.size.output_tokens_max,
                source: UsageSource::Estimated,
                ..TokenUsage::default()
            }),
            RequestOutcome::Refused | RequestOutcome::NotSent => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::budget::TaskClass;
    use palyra_types::{Attempt, PrincipalId, RunId};

    use super::*;

    #[test]
    fn what_was_sent_has_used_something() {
        let run = RunId::from_parts(1, 1);
        let principal = PrincipalId::from_parts(1, 2);
        let call = |outcome, is_reserved| UnsettledCall {
            path: PursePath { run, principal, agent: None, session: None, channel: None, schedule: None },
            id: ReservationId { run, class: TaskClass::Auxiliary, attempt: Attempt(1) },
            purpose: AuxiliaryPurpose::Summary,
            model: ModelRef::new("a", "b"),
            size: RequestSize { input_tokens: 100, output_tokens_max: 50 },
            outcome,
            is_reserved,
        };
        let counted = TokenUsage { input_tokens: 7, output_tokens: 2, ..TokenUsage::default() };
        for (outcome, tokens) in [
            (RequestOutcome::Answered { usage: Some(counted) }, Some([7, 2])),
            (RequestOutcome::Answered { usage: None }, Some([100, 50])),
            (RequestOutcome::Lost, Some([100, 50])),
            (RequestOutcome::Refused, None),
            (RequestOutcome::NotSent, None),
        ] {
            let used = call(outcome, false).usage();
            assert_eq!(used.map(|used| [used.input_tokens, used.output_tokens]), tokens, "{outcome:?}");
            assert_eq!(call(outcome, false).has_end_to_record(), tokens.is_some(), "{outcome:?}");
            assert!(call(outcome, true).has_end_to_record(), "a reservation ends in any case");
        }
    }
}
