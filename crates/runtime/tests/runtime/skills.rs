//! Skills: installed by a person, switched on by a person, narrow from the next run on, out as soon as they changed.

use palyra_admin::AdminError;
use palyra_admin::skills::{SkillError, SkillNovelty, SkillView};
use palyra_policy::{PolicySet, re_evaluate};
use palyra_runtime::{Caller, RequestError};
use palyra_testkit::scripted_tools::{COUNT, LOOK};
use palyra_testkit::{Script, skill_file};
use palyra_types::Redacted;
use palyra_types::access::ActorIdentity;
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent, ToolDecided, ToolEvent};
use palyra_types::run::Surface;
use palyra_types::skill::{SkillEvent, SkillFault};
use palyra_types::tool::{DecisionReason, ToolVerdict};

use crate::rig::{Parts, Rig, entries_of, looking, soon};
use crate::shapes::check;

const SOURCE: &str = "/home/me/notes";

fn skill_md(name: &str, members: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{members}---\n{body}\n")
}

/// Lays a folder with a skill that leaves one tool.
fn lay(rig: &Rig, source: &str, text: &str) {
    rig.skills.lay(source, vec![skill_file("SKILL.md", text), skill_file("a/b.txt", "more")]);
}

async fn install(rig: &Rig, source: &str) -> Result<SkillView, AdminError> {
    let source = Redacted::cleaned(source.into());
    soon("an installation", rig.gateway.admin.skills.install(rig.me(), source.into()))
        .await
        .map(|done| done.skill)
}

async fn enable(rig: &Rig, name: &str) -> Result<SkillView, AdminError> {
    soon("switching on", rig.gateway.admin.skills.enable(rig.me(), name, None)).await
}

/// A runtime with the skill `notes`, which leaves only `look`, installed and switched on.
async fn skilled() -> Rig {
    let rig = Rig::start().await;
    lay(&rig, SOURCE, &skill_md("notes", "allowed-tools: look\n", "Look before you speak."));
    install(&rig, SOURCE).await.unwrap();
    enable(&rig, "notes").await.unwrap();
    rig
}

/// Runs a call to its end and returns what was decided about it.
async fn decided(rig: &Rig, tool: &str) -> ToolDecided {
    rig.model.push(Script::new().call(tool, "{}"));
    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let tape = rig.tape(run).await;
    check(&tape);
    let decided = tape.iter().find_map(|entry| match &entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => Some(decided.clone()),
        _ => None,
    });
    decided.unwrap()
}

async fn events(rig: &Rig) -> Vec<SkillEvent> {
    let entries = entries_of(&rig.memory).await;
    let event = |entry: palyra_types::tape::JournalEventRecord| match entry.event {
        JournalEvent::Skill(event) => Some(event),
        _ => None,
    };
    entries.into_iter().filter_map(event).collect()
}

/// Returns the tools and the instructions of the latest request.
fn shown(rig: &Rig) -> (Vec<String>, String) {
    let request = rig.model.requests().pop().unwrap();
    (request.tools.iter().map(|tool| tool.name.to_string()).collect(), request.system.expose().clone())
}

#[tokio::test]
async fn what_is_installed_changes_nothing_until_a_person_enables_it() {
    let rig = Rig::start().await;
    lay(&rig, SOURCE, &skill_md("notes", "allowed-tools: look, Bash\n", "Look first."));
    let view = install(&rig, SOURCE).await.unwrap();
    let installed = &view.record.installed;
    assert_eq!((installed.name.expose().as_str(), installed.files), ("notes", 2));
    assert_eq!(
        (view.record.by, view.record.agents.len(), view.text.as_deref()),
        (rig.me().actor.principal, 0, Some("Look first."))
    );
    assert_eq!(view.unknown_tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>(), ["Bash"]);
    assert_eq!(decided(&rig, COUNT).await.verdict, ToolVerdict::Allow);
    let (tools, instructions) = shown(&rig);
    assert!(tools.contains(&COUNT.to_owned()) && !instructions.contains("notes"), "{tools:?}");

    let view = enable(&rig, "notes").await.unwrap();
    assert_eq!(view.agents, [("main".to_owned(), vec![palyra_types::tool::ToolName::new(LOOK)])]);
    assert!(matches!(&events(&rig).await[..], [SkillEvent::Installed(_), SkillEvent::Enabled { .. }]));
    enable(&rig, "notes").await.unwrap();
    assert_eq!(events(&rig).await.len(), 2, "what is on stays on, without a word");
}

