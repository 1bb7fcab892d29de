//! Every service on the wire: each method opens the request, asks the operation of its name, and dresses the answer.
//!
//! The methods come from the schemas, so a new method of a service needs no line here. Only `RunStream` is written by
//! hand, in `gateway.rs`.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use palyra_api::{OperationHandlers, ResponseStream};
use palyra_wire::v1;
use tonic::{Request, Response, Status};

use crate::auth;
use crate::status;

/// Answers every service but the gateway's.
#[derive(Clone)]
pub(crate) struct OperationServices {
    pub(crate) operations: Arc<OperationHandlers>,
}

/// The messages of a server stream.
pub(crate) type Messages<T> = BoxStream<'static, Result<T, Status>>;

/// Returns the messages of an operation, with the status of a refusal.
pub(crate) fn messages<T: 'static>(steps: ResponseStream<T>) -> Messages<T> {
    steps.map(|step| step.map_err(|refusal| status::of(&refusal))).boxed()
}

/// Implements a service: its unary methods, its server streams, and what the caller adds by hand.
macro_rules! implement_service {
    (
        $module:ident $service:ident
        { $($unary:ident $unary_request:ident $unary_response:ident;)* }
        { $($stream:ident $stream_request:ident $stream_response:ident;)* }
        { $implementor:ident $($by_hand:tt)* }
    ) => {
        #[tonic::async_trait]
        impl v1::$module::$service for $implementor {
            $(
                async fn $unary(
                    &self,
                    request: Request<v1::$unary_request>,
                ) -> Result<Response<v1::$unary_response>, Status> {
                    let (caller, message) = auth::open(request)?;
                    let operations = std::sync::Arc::clone(&self.operations);
                    let work = async move { operations.$unary(caller, message).await };
                    let kind = <v1::$unary_request as palyra_wire::operations::UnaryRequest>::KIND;
                    let answer = self.operations.running.answer(kind, work).await;
                    answer.map(Response::new).map_err(|refusal| status::of(&refusal))
                }
            )*
            $(
                async fn $stream(
                    &self,
                    request: Request<v1::$stream_request>,
                ) -> Result<Response<crate::services::Messages<v1::$stream_response>>, Status> {
                    let (caller, message) = auth::open(request)?;
                    let steps = self.operations.$stream(caller, message).await;
                    let steps = steps.map_err(|refusal| status::of(&refusal))?;
                    Ok(Response::new(crate::services::messages(steps)))
                }
            )*
            $($by_hand)*
        }
    };
}
pub(crate) use implement_service;

palyra_wire::service_methods!(AdminService, implement_service, { OperationServices });
palyra_wire::service_methods!(AgentsService, implement_service, { OperationServices });
palyra_wire::service_methods!(ApprovalsService, implement_service, { OperationServices });
palyra_wire::service_methods!(BudgetService, implement_service, { OperationServices });
palyra_wire::service_methods!(ScheduleService, implement_service, { OperationServices });
palyra_wire::service_methods!(CompactionService, implement_service, { OperationServices });
palyra_wire::service_methods!(ComponentsService, implement_service, { OperationServices });
palyra_wire::service_methods!(EffectsService, implement_service, { OperationServices });
palyra_wire::service_methods!(ErasureService, implement_service, { OperationServices });
palyra_wire::service_methods!(JournalService, implement_service, { OperationServices });
palyra_wire::service_methods!(ModelsService, implement_service, { OperationServices });
palyra_wire::service_methods!(PeopleService, implement_service, { OperationServices });
palyra_wire::service_methods!(MemoryService, implement_service, { OperationServices });
palyra_wire::service_methods!(PolicyService, implement_service, { OperationServices });
palyra_wire::service_methods!(ProofService, implement_service, { OperationServices });
palyra_wire::service_methods!(SessionsService, implement_service, { OperationServices });
palyra_wire::service_methods!(SkillsService, implement_service, { OperationServices });
palyra_wire::service_methods!(VaultService, implement_service, { OperationServices });
