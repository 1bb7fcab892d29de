//! The tools that ask servers.
//!
//! Owns which tool is which and what all calls share: the fetcher of each principal, and the room for pages that are
//! read at once. A call that only asks has a known outcome whatever happens; one that sends and loses its answer has
//! none.

use std::sync::Arc;

use palyra_ports::{
    CancelFlag, FetchError, FetchFailure, FetchHttp, FetchReach, FetchRequest, FetchResponse, PreparedCall,
    ReadUrl, Redactor,
};
use palyra_tool_kit::ExecutionAttempt;
use palyra_tool_kit::{
    CallError, CallResult, Tool, ToolInvocation, ToolResult, ToolSet, delegate_tool_runtime,
};
use palyra_types::tool::ToolSpec;
use palyra_types::{ErrorCode, PrincipalId};
use tokio::sync::Semaphore;

use crate::answer::{AnswerRequest, PageForm, TextAnswer};
use crate::failure::{RestLost, WebFailure};
use crate::fence::{ServerText, describe};
use crate::http_send::{KEY_HEADER, RepeatSafety, key_value};
use crate::prepare::{SentAsOf, prepare_fetch, prepare_send};
use crate::request::{CallManner, ParsedCall};
use crate::{http_fetch, http_send};

/// One tool: what it declares, what a call would ask, and what it asks.
struct WebTool {
    spec: fn() -> ToolSpec,
    prepare: fn(&dyn ReadUrl, &SentAsOf, &str) -> Result<PreparedCall, WebFailure>,
    exchange: fn(&dyn ReadUrl, &ToolInvocation) -> Result<WebExchange, WebFailure>,
}

const TOOLS: [WebTool; 2] = [
    WebTool { spec: http_fetch::spec, prepare: prepare_fetch, exchange: fetch },
    WebTool { spec: http_send::spec, prepare: prepare_send, exchange: send },
];

/// Returns what these tools say of themselves, without any that could be called.
#[must_use]
pub fn tool_specs() -> Vec<ToolSpec> {
    TOOLS.iter().map(|row| (row.spec)()).collect()
}

/// Fetches at once; further ones wait.
const FETCHES_MAX: usize = 16;
/// Pages that are read at once: each may keep a processor for seconds.
const PAGES_READ_MAX: usize = 2;
/// What is told with a failing status of a call that was made before.
const BEFORE: &str =
    "; a restart cut this call off before: its first try may have been heard, and be why it is answered so";

/// Returns whoever fetches for a principal, so that one is not served what another one fetched.
pub type FetcherOf = Arc<dyn Fn(PrincipalId) -> Arc<dyn FetchHttp> + Send + Sync>;

/// What the tools ask through.
#[derive(Clone)]
pub struct WebParts {
    /// Fetches.
    pub fetcher_of: FetcherOf,
    /// Reads addresses as the fetcher does.
    pub reader: Arc<dyn ReadUrl>,
    /// Says how secrets are sent.
    pub sent_as: Arc<SentAsOf>,
    /// Takes secrets out of an answer before it is cut into parts.
    pub redactor: Arc<dyn Redactor>,
}

/// The tools that ask servers. Cheap to clone.
#[derive(Clone)]
pub struct WebTools {
    tools: ToolSet,
}

delegate_tool_runtime!(WebTools);

/// What all calls share.
struct WebCalls {
    parts: WebParts,
    fetches: Semaphore,
    pages: Arc<Semaphore>,
}

impl WebTool {
    fn tool(&self, calls: &Arc<WebCalls>) -> Tool {
        let Self { spec, prepare, exchange } = *self;
        let (asking, preparing) = (Arc::clone(calls), Arc::clone(calls));
        Tool::waiting(spec(), move |invocation| {
            let calls = Arc::clone(&asking);
            async move { calls.call(exchange, &invocation).await }
        })
        .prepared_by(move |intent| {
            let WebParts { reader, sent_as, .. } = &preparing.parts;
            Ok(prepare(&**reader, &**sent_as, intent.arguments().expose())?)
        })
    }
}

fn without_rest(rest: RestLost, invocation: &ToolInvocation) -> ToolResult {
    let RestLost { failure, told: mut text } = rest;
    if failure.is_some() {
        text.push_str(before(invocation));
    }
    ToolResult { text, failure, ..ToolResult::default() }
}

fn before(invocation: &ToolInvocation) -> &'static str {
    match invocation.execution {
        ExecutionAttempt::First => "",
        ExecutionAttempt::Again => BEFORE,
    }
}

/// What to ask, and how its answer is wanted.
struct WebExchange {
    request: FetchRequest,
    form: PageForm,
    offset: usize,
}

fn fetch(reader: &dyn ReadUrl, invocation: &ToolInvocation) -> Result<WebExchange, WebFailure> {
    let fetch = http_fetch::read(&invocation.arguments)?;
    let asked = ParsedCall::read(reader, &fetch.common, CallManner::Asks)?;
    let request = asked.request(fetch.method, Vec::new(), invocation.used_by);
    Ok(WebExchange { request, form: fetch.form, offset: fetch.offset })
}

