//! Hands each entry to the families it concerns.

use palyra_types::effect::EffectSettled;
use palyra_types::event::{
    AccessEvent, AgentEvent, EffectEvent, JournalEvent, LogEvent, PolicyEvent, RunEvent, SessionEvent,
    TapeEvent,
};
use rusqlite::Connection;

use super::agents::Agents;
use super::approvals::{Approvals, Asked};
use super::components::Components;
use super::effects::Effects;
use super::epochs::Epochs;
use super::folded::Folded;
use super::input_keys::InputKeys;
use super::kinds_seen::KindsSeen;
use super::phases::UnderWay;
use super::postures::Postures;
use super::principals::Principals;
use super::resets::Resets;
use super::rows::Held;
use super::runs::Runs;
use super::sessions::Sessions;
use super::shadows::Shadows;
use super::skills::Skills;
use super::stored_grants::StoredGrants;
use super::tokens::Tokens;
use super::undos::{Said, Undos};
use super::{
    agents, approvals, components, effects, epochs, input_keys, kinds_seen, postures, principals, resets,
    runs, sessions, shadows, skills, stored_grants, tokens, undos,
};

/// All projections.
pub(crate) struct Projections {
    pub(crate) runs: Held<Runs>,
    pub(crate) sessions: Held<Sessions>,
    pub(crate) approvals: Held<Approvals>,
    pub(crate) stored_grants: Held<StoredGrants>,
    pub(crate) effects: Held<Effects>,
    undos: Held<Undos>,
    skills: Held<Skills>,
    components: Held<Components>,
    postures: Held<Postures>,
    shadows: Held<Shadows>,
    input_keys: Held<InputKeys>,
    resets: Held<Resets>,
    agents: Held<Agents>,
    principals: Held<Principals>,
    tokens: Held<Tokens>,
    epochs: Held<Epochs>,
    kinds: Held<KindsSeen>,
}

impl Projections {
    pub(crate) fn new() -> Self {
        Self {
            runs: Held::new(),
            sessions: Held::new(),
            approvals: Held::new(),
            stored_grants: Held::new(),
            effects: Held::new(),
            undos: Held::new(),
            skills: Held::new(),
            components: Held::new(),
            postures: Held::new(),
            shadows: Held::new(),
            input_keys: Held::new(),
            resets: Held::new(),
            agents: Held::new(),
            principals: Held::new(),
            tokens: Held::new(),
            epochs: Held::new(),
            kinds: Held::new(),
        }
    }

