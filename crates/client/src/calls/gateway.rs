//! Runs: starting, answering, cancelling, reading.

use palyra_types::attachment::ATTACHMENT_BYTES_MAX;
use palyra_types::id_name::IdKind;
use palyra_types::{RunId, SessionId};
use palyra_wire::v1;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use tonic::{Response, Status, Streaming};

use super::call::{SHORT, required};
use crate::client::Client;
use crate::error::ClientError;
use crate::follow::{RunStream, StreamOpening, saying};
use crate::input_reach::InputReach;
use crate::transport::{MESSAGE_BYTES_MAX, Transport};

impl Client {
    fn gateway(&self) -> GatewayServiceClient<Transport> {
        GatewayServiceClient::new(self.connection().transport).max_decoding_message_size(MESSAGE_BYTES_MAX)
    }

    /// Opens a stream that says this; it stays open until dropped.
    pub(crate) async fn run_stream(&self, opening: &StreamOpening) -> Result<RunStream, ClientError> {
        let (frames, stays) = saying(opening.frames(&self.connection().model));
        let mut gateway = self.gateway();
        let frames = self.answer(SHORT, gateway.run_stream(frames)).await?;
        Ok(RunStream::new(frames, stays))
    }

    /// Starts a run and returns at once; repeating it with the same idempotency key is harmless.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]: then the run may or may not exist, and repeating tells.
    pub async fn start_run(&self, start: v1::StartRunRequest) -> Result<v1::Opened, ClientError> {
        let answer = self.call(start).await?;
        required(answer.opened, "a started run was not described")
    }

    /// Sends an input to a run.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; repeating it with the same input is harmless.
    pub async fn send_input(
        &self,
        run: RunId,
        input: v1::Input,
        reach: InputReach,
    ) -> Result<v1::InputAccepted, ClientError> {
        let this_run_only = reach == InputReach::RunOnly;
        let request = v1::SendInputRequest { run_id: run.to_string(), input: Some(input), this_run_only };
        let answer = self.call(request).await?;
        required(answer.accepted, "an accepted input was not described")
    }

    /// Asks a run to stop.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn cancel_run(&self, run: RunId) -> Result<v1::CancelRunResponse, ClientError> {
        self.call(v1::CancelRunRequest { run_id: run.to_string() }).await
    }

    /// Returns a run.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn get_run(&self, run: RunId) -> Result<v1::Run, ClientError> {
        let answer = self.call(v1::GetRunRequest { run_id: run.to_string() }).await?;
        required(answer.run, "a run was not described")
    }

    /// Finds what a person names by a part of an id, or as the last in a folder, among what the caller may see.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn resolve_id(
        &self,
        kind: IdKind,
        name: &str,
        workspace_root: String,
    ) -> Result<v1::ResolveIdResponse, ClientError> {
        let kind = v1::NamedKind::from_short_name(kind.as_str()).unwrap_or_default().into();
        let request = v1::ResolveIdRequest { kind, name: name.to_owned(), workspace_root };
        self.call(request).await
    }

    /// Returns a page of a run's tape.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn read_tape(
        &self,
        run: RunId,
        after_tape_seq: u32,
        limit: u32,
    ) -> Result<v1::ReadTapeResponse, ClientError> {
        let request = v1::ReadTapeRequest { run_id: run.to_string(), after_tape_seq, limit };
        self.call(request).await
    }

    /// Returns a file that came with an input, and its bytes.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]; [`ClientError::Protocol`] when it does not come whole.
    pub async fn read_attachment(
        &self,
        run: RunId,
        tape_seq: u32,
        index: u32,
    ) -> Result<(v1::AttachmentInfo, Vec<u8>), ClientError> {
        let mut gateway = self.gateway();
        let request = v1::ReadAttachmentRequest { run_id: run.to_string(), tape_seq, index };
        let mut parts = self.answer(SHORT, gateway.read_attachment(request)).await?;
        let (mut info, mut content) = (None::<v1::AttachmentInfo>, Vec::new());
        while let Some(part) = self.answer(SHORT, next_part(&mut parts)).await? {
            info = info.or(part.info);
            content.extend(part.data);
            if content.len() > ATTACHMENT_BYTES_MAX {
                return Err(ClientError::Protocol { what: "a file is larger than any may be" });
            }
        }
        let info = required(info, "a file was not described")?;
        if info.bytes != content.len() as u64 {
            return Err(ClientError::Protocol { what: "a file did not come whole" });
        }
        Ok((info, content))
    }

    /// Returns a page of a session's entries in the journal's order.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn read_session_tape(
        &self,
        session: SessionId,
        after_seq: Option<u64>,
        limit: u32,
    ) -> Result<v1::ReadSessionTapeResponse, ClientError> {
        let request = v1::ReadSessionTapeRequest { session_id: session.to_string(), after_seq, limit };
        self.call(request).await
    }
}

async fn next_part(
    parts: &mut Streaming<v1::ReadAttachmentResponse>,
) -> Result<Response<Option<v1::ReadAttachmentResponse>>, Status> {
    parts.message().await.map(Response::new)
}
