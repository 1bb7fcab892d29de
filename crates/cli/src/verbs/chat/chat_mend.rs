//! How a failure is mended in a chat.

use palyra_client::ClientError;

use crate::failure::Failure;
use crate::model_names::is_same_model;

/// Returns a failure with the mend that can be typed in a chat, where that differs from a shell's.
pub(super) fn in_chat(failure: Failure) -> Failure {
    if let Failure::Client(error @ ClientError::OtherModel { in_force, own, .. }) = &failure {
        let stop = "`palyra admin stop` in another terminal, then try again";
        let mend = match is_same_model(in_force, own) {
            true => format!("`/model {in_force}` asks the daemon's model; or type {stop}"),
            false => format!("type {stop}"),
        };
        return Failure::WithMend { code: error.code(), message: error.to_string(), mend };
    }
    failure
}
