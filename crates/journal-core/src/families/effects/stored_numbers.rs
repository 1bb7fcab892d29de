//! Numbers in the facts of effects.

use palyra_types::effect::{EffectResolution, EffectState};
use palyra_types::tool::{EffectContract, ToolConduct};

/// Returns the number of a contract.
pub(super) fn stored_contract(contract: EffectContract) -> u32 {
    match contract {
        EffectContract::Pure => 0,
        EffectContract::Keyed => 1,
        EffectContract::Probe => 2,
        EffectContract::Local => 3,
        EffectContract::Opaque => 4,
    }
}

pub(super) fn contract_from_stored(number: u32) -> EffectContract {
    match number {
        0 => EffectContract::Pure,
        1 => EffectContract::Keyed,
        2 => EffectContract::Probe,
        3 => EffectContract::Local,
        _ => EffectContract::Opaque,
    }
}

pub(super) fn stored_conduct(conduct: ToolConduct) -> u32 {
    match conduct {
        ToolConduct::Direct => 0,
        ToolConduct::Prepared => 1,
        ToolConduct::Question => 2,
    }
}

pub(super) fn conduct_from_stored(number: u32) -> ToolConduct {
    match number {
        1 => ToolConduct::Prepared,
        2 => ToolConduct::Question,
        _ => ToolConduct::Direct,
    }
}

/// Returns the number of a state; zero is not started.
pub(super) fn stored_state(state: Option<EffectState>) -> u32 {
    match state {
        None => 0,
        Some(EffectState::Started) => 1,
        Some(EffectState::Finished) => 2,
        Some(EffectState::Failed) => 3,
        Some(EffectState::Unknown) => 4,
        Some(EffectState::Resolved(EffectResolution::Happened)) => 5,
        Some(EffectState::Resolved(EffectResolution::DidNotHappen)) => 6,
        Some(EffectState::Resolved(EffectResolution::Retry)) => 7,
    }
}

pub(super) fn state_from_stored(number: u32) -> Option<EffectState> {
    match number {
        0 => None,
        1 => Some(EffectState::Started),
        2 => Some(EffectState::Finished),
        3 => Some(EffectState::Failed),
        4 => Some(EffectState::Unknown),
        5 => Some(EffectState::Resolved(EffectResolution::Happened)),
        6 => Some(EffectState::Resolved(EffectResolution::DidNotHappen)),
        _ => Some(EffectState::Resolved(EffectResolution::Retry)),
    }
}
