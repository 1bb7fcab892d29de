//! What an undo of a run's file changes would do, and what the newest one did.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{clean_text, count};
use palyra_types::access::AccessScope;
use palyra_wire::v1;

use super::ScreenSpec;
use crate::screen_call::ScreenCall;
use crate::tape_row::difference;
use crate::wording::{StateMark, line, line_or, now_seconds, time_tag};

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/runs/{run_id}/undo",
    title: "Undo",
    navigation: None,
    operation: "PreviewUndo",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let run_id = call.param("run_id");
    let run = call.call(v1::GetRunRequest { run_id: run_id.clone() }).await?.run.unwrap_or_default();
    let files = call.call(v1::PreviewUndoRequest { run_id }).await?.files;
    let may_undo = call.has_scope(AccessScope::Runs);
    let token = may_undo.then(|| call.form_token(&undo_path(&run)));
    Ok(view(&run, &files, token.as_deref(), now_seconds()))
}

fn undo_path(run: &v1::Run) -> String {
    format!("/console/runs/{}/undo", run.run_id)
}

fn view(run: &v1::Run, files: &[v1::UndoneFile], token: Option<&str>, now: i64) -> Markup {
    let changes = files.iter().any(|file| file.result() == v1::UndoResult::Restored);
    html! {
        p { strong { (line_or(&run.input_preview, "The input was erased.")) } }
        @if let Some(undone) = &run.undone {
            div.notice role="status" {
                p {
                    "Undone " (time_tag(undone.ended.as_ref(), now)) ": "
                    @if (undone.restored, undone.skipped) == (0, 0) {
                        "how many files were taken back is not known, since that was erased with the content."
                    } @else {
                        (count(undone.restored.into(), "file")) " as before the run, "
                        (count(undone.skipped.into(), "file")) " left alone."
                    }
                }
            }
        }
        h2 { "What an undo would do now" }
        @if files.is_empty() { p { "The run changed no file." } }
        @for file in files { (card(file)) }
        @match token {
            Some(token) if changes => {
                form method="post" action=(undo_path(run)) {
                    input type="hidden" name="token" value=(token);
                    div.actions { button.danger type="submit" { "Undo these changes" } }
                }
            }
            Some(_) => {}
            None => { p.notice { "Your role cannot undo. A person with the role member or owner can." } }
        }
        p { a href={ "/console/sessions/" (run.session_id) } { "Back to its conversation" } }
    }
}

fn card(file: &v1::UndoneFile) -> Markup {
    html! {
        section.card {
            h3 { code { (line(&file.path)) } }
            p { (mark(file).markup()) }
            @if !file.detail.is_empty() {
                @if file.result() == v1::UndoResult::Failed { p { (clean_text(&file.detail)) } }
                @else { (difference(&file.detail)) }
            }
        }
    }
}

fn mark(file: &v1::UndoneFile) -> StateMark {
    match file.result() {
        v1::UndoResult::Restored if file.removed => {
            StateMark::new("−", "is removed: the run made it", "caution")
        }
        v1::UndoResult::Restored => StateMark::new("↶", "gets its content from before the run", "caution"),
        v1::UndoResult::AlreadyRestored => StateMark::new("✓", "is as before the run", "positive"),
        v1::UndoResult::Conflict => {
            StateMark::new("✕", "was changed after the run, so that nothing is undone", "danger")
        }
        v1::UndoResult::Withheld => StateMark::new("■", "stays, because another file was changed", "muted"),
        v1::UndoResult::Failed => StateMark::new("✕", "cannot be written", "danger"),
        v1::UndoResult::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let file = |result: v1::UndoResult| v1::UndoneFile {
        path: text.to_owned(),
        result: result.into(),
        detail: text.to_owned(),
        removed: false,
    };
    let files = [v1::UndoResult::Restored, v1::UndoResult::Conflict, v1::UndoResult::Failed].map(file);
    let undone = v1::RunUndo { restored: 1, ..Default::default() };
    let run = v1::Run { input_preview: text.to_owned(), undone: Some(undone), ..Default::default() };
    view(&run, &files, Some("token"), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undo_whose_record_was_erased_has_no_counts() {
        let shown = |restored| {
            let undone = v1::RunUndo { restored, ..Default::default() };
            let run = v1::Run { undone: Some(undone), ..Default::default() };
            view(&run, &[], None, 0).into_string()
        };
        assert!(shown(1).contains("1 file as before the run"));
        assert!(shown(0).contains("is not known") && !shown(0).contains("0 files"));
    }

    #[test]
    fn only_what_would_change_something_has_a_button() {
        let shown = |result: v1::UndoResult, token| {
            let file = v1::UndoneFile { path: "a".to_owned(), result: result.into(), ..Default::default() };
            view(&v1::Run::default(), &[file], token, 0).into_string()
        };
        assert!(shown(v1::UndoResult::Restored, Some("token")).contains("Undo these changes"));
        for result in [v1::UndoResult::Conflict, v1::UndoResult::AlreadyRestored, v1::UndoResult::Withheld] {
            assert!(!shown(result, Some("token")).contains("<form"));
        }
        let viewer = shown(v1::UndoResult::Restored, None);
        assert!(!viewer.contains("<form") && viewer.contains("member or owner"), "{viewer}");
    }
}
