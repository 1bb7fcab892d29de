//! `ModelsService`: listing and testing models.

use std::time::Duration;

use palyra_admin::AdminError;
use palyra_admin::image_test::ImageSupport;
use palyra_admin::models::{ModelTest, ProviderModels, TryImage};
use palyra_ports::{ModelInfo, ModelProvider};
use palyra_runtime::Caller;
use palyra_runtime::model_directory::ModelDirectory;
use palyra_types::model::{CleanedFailure, ModelFailureClass, ModelRef};
use palyra_wire::v1::{
    self, ListModelsRequest, ListModelsResponse, Model, TestModelRequest, TestModelResponse,
};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

/// The provider that needs no test of images.
const BUILT_IN_PROVIDER: &str = "demo";

impl OperationHandlers {
    /// Answers `ListModels`.
    pub async fn list_models(
        &self,
        _caller: Caller,
        message: ListModelsRequest,
    ) -> Result<ListModelsResponse, ApiError> {
        let directory = self.state.models.directory();
        let models = if message.ask_providers {
            self.state.models.ask_all().await.into_iter().flat_map(of_provider).collect()
        } else {
            configured(&directory)
        };
        Ok(ListModelsResponse {
            models,
            default_model: directory.default_model().to_string(),
            suggestions: directory.suggestions().to_vec(),
        })
    }

    /// Answers `TestModel`.
    pub async fn test_model(
        &self,
        _caller: Caller,
        message: TestModelRequest,
    ) -> Result<TestModelResponse, ApiError> {
        let named = self.state.models.directory().model_named(&message.model);
        let wanted = if named.is_some() { named } else { translate::model(&message.model)? };
        let model = wanted.clone().unwrap_or_else(|| self.state.models.directory().default_model().clone());
        // The built-in model is known well enough.
        let try_image = message.try_image && model.provider.as_str() != BUILT_IN_PROVIDER;
        let try_image = if try_image { TryImage::Yes } else { TryImage::No };
        let images_command = self.state.models.directory().images_command(&model).unwrap_or_default();
        match self.state.models.test(wanted, try_image).await {
            Ok((model, test)) => Ok(TestModelResponse { images_command, ..passed_test(&model, test) }),
            Err(AdminError::Model(failure)) => Ok(failed_test(&model, failure)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Models that are known without a request to a provider: the default model, and the names of the other providers.
fn configured(directory: &ModelDirectory) -> Vec<Model> {
    let default = directory.default_model();
    let one_of = |provider: &dyn ModelProvider| {
        if provider.name() == default.provider {
            return listed(default, provider.model_info(&default.model));
        }
        if let Some(why) = provider.why_unusable() {
            let error = format!("{}: {why}", ModelFailureClass::Auth.code());
            return Model { model: provider.name().to_string(), error, ..Model::default() };
        }
        let note = "`palyra model list --ask` lists its models".to_owned();
        Model { model: provider.name().to_string(), note, ..Model::default() }
    };
    directory.providers().map(|provider| one_of(provider.as_ref())).collect()
}

fn of_provider(asked: ProviderModels) -> Vec<Model> {
    let (provider, answer) = asked;
    let reference = |model: &str| ModelRef::new(provider.as_str(), model);
    match answer {
        Ok(models) => models.into_iter().map(|info| listed(&reference(info.name.as_str()), info)).collect(),
        Err(failure) => {
            let error = format!("{}: {}", failure.class.code(), failure.detail.expose());
            vec![Model { model: provider.to_string(), error, ..Model::default() }]
        }
    }
}

fn listed(model: &ModelRef, info: ModelInfo) -> Model {
    Model {
        model: model.to_string(),
        context_tokens: info.context_tokens,
        note: info.note,
        error: String::new(),
        images: info.capabilities.images,
    }
}

fn image_support(images: ImageSupport) -> i32 {
    let images = match images {
        ImageSupport::Known => v1::ImageSupport::Yes,
        ImageSupport::Unknown => v1::ImageSupport::No,
        ImageSupport::Seen => v1::ImageSupport::TriedYes,
        ImageSupport::NotSeen => v1::ImageSupport::TriedNo,
    };
    images.into()
}

/// Returns a test that was answered.
pub(crate) fn passed_test(model: &ModelRef, test: ModelTest) -> TestModelResponse {
    TestModelResponse {
        ok: true,
        model: model.to_string(),
        text: test.text.into_exposed(),
        error_code: String::new(),
        first_text_ms: milliseconds(test.first_text),
        total_ms: milliseconds(test.total),
        usage: test.usage.map(translate::token_usage),
        images: image_support(test.images),
        images_command: String::new(),
    }
}

/// Returns a test that failed.
pub(crate) fn failed_test(model: &ModelRef, failure: CleanedFailure) -> TestModelResponse {
    TestModelResponse {
        ok: false,
        model: model.to_string(),
        error_code: failure.class.code().to_string(),
        text: failure.detail.into_exposed(),
        ..TestModelResponse::default()
    }
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
