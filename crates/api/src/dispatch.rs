//! Calls an operation by its path, bytes in and bytes out.
//!
//! The list of operations comes from the schemas: an operation without its function does not compile. A server stream is
//! encoded message by message as the transport takes them, so nothing is queued here, and a stream that is dropped ends
//! its operation as over gRPC.
//!
//! Both functions return boxed futures: the body of an `async fn` is compiled again in each crate that waits for it, and these
//! bodies contain every operation.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use palyra_runtime::Caller;
use palyra_wire::operations::OperationKind;
use palyra_wire::v1;
use prost::Message;

use crate::api_error::ApiError;
use crate::operations::{OperationHandlers, ResponseStream};

macro_rules! dispatch_unary {
    ($($path:literal $method:ident $request:ident $response:ident $kind:ident;)*) => {
        impl OperationHandlers {
            /// Answers the unary operation of a gRPC path; `None` where there is none.
            ///
            /// The transport has checked the operation's audience before.
            ///
            /// # Errors
            /// [`ApiError`]: the bytes cannot be decoded, or the operation was refused.
            pub fn dispatch<'a>(
                self: &'a Arc<Self>,
                path: &'a str,
                caller: Caller,
                request: &'a [u8],
            ) -> BoxFuture<'a, Option<Result<Vec<u8>, ApiError>>> {
                async move {
                    Some(match path {
                        $($path => match decoded::<v1::$request>(request) {
                            Ok(message) => {
                                let handlers = Arc::clone(self);
                                let work = async move { handlers.$method(caller, message).await }.boxed();
                                let response: Result<v1::$response, ApiError> = self.running.answer(OperationKind::$kind, work).await;
                                response.map(|response| response.encode_to_vec())
                            }
                            Err(refusal) => Err(refusal),
                        },)*
                        _ => return None,
                    })
                }
                .boxed()
            }
        }
    };
}

palyra_wire::unary_operations!(dispatch_unary);

macro_rules! dispatch_streams {
    ($($path:literal $method:ident $request:ident $response:ident $kind:ident;)*) => {
        impl OperationHandlers {
            /// Answers the server stream of a gRPC path with its encoded messages; `None` where there is none.
            ///
            /// A refusal after the first message is the last item. The transport has checked the operation's audience
            /// before.
            ///
            /// # Errors
            /// [`ApiError`]: the bytes cannot be decoded, or the operation was refused before its first message.
            pub fn dispatch_stream<'a>(
                &'a self,
                path: &'a str,
                caller: Caller,
                request: &'a [u8],
            ) -> BoxFuture<'a, Option<Result<ResponseStream<Vec<u8>>, ApiError>>> {
                async move {
                    Some(match path {
                        $($path => match decoded::<v1::$request>(request) {
                            Ok(message) => {
                                let steps: Result<ResponseStream<v1::$response>, ApiError> = self.$method(caller, message).await;
                                steps.map(encoded)
                            }
                            Err(refusal) => Err(refusal),
                        },)*
                        _ => return None,
                    })
                }
                .boxed()
            }
        }
    };
}

palyra_wire::server_stream_operations!(dispatch_streams);

/// Encodes each message when it is taken; a refusal ends the stream.
fn encoded<M: Message + 'static>(steps: ResponseStream<M>) -> ResponseStream<Vec<u8>> {
    let until_refusal = steps.scan(false, |refused, step| {
        let item = (!*refused).then(|| step.map(|message| message.encode_to_vec()));
        *refused |= matches!(item, Some(Err(_)));
        futures::future::ready(item)
    });
    until_refusal.boxed()
}

fn decoded<M: Message + Default>(bytes: &[u8]) -> Result<M, ApiError> {
    M::decode(bytes).map_err(|_| ApiError::invalid_frame("the message cannot be decoded"))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// The control is a stream without a refusal.
    #[test]
    fn a_refusal_is_the_last_item_of_a_stream() {
        let run = |run_id: &str| v1::GetRunRequest { run_id: run_id.to_owned() };
        let taken = |steps: Vec<Result<v1::GetRunRequest, ApiError>>| {
            encoded(futures::stream::iter(steps).boxed()).collect::<Vec<_>>().now_or_never().unwrap()
        };
        let whole = taken(vec![Ok(run("A")), Ok(run("B"))]);
        let bytes: Vec<_> = whole.into_iter().map(Result::unwrap).collect();
        assert_eq!(bytes, [run("A").encode_to_vec(), run("B").encode_to_vec()]);
        let refused = taken(vec![Ok(run("A")), Err(ApiError::shutting_down()), Ok(run("B"))]);
        assert_eq!(refused.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
    }
}
