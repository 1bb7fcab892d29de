//! Events about calls that ask and effects that are told of: approvals, grants, plans, takings back.
//!
//! What is asked, given or begun has an id of its own; what follows names a recent one, or none at all.

use std::time::Duration;

use palyra_journal_core::families::undos;
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery, GrantFilter};
use palyra_types::access::Role;
use palyra_types::approval::{
    ApprovalPromptRecord, ApprovalRequested, ApprovalResolved, ApprovalState, ApprovalTerms, ApprovalVoted,
    ApproverSet, ArgumentRule, ArgumentShape, AtExpiry, GrantBounds, GrantScope, SeparationRule, StoredGrant,
};
use palyra_types::effect::{
    EffectPlan, EffectResolution, EffectSettled, FileBefore, PreImage, UndoRequested, UndoResult, UndoneFile,
};
use palyra_types::event::{
    ApprovalAsk, ApprovalEvent, CallAttestation, ContentDigest, DecidedBy, EffectEvent, JournalEvent,
    TapeEvent, ToolEvent,
};
use palyra_types::job::{JobEnd, JobEvent, JobNumber};
use palyra_types::run::Surface;
use palyra_types::tool::{ApprovalRiskLevel, Taints};
use palyra_types::{ApprovalId, EffectId, PrincipalId, Redacted, RunId, SessionId, StoredGrantId, UndoId};

use super::{PRINCIPALS, RandomAppends, exposed, samples};
use crate::JournalReads;

impl RandomAppends {
    pub(super) fn approval_event(&mut self) -> TapeEvent {
        let effect = EffectId(self.number());
        match self.below(6) {
            0 | 1 => TapeEvent::Approval(ApprovalEvent::Requested(Box::new(ApprovalRequested {
                approval: ApprovalId::from_parts(5, self.made.into()),
                effect,
                binding: ContentDigest(self.digest()),
                risk: self.risk(),
                terms: self.terms(),
                expires: self.maybe(Self::time),
                policy_digest: self.digest(),
                prompt: self.prompt(),
            }))),
            2 => TapeEvent::Approval(ApprovalEvent::Voted(ApprovalVoted {
                approval: self.approval(),
                effect,
                by: self.principal(),
                via: self.one_of(&[Surface::LocalSocket, Surface::Tcp]),
                note: self.text(),
            })),
            3 => TapeEvent::Approval(ApprovalEvent::Resolved(ApprovalResolved {
                approval: self.approval(),
                effect,
                state: self.one_of(&DECIDED),
                by: self.maybe(Self::principal),
                via: self.maybe(|me| me.one_of(&[Surface::LocalSocket, Surface::Tcp])),
                edited_digest: ContentDigest(self.digest()),
                edited: self.maybe(Self::text),
                note: self.text(),
            })),
            4 => TapeEvent::Approval(ApprovalEvent::GrantStored(self.grant())),
            _ => TapeEvent::Tool(ToolEvent::EffectResolved {
                effect,
                resolution: self.one_of(&[
                    EffectResolution::Happened,
                    EffectResolution::DidNotHappen,
                    EffectResolution::Retry,
                ]),
                by: self.principal(),
                note: self.text(),
            }),
        }
    }

    pub(super) fn undo_event(&mut self) -> JournalEvent {
        let run = self.any_run();
        match self.below(6) {
            0 => JournalEvent::Effect(EffectEvent::Settled(EffectSettled {
                run,
                effect: EffectId(self.number()),
                resolution: self.one_of(&[EffectResolution::Happened, EffectResolution::DidNotHappen]),
                by: self.principal(),
                note: self.text(),
            })),
            1 => JournalEvent::Effect(EffectEvent::UndoRequested(UndoRequested {
                undo: UndoId::from_parts(7, self.made.into()),
                run,
                paths: (0..self.below(3)).map(|_| self.text()).collect(),
                kept: None,
            })),
            2 | 3 => JournalEvent::Job(self.job_event()),
            _ => JournalEvent::Effect(EffectEvent::UndoFinished {
                undo: self.undo(),
                run,
                files: (0..self.below(4)).map(|_| self.undone()).collect(),
            }),
        }
    }

