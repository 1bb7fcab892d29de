//! What the references of an input cost, before a run starts with it.

use palyra_runtime::session::SubmitRequest;
use palyra_runtime::{Caller, PreviewedInput, PreviewedReference, ReferenceCost};
use palyra_wire::v1::{self, PreviewContextReferencesRequest, PreviewContextReferencesResponse};

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::start_run::{offered_root, submit_request, with_whole_model};
use crate::translate::references;

impl OperationHandlers {
    /// Answers `PreviewContextReferences`.
    pub async fn preview_context_references(
        &self,
        caller: Caller,
        message: PreviewContextReferencesRequest,
    ) -> Result<PreviewContextReferencesResponse, ApiError> {
        let start = v1::StartRunRequest {
            attachments: Vec::new(),
            idempotency_key: String::new(),
            ..message.start.unwrap_or_default()
        };
        let offered_root = offered_root(&self.state, caller);
        let request = SubmitRequest {
            offered_root,
            ..submit_request(with_whole_model(&self.state, start), Vec::new())?
        };
        let PreviewedInput { references, tokens_shown, surplus } =
            self.state.sessions.preview_references(caller, request).await?;
        let references = references.into_iter().map(row).collect();
        Ok(PreviewContextReferencesResponse { references, tokens_shown, surplus })
    }
}

fn row(reference: PreviewedReference) -> v1::PreviewedReference {
    let mut row = v1::PreviewedReference {
        kind: references::kind(reference.kind).into(),
        written: reference.written.into_exposed(),
        ..Default::default()
    };
    if let Some(call) = reference.call {
        row.tool = call.tool.to_string();
        row.arguments = call.arguments.into_exposed();
    }
    match reference.cost {
        ReferenceCost::Known { whole, shown } => {
            v1::PreviewedReference { tokens_whole: Some(whole), tokens_shown: Some(shown), ..row }
        }
        ReferenceCost::SameAs(place) => {
            v1::PreviewedReference { same_as: Some(place.saturating_add(1)), ..row }
        }
        ReferenceCost::AfterCall => row,
        ReferenceCost::Failed(why) => v1::PreviewedReference { error: references::error(why).into(), ..row },
    }
}