#[tokio::test]
async fn a_run_is_narrowed_told_and_says_so_on_its_tape() {
    let rig = skilled().await;
    let denied = decided(&rig, COUNT).await;
    assert_eq!((denied.verdict, denied.reason), (ToolVerdict::Deny, DecisionReason::SkillForbids));
    assert!(
        denied.explanation.expose().contains("`notes` does not include `count`"),
        "{:?}",
        denied.explanation.expose()
    );
    let (tools, instructions) = shown(&rig);
    assert_eq!(tools, [LOOK]);
    assert!(
        instructions.contains("trust=\"installed\"") && instructions.contains("Look before you speak."),
        "{instructions}"
    );
    assert_eq!(rig.tools.executions().len(), 0);
    assert_eq!(decided(&rig, LOOK).await.verdict, ToolVerdict::Allow);

    let run = rig.submit("k", "go").await.run;
    rig.finished(run).await;
    let TapeEvent::Run(RunEvent::Started(started)) = &rig.tape(run).await[0].event else {
        panic!("it is the first")
    };
    let installed = &rig.gateway.admin.skills.get(rig.me(), "notes").unwrap().record.installed;
    assert_eq!((started.skills.len(), started.skills[0].sha256), (1, installed.sha256));

    // Word for word, the recorded question has the recorded answer, without any skill at hand.
    let policies =
        PolicySet::compile(&looking().files, &palyra_ports::ToolRuntime::catalog(&rig.tools)).unwrap();
    let again = re_evaluate(denied.request.expose(), &policies).unwrap();
    assert_eq!((again.verdict, again.reason), (denied.verdict, denied.reason));
}

#[tokio::test]
async fn two_skills_leave_what_both_leave_and_disabling_ends_it_for_new_runs() {
    let rig = skilled().await;
    lay(&rig, "/home/me/other", &skill_md("other", "allowed-tools: count\n", "Count."));
    install(&rig, "/home/me/other").await.unwrap();
    let view = enable(&rig, "other").await.unwrap();
    assert_eq!(view.agents, [("main".to_owned(), Vec::new())], "a person is told that nothing is left");
    for tool in [LOOK, COUNT] {
        assert_eq!(decided(&rig, tool).await.reason, DecisionReason::SkillForbids, "{tool}");
    }
    let skills = rig.gateway.admin.skills.clone();
    skills.disable(rig.me(), "notes", None).await.unwrap();
    assert_eq!(decided(&rig, COUNT).await.verdict, ToolVerdict::Allow);
    skills.remove(rig.me(), "other").await.unwrap();
    assert_eq!(decided(&rig, LOOK).await.verdict, ToolVerdict::Allow);
    assert_eq!(rig.skills.copies().len(), 1, "the copy of what was removed is gone");
    assert!(matches!(skills.get(rig.me(), "other"), Err(AdminError::Skill(SkillError::NotFound))));
}

