//! The HTTP server: operations as JSON under `/api/v1`, the events of a run, downloads, probes and metrics.
//!
//! Decides nothing about runs and keeps no state of its own. The caller is read from the `authorization` header
//! (`identity.rs`), never from a message; every refusal becomes a response in `refusal.rs`. Invariant: no route is
//! reached that the gate did not admit, and a path is for callers with a token unless the gate lists it as public.
//!
//! Begin at [`serve`]; then `gate.rs` for what every request passes, and `router.rs` for the routes. Another surface
//! brings its routes as [`MountedRoutes`].

mod server;
mod socket;
mod tls;

mod gate;
mod header_value;
mod origin;
mod identity;
mod quota;
mod request_body;

mod router;
mod services;
mod operation_call;
mod query;
mod response_stream;
mod stream_watch;
mod server_sent_events;
mod run_events;
mod downloads;
mod probes;
mod metrics;
mod metrics_page;
mod reference_page;

mod media_type;

mod refusal;
mod security_headers;
mod limits;

#[doc(hidden)]
pub mod untrusted;

pub use gate::{MountedCallers, MountedRoutes, RequestId};
pub use identity::{HttpIdentity, page_cookie, page_cookie_name};
pub use limits::{HttpLimits, OPENAI_BODY_BYTES_MAX};
pub use origin::{CANONICAL_HOST, PublicOrigin, TransportSecurity};
pub use query::{QueryFault, query_pairs};
pub use refusal::refusal_response;
pub use request_body::{BodyFault, read_body};
pub use response_stream::streamed;
pub use server::{HttpListener, HttpServer, ListenerReach, ServeError, serve};
pub use server_sent_events::SentEvent;
pub use stream_watch::{StreamSignal, StreamWatch};
pub use tls::{TlsError, TlsFiles, server_config};
