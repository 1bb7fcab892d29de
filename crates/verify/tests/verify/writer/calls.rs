//! Calls of tools: proposed, decided, approved, granted, started and attested as a daemon writes them, or wrongly.

use super::{Chance, Log, New, bytes_field, number_field};

const ALLOW: u64 = 1;
const ASK: u64 = 2;
const DENY: u64 = 3;
const APPROVED: u64 = 2;
const REFUSED: u64 = 3;

/// Who decides about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Policy,
    Grant([u8; 16]),
    Approval([u8; 16]),
}

/// What is wrong with the record of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    NotStarted,
    Denied,
    Undecided,
    OnlyAsked,
    OtherCall,
    OtherThanEdited,
    ApprovalRefused,
    ApprovalOfAnother,
    ApprovalAfterStart,
    DecidedTwice,
    NeverAsked,
    GrantNeverGiven,
    GrantRevoked,
    GrantUsedUp,
    OtherGrant,
}

impl Wrong {
    pub(crate) const ALL: [Self; 15] = [
        Self::NotStarted,
        Self::Denied,
        Self::Undecided,
        Self::OnlyAsked,
        Self::OtherCall,
        Self::OtherThanEdited,
        Self::ApprovalRefused,
        Self::ApprovalOfAnother,
        Self::ApprovalAfterStart,
        Self::DecidedTwice,
        Self::NeverAsked,
        Self::GrantNeverGiven,
        Self::GrantRevoked,
        Self::GrantUsedUp,
        Self::OtherGrant,
    ];
}

/// A run while its entries are written.
pub(crate) struct Tape<'l> {
    log: &'l mut Log,
    pub(crate) run: [u8; 16],
    pub(crate) tape_seq: u32,
    key_id: i64,
}

impl<'l> Tape<'l> {
    pub(crate) fn new(log: &'l mut Log, run: [u8; 16], tape_seq: u32, key_id: i64) -> Self {
        Self { log, run, tape_seq, key_id }
    }

    /// Appends an entry of the tape with facts from field 2 on, and perhaps content.
    fn entry(&mut self, kind: u16, rest: impl FnOnce(&mut Vec<u8>), payload: Option<&[u8]>) -> u64 {
        self.tape_seq += 1;
        let mut facts = Vec::new();
        number_field(&mut facts, 1, 1);
        rest(&mut facts);
        let (run, tape_seq, key_id) = (self.run, self.tape_seq, self.key_id);
        let payload = payload.map(<[u8]>::to_vec);
        self.log.append(New { kind, run, tape_seq, facts, payload, key_id, ..New::default() })
    }

    fn proposed(&mut self, effect: u64, digest: [u8; 32]) {
        let rest = |facts: &mut Vec<u8>| {
            number_field(facts, 2, effect);
            bytes_field(facts, 4, &digest);
        };
        self.entry(0x60, rest, Some(b"a tool and its arguments"));
    }

    fn decided(&mut self, effect: u64, verdict: u64, by: By) -> u64 {
        let rest = |facts: &mut Vec<u8>| {
            number_field(facts, 2, effect);
            number_field(facts, 3, verdict);
            match by {
                By::Policy => number_field(facts, 5, 1),
                By::Grant(id) => {
                    number_field(facts, 5, 3);
                    bytes_field(facts, 16, &id);
                }
                By::Approval(id) => {
                    number_field(facts, 5, 4);
                    bytes_field(facts, 16, &id);
                }
            }
        };
        self.entry(0x61, rest, Some(b"why"))
    }

    fn on_requested(&mut self, effect: u64, approval: [u8; 16]) {
        let rest = |facts: &mut Vec<u8>| {
            bytes_field(facts, 2, &approval);
            number_field(facts, 3, effect);
        };
        self.entry(0x65, rest, Some(b"what is shown"));
    }

    fn resolved(&mut self, effect: u64, approval: [u8; 16], state: u64, edited: Option<[u8; 32]>) -> u64 {
        let rest = |facts: &mut Vec<u8>| {
            bytes_field(facts, 2, &approval);
            number_field(facts, 3, effect);
            number_field(facts, 4, state);
            edited.iter().for_each(|digest| bytes_field(facts, 7, digest));
        };
        self.entry(0x67, rest, Some(b"a note"))
    }

    fn granted(&mut self, grant: [u8; 16], uses_max: Option<u64>) {
        let rest = |facts: &mut Vec<u8>| {
            bytes_field(facts, 2, &grant);
            uses_max.iter().for_each(|uses_max| number_field(facts, 8, *uses_max));
        };
        self.entry(0x68, rest, Some(b"what it covers"));
    }

    fn revoked(&mut self, grant: [u8; 16]) {
        let mut facts = Vec::new();
        number_field(&mut facts, 1, 1);
        bytes_field(&mut facts, 2, &grant);
        self.log.append(New { kind: 0x70, facts, ..New::default() });
    }

    fn started(&mut self, effect: u64) -> u64 {
        self.entry(0x62, |facts| number_field(facts, 2, effect), Some(b"what it will do"))
    }

    fn finished(&mut self, effect: u64, digest: [u8; 32], by: By) -> u64 {
        let rest = |facts: &mut Vec<u8>| {
            number_field(facts, 2, effect);
            let mut attested = Vec::new();
            bytes_field(&mut attested, 2, &digest);
            match by {
                By::Policy => {}
                By::Approval(id) => bytes_field(&mut attested, 4, &id),
                By::Grant(id) => bytes_field(&mut attested, 5, &id),
            }
            bytes_field(facts, 9, &attested);
        };
        self.entry(0x63, rest, Some(b"what came of it"))
    }

