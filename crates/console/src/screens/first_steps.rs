//! The first minute: what runs here, three things to ask, and the way to a model of one's own.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_wire::v1;

use super::ScreenSpec;
use crate::paths::{FIRST_STEPS_PATH, START_PATH};
use crate::screen_call::ScreenCall;
use crate::wording::{command, line};

/// The built-in model.
const DEMO_MODEL: &str = "demo/demo";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: FIRST_STEPS_PATH,
    title: "First steps",
    navigation: None,
    operation: "ListModels",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

/// Where a sentence is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrialFolder {
    /// In an empty folder of the conversation's own.
    Own,
    /// In the folder of the browser's session, when there is one.
    OfSession,
}

/// A sentence to begin with.
struct FirstSentence {
    text: &'static str,
    what_happens: &'static str,
    folder: TrialFolder,
}

const SENTENCES: [FirstSentence; 3] = [
    FirstSentence {
        text: "create hello.txt with \"Hello from Palyra\"",
        what_happens: "It asks before it writes the file, in a new folder of its own. Your files stay as they are.",
        folder: TrialFolder::Own,
    },
    FirstSentence {
        text: "list the files",
        what_happens: "It reads and does not ask.",
        folder: TrialFolder::OfSession,
    },
    FirstSentence {
        text: "search for \"TODO\"",
        what_happens: "It reads and does not ask.",
        folder: TrialFolder::OfSession,
    },
];

/// The facts behind the first steps.
#[derive(Default)]
struct StepsContext {
    default_model: String,
    folder: Option<String>,
    token: String,
    key: String,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    first_steps(&call).await
}

/// Returns the steps, also for the first screen of a person without a run.
pub(super) async fn first_steps(call: &ScreenCall) -> Result<Markup, ApiError> {
    let models = call.call(v1::ListModelsRequest::default()).await?;
    Ok(view(&StepsContext {
        default_model: models.default_model,
        folder: call.folder(),
        token: call.form_token(START_PATH),
        key: call.form_key(),
    }))
}

fn view(context: &StepsContext) -> Markup {
    let is_demo = context.default_model == DEMO_MODEL;
    html! {
        section.card aria-labelledby="first" {
            h2 id="first" { "Palyra is running" }
            p {
                @if is_demo { "The demo model answers until you add one. It understands simple sentences and needs no key." }
                @else { code { (line(&context.default_model)) } " answers." }
            }
            ul.rows {
                @for (at, sentence) in SENTENCES.iter().enumerate() { li { (sentence_form(at, sentence, context)) } }
            }
            p { "Every step is recorded, so that you can see later what ran, why it was allowed, and who allowed it." }
        }
        @if is_demo {
            section.card aria-labelledby="model" {
                h2 id="model" { "Use your own model" }
                (command("A server on this machine", "palyra model add local --base-url http://127.0.0.1:11434/v1 --model NAME"))
                (command("A provider, with its key in the environment", "palyra model add openai --base-url https://api.openai.com/v1 --model NAME --key env:OPENAI_API_KEY"))
                p { a href="/console/models" { "See the models" } }
            }
        }
    }
}

fn sentence_form(at: usize, sentence: &FirstSentence, context: &StepsContext) -> Markup {
    let folder = context.folder.as_deref().filter(|_| sentence.folder == TrialFolder::OfSession);
    html! {
        form method="post" action=(START_PATH) {
            input type="hidden" name="token" value=(context.token);
            input type="hidden" name="key" value={ (context.key) (at) };
            input type="hidden" name="input" value=(sentence.text);
            @if let Some(folder) = folder { input type="hidden" name="folder" value=(folder); }
            button.primary[at == 0] type="submit" { (sentence.text) }
            p.muted {
                (sentence.what_happens)
                @if let Some(folder) = folder { " It works in " code { (line(folder)) } "." }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let of_own = StepsContext {
        default_model: text.to_owned(),
        folder: Some("/work/shop".to_owned()),
        ..Default::default()
    };
    let of_demo = StepsContext { default_model: DEMO_MODEL.to_owned(), ..Default::default() };
    html! { (view(&of_own)) (view(&of_demo)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_works_in_a_folder_of_its_own_and_each_form_has_another_key() {
        let context = StepsContext {
            default_model: DEMO_MODEL.to_owned(),
            folder: Some("/work/shop".to_owned()),
            token: "t".to_owned(),
            key: "k".to_owned(),
        };
        let shown = view(&context).into_string();
        let forms: Vec<&str> = shown.split("<form").skip(1).collect();
        assert!(
            !forms[0].contains("name=\"folder\"") && forms[0].contains("class=\"primary\""),
            "{}",
            forms[0]
        );
        for (at, form) in forms.iter().enumerate() {
            assert!(form.contains(&format!("name=\"key\" value=\"k{at}\"")));
            assert_eq!(form.contains("value=\"/work/shop\""), at > 0);
        }
        assert!(shown.contains("palyra model add"));
        let own =
            view(&StepsContext { default_model: "mine/m".to_owned(), ..Default::default() }).into_string();
        assert!(!own.contains("palyra model add") && own.contains("mine/m"), "{own}");
    }
}
