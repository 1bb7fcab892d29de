//! Calls by path with bytes for messages, and what was answered as plain values.

use std::collections::BTreeMap;

use bytes::Bytes;
use palyra_types::ErrorCode;
use palyra_wire::FILE_DESCRIPTOR_SET;
use palyra_wire::bytes_codec::BytesCodec;
use prost::Message;
use tokio_stream::StreamExt;
use tonic::metadata::{KeyAndValueRef, MetadataMap};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

/// A service and its methods, from the compiled schemas.
pub(crate) fn methods() -> Vec<String> {
    let set = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let mut paths = Vec::new();
    for file in &set.file {
        for service in &file.service {
            let name = format!("/{}.{}", file.package(), service.name());
            paths.extend(service.method.iter().map(|method| format!("{name}/{}", method.name())));
        }
    }
    paths.sort();
    paths
}

/// Names of the services of the compiled schemas.
pub(crate) fn services() -> Vec<String> {
    let mut names: Vec<String> =
        methods().iter().filter_map(|path| path[1..].split('/').next().map(str::to_owned)).collect();
    names.dedup();
    names
}

/// Calls `path` with one message and returns the first answer.
pub(crate) async fn call(
    channel: &Channel,
    path: &str,
    message: Vec<u8>,
    authorization: &[&str],
) -> Result<Option<Bytes>, Status> {
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let mut request = Request::new(tokio_stream::once(Bytes::from(message)));
    for value in authorization {
        request.metadata_mut().append("authorization", value.parse().unwrap());
    }
    let response = client.streaming(request, path.parse().unwrap(), BytesCodec).await?;
    response.into_inner().next().await.transpose()
}

/// What a client can tell of a refusal, but for the time of day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) metadata: BTreeMap<String, String>,
}

impl From<Status> for Answer {
    fn from(status: Status) -> Self {
        let metadata = plain(status.metadata());
        Self { code: status.code(), message: status.message().to_owned(), metadata }
    }
}

fn plain(metadata: &MetadataMap) -> BTreeMap<String, String> {
    let pairs = metadata.iter().map(|pair| match pair {
        KeyAndValueRef::Ascii(key, value) => (key.to_string(), format!("{value:?}")),
        KeyAndValueRef::Binary(key, value) => (key.to_string(), format!("{value:?}")),
    });
    pairs.filter(|(key, _)| key != "date").collect()
}

/// Asserts that a call was refused with this stable code, and returns the message.
#[track_caller]
pub(crate) fn assert_refused(status: &Status, code: Code, stable: ErrorCode) -> String {
    let carried = status.metadata().get("palyra-error-code").map(|value| value.to_str().unwrap().to_owned());
    assert_eq!((status.code(), carried), (code, Some(stable.to_string())), "{status:?}");
    assert!(status.message().starts_with(&format!("{}: ", stable.slug())), "{}", status.message());
    status.message().to_owned()
}