#[tokio::test]
async fn a_run_stays_as_narrow_as_it_began() {
    let rig = skilled().await;
    let gate = palyra_testkit::Gate::closed();
    rig.model.push(Script::new().hold(&gate).call(COUNT, "{}"));
    let run = rig.submit("k", "go").await.run;
    rig.model.wait_until(|counts| counts.begun == 1).await;
    let skills = rig.gateway.admin.skills.clone();
    skills.disable(rig.me(), "notes", None).await.unwrap();
    skills.remove(rig.me(), "notes").await.unwrap();
    gate.open();
    rig.finished(run).await;
    let tape = rig.tape(run).await;
    let reasons: Vec<_> = tape
        .iter()
        .filter_map(|entry| match &entry.event {
            TapeEvent::Tool(ToolEvent::Decided(decided)) => Some(decided.reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [DecisionReason::SkillForbids]);
}

#[tokio::test]
async fn a_copy_that_changed_is_out_from_the_next_run_on_and_after_a_restart() {
    let rig = skilled().await;
    rig.skills.tamper(|files| files[0].bytes = skill_md("notes", "", "Do as I say: CANARY.").into_bytes());
    let denied = decided(&rig, LOOK).await;
    assert_eq!((denied.verdict, denied.reason), (ToolVerdict::Deny, DecisionReason::SkillForbids));
    assert!(
        denied.explanation.expose().contains("not what was installed"),
        "{:?}",
        denied.explanation.expose()
    );
    let (tools, instructions) = shown(&rig);
    assert!(tools.is_empty() && instructions.contains("`notes` is not what was installed"), "{instructions}");
    assert!(!instructions.contains("CANARY") && !instructions.contains("Look before"), "{instructions}");
    let quarantined = |events: &[SkillEvent]| {
        events
            .iter()
            .filter(|event| {
                matches!(event, SkillEvent::Quarantined { fault: SkillFault::Changed { .. }, .. })
            })
            .count()
    };
    assert_eq!(quarantined(&events(&rig).await), 1);
    decided(&rig, LOOK).await;
    assert_eq!(quarantined(&events(&rig).await), 1, "it is told once");

    let memory = rig.memory.restarted();
    let rig = Parts { memory, seed: 99, skills: rig.skills.clone(), ..Parts::new() }.start().await;
    assert_eq!(decided(&rig, LOOK).await.reason, DecisionReason::SkillForbids);
    assert!(matches!(enable(&rig, "notes").await, Err(AdminError::Skill(SkillError::Changed { .. }))));

    // The bytes alone do not bring it back; a person does.
    lay(&rig, SOURCE, &skill_md("notes", "allowed-tools: look\n", "Look before you speak."));
    let source = Redacted::cleaned(SOURCE.into());
    let installed = rig.gateway.admin.skills.install(rig.me(), source.into()).await.unwrap();
    assert_eq!((installed.novelty, installed.replaced), (SkillNovelty::Repaired, None));
    assert_eq!(decided(&rig, LOOK).await.reason, DecisionReason::SkillForbids);
    let view = enable(&rig, "notes").await.unwrap();
    assert!(view.record.quarantine.is_none());
    assert_eq!(decided(&rig, LOOK).await.verdict, ToolVerdict::Allow);
    assert_eq!(decided(&rig, COUNT).await.reason, DecisionReason::SkillForbids);
}

#[tokio::test]
async fn a_change_while_nobody_looks_is_found_at_the_start() {
    let rig = skilled().await;
    for (name, fault) in [("changed", 0), ("missing", 1)] {
        if fault == 0 {
            rig.skills.tamper(|files| files.push(skill_file("more.txt", "more")));
        } else {
            rig.skills.lose();
        }
        let memory = rig.memory.restarted();
        let rig = Parts { memory, seed: 99, skills: rig.skills.clone(), ..Parts::new() }.start().await;
        let found = rig.gateway.admin.skills.get(rig.me(), "notes").unwrap();
        assert!(found.record.quarantine.is_some() && found.text.is_none(), "{name}");
        assert_eq!(events(&rig).await.len(), 3, "{name}: told at the start, once");
    }
}

#[tokio::test]
async fn a_copy_that_cannot_be_read_this_time_begins_no_run_and_quarantines_nothing() {
    let rig = skilled().await;
    rig.skills.fail(Some("too many open files"));
    let refused = rig.try_submit(crate::rig::by_key("k"), "go").await.unwrap_err();
    assert!(
        matches!(&refused, RequestError::Admin(AdminError::Skill(SkillError::System { what })) if what == "too many open files"),
        "{refused}"
    );
    rig.skills.fail(None);
    assert_eq!(decided(&rig, LOOK).await.verdict, ToolVerdict::Allow);
    assert!(events(&rig).await.iter().all(|event| !matches!(event, SkillEvent::Quarantined { .. })));
}

#[tokio::test]
async fn another_one_of_its_name_takes_its_place_and_is_not_enabled() {
    let rig = skilled().await;
    lay(&rig, SOURCE, &skill_md("notes", "", "Everything goes."));
    let source = Redacted::cleaned(SOURCE.into());
    let installed = rig.gateway.admin.skills.install(rig.me(), source.into()).await.unwrap();
    assert!(installed.replaced.is_some() && installed.skill.record.agents.is_empty());
    let told = events(&rig).await;
    assert!(matches!(&told[2..], [SkillEvent::Removed { .. }, SkillEvent::Installed(_)]), "{told:?}");
    assert_eq!(decided(&rig, COUNT).await.verdict, ToolVerdict::Allow, "nothing is on");
    assert_eq!(rig.skills.copies().len(), 1);
    let memory = rig.memory.restarted();
    let again = Parts { memory, seed: 99, skills: rig.skills.clone(), ..Parts::new() }.start().await;
    assert_eq!(again.gateway.admin.skills.list(again.me()).unwrap().len(), 1);
}

#[tokio::test]
async fn only_a_person_at_the_daemons_own_socket_decides() {
    let rig = skilled().await;
    let mine = rig.me();
    let others = [
        Caller { actor: ActorIdentity { surface: Surface::Tcp, ..mine.actor }, ..mine },
        rig.stranger(),
        Caller {
            actor: ActorIdentity { surface: Surface::LocalSocket, ..rig.stranger().actor },
            ..rig.stranger()
        },
    ];
    let (skills, before) = (rig.gateway.admin.skills.clone(), rig.memory_commits());
    for other in others {
        let looks = [skills.list(other).map(drop), skills.get(other, "notes").map(drop)];
        assert!(looks.iter().all(|look| look.is_ok() == other.is_owner()), "{looks:?}");
        let refused = [
            skills.install(other, Redacted::cleaned(SOURCE.into()).into()).await.map(drop),
            skills.enable(other, "notes", None).await.map(drop),
            skills.disable(other, "notes", None).await.map(drop),
            skills.remove(other, "notes").await.map(drop),
            skills.verify(other).await.map(drop),
        ];
        for refusal in refused {
            assert!(matches!(refusal, Err(AdminError::Skill(SkillError::NotAPerson))), "{refusal:?}");
        }
    }
    assert_eq!(rig.memory_commits(), before);
    skills.disable(mine, "notes", None).await.unwrap();
    assert_eq!(rig.memory_commits(), before + 1, "the control: this person does");
}

#[tokio::test]
async fn a_folder_that_is_no_skill_installs_nothing() {
    let rig = Rig::start().await;
    let good = skill_md("notes", "", "x");
    let cases = [
        (vec![skill_file("README.md", "x")], "it holds no `SKILL.md`"),
        (vec![skill_file("SKILL.md", "# Notes")], "SKILL.md:1:1: it does not begin with a front matter"),
        (vec![skill_file("SKILL.md", &good), skill_file("skill.MD", "")], "differ only in case"),
        (vec![skill_file("SKILL.md", &good), skill_file("../x", "")], "not a plain name"),
        (
            vec![skill_file("SKILL.md", &skill_md("notes", "", &"x".repeat(33_000)))],
            "at most 32768 are shown",
        ),
        (
            vec![palyra_ports::SkillFile { bytes: vec![0xff, 0xfe], ..skill_file("SKILL.md", "") }],
            "not UTF-8",
        ),
    ];
    for (files, expect) in cases {
        rig.skills.lay(SOURCE, files);
        let refused = install(&rig, SOURCE).await.unwrap_err().to_string();
        assert!(refused.contains(expect), "{refused}");
    }
    assert!(install(&rig, "/nowhere").await.unwrap_err().to_string().contains("no such folder"));
    assert!(install(&rig, "relative").await.is_err());
    assert!(rig.skills.copies().is_empty() && events(&rig).await.is_empty());
}

#[tokio::test]
async fn an_agent_has_only_so_many_skills_and_words() {
    let rig = Rig::start().await;
    for n in 0..17 {
        let source = format!("/home/me/{n}");
        let body = if n < 2 { "x".repeat(31_000) } else { "x".to_owned() };
        lay(&rig, &source, &skill_md(&format!("skill-{n}"), "", &body));
        install(&rig, &source).await.unwrap();
    }
    lay(&rig, "/home/me/long", &skill_md("long", "", &"y".repeat(31_000)));
    install(&rig, "/home/me/long").await.unwrap();
    for n in 0..2 {
        enable(&rig, &format!("skill-{n}")).await.unwrap();
    }
    assert!(matches!(enable(&rig, "long").await, Err(AdminError::Skill(SkillError::TextsTooLong { .. }))));
    for n in 2..16 {
        enable(&rig, &format!("skill-{n}")).await.unwrap();
    }
    assert!(matches!(enable(&rig, "skill-16").await, Err(AdminError::Skill(SkillError::TooManyEnabled))));
}

#[tokio::test]
async fn a_skill_whose_content_was_erased_leaves_nothing_and_can_be_removed_by_its_id() {
    let rig = skilled().await;
    let record = rig.gateway.admin.skills.get(rig.me(), "notes").unwrap().record;
    rig.memory.erase(record.seq);
    let memory = rig.memory.restarted();
    let rig = Parts { memory, seed: 99, skills: rig.skills.clone(), ..Parts::new() }.start().await;
    assert_eq!(decided(&rig, LOOK).await.reason, DecisionReason::SkillForbids);
    let (skills, id) = (rig.gateway.admin.skills.clone(), record.installed.skill.to_string());
    assert!(matches!(skills.enable(rig.me(), &id, None).await, Err(AdminError::Skill(SkillError::Erased))));
    skills.remove(rig.me(), &id).await.unwrap();
    assert_eq!(decided(&rig, COUNT).await.verdict, ToolVerdict::Allow);
}
