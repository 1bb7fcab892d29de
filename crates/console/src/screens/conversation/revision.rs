//! Saying a message again, or another way: a branch of the conversation, and the links between its versions.

use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::clean_text;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::screen_call::ScreenCall;

/// Conversations that are looked at for versions, the ones used last.
const BRANCHES_MAX: u32 = 200;

/// A message that can be sent again from where it was sent.
pub(super) struct RunRevision {
    path: String,
    token: String,
    key: String,
    input: String,
    /// The run after which the message was sent; empty at the beginning of a conversation.
    after_run: String,
    /// The folder of the browser's session, where the run worked in it.
    folder: String,
}

impl RunRevision {
    /// Reads the message of a run; nothing for one that was erased or came with files.
    pub(super) fn of(
        call: &ScreenCall,
        run: &v1::Run,
        entries: &[v1::TapeEntry],
        after_run: String,
    ) -> Option<Self> {
        let Some(Event::RunStarted(started)) = &entries.first()?.event else { return None };
        if started.input.is_empty() || !started.attachments.is_empty() {
            return None;
        }
        let path = format!("/console/runs/{}/revise", run.run_id);
        let is_offered = call.folder().is_some_and(|folder| folder == started.workspace_root);
        let folder = if is_offered { started.workspace_root.clone() } else { String::new() };
        Some(Self {
            token: call.form_token(&path),
            key: call.form_key(),
            path,
            input: started.input.clone(),
            after_run,
            folder,
        })
    }
}

/// Returns the form that sends a message again.
pub(super) fn revision_form(revision: &RunRevision) -> Markup {
    let field = format!("again-{}", revision.path.replace('/', "-"));
    html! {
        details {
            summary { "Ask again or change" }
            form method="post" action=(revision.path) {
                input type="hidden" name="token" value=(revision.token);
                input type="hidden" name="key" value=(revision.key);
                input type="hidden" name="after_run" value=(revision.after_run);
                input type="hidden" name="folder" value=(revision.folder);
                label for=(field) { "The message" }
                textarea id=(field) name="input" rows="3" required { "\n" (clean_text(&revision.input)) }
                p.muted { "It begins another version of the conversation. This one stays; files are not changed back." }
                div.actions { button type="submit" { "Send as another version" } }
            }
        }
    }
}

/// Returns the conversations among which versions are, newest first.
pub(super) async fn branches(call: &ScreenCall, session_id: &str) -> Result<Vec<v1::Session>, ApiError> {
    let request = v1::ListSessionsRequest { page_size: BRANCHES_MAX, ..Default::default() };
    let sessions = call.call(request).await?.sessions;
    let of_own = |session: &v1::Session| session.session_id == session_id || session.branched_from.is_some();
    Ok(sessions.into_iter().filter(of_own).collect())
}

/// Returns for each run of a list the run before it: empty for the first of all, `None` where that is not in the list.
pub(super) fn runs_before(
    list: &v1::ListRunsResponse,
    branches: &[v1::Session],
    session_id: &str,
) -> Vec<Option<String>> {
    let own = branches.iter().find(|session| session.session_id == session_id);
    let base = own.and_then(|session| session.branched_from.clone()).map(|point| point.run_id);
    let oldest = match (list.next_page_token.is_empty(), own) {
        (true, Some(_)) => Some(base.unwrap_or_default()),
        (true, None) | (false, _) => None,
    };
    let earlier = list.runs.iter().skip(1).map(|run| Some(run.run_id.clone()));
    earlier.chain([oldest]).take(list.runs.len()).collect()
}

/// Returns the links between the versions of a conversation.
pub(super) fn versions(branches: &[v1::Session], session_id: &str) -> Markup {
    let point_of = |session: &v1::Session| session.branched_from.clone().unwrap_or_default();
    let own = branches.iter().find(|session| session.session_id == session_id);
    let origin = own.map(point_of).unwrap_or_default();
    let mut versions: Vec<&v1::Session> = branches
        .iter()
        .filter(|session| {
            let point = point_of(session);
            let is_child = point.session_id == session_id;
            let is_sibling = !origin.run_id.is_empty() && point.run_id == origin.run_id;
            is_child || is_sibling
        })
        .collect();
    versions.sort_by_key(|session| session.created.map_or((0, 0), |made| (made.seconds, made.nanos)));
    html! {
        @if !origin.session_id.is_empty() || !versions.is_empty() {
            nav.versions aria-label="Versions" {
                span.muted { "Versions: " }
                @if !origin.session_id.is_empty() {
                    a href={ "/console/sessions/" (origin.session_id) } { "1" } " "
                } @else {
                    span aria-current="true" { "1" } " "
                }
                @for (at, version) in versions.iter().enumerate() {
                    @if version.session_id == session_id { span aria-current="true" { (at + 2) } " " }
                    @else { a href={ "/console/sessions/" (version.session_id) } { (at + 2) } " " }
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) fn fixture(text: &str) -> RunRevision {
    RunRevision {
        path: "/console/runs/R/revise".to_owned(),
        token: "token".to_owned(),
        key: "key".to_owned(),
        input: text.to_owned(),
        after_run: "A".to_owned(),
        folder: "/work/shop".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, from: Option<(&str, &str)>, seconds: i64) -> v1::Session {
        let branched_from = from.map(|(session, run)| v1::BranchPoint {
            session_id: session.to_owned(),
            run_id: run.to_owned(),
            tape_seq: 0,
        });
        let created = Some(prost_types::Timestamp { seconds, nanos: 0 });
        v1::Session { session_id: id.to_owned(), branched_from, created, ..Default::default() }
    }

    #[test]
    fn a_message_is_sent_again_from_the_run_before_it() {
        let run = |id: &str| v1::Run { run_id: id.to_owned(), ..Default::default() };
        let list = |token: &str| v1::ListRunsResponse {
            runs: vec![run("c"), run("b"), run("a")],
            next_page_token: token.to_owned(),
        };
        let text = |id: &str| Some(id.to_owned());
        let own = [session("s", None, 1)];
        assert_eq!(runs_before(&list(""), &own, "s"), [text("b"), text("a"), text("")]);
        assert_eq!(
            runs_before(&list("9"), &own, "s"),
            [text("b"), text("a"), None],
            "the one before is older"
        );
        let branch = [session("s", Some(("o", "base")), 1)];
        assert_eq!(runs_before(&list(""), &branch, "s"), [text("b"), text("a"), text("base")]);
        assert_eq!(runs_before(&list(""), &[], "s"), [text("b"), text("a"), None], "not among the newest");
        assert!(runs_before(&v1::ListRunsResponse::default(), &own, "s").is_empty());
    }

    #[test]
    fn versions_are_counted_from_the_conversation_that_they_branched_from() {
        let all = [
            session("later", Some(("s", "r")), 9),
            session("first", Some(("s", "r")), 5),
            session("other", Some(("x", "y")), 7),
            session("s", None, 1),
        ];
        let of_origin = versions(&all, "s").into_string();
        assert!(of_origin.contains("<span aria-current=\"true\">1</span>"), "{of_origin}");
        assert!(of_origin.contains("sessions/first\">2<") && of_origin.contains("sessions/later\">3<"));
        let of_branch = versions(&all, "later").into_string();
        assert!(
            of_branch.contains("sessions/s\">1<")
                && of_branch.contains("<span aria-current=\"true\">3</span>")
        );
        assert!(!of_origin.contains("other") && versions(&all[3..], "s").into_string().is_empty());
    }
}