    fn job_event(&mut self) -> JobEvent {
        let (run, effect) = (self.any_run(), EffectId(self.number()));
        if self.below(2) == 0 {
            return JobEvent::Started { job: JobNumber(self.number()), run, effect };
        }
        let end = match self.below(9) {
            0 => JobEnd::Exited { code: 2 },
            1 => JobEnd::Signalled { signal: 9 },
            2 => JobEnd::OverMemory,
            3 => JobEnd::Stopped,
            4 => JobEnd::NotStarted,
            _ => JobEnd::Lost,
        };
        JobEvent::Ended { run, effect, end }
    }

    /// One that was given lately, or perhaps never.
    pub(super) fn stored_grant_id(&mut self) -> StoredGrantId {
        let back = self.below(60);
        StoredGrantId::from_parts(6, self.made.saturating_sub(back).into())
    }

    pub(super) fn decided_by(&mut self) -> DecidedBy {
        match self.below(4) {
            0 => DecidedBy::Budget,
            1 => DecidedBy::Grant(self.stored_grant_id()),
            2 => DecidedBy::Approval(self.approval()),
            _ => DecidedBy::Policy,
        }
    }

    pub(super) fn ask(&mut self) -> ApprovalAsk {
        ApprovalAsk { approval: self.approval(), terms: self.terms() }
    }

    pub(super) fn risk(&mut self) -> ApprovalRiskLevel {
        self.one_of(&RISKS)
    }

    pub(super) fn taints(&mut self) -> Taints {
        Taints(self.number() * 9)
    }

    pub(super) fn attested(&mut self) -> CallAttestation {
        CallAttestation {
            tool_version: self.number(),
            call_digest: ContentDigest(self.digest()),
            policy_digest: self.digest(),
            approval: self.maybe(Self::approval),
            grant: self.maybe(Self::stored_grant_id),
        }
    }

    pub(super) fn plan(&mut self) -> EffectPlan {
        let images = (0..self.below(3)).map(|_| PreImage {
            path: self.text(),
            before: match self.below(3) {
                0 => FileBefore::Absent,
                1 => FileBefore::Withheld { mode: self.number() },
                _ => FileBefore::File {
                    bytes: Redacted::cleaned(self.text().into_exposed().into_bytes()),
                    mode: self.number(),
                },
            },
            after_sha256: self.maybe(Self::digest),
        });
        let pre_images = images.collect();
        EffectPlan {
            binding: ContentDigest(self.digest()),
            body: self.text(),
            pre_images,
            preview: self.text(),
        }
    }

    fn undone(&mut self) -> UndoneFile {
        let result = match self.below(5) {
            0 => UndoResult::Restored,
            1 => UndoResult::AlreadyRestored,
            2 => UndoResult::Conflict(self.text()),
            3 => UndoResult::Withheld,
            _ => UndoResult::Failed(self.text()),
        };
        UndoneFile { path: self.text(), result }
    }

    fn grant(&mut self) -> StoredGrant {
        StoredGrant {
            grant: StoredGrantId::from_parts(6, self.made.into()),
            principal: self.principal(),
            approval: self.approval(),
            granted_by: self.principal(),
            scope: match self.below(3) {
                0 => GrantScope::Principal,
                1 => GrantScope::Everywhere,
                _ => GrantScope::Session(SessionId::from_parts(2, self.below(9).into())),
            },
            expires: self.maybe(Self::time),
            uses_max: self.maybe(Self::number),
            tool: self.text(),
            matcher: (0..self.below(4)).map(|_| self.rule()).collect(),
            bounds: GrantBounds {
                workspace: self.maybe(|dice| Redacted::cleaned(dice.text().expose().into())),
                tool_version: self.maybe(Self::number),
                programs: None,
            },
        }
    }