    /// Folds one entry into all families.
    pub(crate) fn fold(&mut self, connection: &Connection, entry: &Folded<'_>) -> rusqlite::Result<()> {
        kinds_seen::seen(&mut self.kinds, connection, entry)?;
        match entry.event {
            JournalEvent::Tape(event) => self.fold_tape(connection, entry, event)?,
            JournalEvent::Log(LogEvent::EpochStarted { epoch, key, .. }) => {
                epochs::started(&mut self.epochs, entry, *epoch, key);
            }
            JournalEvent::Access(AccessEvent::PrincipalRegistered { principal, name }) => {
                principals::registered(&mut self.principals, entry, *principal, name);
            }
            JournalEvent::Access(AccessEvent::TokenCreated { token, sha256, expires, label }) => {
                tokens::created(&mut self.tokens, connection, entry, *token, (sha256, *expires, label))?;
            }
            JournalEvent::Access(AccessEvent::TokenRevoked { token }) => {
                tokens::revoked(&mut self.tokens, connection, entry, *token)?;
            }
            JournalEvent::Agent(AgentEvent::Saved { agent, profile }) => {
                agents::saved(&mut self.agents, connection, entry, *agent, profile)?;
            }
            JournalEvent::Agent(AgentEvent::Archived { agent }) => {
                agents::archived(&mut self.agents, connection, entry, *agent)?;
            }
            JournalEvent::Session(SessionEvent::Opened { session, agent, key, label, branched_from }) => {
                let texts = (key.as_ref(), label.as_ref());
                let names = (*session, *agent);
                sessions::opened(&mut self.sessions, connection, entry, names, texts, *branched_from)?;
            }
            JournalEvent::Session(SessionEvent::Renamed { session, label }) => {
                sessions::renamed(&mut self.sessions, connection, entry, *session, label.as_ref())?;
            }
            JournalEvent::Session(SessionEvent::Archived { session }) => {
                let since = Some(entry.time);
                sessions::archived(&mut self.sessions, connection, entry, *session, since)?;
            }
            JournalEvent::Session(SessionEvent::Restored { session }) => {
                sessions::archived(&mut self.sessions, connection, entry, *session, None)?;
            }
            JournalEvent::Session(SessionEvent::Reset { session }) => {
                resets::reset(&mut self.resets, entry, *session);
                sessions::reset(&mut self.sessions, connection, entry, *session)?;
            }
            JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, .. }) => {
                stored_grants::revoked(&mut self.stored_grants, connection, entry, *grant)?;
            }
            JournalEvent::Effect(EffectEvent::Settled(settled)) => {
                self.fold_settled(connection, entry, settled)?;
            }
            JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => {
                undos::said(&mut self.undos, entry, (requested.undo, requested.run), Said::Requested);
            }
            JournalEvent::Effect(EffectEvent::UndoFinished { undo, run, .. }) => {
                undos::said(&mut self.undos, entry, (*undo, *run), Said::Finished);
            }
            JournalEvent::Skill(event) => skills::fold(&mut self.skills, connection, entry, event)?,
            JournalEvent::Component(event) => {
                components::fold(&mut self.components, connection, entry, event)?;
            }
            JournalEvent::Job(event) => effects::job(&mut self.effects, connection, event)?,
            JournalEvent::Policy(PolicyEvent::PostureChanged(changed)) => {
                postures::changed(&mut self.postures, connection, entry, changed)?;
            }
            JournalEvent::Policy(PolicyEvent::ShadowCounted(counts)) => {
                shadows::counted(&mut self.shadows, entry, counts.candidate);
            }
            JournalEvent::Log(
                LogEvent::Opened { .. } | LogEvent::Erased { .. } | LogEvent::Reopened { .. },
            )
            | JournalEvent::Vault(_)
            | JournalEvent::Unknown { .. } => {}
        }
        Ok(())
    }

    fn fold_settled(
        &mut self,
        connection: &Connection,
        entry: &Folded<'_>,
        settled: &EffectSettled,
    ) -> rusqlite::Result<()> {
        let under_way = effects::settled(&mut self.effects, connection, entry, settled)?;
        runs::changed(&mut self.runs, connection, settled.run, under_way)
    }

    fn fold_tape(
        &mut self,
        connection: &Connection,
        entry: &Folded<'_>,
        event: &TapeEvent,
    ) -> rusqlite::Result<()> {
        let under_way = effects::fold(&mut self.effects, connection, entry, event)?;
        let asked = approvals::fold(&mut self.approvals, connection, entry, event)?;
        stored_grants::fold(&mut self.stored_grants, connection, entry, event)?;
        runs::fold(&mut self.runs, connection, entry, (event, under_way))?;
        let (run, asked) = match asked {
            Some(Asked::More(run)) => (Some(run), 1),
            Some(Asked::Less(run)) => (Some(run), -1),
            None => (None, 0),
        };
        if let Some(run) = run {
            let under_way = UnderWay { asked, ..UnderWay::default() };
            runs::changed(&mut self.runs, connection, run, under_way)?;
        }
        if let TapeEvent::Run(RunEvent::InputReceived { idempotency: Some(digest), .. }) = event {
            input_keys::received(&mut self.input_keys, connection, entry, *digest)?;
        }
        sessions::touched(&mut self.sessions, connection, entry, event)
    }

    /// Writes what changed.
    pub(crate) fn flush(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.runs.flush(connection)?;
        self.sessions.flush(connection)?;
        self.approvals.flush(connection)?;
        self.stored_grants.flush(connection)?;
        self.effects.flush(connection)?;
        self.undos.flush(connection)?;
        self.skills.flush(connection)?;
        self.components.flush(connection)?;
        self.postures.flush(connection)?;
        self.shadows.flush(connection)?;
        self.input_keys.flush(connection)?;
        self.resets.flush(connection)?;
        self.agents.flush(connection)?;
        self.principals.flush(connection)?;
        self.tokens.flush(connection)?;
        self.epochs.flush(connection)?;
        self.kinds.flush(connection)
    }

    /// Returns whether so many rows are held that they should be written.
    pub(crate) fn is_full(&self) -> bool {
        self.runs.is_full()
            || self.sessions.is_full()
            || self.approvals.is_full()
            || self.stored_grants.is_full()
            || self.effects.is_full()
            || self.undos.is_full()
            || self.skills.is_full()
            || self.components.is_full()
            || self.postures.is_full()
            || self.shadows.is_full()
            || self.input_keys.is_full()
            || self.resets.is_full()
            || self.agents.is_full()
            || self.principals.is_full()
    }

    /// Drops what is held after a rollback.
    pub(crate) fn forget(&mut self) {
        self.runs.forget();
        self.sessions.forget();
        self.approvals.forget();
        self.stored_grants.forget();
        self.effects.forget();
        self.undos.forget();
        self.skills.forget();
        self.components.forget();
        self.postures.forget();
        self.shadows.forget();
        self.input_keys.forget();
        self.resets.forget();
        self.agents.forget();
        self.principals.forget();
        self.tokens.forget();
        self.epochs.forget();
        self.kinds.forget();
    }
}
