//! Health and reflection.

use palyra_wire::FILE_DESCRIPTOR_SET;
use prost::Message;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};
use tonic_reflection::pb::v1alpha;

use crate::daemon::TestDaemon;
use crate::raw::services;

fn check(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

fn served() -> Vec<String> {
    let mut names = services();
    names.push("grpc.health.v1.Health".to_owned());
    names
}

#[tokio::test]
async fn every_service_is_healthy_for_whoever_asks() {
    let daemon = TestDaemon::start().await;
    for channel in [daemon.local().await, daemon.remote().await] {
        let mut client = HealthClient::new(channel);
        for service in served().iter().map(String::as_str).chain([""]) {
            let answer = client.check(check(service)).await.unwrap().into_inner();
            assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
        }
        assert_eq!(client.check(check("nothing")).await.unwrap_err().code(), Code::NotFound);
    }
}

#[tokio::test]
async fn who_watches_a_service_hears_of_the_stop() {
    let daemon = TestDaemon::start().await;
    let mut client = HealthClient::new(daemon.remote().await);
    let mut watched = Vec::new();
    for service in served().iter().map(String::as_str).chain([""]) {
        let mut watch = client.watch(check(service)).await.unwrap().into_inner();
        let first = watch.message().await.unwrap().unwrap();
        assert_eq!(first.status(), ServingStatus::Serving, "{service}");
        watched.push(watch);
    }
    daemon.stop_request.cancel();
    for watch in &mut watched {
        assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    }
    daemon.stop.cancel();
    for mut watch in watched {
        assert!(watch.message().await.unwrap().is_none());
    }
}

async fn reflect(daemon: &TestDaemon, request: MessageRequest) -> MessageResponse {
    let mut client = ServerReflectionClient::new(daemon.local().await);
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(request) };
    let mut answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let ServerReflectionResponse { message_response, .. } = answers.message().await.unwrap().unwrap();
    message_response.unwrap()
}

#[tokio::test]
async fn reflection_lists_exactly_the_services() {
    let daemon = TestDaemon::start().await;
    let MessageResponse::ListServicesResponse(list) =
        reflect(&daemon, MessageRequest::ListServices(String::new())).await
    else {
        panic!("a list was asked for")
    };
    let mut names: Vec<String> = list.service.into_iter().map(|service| service.name).collect();
    names.sort();
    let mut expected = served();
    expected.push("grpc.reflection.v1.ServerReflection".to_owned());
    expected.sort();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn the_older_reflection_lists_the_same() {
    let daemon = TestDaemon::start().await;
    let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(daemon.local().await);
    let list = v1alpha::server_reflection_request::MessageRequest::ListServices(String::new());
    let request = v1alpha::ServerReflectionRequest { host: String::new(), message_request: Some(list) };
    let mut answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
    let v1alpha::server_reflection_response::MessageResponse::ListServicesResponse(list) = answer else {
        panic!("a list was asked for")
    };
    let mut names: Vec<String> = list.service.into_iter().map(|service| service.name).collect();
    names.sort();
    let mut expected = served();
    expected.push("grpc.reflection.v1alpha.ServerReflection".to_owned());
    expected.sort();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn reflection_shows_the_schemas_as_they_were_compiled() {
    let daemon = TestDaemon::start().await;
    let set = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let gateway = set.file.iter().find(|file| file.name() == "palyra/v1/gateway.proto").unwrap();
    let symbol = MessageRequest::FileContainingSymbol("palyra.v1.GatewayService".to_owned());
    let MessageResponse::FileDescriptorResponse(shown) = reflect(&daemon, symbol).await else {
        panic!("a file was asked for")
    };
    let shown = prost_types::FileDescriptorProto::decode(&shown.file_descriptor_proto[0][..]).unwrap();
    assert_eq!(&shown, gateway);
}