    /// Appends a call up to its start: permitted, approved, edited, or covered by a grant given before.
    pub(crate) fn call(&mut self, effect: u64, chance: &mut Chance) -> StartedCall {
        let (digest, edited) = (chance.array(), chance.array());
        let (approval, grant) = (chance.array(), chance.array());
        self.proposed(effect, digest);
        let (digest, by) = match chance.below(4) {
            0 => {
                self.approved(effect, approval, None);
                (digest, By::Approval(approval))
            }
            1 => {
                self.approved(effect, approval, Some(edited));
                self.granted(chance.array(), None);
                (edited, By::Approval(approval))
            }
            2 => {
                self.granted(grant, Some(1));
                self.decided(effect, ALLOW, By::Grant(grant));
                (digest, By::Grant(grant))
            }
            _ => {
                self.decided(effect, ALLOW, By::Policy);
                (digest, By::Policy)
            }
        };
        self.started(effect);
        StartedCall { effect, digest, by }
    }

    fn approved(&mut self, effect: u64, approval: [u8; 16], edited: Option<[u8; 32]>) {
        self.decided(effect, ASK, By::Policy);
        self.on_requested(effect, approval);
        self.resolved(effect, approval, APPROVED, edited);
        self.decided(effect, ALLOW, By::Approval(approval));
    }

    /// Appends the outcome of a call.
    pub(crate) fn end(&mut self, begun: &StartedCall) {
        self.finished(begun.effect, begun.digest, begun.by);
    }

    /// Appends a call whose record is wrong; returns the entry that gives it away.
    pub(crate) fn wrong(&mut self, wrong: Wrong, chance: &mut Chance) -> u64 {
        let digest = chance.array();
        self.proposed(1, digest);
        match wrong {
            Wrong::NotStarted => {
                self.decided(1, ALLOW, By::Policy);
                self.finished(1, digest, By::Policy)
            }
            Wrong::Denied => {
                self.decided(1, ALLOW, By::Policy);
                self.decided(1, DENY, By::Policy);
                self.started(1)
            }
            Wrong::Undecided => self.started(1),
            Wrong::OtherCall => {
                self.decided(1, ALLOW, By::Policy);
                self.started(1);
                self.finished(1, chance.array(), By::Policy)
            }
            Wrong::GrantNeverGiven | Wrong::GrantRevoked | Wrong::GrantUsedUp | Wrong::OtherGrant => {
                self.wrong_grant(wrong, digest, chance.array())
            }
            Wrong::OnlyAsked
            | Wrong::OtherThanEdited
            | Wrong::ApprovalRefused
            | Wrong::ApprovalOfAnother
            | Wrong::ApprovalAfterStart
            | Wrong::DecidedTwice
            | Wrong::NeverAsked => self.wrong_approval(wrong, digest, chance),
        }
    }

    fn wrong_approval(&mut self, wrong: Wrong, digest: [u8; 32], chance: &mut Chance) -> u64 {
        let (approval, edited) = (chance.array(), chance.array());
        match wrong {
            Wrong::OnlyAsked => {
                self.decided(1, ASK, By::Policy);
                self.on_requested(1, approval);
                self.started(1)
            }
            Wrong::OtherThanEdited => {
                self.approved(1, approval, Some(edited));
                self.started(1);
                self.finished(1, digest, By::Approval(approval))
            }
            Wrong::ApprovalRefused => {
                self.on_requested(1, approval);
                self.resolved(1, approval, REFUSED, None);
                self.decided(1, ALLOW, By::Approval(approval))
            }
            Wrong::ApprovalOfAnother => {
                self.on_requested(2, approval);
                self.resolved(2, approval, APPROVED, None);
                self.decided(1, ALLOW, By::Policy);
                self.started(1);
                self.finished(1, digest, By::Approval(approval))
            }
            Wrong::ApprovalAfterStart => {
                self.decided(1, ALLOW, By::Policy);
                self.on_requested(1, approval);
                self.started(1);
                self.resolved(1, approval, APPROVED, None);
                self.finished(1, digest, By::Approval(approval))
            }
            Wrong::DecidedTwice => {
                self.on_requested(1, approval);
                self.resolved(1, approval, REFUSED, None);
                self.resolved(1, approval, APPROVED, None)
            }
            _ => self.resolved(1, approval, APPROVED, None),
        }
    }

    fn wrong_grant(&mut self, wrong: Wrong, digest: [u8; 32], grant: [u8; 16]) -> u64 {
        match wrong {
            Wrong::GrantRevoked => {
                self.granted(grant, None);
                self.revoked(grant);
                self.decided(1, ALLOW, By::Grant(grant))
            }
            Wrong::GrantUsedUp => {
                self.granted(grant, Some(1));
                self.decided(1, ALLOW, By::Grant(grant));
                self.decided(2, ALLOW, By::Grant(grant))
            }
            Wrong::OtherGrant => {
                self.granted(grant, None);
                self.decided(1, ALLOW, By::Policy);
                self.started(1);
                self.finished(1, digest, By::Grant(grant))
            }
            _ => self.decided(1, ALLOW, By::Grant(grant)),
        }
    }
}

/// A call that was started.
pub(crate) struct StartedCall {
    effect: u64,
    digest: [u8; 32],
    by: By,
}

impl StartedCall {
    /// Returns the facts of its outcome.
    pub(crate) fn outcome(&self) -> Vec<u8> {
        let mut facts = Vec::new();
        number_field(&mut facts, 1, 1);
        number_field(&mut facts, 2, self.effect);
        facts
    }
}
