//! Which of several settings holds.

use palyra_types::Redacted;
use palyra_types::SessionId;
use palyra_types::posture::PostureChanged;
use palyra_types::run::Surface;

use super::*;

fn agent() -> AgentId {
    AgentId::from_parts(1, 1)
}

fn session(principal: u64) -> SessionRef {
    SessionRef { principal: PrincipalId::from_parts(principal, 1), id: SessionId::from_parts(2, 1) }
}

fn place() -> PosturePlace<'static> {
    PosturePlace { agent: agent(), workspace: Some("/ws/me"), session: session(1) }
}

fn workspace(path: &str) -> PostureScope {
    PostureScope::Workspace(Redacted::cleaned(path.to_owned()))
}

fn record(entry: u64, tool: &str, scope: PostureScope, posture: Posture) -> PostureRecord {
    let (by, via) = (PrincipalId::from_parts(9, 9), Surface::LocalSocket);
    let change = PostureChanged {
        replaces: None,
        scope,
        posture: Some(posture),
        by,
        via,
        tool: Redacted::cleaned(tool.to_owned()),
    };
    PostureRecord { seq: Seq(entry), set: Timestamp(1_763_788_980_000_000), change }
}

fn registry(settings: &[(PostureScope, Posture)]) -> PostureRegistry {
    let records: Vec<_> = settings
        .iter()
        .zip(1..)
        .map(|((scope, posture), entry)| record(entry, "read_file", scope.clone(), *posture))
        .collect();
    PostureRegistry::default().with_stored(&records)
}

fn check(settings: &[(PostureScope, Posture)], expect: StandingPosture) {
    let mut turned = settings.to_vec();
    for settings in [settings.to_vec(), {
        turned.reverse();
        turned
    }] {
        let registry = registry(&settings);
        assert_eq!(registry.standing(&ToolName::new("read_file"), place()), expect, "{settings:?}");
        assert_eq!(registry.standing(&ToolName::new("other"), place()), StandingPosture::Unset);
    }
}

#[test]
fn the_most_specific_wins_and_disabled_always() {
    use Posture::{AlwaysAllow, Ask, Disabled};
    let set = StandingPosture::Set;
    let (global, agent) = (PostureScope::Global, PostureScope::Agent(agent()));
    let (work, session) = (workspace("/ws/me"), PostureScope::Session(session(1)));
    check(&[], StandingPosture::Unset);
    check(&[(workspace("/other"), Disabled)], StandingPosture::Unset);
    check(&[(global.clone(), Ask)], set(Ask));
    check(&[(global.clone(), Ask), (agent.clone(), AlwaysAllow)], set(AlwaysAllow));
    check(&[(agent.clone(), AlwaysAllow), (work.clone(), Ask)], set(Ask));
    check(&[(work.clone(), Ask), (session.clone(), AlwaysAllow)], set(AlwaysAllow));
    check(&[(global.clone(), Disabled), (session.clone(), AlwaysAllow)], set(Disabled));
    check(&[(agent.clone(), AlwaysAllow), (session.clone(), Disabled)], set(Disabled));
    // Of one place: what leaves less.
    check(&[(global.clone(), AlwaysAllow), (global, Ask)], set(Ask));
    check(&[(session.clone(), AlwaysAllow), (session, Ask), (agent, AlwaysAllow)], set(Ask));
}

#[test]
fn a_folder_narrows_what_lies_below_it_and_widens_only_itself() {
    use Posture::{AlwaysAllow, Ask, Disabled};
    let set = StandingPosture::Set;
    check(&[(workspace("/ws"), Disabled)], set(Disabled));
    check(&[(workspace("/ws/"), Ask)], set(Ask));
    check(&[(workspace("/"), Ask)], set(Ask));
    check(&[(workspace("/wor"), Disabled)], StandingPosture::Unset);
    check(&[(workspace("/ws/me/deeper"), Disabled)], StandingPosture::Unset);
    check(&[(workspace("/ws"), AlwaysAllow)], StandingPosture::Unset);
    check(&[(workspace("/ws/me"), AlwaysAllow), (workspace("/ws"), Ask)], set(AlwaysAllow));
}

#[test]
fn a_session_of_the_same_id_is_another_persons() {
    let mine = registry(&[(PostureScope::Session(session(1)), Posture::AlwaysAllow)]);
    let theirs = PosturePlace { session: session(2), ..place() };
    let tool = ToolName::new("read_file");
    assert_eq!(mine.standing(&tool, place()), StandingPosture::Set(Posture::AlwaysAllow));
    assert_eq!(mine.standing(&tool, theirs), StandingPosture::Unset);
}

#[test]
fn what_cannot_be_read_stays_so() {
    let registry = PostureRegistry::Unreadable.with(&ToolName::new("a"), Posture::AlwaysAllow);
    assert_eq!(registry.standing(&ToolName::new("a"), place()), StandingPosture::Unreadable);
    let widened = record(1, "a", PostureScope::Global, Posture::AlwaysAllow);
    assert_eq!(registry.with_stored(&[widened]), PostureRegistry::Unreadable);
}

#[test]
fn what_was_erased_disables_everything_where_it_held_and_widens_nothing() {
    use Posture::{AlwaysAllow, Ask, Disabled};
    let session_scope = PostureScope::Session(session(1));
    for (scope, posture, holds) in [
        (PostureScope::Global, Disabled, true),
        (session_scope.clone(), Ask, true),
        (PostureScope::Workspace(Redacted::default()), Disabled, true),
        (PostureScope::Session(session(2)), Disabled, false),
        (session_scope, AlwaysAllow, false),
    ] {
        let registry = PostureRegistry::default().with_stored(&[record(7, "", scope, posture)]);
        let (standing, from) = registry.holds(&ToolName::new("anything"), place());
        assert_eq!(standing == StandingPosture::Set(Disabled), holds, "{posture:?}");
        let told = from.map(|from| from.describe(Disabled)).unwrap_or_default();
        assert_eq!(
            told.ends_with("by a setting whose content was erased (journal entry 7)"),
            holds,
            "{told}"
        );
    }
}

#[test]
fn the_words_say_what_holds_where_and_by_whom() {
    let disabled = registry(&[(PostureScope::Session(session(1)), Posture::Disabled)]);
    let (_, from) = disabled.holds(&ToolName::new("read_file"), place());
    assert_eq!(
        from.expect("a setting").describe(Posture::Disabled),
        format!(
            "disabled for this session, set by {} on 2025-11-22 05:23 UTC (journal entry 1)",
            PrincipalId::from_parts(9, 9)
        )
    );
    let configured = PostureRegistry::default().with(&ToolName::new("a"), Posture::AlwaysAllow);
    let (_, from) = configured.holds(&ToolName::new("a"), place());
    assert_eq!(
        from.expect("a setting").describe(Posture::AlwaysAllow),
        "always allow everywhere, by the configuration"
    );
}

#[test]
fn the_canonical_text_names_entries_and_never_a_path() {
    let text = registry(&[(workspace("/home/canary"), Posture::Ask)]).canonical_text();
    assert_eq!(text, "posture entry 1 Ask\n");
}
