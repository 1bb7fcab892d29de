//! People, and tools that are prepared, in a run driven by chance; and what must hold of approvals.

use std::collections::BTreeSet;

use palyra_types::approval::ApprovalState;
use palyra_types::effect::EffectResolution;
use palyra_types::event::{ApprovalEvent, ContentDigest, RunEvent, TapeEvent, ToolEvent};
use palyra_types::tool::ToolConduct;
use palyra_types::{ApprovalId, EffectId};

use super::asks::{PolicyNow, ScriptedAnswer, approval, approve, deny, number_of, person};
use super::world::ScenarioWorld;
use crate::{Grant, RunInput};

impl ScenarioWorld {
    /// An approval that was asked for, or none.
    pub(super) fn some_approval(&self, which: u8) -> ApprovalId {
        let pending: Vec<ApprovalId> =
            self.driver.machine.pending_approvals().map(|pending| pending.approval).collect();
        match pending.get(usize::from(which) % pending.len().max(1)) {
            Some(pending) if which % 16 != 15 => *pending,
            _ => approval(u32::from(which)),
        }
    }

    /// Somebody decides: mostly a person who may, now and then foolishly.
    pub(super) fn decision(&self, which: u8, how: u8) -> RunInput {
        let id = number_of(self.some_approval(which));
        let answer = match how % 16 {
            0 | 1 => deny(id).note("no"),
            2 => approve(id).edited(r#"{"path":"other"}"#),
            3 => approve(id).policy(PolicyNow::Denies),
            4 => approve(id).policy(PolicyNow::Needs(3)),
            5 => approve(id).policy(PolicyNow::OtherVersion),
            6 => approve(id).refused(),
            7 => approve(id).remember(u128::from(how)),
            8 => approve(id).edited(r#"{"path":"more"}"#).refused(),
            _ => approve(id),
        };
        let by = 3 + u128::from(how / 16) % 4;
        self.answer(&ScriptedAnswer { by: person(by), ..answer })
    }

    fn answer(&self, answer: &ScriptedAnswer) -> RunInput {
        let found = answer.found.clone().map(|_| self.what_is_found());
        self.driver.answer(&ScriptedAnswer { found, fresh: self.fresh(), ..answer.clone() })
    }

    /// A yes of somebody who has not said it yet, and may.
    pub(super) fn yes(&self) -> RunInput {
        let pending = self.driver.machine.pending_approvals().next().expect("the run waits for one");
        let said = (4..).find(|number| !pending.voters.contains(&person(*number))).expect("people enough");
        self.answer(&approve(number_of(pending.approval)).by(said))
    }

    pub(super) fn prepared(&self, which: u8, how: u8) -> RunInput {
        let at = usize::from(which) % self.preparing.len().max(1);
        let effect = self.preparing.iter().nth(at).copied().unwrap_or(EffectId(u32::from(which) % 9));
        let found = (!how.is_multiple_of(8)).then(|| self.what_is_found());
        self.driver.prepared(effect.0, found.as_deref(), self.fresh())
    }

    pub(super) fn settlement(&self, which: u8) -> RunInput {
        let unknown: Vec<EffectId> = self.driver.machine.unknown_effects().collect();
        let at = usize::from(which) % unknown.len().max(1);
        let resolution = match which % 3 {
            0 => EffectResolution::Happened,
            1 => EffectResolution::DidNotHappen,
            _ => EffectResolution::Retry,
        };
        let effect = unknown.get(at).copied().unwrap_or(EffectId(u32::from(which) % 5));
        RunInput::EffectResolved { effect, resolution, by: person(3), note: "so it is".into() }
    }

    /// The same input with an id that was not used yet.
    pub(super) fn refreshed(&self, input: &RunInput) -> RunInput {
        let mut input = input.clone();
        match &mut input {
            RunInput::ToolPrepared { fresh, .. } => *fresh = approval(self.fresh()),
            RunInput::ApprovalAnswered(answer) => answer.answer_mut().fresh = approval(self.fresh()),
            _ => {}
        }
        input
    }

    fn fresh(&self) -> u32 {
        let used = u32::try_from(self.history.len() + self.driver.tape.len()).expect("few");
        1_000_000 + used
    }

    /// Checks that what is prepared is what the machine awaits; one that was awaited before may still come.
    pub(super) fn inspect_preparing(&self) {
        for (effect, _) in self.driver.machine.preparing() {
            assert!(
                self.preparing.contains(&effect),
                "nobody prepares {effect}: {}",
                self.driver.tape_line()
            );
        }
    }

    /// Checks that each approval is asked once, about an open call, and resolved once; and none outlives its run.
    pub(super) fn inspect_approvals(&self) {
        let line = || self.driver.tape_line();
        let mut open = BTreeSet::new();
        let mut ever = BTreeSet::new();
        for event in self.events() {
            match event {
                TapeEvent::Approval(ApprovalEvent::Requested(asked)) => {
                    assert!(ever.insert(asked.approval), "asked twice: {}", line());
                    open.insert(asked.approval);
                }
                TapeEvent::Approval(ApprovalEvent::Voted(voted)) => {
                    assert!(open.contains(&voted.approval), "{}", line());
                }
                TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
                    assert!(open.remove(&resolved.approval), "resolved twice: {}", line());
                    assert_ne!(resolved.state, ApprovalState::Pending);
                }
                TapeEvent::Run(RunEvent::Finished(_)) => {
                    assert!(open.is_empty(), "outlived its run: {}", line());
                }
                _ => {}
            }
        }
        let pending: BTreeSet<ApprovalId> =
            self.driver.machine.pending_approvals().map(|pending| pending.approval).collect();
        assert_eq!(pending, open, "{}", line());
    }

    /// Checks that what runs is what was allowed: by policy as it was proposed, or by an approval as it was asked.
    pub(super) fn inspect_permission(&self, grant: &Grant) {
        let line = || self.driver.tape_line();
        let mut permission = CallPermission::default();
        for event in self.events() {
            permission.push(grant.effect(), event);
        }
        let arguments = grant.arguments().expose();
        if permission.wants_approval {
            assert!(permission.approved.is_some(), "nobody approved: {}", line());
            assert_eq!(permission.approved, permission.asked, "not the last question: {}", line());
            match &permission.edited {
                Some(edited) => assert_eq!(edited, arguments, "{}", line()),
                None => assert_eq!(&permission.shown, arguments, "{}", line()),
            }
            let prepared = permission.conduct == ToolConduct::Prepared;
            if prepared && permission.edited.is_none() {
                assert_eq!(grant.plan().binding, permission.binding, "not what was asked: {}", line());
            }
        }
    }

    fn what_is_found(&self) -> String {
        format!("version {}", self.found())
    }
}

/// What the tape says about why a call may run.
#[derive(Default)]
struct CallPermission {
    wants_approval: bool,
    conduct: ToolConduct,
    /// The arguments that the person was shown last.
    shown: String,
    asked: Option<ApprovalId>,
    binding: ContentDigest,
    approved: Option<ApprovalId>,
    edited: Option<String>,
}

impl CallPermission {
    fn push(&mut self, effect: EffectId, event: &TapeEvent) {
        match event {
            TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.effect == effect => {
                self.wants_approval |= decided.ask.is_some();
                self.conduct = decided.conduct;
            }
            TapeEvent::Approval(ApprovalEvent::Requested(asked)) if asked.effect == effect => {
                self.asked = Some(asked.approval);
                self.binding = asked.binding;
                self.shown.clone_from(asked.prompt.arguments.expose());
                self.edited = None;
            }
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) if resolved.effect == effect => {
                let approved = resolved.state == ApprovalState::Approved;
                self.approved = approved.then_some(resolved.approval);
                self.edited = resolved.edited.as_ref().map(|edited| edited.expose().clone());
            }
            _ => {}
        }
    }
}
