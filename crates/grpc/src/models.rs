//! `ModelsService`: listing and testing models.

use std::time::Duration;

use palyra_ports::{ModelInfo, ModelProvider};
use palyra_runtime::RequestError;
use palyra_runtime::image_test::ImageSupport;
use palyra_runtime::model_directory::ModelDirectory;
use palyra_runtime::models::{ModelsHandle, ProviderModels, TryImage};
use palyra_types::model::{ModelFailure, ModelRef};
use palyra_wire::v1::models_service_server::ModelsService;
use palyra_wire::v1::{ListModelsRequest, ListModelsResponse, Model, TestModelRequest, TestModelResponse};
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status::Refusal;
use crate::translate;

/// The provider that needs no test of images.
const BUILT_IN_PROVIDER: &str = "demo";

/// Answers `palyra.v1.ModelsService`.
pub(crate) struct ModelsServiceImpl {
    models: ModelsHandle,
}

impl ModelsServiceImpl {
    pub(crate) fn new(models: ModelsHandle) -> Self {
        Self { models }
    }

    async fn list(&self, message: ListModelsRequest) -> ListModelsResponse {
        let directory = self.models.directory();
        let models = if message.ask_providers {
            self.models.ask_all().await.into_iter().flat_map(of_provider).collect()
        } else {
            configured(&directory)
        };
        ListModelsResponse {
            models,
            default_model: directory.default_model().to_string(),
            suggestions: directory.suggestions().to_vec(),
        }
    }

    async fn test(&self, message: TestModelRequest) -> Result<TestModelResponse, Refusal> {
        let wanted = translate::model(&message.model)?;
        let model = wanted.clone().unwrap_or_else(|| self.models.directory().default_model().clone());
        // The built-in model is known well enough.
        let try_image = message.try_image && model.provider.as_str() != BUILT_IN_PROVIDER;
        let try_image = if try_image { TryImage::Yes } else { TryImage::No };
        match self.models.test(wanted, try_image).await {
            Ok((model, test)) => Ok(TestModelResponse {
                ok: true,
                model: model.to_string(),
                text: test.text.into_exposed(),
                error_code: String::new(),
                first_text_ms: milliseconds(test.first_text),
                total_ms: milliseconds(test.total),
                usage: test.usage.map(translate::token_usage),
                images: images_word(test.images).to_owned(),
            }),
            Err(RequestError::Model(failure)) => Ok(failed_test(&model, failure)),
            Err(error) => Err(error.into()),
        }
    }
}

/// What is known without asking anybody: the default model, and the names of the other providers.
fn configured(directory: &ModelDirectory) -> Vec<Model> {
    let default = directory.default_model();
    let one_of = |provider: &dyn ModelProvider| {
        if provider.name() == default.provider {
            return listed(default, provider.model_info(&default.model));
        }
        let note = "`palyra model list --ask` lists its models".to_owned();
        Model { model: provider.name().to_string(), note, ..Model::default() }
    };
    directory.providers().map(|provider| one_of(provider.as_ref())).collect()
}

fn of_provider((provider, answer): ProviderModels) -> Vec<Model> {
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

fn images_word(images: ImageSupport) -> &'static str {
    match images {
        ImageSupport::Known => "yes",
        ImageSupport::Unknown => "no",
        ImageSupport::Seen => "tried_yes",
        ImageSupport::NotSeen => "tried_no",
    }
}

fn failed_test(model: &ModelRef, failure: ModelFailure) -> TestModelResponse {
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

#[tonic::async_trait]
impl ModelsService for ModelsServiceImpl {
    async fn list_models(
        &self,
        request: Request<ListModelsRequest>,
    ) -> Result<Response<ListModelsResponse>, Status> {
        let (_, message) = auth::open(request)?;
        Ok(Response::new(self.list(message).await))
    }

    async fn test_model(
        &self,
        request: Request<TestModelRequest>,
    ) -> Result<Response<TestModelResponse>, Status> {
        let (_, message) = auth::open(request)?;
        Ok(Response::new(self.test(message).await?))
    }
}
