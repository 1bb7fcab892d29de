//! Events about policy: settings that replace recent ones, or none at all, and counts of a few candidates.

use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::posture::{Posture, PostureChanged, PostureScope};
use palyra_types::project_file::{AcceptedProjectFile, ProjectFile, ProjectFileStanding};
use palyra_types::run::Surface;
use palyra_types::session::SessionRef;
use palyra_types::shadow::{ShadowCounts, ShadowExample};
use palyra_types::tool::ToolVerdict;
use palyra_types::{AgentId, EffectId, Redacted, RunId, Seq, SessionId};

use super::RandomAppends;

const VERDICTS: [ToolVerdict; 3] = [ToolVerdict::Allow, ToolVerdict::Ask, ToolVerdict::Deny];

impl RandomAppends {
    pub(super) fn policy_event(&mut self) -> JournalEvent {
        match self.below(9) {
            0 => return PolicyEvent::ShadowCounted(self.shadow_counts()).into(),
            1 => return PolicyEvent::ProjectRulesAccepted(self.accepted_file()).into(),
            2 => return PolicyEvent::ProjectRulesWithdrawn(Seq(self.below(self.made + 1))).into(),
            _ => {}
        }
        let scope = match self.below(4) {
            0 => PostureScope::Global,
            1 => PostureScope::Agent(AgentId::from_parts(1, self.below(4).into())),
            2 => PostureScope::Workspace(self.text()),
            _ => PostureScope::Session(SessionRef {
                principal: self.principal(),
                id: SessionId::from_parts(2, self.below(4).into()),
            }),
        };
        // Entries of other sorts are between two settings, so one that is meant is named nearly always.
        let latest = std::mem::replace(&mut self.last_setting, self.made);
        let replaces = self.maybe(|me| Seq((latest + 1).saturating_sub(me.below(3))));
        JournalEvent::Policy(PolicyEvent::PostureChanged(PostureChanged {
            replaces,
            scope,
            posture: self.maybe(|me| me.one_of(&[Posture::AlwaysAllow, Posture::Ask, Posture::Disabled])),
            by: self.principal(),
            via: self.one_of(&[Surface::LocalSocket, Surface::Tcp]),
            tool: self.text(),
        }))
    }

    fn accepted_file(&mut self) -> AcceptedProjectFile {
        AcceptedProjectFile {
            root: Redacted::cleaned(self.text().into_exposed().into()),
            path: self.text(),
            sha256: Redacted::cleaned(self.digest()),
        }
    }

    /// Makes a file of a project.
    pub(super) fn project_file(&mut self) -> ProjectFile {
        ProjectFile {
            path: self.text(),
            sha256: Redacted::cleaned(self.digest()),
            text: Redacted::cleaned(self.text().into_exposed().into()),
            standing: self.one_of(&[ProjectFileStanding::Data, ProjectFileStanding::Accepted]),
        }
    }

    fn shadow_counts(&mut self) -> ShadowCounts {
        let count = self.below(4);
        let example = |me: &mut Self| ShadowExample {
            run: RunId::from_parts(3, me.below(9).into()),
            effect: EffectId(me.number()),
            was: me.one_of(&VERDICTS),
            would_be: me.one_of(&VERDICTS),
        };
        let examples = (0..count).map(|_| example(self)).collect();
        ShadowCounts {
            candidate: [u8::try_from(self.below(3)).unwrap_or(0); 32],
            since: self.time(),
            judged: self.below(99),
            same: self.below(99),
            newly_allowed: self.below(99),
            newly_asked: self.below(99),
            newly_denied: self.below(99),
            missed: self.below(99),
            examples,
        }
    }
}
