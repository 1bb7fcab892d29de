//! The models of a chat: which there are, and which one answers from now on.

use palyra_client::AskProviders;

use super::{Chat, NAME_CHARS_MAX};
use crate::context::DEMO_MODEL;
use crate::failure::Failure;
use palyra_explain::{MODEL_ADDED_ELSEWHERE, model_to_add};
use palyra_run_view::{ModelStanding, chosen_model, model_standing};
use palyra_screen_text::clean_line;
use palyra_terminal::NoteKind;

impl Chat<'_> {
    /// Lists the models, or has another one answer from now on, if there is such a model.
    pub(super) async fn model(&mut self, name: &str) -> Result<(), Failure> {
        if let Some(elsewhere) = model_to_add(name) {
            return Err(Failure::Usage(elsewhere));
        }
        let mut models = self.chat_session.models(AskProviders::No).await?;
        if !models.iter().any(|model| model == name) {
            let asked = self.chat_session.models(AskProviders::Yes);
            models = self.context.waiting("asking the providers", asked).await?;
        }
        if name.is_empty() {
            let chosen = self.choice.model.as_ref().or(models.first()).cloned();
            for model in &models {
                let mark = if Some(model) == chosen.as_ref() { "* " } else { "  " };
                self.context.output.row(&format!("{mark}{}", clean_line(model, NAME_CHARS_MAX)));
            }
            if models.iter().all(|model| model == DEMO_MODEL) {
                self.note(NoteKind::Info, MODEL_ADDED_ELSEWHERE);
            }
            return Ok(());
        }
        let name = chosen_model(name, &models).map_err(|why| refused(&why))?;
        let standing = model_standing(&name, &models).map_err(|why| refused(&why))?;
        // From now on the daemon is used that has this model, also where this environment selects another.
        self.chat_session.client = self.context.connect_to_model(Some(&name)).await?;
        match standing {
            ModelStanding::Listed => self.note(NoteKind::Good, &format!("{name} answers from now on")),
            ModelStanding::Unchecked => self.note(
                NoteKind::Doubt,
                &format!(
                    "{name} answers from now on, if there is such a model: its server does not say which it has"
                ),
            ),
        }
        self.choice.model = Some(name);
        Ok(())
    }
}

fn refused(why: &str) -> Failure {
    Failure::Usage(format!("{why}; /model lists the models there are, {MODEL_ADDED_ELSEWHERE}"))
}
