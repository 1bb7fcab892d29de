//! Why a request goes to its model, in the words of the wire.

use palyra_types::event::{PassOverCause, PassedOver, RoutingReason};
use palyra_wire::v1;

/// Returns the number of a reason.
pub(super) fn reason(reason: RoutingReason) -> i32 {
    let reason = match reason {
        RoutingReason::OnlyChoice => v1::RoutingReason::OnlyChoice,
        RoutingReason::ConfiguredOrder => v1::RoutingReason::ConfiguredOrder,
        RoutingReason::Cheapest => v1::RoutingReason::Cheapest,
        RoutingReason::Fastest => v1::RoutingReason::Fastest,
        RoutingReason::Degraded => v1::RoutingReason::Degraded,
        RoutingReason::Unpriced => v1::RoutingReason::Unpriced,
        RoutingReason::WithinBudgets => v1::RoutingReason::WithinBudgets,
        RoutingReason::NoBudget => v1::RoutingReason::NoBudget,
        RoutingReason::LastResort => v1::RoutingReason::LastResort,
    };
    reason.into()
}

/// Returns a model that was passed over.
pub(super) fn passed_over(passed: &PassedOver) -> v1::PassedOverModel {
    v1::PassedOverModel {
        model: passed.model.to_string(),
        causes: passed.causes.iter().map(|cause| number(*cause)).collect(),
    }
}

fn number(cause: PassOverCause) -> i32 {
    let cause = match cause {
        PassOverCause::NoImages => v1::PassOverCause::NoImages,
        PassOverCause::NoTools => v1::PassOverCause::NoTools,
        PassOverCause::NoStructuredOutput => v1::PassOverCause::NoStructuredOutput,
        PassOverCause::NoReasoning => v1::PassOverCause::NoReasoning,
        PassOverCause::ContextTooSmall => v1::PassOverCause::ContextTooSmall,
        PassOverCause::Unavailable => v1::PassOverCause::Unavailable,
        PassOverCause::NoPrice => v1::PassOverCause::NoPrice,
        PassOverCause::OverBudget => v1::PassOverCause::OverBudget,
    };
    cause.into()
}
