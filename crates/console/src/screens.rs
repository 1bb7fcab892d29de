//! The table of screens. A screen is one file: what it reads, what it shows, and what it says when there is nothing.
//!
//! Navigation, routes and tests go through [`SCREENS`]; a screen that is not in it does not exist.

mod waiting;
mod approval;
mod runs;
mod run;
mod sessions;
mod chat;
mod conversation;
mod first_steps;
mod undo;
mod grants;
mod memory;
mod learning;
mod schedules;
mod effects;
mod policies;
mod why;
mod proofs;
mod verification;
mod models;
mod usage;
mod tools;
mod people;
mod settings;
mod status;
mod incidents;

use std::sync::Arc;

use futures::future::BoxFuture;
use maud::Markup;
use palyra_api::ApiError;

pub(crate) use chat::{InputForm, input_form};
pub(crate) use conversation::{asked_fragment, recall_choice};
pub(crate) use incidents::{HealingModeForm, mode_request};
pub(crate) use memory::SAVE_PATH as SAVE_MEMORY_PATH;
pub(crate) use models::{AddModelForm, add_model_request};
pub(crate) use schedules::{draft_of, preview_schedule, schedule_again};

use crate::screen_call::ScreenCall;

/// Answers with what is below the heading of a screen.
pub(crate) type RenderScreen = fn(Arc<ScreenCall>) -> BoxFuture<'static, Result<Markup, ApiError>>;

/// A screen.
pub(crate) struct ScreenSpec {
    /// Where it is.
    pub(crate) path: &'static str,
    /// Its heading, and its word in the navigation.
    pub(crate) title: &'static str,
    /// Its row in the navigation; `None` for a screen that others link to.
    pub(crate) navigation: Option<NavigationRow>,
    /// The operation that it reads first.
    pub(crate) operation: &'static str,
    pub(crate) render: RenderScreen,
    /// The view with one text in every place where foreign text is.
    #[cfg(test)]
    pub(crate) fixture: fn(&str) -> Markup,
    /// The view when there is nothing, and its sentence; `None` where that cannot be.
    #[cfg(test)]
    pub(crate) empty: Option<EmptyView>,
}

/// A row of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NavigationRow {
    /// The work of every day.
    First,
    /// How the daemon is set up, and what proves what it did.
    More,
}

/// A screen without anything to show.
#[cfg(test)]
pub(crate) struct EmptyView {
    pub(crate) view: fn() -> Markup,
    /// What it says then.
    pub(crate) sentence: &'static str,
}

/// Every screen, in the order of the navigation.
pub(crate) const SCREENS: &[ScreenSpec] = &[
    waiting::SCREEN,
    runs::SCREEN,
    sessions::SCREEN,
    chat::SCREEN,
    grants::SCREEN,
    memory::SCREEN,
    learning::SCREEN,
    schedules::SCREEN,
    effects::SCREEN,
    policies::SCREEN,
    proofs::SCREEN,
    models::SCREEN,
    usage::SCREEN,
    tools::SCREEN,
    people::SCREEN,
    settings::SCREEN,
    status::SCREEN,
    incidents::SCREEN,
    first_steps::SCREEN,
    approval::SCREEN,
    run::SCREEN,
    conversation::SCREEN,
    why::SCREEN,
    undo::SCREEN,
    verification::SCREEN,
    schedules::NEW_SCREEN,
    schedules::ONE_SCREEN,
    schedules::EDIT_SCREEN,
];

#[cfg(test)]
mod tests {
    use palyra_wire::operations::{OperationAudience, OperationKind, OperationSpec};

    use super::*;
    use crate::hostile_text::{HOSTILE, assert_inert};
    use crate::page::page;
    use crate::screen_call::SignedIn;

    #[test]
    fn a_screen_reads_with_an_operation_that_a_page_session_may_call() {
        for screen in SCREENS {
            let operation = OperationSpec::by_name(screen.operation).unwrap();
            assert_eq!(
                (operation.audience, operation.kind),
                (OperationAudience::Principals, OperationKind::Read)
            );
            assert!(screen.path.starts_with("/console") && !screen.title.ends_with('.'), "{}", screen.path);
            assert!(screen.navigation.is_none() || !screen.path.contains('{'), "{}", screen.path);
        }
    }

    /// A browser walks over the paths of this file; a screen that is not in it would not be visited.
    #[test]
    fn the_walk_of_the_browser_has_every_screen() {
        let listed: Vec<&str> = include_str!("../screens.txt").lines().collect();
        let paths: Vec<&str> = SCREENS.iter().map(|screen| screen.path).collect();
        assert_eq!(listed, paths, "crates/console/screens.txt lists the paths of SCREENS, in its order");
    }

    #[test]
    fn foreign_text_stays_text_on_every_screen() {
        let person =
            || SignedIn { name: HOSTILE.to_owned(), sign_out_token: "token".to_owned(), refused: Vec::new() };
        for screen in SCREENS {
            let body = (screen.fixture)(HOSTILE);
            assert_inert(&body.clone().into_string());
            assert!(
                body.clone().into_string().contains("&lt;script&gt;"),
                "the text is shown: {}",
                screen.path
            );
            assert_inert(&page(screen.title, screen.path, &person(), &body).into_string());
        }
    }

    /// Scripts and styles come from two files only, and a form is sent by POST with its token.
    #[test]
    fn a_page_has_no_script_or_style_of_its_own_and_each_form_its_token() {
        let person = SignedIn {
            name: "user:local".to_owned(),
            sign_out_token: "token".to_owned(),
            refused: Vec::new(),
        };
        for screen in SCREENS {
            let html =
                page(screen.title, screen.path, &person, &(screen.fixture)("plain words")).into_string();
            assert_eq!(html.matches("<script").count(), 1, "{}", screen.path);
            assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onclick="));
            for form in html.split("<form").skip(1) {
                let form = form.split("</form>").next().unwrap();
                let is_search = form.starts_with(" method=\"get\"");
                let has_token = form.contains("method=\"post\"") && form.contains("name=\"token\" value=\"");
                assert!(is_search || has_token, "{}: {form}", screen.path);
            }
            assert_eq!(html.matches("<h1>").count(), 1);
            assert!(html.contains("lang=\"en\"") && html.contains("name=\"viewport\""));
        }
    }

    #[test]
    fn a_screen_that_can_be_empty_says_so_in_one_sentence() {
        let mut said = Vec::new();
        for screen in SCREENS {
            let Some(empty) = &screen.empty else { continue };
            assert!((empty.view)().into_string().contains(empty.sentence), "{}", screen.path);
            said.push(empty.sentence);
        }
        assert!(said.len() >= 3 && said.iter().all(|sentence| sentence.split(' ').count() <= 25), "{said:?}");
    }
}
