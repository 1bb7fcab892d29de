//! How bad things are in one story: how often each fault strikes.
//!
//! Most stories know only some of the faults, so that what one of them hides is seen where it is absent; and each
//! looks for one place of the matrix in particular, so that none stays empty. Invariant: a function of the seed.

use std::collections::BTreeMap;

use crate::dice::ScenarioRandom;
use crate::fault::{Fault, Phase};

/// Of a thousand occasions for the fault a story looks for, so many are taken.
const SOUGHT_IN_THOUSAND: u32 = 350;
/// The same for what every step of the daemon is an occasion for.
const SOUGHT_STEP_IN_THOUSAND: u32 = 60;

/// The weather of a story.
#[derive(Debug)]
pub(crate) struct FaultRates {
    rates: BTreeMap<Fault, u32>,
    sought: (Fault, Phase),
}

impl FaultRates {
    pub(crate) fn of(seed: u64, dice: &ScenarioRandom) -> Self {
        let faults = Fault::all();
        let cells: Vec<(Fault, Phase)> =
            faults.iter().flat_map(|fault| fault.reaches().iter().map(|phase| (*fault, *phase))).collect();
        let at = usize::try_from(seed % cells.len() as u64).unwrap_or(0);
        let rates = faults.iter().map(|fault| (*fault, rate(*fault, dice))).collect();
        Self { rates, sought: cells[at] }
    }

    /// Returns how often of a thousand occasions the fault strikes here.
    pub(crate) fn in_thousand(&self, fault: Fault, phase: Phase) -> u32 {
        let steps = matches!(fault, Fault::Crash | Fault::Restart | Fault::ClockSet | Fault::PolicyChanges);
        if self.sought == (fault, phase) {
            return if steps { SOUGHT_STEP_IN_THOUSAND } else { SOUGHT_IN_THOUSAND };
        }
        self.rates.get(&fault).copied().unwrap_or_default()
    }

    /// Returns the cell that this story looks for.
    pub(crate) fn sought(&self) -> (Fault, Phase) {
        self.sought
    }
}

fn rate(fault: Fault, dice: &ScenarioRandom) -> u32 {
    let usual: u32 = match fault {
        // Every step of the daemon is an occasion.
        Fault::Crash => 2,
        Fault::Restart | Fault::ClockSet | Fault::PolicyChanges => 1,
        Fault::QuarantinedLost | Fault::QuarantinedKept => 4,
        Fault::UnknownLost | Fault::UnknownKept | Fault::DiskFull | Fault::DiskFullForNewWork => 15,
        Fault::Model(_) | Fault::AppendBusy | Fault::ReadFails | Fault::ReadBusy => 20,
        Fault::ModelSilent | Fault::ModelTalksOn | Fault::ModelPanics | Fault::ModelHangs => 25,
        Fault::CallerGone | Fault::FollowerGone => 100,
        Fault::ToolFails | Fault::ToolHangs | Fault::ToolUntilTold | Fault::ToolLost | Fault::ToolPanics => {
            80
        }
        Fault::AppendLate | Fault::AnswerLate | Fault::ReadLate => 150,
        Fault::PrepareRefuses | Fault::PrepareHangs | Fault::PreparePanics => 60,
        Fault::WorldChanges => 150,
        Fault::ModelSlow | Fault::ToolSlow | Fault::PrepareSlow => 200,
        Fault::Decide | Fault::Settle | Fault::Cancel | Fault::Steer | Fault::Interrupt | Fault::Repeat => {
            120
        }
    };
    match dice.below(6) {
        0 | 1 => 0,
        2 | 3 => usual,
        4 => usual * 2,
        _ => usual.div_ceil(3),
    }
}
