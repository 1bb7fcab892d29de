//! The place in a conversation up to which models read a summary.

use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{bytes, clean_text, count};
use palyra_wire::v1;

use super::SpokenRun;
use crate::screen_call::ScreenCall;

/// The summary in force.
pub(super) struct CompactedPart {
    made: v1::Compaction,
    revert_path: String,
    token: String,
}

impl CompactedPart {
    /// Returns the summary that runs of a conversation read which begin now.
    pub(super) async fn of(call: &ScreenCall, session_id: &str) -> Result<Option<Self>, ApiError> {
        let request = v1::ListCompactionsRequest { session_id: session_id.to_owned() };
        let all = call.call(request).await?.compactions;
        Ok(all.into_iter().find(|made| made.in_force).map(|made| {
            let revert_path =
                format!("/console/sessions/{session_id}/compactions/{}/revert", made.compaction);
            let token = call.form_token(&revert_path);
            Self { made, revert_path, token }
        }))
    }

    /// Returns whether the run is the last one that it covers.
    pub(super) fn is_after(&self, run: &v1::Run) -> bool {
        self.made.last_run_id == run.run_id
    }

    pub(super) fn is_after_one_of(&self, spoken: &[SpokenRun]) -> bool {
        spoken.iter().any(|spoken| self.is_after(&spoken.run))
    }

    pub(super) fn markup(&self) -> Markup {
        let made = &self.made;
        html! {
            details.card {
                summary {
                    "Models read a summary of the " (count(made.runs.into(), "run")) " up to here, "
                    (bytes(made.summary_bytes)) " instead of " (bytes(made.source_bytes))
                }
                pre { (clean_text(&made.summary)) }
                form method="post" action=(self.revert_path) {
                    input type="hidden" name="token" value=(self.token);
                    div.actions { button type="submit" { "Take the summary back" } }
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn fixture(text: &str) -> Self {
        let made = v1::Compaction { summary: text.to_owned(), in_force: true, ..Default::default() };
        Self {
            made,
            revert_path: "/console/sessions/s/compactions/1/revert".to_owned(),
            token: "token".to_owned(),
        }
    }
}
