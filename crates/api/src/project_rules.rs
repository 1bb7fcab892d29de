//! Rules of projects: which `AGENTS.md` files a person accepted, by their digests.

use std::path::PathBuf;

use palyra_admin::project_rules::{FolderRules, ProjectPlace};
use palyra_runtime::Caller;
use palyra_types::project_file::AcceptedProjectFileRecord;
use palyra_types::{Content, Seq};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::translate::InvalidValue;

impl OperationHandlers {
    /// Answers `ListProjectRules`.
    pub async fn list_project_rules(
        &self,
        caller: Caller,
        message: v1::ListProjectRulesRequest,
    ) -> Result<v1::ListProjectRulesResponse, ApiError> {
        let rules = &self.state.admin.project_rules;
        let accepted = rules.accepted(caller).await?.iter().map(accepted).collect();
        let mut listed = v1::ListProjectRulesResponse { accepted, ..Default::default() };
        if let Some(root) = translate::workspace_root(message.workspace_root)? {
            let FolderRules { root: _, files, refused } =
                rules.look(caller, place(root, message.working_folder)?).await?;
            listed.files = files.iter().map(translate::project_file).collect();
            listed.refused = refused;
        }
        Ok(listed)
    }

    /// Answers `AcceptProjectRules`.
    pub async fn accept_project_rules(
        &self,
        caller: Caller,
        message: v1::AcceptProjectRulesRequest,
    ) -> Result<v1::AcceptProjectRulesResponse, ApiError> {
        let root = translate::workspace_root(message.workspace_root)?;
        let root = root.ok_or(InvalidValue::new("workspace_root", "an absolute path"))?;
        let sha256 = translate::digest(&message.sha256);
        let sha256 = sha256.ok_or(InvalidValue::new("sha256", "64 hexadecimal digits"))?;
        let place = place(root, message.working_folder)?;
        let now = self.state.admin.project_rules.accept(caller, place, sha256).await?;
        Ok(v1::AcceptProjectRulesResponse { accepted: now.iter().map(accepted).collect() })
    }

    /// Answers `WithdrawProjectRules`.
    pub async fn withdraw_project_rules(
        &self,
        caller: Caller,
        message: v1::WithdrawProjectRulesRequest,
    ) -> Result<v1::WithdrawProjectRulesResponse, ApiError> {
        self.state.admin.project_rules.withdraw(caller, Seq(message.seq)).await?;
        Ok(v1::WithdrawProjectRulesResponse {})
    }
}

fn place(root: Content<PathBuf>, folder: String) -> Result<ProjectPlace, InvalidValue> {
    Ok(ProjectPlace { root, folder: translate::absolute_path("working_folder", folder)? })
}

fn accepted(record: &AcceptedProjectFileRecord) -> v1::AcceptedProjectRules {
    let file = &record.file;
    v1::AcceptedProjectRules {
        seq: record.seq.0,
        workspace_root: file.root.expose().to_string_lossy().into_owned(),
        path: file.path.expose().clone(),
        sha256: translate::hex_or_empty(file.sha256.expose()),
        accepted: translate::timestamp(record.accepted),
    }
}