fn send(reader: &dyn ReadUrl, invocation: &ToolInvocation) -> Result<WebExchange, WebFailure> {
    let send = http_send::read(&invocation.arguments)?;
    match (invocation.execution, send.repetition) {
        (ExecutionAttempt::First, _) | (ExecutionAttempt::Again, RepeatSafety::MeansTheSame) => {}
        (ExecutionAttempt::Again, RepeatSafety::MayDoItTwice) => return Err(WebFailure::InDoubt),
    }
    let asked = ParsedCall::read(reader, &send.common, CallManner::Sends)?;
    let mut request = asked.request(send.method, send.body.into_bytes(), invocation.used_by);
    request.headers.push((KEY_HEADER.to_owned(), key_value(&invocation.supervision.key).into()));
    Ok(WebExchange { request, form: send.form, offset: 0 })
}

impl WebTools {
    /// Makes the tools; calls of this value and of its clones share their limits.
    #[must_use]
    pub fn new(parts: WebParts) -> Self {
        Self::of(&Arc::new(WebCalls::new(parts)))
    }

    fn of(calls: &Arc<WebCalls>) -> Self {
        Self { tools: ToolSet::new(TOOLS.iter().map(|row| row.tool(calls)).collect()) }
    }

    /// Returns the tools, to be joined with others.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.tools.clone()
    }
}

impl WebCalls {
    fn new(parts: WebParts) -> Self {
        let (fetches, pages) = (Semaphore::new(FETCHES_MAX), Arc::new(Semaphore::new(PAGES_READ_MAX)));
        Self { parts, fetches, pages }
    }

    /// Carries out a call. A failure here says nothing of a try before a restart.
    async fn call(
        &self,
        exchange: fn(&dyn ReadUrl, &ToolInvocation) -> Result<WebExchange, WebFailure>,
        invocation: &ToolInvocation,
    ) -> CallResult {
        let ended = match exchange(&*self.parts.reader, invocation) {
            Ok(exchange) => self.exchange(exchange, invocation).await,
            Err(failure) => Err(failure),
        };
        ended.map_err(|failure| match failure {
            WebFailure::InDoubt => CallError::InDoubt,
            other => CallError::NotStarted(other.into()),
        })
    }

    async fn exchange(
        &self,
        exchange: WebExchange,
        invocation: &ToolInvocation,
    ) -> Result<ToolResult, WebFailure> {
        let cancel = &invocation.supervision.cancel;
        let WebExchange { request, form, offset } = exchange;
        let method = request.method;
        let stopped = || FetchError { failure: FetchFailure::Cancelled, reached: FetchReach::Nobody };
        let _room = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped().into()),
            room = self.fetches.acquire() => room.expect("the room is never closed"),
        };
        let fetcher = (self.parts.fetcher_of)(invocation.used_by.principal);
        let response = match fetcher.fetch(request, cancel.clone()).await {
            Err(FetchError { failure, reached: FetchReach::Answered { status } }) => {
                return Ok(without_rest(RestLost::of(&failure, status), invocation));
            }
            response => response?,
        };
        let status = response.status;
        let mut answer = match self.read(response, AnswerRequest { method, form }, cancel).await {
            // The server heard it and answered; only its words are not shown.
            Err(unshown @ (WebFailure::Binary(_) | WebFailure::PageUnreadable(_))) if !method.is_safe() => {
                return Ok(without_rest(RestLost::unshown(&unshown, status), invocation));
            }
            answer => answer?,
        };
        if answer.failed && !method.is_safe() {
            answer.head.push_str(before(invocation));
        }
        let said =
            ServerText { text: &answer.text, offset, output_bytes_max: invocation.limits.output_bytes_max };
        Ok(ToolResult {
            text: describe(&answer.head, said, &invocation.supervision.key),
            bytes_total: answer.text.len() as u64,
            failure: answer.failed.then_some(ErrorCode::FetchStatus),
            ..ToolResult::default()
        })
    }

    /// Reads an answer off the threads that serve sessions.
    async fn read(
        &self,
        response: FetchResponse,
        request: AnswerRequest,
        cancel: &CancelFlag,
    ) -> Result<TextAnswer, WebFailure> {
        let stopped =
            || WebFailure::PageUnreadable("the call was stopped before its answer was read".to_owned());
        let room = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped()),
            room = Arc::clone(&self.pages).acquire_owned() => room.expect("the room is never closed"),
        };
        let redactor = Arc::clone(&self.parts.redactor);
        let read = tokio::task::spawn_blocking(move || {
            let _room = room;
            TextAnswer::of(&response, request, &*redactor)
        });
        let bug = |_| Err(WebFailure::PageUnreadable("the answer hit a bug in its reader".to_owned()));
        read.await.unwrap_or_else(bug)
    }
}

#[cfg(test)]
mod tests;
