//! Operations by path, bytes in and bytes out: the door for transports that know only names.

use std::sync::Arc;

use futures::StreamExt;
use palyra_api::OperationHandlers;
use palyra_runtime::Caller;
use palyra_types::ErrorCode;
use palyra_wire::operations::OPERATIONS;
use palyra_wire::v1::gateway_service_client::GatewayServiceClient;
use palyra_wire::v1::journal_service_client::JournalServiceClient;
use palyra_wire::v1::{
    GetRunRequest, GetRunResponse, ReadAttachmentRequest, StartRunResponse, VerifyJournalRequest,
    VerifyJournalResponse,
};
use prost::Message;
use tokio_util::sync::CancellationToken;

use crate::daemon::{TestDaemon, facts, reloads};
use crate::talk::start;

fn operations(daemon: &TestDaemon) -> (Arc<OperationHandlers>, Caller) {
    let facts = facts(daemon.folder(), CancellationToken::new(), reloads(Vec::new()));
    let principal = daemon.state.admin.access.local_principal();
    let operations = Arc::new(OperationHandlers::new(daemon.state.clone(), facts, CancellationToken::new()));
    (operations, Caller::at_socket(principal))
}

#[tokio::test]
async fn an_operation_by_path_answers_as_over_grpc() {
    let daemon = TestDaemon::start().await;
    let (operations, caller) = operations(&daemon);
    let call = async |path: &str, request: Vec<u8>| operations.dispatch(path, caller, &request).await;

    let started = call("/palyra.v1.GatewayService/StartRun", start("hi").encode_to_vec()).await;
    let started = StartRunResponse::decode(started.unwrap().unwrap().as_slice()).unwrap();
    let wanted = GetRunRequest { run_id: started.opened.unwrap().run_id };
    let run = call("/palyra.v1.GatewayService/GetRun", wanted.encode_to_vec()).await.unwrap().unwrap();
    let run = GetRunResponse::decode(run.as_slice()).unwrap().run.unwrap();
    let mut client = GatewayServiceClient::new(daemon.local().await);
    let seen = client.get_run(wanted.clone()).await.unwrap().into_inner().run.unwrap();
    assert_eq!((run.run_id, run.session_id), (seen.run_id, seen.session_id));

    let unknown = GetRunRequest { run_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned() };
    let refused = call("/palyra.v1.GatewayService/GetRun", unknown.encode_to_vec()).await.unwrap();
    assert_eq!(refused.unwrap_err().code(), ErrorCode::RunNotFound);
    let broken = call("/palyra.v1.GatewayService/GetRun", vec![0xff]).await.unwrap();
    assert_eq!(broken.unwrap_err().code(), ErrorCode::InvalidFrame);
    assert!(call("/palyra.v1.GatewayService/GetNothing", Vec::new()).await.is_none());
}

#[tokio::test]
async fn every_operation_with_one_request_has_a_path_and_one_form() {
    let daemon = TestDaemon::start().await;
    let (operations, caller) = operations(&daemon);
    for operation in OPERATIONS {
        // Bytes that are no message: no operation is carried out.
        let answer = operations.dispatch(operation.path, caller, &[0xff]).await;
        let streams = operation.client_streams || operation.server_streams;
        assert_eq!(answer.is_none(), streams, "{}", operation.path);
        let stream = operations.dispatch_stream(operation.path, caller, &[0xff]).await;
        let is_stream = operation.server_streams && !operation.client_streams;
        assert_eq!(stream.is_some(), is_stream, "{}", operation.path);
        let answered = answer.map(|answer| answer.unwrap_err().code());
        for code in answered.into_iter().chain(stream.map(|stream| stream.err().unwrap().code())) {
            assert_eq!(code, ErrorCode::InvalidFrame, "{}", operation.path);
        }
    }
    assert!(operations.dispatch_stream("/palyra.v1.GatewayService/GetNothing", caller, &[]).await.is_none());
}

/// The control is the same stream over gRPC.
#[tokio::test]
async fn a_stream_by_path_has_the_messages_of_the_stream_over_grpc() {
    let daemon = TestDaemon::start().await;
    let (operations, caller) = operations(&daemon);
    let path = "/palyra.v1.JournalService/VerifyJournal";
    let steps = operations.dispatch_stream(path, caller, &[]).await.unwrap().unwrap();
    let messages: Vec<_> =
        steps.map(|step| VerifyJournalResponse::decode(step.unwrap().as_slice()).unwrap()).collect().await;
    let mut client = JournalServiceClient::new(daemon.local().await);
    let stream = client.verify_journal(VerifyJournalRequest {}).await.unwrap().into_inner();
    let seen: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert!(!messages.is_empty());
    assert_eq!(messages.last(), seen.last());
}

/// One that watches for ever ends when the operations end, and its handle can be dropped at any message.
#[tokio::test]
async fn a_stream_by_path_is_refused_before_its_first_message_or_ends_with_the_operations() {
    let daemon = TestDaemon::start().await;
    let facts = facts(daemon.folder(), CancellationToken::new(), reloads(Vec::new()));
    let principal = daemon.state.admin.access.local_principal();
    let caller = Caller::at_socket(principal);
    let stop = CancellationToken::new();
    let operations = Arc::new(OperationHandlers::new(daemon.state.clone(), facts, stop.clone()));

    let unknown =
        ReadAttachmentRequest { run_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(), ..Default::default() };
    let path = "/palyra.v1.GatewayService/ReadAttachment";
    let refused = operations.dispatch_stream(path, caller, &unknown.encode_to_vec()).await.unwrap();
    assert_eq!(refused.err().unwrap().code(), ErrorCode::RunNotFound);

    let path = "/palyra.v1.ApprovalsService/WatchApprovals";
    let watch = async || operations.dispatch_stream(path, caller, &[]).await.unwrap().unwrap();
    let mut dropped = watch().await;
    assert!(dropped.next().await.unwrap().is_ok());
    drop(dropped);
    let mut watched = watch().await;
    assert!(watched.next().await.unwrap().is_ok());
    stop.cancel();
    let rest: Vec<_> = watched.collect().await;
    let refused: Vec<_> = rest.iter().map(Result::is_err).collect();
    assert_eq!(refused.iter().position(|refused| *refused), Some(rest.len() - 1), "{refused:?}");
}
