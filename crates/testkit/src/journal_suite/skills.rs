//! Skills: what is installed, switched on, quarantined and removed, as the log says it.

use palyra_journal_core::families::skills;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::{AppendTape, NewEntry};
use palyra_types::event::JournalEvent;
use palyra_types::skill::{InstalledSkill, SkillEvent, SkillFault, SkillRecord};
use palyra_types::tool::ToolName;
use palyra_types::{AgentId, Redacted, Seq, SkillId, Timestamp};

use super::JournalFactory;
use super::samples::{self, append};

/// Returns an example of an installed skill.
#[must_use]
pub fn installed(number: u128, name: &str) -> InstalledSkill {
    InstalledSkill {
        skill: SkillId::from_parts(8, number),
        sha256: [u8::try_from(number).unwrap_or(0); 32],
        files: 2,
        bytes: 300,
        name: Redacted::cleaned(name.to_owned()),
        description: "Takes notes.".into(),
        allowed_tools: Some(vec![ToolName::new("glob"), ToolName::new("read_file")]),
        source: "/home/somebody/skills/notes".into(),
    }
}

fn entry(event: SkillEvent, at: i64) -> NewEntry {
    let (principal, event) = (samples::principal(0), JournalEvent::Skill(event));
    NewEntry { time: Timestamp(at), principal, session: None, run: None, event }
}

/// Agents, quarantine and removal follow the entries; what names no skill changes nothing.
pub async fn skills_are_shown_as_the_log_says(factory: &impl JournalFactory) {
    let journal = factory.make();
    let (notes, other) = (installed(1, "notes"), installed(2, "other"));
    let (skill, agents) = (notes.skill, [AgentId::from_parts(1, 2), AgentId::from_parts(1, 1)]);
    let enabled = |agent: usize| SkillEvent::Enabled { skill, agent: agents[agent] };
    let first = [SkillEvent::Installed(other.clone()), SkillEvent::Installed(notes.clone())];
    let seq = journal.append(append(first.map(|event| entry(event, 5)).to_vec())).await.unwrap().first_seq;
    let is = async |change: &dyn Fn(&mut SkillRecord), what: &str| {
        let blank = |installed: &InstalledSkill, seq| SkillRecord {
            installed: installed.clone(),
            by: samples::principal(0),
            created: Timestamp(5),
            agents: Vec::new(),
            quarantine: None,
            removed: None,
            seq,
        };
        let mut expected = [blank(&other, seq), blank(&notes, Seq(seq.0 + 1))];
        change(&mut expected[1]);
        assert_eq!(journal.query(skills::records).await.unwrap(), expected, "{what}");
    };
    let tell = async |event: SkillEvent, at: i64| {
        journal.append(append(vec![entry(event, at)])).await.unwrap();
    };
    is(&|_| (), "installed skills are used by nobody").await;
    tell(enabled(0), 6).await;
    tell(enabled(1), 6).await;
    tell(enabled(1), 7).await;
    is(&|skill| skill.agents = vec![agents[1], agents[0]], "each agent counts once, in order of id").await;
    let fault = SkillFault::Changed { found: [9; 32] };
    tell(SkillEvent::Quarantined { skill, fault }, 8).await;
    tell(SkillEvent::Quarantined { skill, fault: SkillFault::Missing }, 9).await;
    let quarantine = Some(palyra_types::skill::SkillQuarantine { since: Timestamp(8), fault });
    let both = vec![agents[1], agents[0]];
    is(
        &|skill| (skill.agents, skill.quarantine) = (both.clone(), quarantine),
        "the first finding counts, and nobody's wish is forgotten",
    )
    .await;
    tell(enabled(0), 10).await;
    is(&|skill| skill.agents.clone_from(&both), "a person's yes lifts it").await;
    tell(SkillEvent::Disabled { skill, agent: agents[1] }, 11).await;
    is(&|skill| skill.agents = vec![agents[0]], "switched off for one").await;
    tell(SkillEvent::Removed { skill }, 12).await;
    tell(enabled(0), 13).await;
    tell(SkillEvent::Removed { skill: SkillId::from_parts(8, 77) }, 13).await;
    is(&|skill| skill.removed = Some(Timestamp(12)), "what is removed stays so").await;

    factory.erase(&journal, Seq(seq.0 + 1));
    let left = journal.query(skills::records).await.unwrap().pop().unwrap().installed;
    assert!(left.is_erased() && left.allowed_tools.is_none());
    assert_eq!((left.sha256, left.files), (notes.sha256, notes.files), "facts stay");
}
