//! `AddModel`: a server of models is tested, then its key is kept, then it is written into the configuration.
//!
//! Invariant: nothing is changed before the test was answered, and the file never names a secret that the vault does not
//! have. A crash in between leaves a secret that no server names.

use std::sync::Arc;
use std::time::Duration;

use palyra_admin::AdminError;
use palyra_admin::vault::{PutRequest, PutStanding};
use palyra_runtime::{Caller, GatewayRuntimeState};
use palyra_types::{Content, ErrorCode};
use palyra_wire::short_names::must_be;
use palyra_wire::v1::{self, AddModelRequest, AddModelResponse, TestModelResponse};

use crate::api_error::ApiError;
use crate::daemon_facts::DaemonFacts;
use crate::model_changes::{
    AddModelError, ConfigureModels, ExistingServer, ModelAddition, ModelDraft, ModelFormat, NewDefault,
};
use crate::models::{failed_test, passed_test};
use crate::operations::OperationHandlers;
use crate::reload::ReloadError;

/// How long the test may take: less than a transport waits for an operation.
const TEST_SPAN_MAX: Duration = Duration::from_secs(45);

impl OperationHandlers {
    /// Answers `AddModel`.
    pub async fn add_model(
        &self,
        caller: Caller,
        message: AddModelRequest,
    ) -> Result<AddModelResponse, ApiError> {
        let change = ModelChange {
            state: self.state.clone(),
            daemon: self.daemon.clone(),
            caller,
            addition: addition(&message)?,
        };
        let ModelDraft { provider, model, .. } = change.draft().await?;
        match self.state.models.test_server(&provider, &model, TEST_SPAN_MAX).await {
            Ok(test) => change.save(passed_test(&model, test)).await,
            Err(AdminError::Model(failure)) => Ok(AddModelResponse {
                test: Some(failed_test(&model, failure)),
                default_model: self.state.models.directory().default_model().to_string(),
                ..AddModelResponse::default()
            }),
            Err(error) => Err(error.into()),
        }
    }
}

/// A change of the configuration, and who makes it.
struct ModelChange {
    state: GatewayRuntimeState,
    daemon: DaemonFacts,
    caller: Caller,
    addition: ModelAddition,
}

impl ModelChange {
    async fn draft(&self) -> Result<ModelDraft, ApiError> {
        let addition = self.addition.clone();
        self.on_disk(move |configure| configure.draft(&addition)).await
    }

    /// Does a piece of work on a thread that may wait for the disk.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn ConfigureModels) -> Result<T, AddModelError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let configure = Arc::clone(&self.daemon.model_changes.configure);
        let done = tokio::task::spawn_blocking(move || work(&*configure)).await;
        Ok(done.map_err(|_| interrupted())??)
    }

    /// Saves it; a change runs to its end, also when its caller leaves.
    async fn save(self, test: TestModelResponse) -> Result<AddModelResponse, ApiError> {
        let _one_at_a_time = self.daemon.model_changes.one_at_a_time().await;
        // The file may be another one than before the test.
        let draft = Arc::new(self.draft().await?);
        let staged = Arc::clone(&draft);
        let persist = self.on_disk(move |configure| configure.stage(&staged)).await?;
        let secret = self.keep_key(&draft).await?;
        if let Err(error) = self.on_disk(move |_| persist()).await {
            self.remove(&secret).await;
            return Err(error);
        }
        let mistakes = match self.daemon.reload.reload().await {
            Ok(_) => Vec::new(),
            Err(ReloadError::Invalid { mistakes }) => mistakes,
            Err(error @ ReloadError::ShuttingDown) => vec![error.to_string()],
        };
        if mistakes.is_empty() {
            self.remove(draft.former_secret.as_deref().unwrap_or_default()).await;
        }
        Ok(AddModelResponse {
            test: Some(test),
            saved: true,
            default_model: self.state.models.directory().default_model().to_string(),
            config_file: draft.file.display().to_string(),
            secret,
            mistakes,
        })
    }

    /// Puts the key into the vault; returns the name of its secret, empty without a key.
    async fn keep_key(&self, draft: &ModelDraft) -> Result<String, ApiError> {
        let (Some(secret), Some(key)) = (&draft.secret, &self.addition.key) else { return Ok(String::new()) };
        let request = PutRequest {
            name: secret.name.clone(),
            value: key.clone(),
            hosts: Some(vec![secret.host.clone()]),
            sent_as: Some(secret.sent_as.to_owned()),
            standing: PutStanding::New,
        };
        let record = self.state.admin.vault.put(self.caller, request).await?;
        Ok(record.name.as_str().to_owned())
    }

    /// Removes a secret that no server names any more. One that stays harms nothing.
    async fn remove(&self, secret: &str) {
        if !secret.is_empty()
            && let Err(error) = self.state.admin.vault.remove(self.caller, secret).await
        {
            tracing::warn!("the secret `{secret}`, which no server names, was not removed: {error}");
        }
    }
}

