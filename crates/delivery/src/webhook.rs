//! A webhook with a signature of Standard Webhooks.

use std::time::Duration;

use palyra_notify::WebhookSecret;
use palyra_ports::{
    CancelFlag, DeliverError, FetchError, FetchFailure, FetchHttp, FetchLimits, FetchMethod, FetchReach,
    FetchRequest, HostScope, OutboundMessage,
};
use palyra_types::{Content, Timestamp};

/// How long a server may take to answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(15);
/// Bytes of an answer that are read; nothing is done with them.
const ANSWER_BYTES_MAX: usize = 4 * 1024;

/// One request.
pub(crate) struct WebhookRequest {
    pub(crate) url: String,
    pub(crate) secret: WebhookSecret,
    pub(crate) time: Timestamp,
}

impl WebhookRequest {
    /// Sends a message, and returns whether the server took it: it answers with 2xx then. Redirects are not followed.
    pub(crate) async fn send(
        self,
        fetch: &dyn FetchHttp,
        message: OutboundMessage,
    ) -> Result<(), DeliverError> {
        let id = message.key.message_id();
        let seconds = self.time.unix_ms() / 1_000;
        let signature = self.secret.sign(&id, seconds, message.body.expose());
        let header = |name: &str, value: String| (name.to_owned(), Content::new(value));
        let request = FetchRequest {
            method: FetchMethod::Post,
            url: Content::new(self.url),
            headers: vec![
                header("content-type", "application/json".to_owned()),
                header("webhook-id", id),
                header("webhook-timestamp", seconds.to_string()),
                header("webhook-signature", signature),
            ],
            body: Content::new(message.body.into_exposed().into_bytes()),
            hosts: HostScope::AnyPublic,
            credentials: Vec::new(),
            limits: FetchLimits {
                body_bytes_max: ANSWER_BYTES_MAX,
                redirects_max: 0,
                time_max: ANSWER_TIME_MAX,
                ..FetchLimits::default()
            },
        };
        match fetch.fetch(request, CancelFlag::default()).await {
            Ok(answer) => of_status(answer.status),
            Err(FetchError { failure, reached }) => of_failure(&failure, reached),
        }
    }
}

fn of_status(status: u16) -> Result<(), DeliverError> {
    match status {
        200..=299 => Ok(()),
        410 => Err(DeliverError::Refused {
            why: "the server says that the webhook is gone (410); change `notify.webhook_url`".to_owned(),
        }),
        _ => Err(DeliverError::NotSent { why: format!("the server answered {status}") }),
    }
}

fn of_failure(failure: &FetchFailure, reached: FetchReach) -> Result<(), DeliverError> {
    if let FetchReach::Answered { status } = reached {
        // An answer that could not be read to its end is an answer all the same.
        return of_status(status);
    }
    let why = failure.to_string();
    Err(match (failure, reached) {
        (
            FetchFailure::Url { .. } | FetchFailure::Request { .. } | FetchFailure::HostNotGranted { .. },
            _,
        ) => DeliverError::Refused { why },
        (FetchFailure::Address { host, .. }, _) => DeliverError::Refused {
            why: format!("{why}; to send to it all the same, add `{host}` to `egress.allow_private`"),
        },
        (_, FetchReach::PerhapsDone) => DeliverError::InDoubt { why },
        _ => DeliverError::NotSent { why },
    })
}
