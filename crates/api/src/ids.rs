//! `ResolveId`: what a person names by a part of an id, or as the last in a folder.

use std::path::PathBuf;

use palyra_runtime::Caller;
use palyra_runtime::ids::IdsHandle;
use palyra_types::id_name::{IdKind, IdName};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Answers `ResolveId`.
    pub async fn resolve_id(
        &self,
        caller: Caller,
        message: v1::ResolveIdRequest,
    ) -> Result<v1::ResolveIdResponse, ApiError> {
        let kind = IdKind::of(message.kind().short_name()).ok_or_else(|| {
            ApiError::invalid_argument("`kind` must be run, session, approval, grant, agent or token")
        })?;
        let name: IdName = message.name.parse().map_err(|_| {
            ApiError::invalid_argument(
                "`name` must be an id, at least 4 characters of its beginning or end, `last` or `last~N`",
            )
        })?;
        let folder = (!message.workspace_root.is_empty()).then(|| PathBuf::from(message.workspace_root));
        let found = IdsHandle::of(&self.state.waiting.approvals, &self.state.admin.grants)
            .resolve(caller, kind, &name, folder)
            .await?;
        let matches = found.matches.into_iter().map(|found| v1::IdMatch {
            id: found.id.into_string(),
            about: found.about.into_exposed(),
            created: found.created.and_then(translate::timestamp),
        });
        Ok(v1::ResolveIdResponse { matches: matches.collect(), more: found.more })
    }
}