fn addition(message: &AddModelRequest) -> Result<ModelAddition, ApiError> {
    let format = match v1::ModelFormat::try_from(message.format) {
        Ok(v1::ModelFormat::Unspecified | v1::ModelFormat::OpenaiChat) => ModelFormat::OpenAiChat,
        Ok(v1::ModelFormat::OpenaiResponses) => ModelFormat::OpenAiResponses,
        Ok(v1::ModelFormat::AnthropicMessages) => ModelFormat::AnthropicMessages,
        Err(_) => {
            return Err(ApiError::invalid_argument(&must_be("format", v1::ModelFormat::SHORT_NAMES)));
        }
    };
    let key = message.key.trim();
    Ok(ModelAddition {
        name: message.name.trim().to_owned(),
        format,
        base_url: message.base_url.trim().to_owned(),
        model: message.model.trim().to_owned(),
        key: (!key.is_empty()).then(|| Content::new(key.to_owned())),
        context_tokens: (message.context_tokens > 0).then_some(message.context_tokens),
        new_default: if message.make_default { NewDefault::ThisModel } else { NewDefault::Unchanged },
        existing: if message.replace { ExistingServer::Replaced } else { ExistingServer::Kept },
    })
}

impl From<AddModelError> for ApiError {
    fn from(error: AddModelError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

fn interrupted() -> ApiError {
    ApiError::new(ErrorCode::Internal, "the operation was interrupted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_without_the_white_space_that_was_pasted_with_it() {
        let request = AddModelRequest {
            name: " box ".to_owned(),
            base_url: "https://h/v1\n".to_owned(),
            model: " m".to_owned(),
            key: " canary-lantern\n".to_owned(),
            replace: true,
            ..AddModelRequest::default()
        };
        let read = addition(&request).unwrap();
        let texts = [read.name.as_str(), read.base_url.as_str(), read.model.as_str()];
        assert_eq!(texts, ["box", "https://h/v1", "m"]);
        assert_eq!(read.key.map(|key| key.expose().clone()).as_deref(), Some("canary-lantern"));
        assert_eq!((read.format, read.context_tokens), (ModelFormat::OpenAiChat, None));
        assert_eq!((read.new_default, read.existing), (NewDefault::Unchanged, ExistingServer::Replaced));
        let without_key = addition(&AddModelRequest { key: " ".to_owned(), ..request.clone() }).unwrap();
        assert!(without_key.key.is_none());
        let unknown = addition(&AddModelRequest { format: 7, ..request }).unwrap_err();
        assert_eq!(unknown.code(), ErrorCode::InvalidArgument);
        assert_eq!(unknown.text(), "`format` must be openai_chat, anthropic_messages or openai_responses");
    }

    #[test]
    fn a_refusal_has_the_code_of_its_reason() {
        let kept = AddModelError::NotKept { code: ErrorCode::VaultLocked, why: "locked".to_owned() };
        assert_eq!(ApiError::from(kept).code(), ErrorCode::VaultLocked);
        assert_eq!(ApiError::from(AddModelError::NoFile).code(), ErrorCode::ConfigUnreadable);
    }
}