    fn rule(&mut self) -> ArgumentRule {
        let shape = match self.below(4) {
            0 => ArgumentShape::Equal(self.text()),
            1 => ArgumentShape::Beneath(self.text()),
            2 => ArgumentShape::Origin(self.text()),
            _ => ArgumentShape::Any,
        };
        ArgumentRule { argument: self.text(), shape }
    }

    fn prompt(&mut self) -> ApprovalPromptRecord {
        ApprovalPromptRecord {
            tool: self.text(),
            arguments: self.text(),
            summary: self.text(),
            preview: self.text(),
            reason: self.text(),
            unbound: self.text(),
            asked_again: self.text(),
        }
    }

    fn terms(&mut self) -> ApprovalTerms {
        ApprovalTerms {
            span: Duration::from_secs(self.below(4) * 3_600),
            at_expiry: self.one_of(&[AtExpiry::Deny, AtExpiry::Park]),
            separation: self.one_of(&[SeparationRule::AnyPerson, SeparationRule::AnotherPerson]),
            needed: 1 + self.number(),
            approvers: self.maybe(|me| {
                let set = ApproverSet::default().with_role(me.one_of(&Role::ALL));
                set.with_person(PrincipalId::from_parts(1, me.below(4).into()))
            }),
        }
    }

    /// One that was asked lately, or perhaps never.
    fn approval(&mut self) -> ApprovalId {
        let back = self.below(40);
        ApprovalId::from_parts(5, self.made.saturating_sub(back).into())
    }

    fn undo(&mut self) -> UndoId {
        let back = self.below(60);
        UndoId::from_parts(7, self.made.saturating_sub(back).into())
    }

    fn any_run(&mut self) -> RunId {
        let runs: Vec<RunId> = self.runs.iter().map(|run| run.run).collect();
        if runs.is_empty() { RunId::from_parts(4, 1) } else { self.one_of(&runs) }
    }
}

/// Reads every record about calls that ask and effects that are told of, as text that can be compared.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    let principals = (0..PRINCIPALS).map(|n| Some(samples::principal(n.into()))).chain([None]);
    for principal in principals {
        for only in [ApprovalFilter::Pending, ApprovalFilter::Decided, ApprovalFilter::All] {
            let query = ApprovalQuery { principal, run: None, only, before: None, limit: 500 };
            let approvals = journal.approvals(query).await.unwrap();
            all.push(exposed(&approvals, |one| {
                format!("{} {}", one.prompt.preview.expose(), one.note.expose())
            }));
            for one in approvals {
                let alone = journal.approval(one.approval).await.unwrap();
                assert_eq!(alone, Some(one));
            }
        }
        let jobs = (0..5).map(|number| EffectFilter::Job(JobNumber(number)));
        let states =
            [EffectFilter::All, EffectFilter::Unknown, EffectFilter::Changing, EffectFilter::OpenJobs];
        for only in states.into_iter().chain(jobs) {
            let query = EffectQuery { principal, run: None, only, before: None, limit: 500 };
            let effects = journal.effects(query).await.unwrap();
            all.push(exposed(&effects, |one| one.tool.expose().clone()));
        }
    }
    for only in [GrantFilter::Standing, GrantFilter::All] {
        let grants = journal.stored_grants(only).await.unwrap();
        all.push(exposed(&grants, |one| format!("{:?}", one.stored.tool.expose())));
    }
    all.push(format!("{:?}", journal.last_job().await.unwrap()));
    all.push(format!("{:?}", journal.next_to_expire(100).await.unwrap()));
    let undos = journal.query(undos::open).await.unwrap();
    all.push(exposed(&undos, |one| one.paths.iter().map(|path| path.expose().clone()).collect()));
}

const DECIDED: [ApprovalState; 4] =
    [ApprovalState::Approved, ApprovalState::Denied, ApprovalState::Expired, ApprovalState::Withdrawn];

const RISKS: [ApprovalRiskLevel; 4] =
    [ApprovalRiskLevel::Low, ApprovalRiskLevel::Medium, ApprovalRiskLevel::High, ApprovalRiskLevel::Critical];
