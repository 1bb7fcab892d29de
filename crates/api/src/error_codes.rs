//! `ListErrorCodes`: what a client can know about errors before it meets one.

use palyra_runtime::Caller;
use palyra_types::ErrorCode;
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;

impl OperationHandlers {
    /// Answers `ListErrorCodes`.
    pub async fn list_error_codes(
        &self,
        _caller: Caller,
        _message: v1::ListErrorCodesRequest,
    ) -> Result<v1::ListErrorCodesResponse, ApiError> {
        let error_codes = ErrorCode::ALL.iter().copied().map(error_code).collect();
        Ok(v1::ListErrorCodesResponse { error_codes })
    }
}

fn error_code(code: ErrorCode) -> v1::ErrorCodeInfo {
    v1::ErrorCodeInfo {
        code: code.to_string(),
        name: code.slug().to_owned(),
        grpc_code: code.class().grpc_code().unsigned_abs(),
        http_status: code.class().http_status().into(),
        summary: code.summary().to_owned(),
        mend: code.mend().to_owned(),
    }
}
