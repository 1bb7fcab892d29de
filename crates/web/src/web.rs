//! The tools that ask servers, as a [`ToolRuntime`].
//!
//! Owns which tool is which and what all calls share: the fetcher of each principal, and the room for pages that are
//! read at once. A call that only asks has a known outcome whatever happens; one that sends and loses its answer has
//! none.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    CancelFlag, CredentialUser, EffectKey, ExecuteToolError, FetchError, FetchFailure, FetchHttp,
    FetchMethod, FetchReach, FetchRequest, FetchResponse, PreparedCall, ReadUrl, Redactor, Supervision,
    ToolRuntime,
};
use palyra_run_core::{Execution, Grant, Intent, PrepareRefusal};
use palyra_types::tool::{Isolation, ToolCatalog, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec};
use palyra_types::{EffectId, ErrorCode, PrincipalId, Redacted, RunId};
use tokio::sync::Semaphore;

use crate::answer::{Answer, Form};
use crate::failure::{RestLost, WebFailure};
use crate::fence::{Said, told};
use crate::http_send::{KEY_HEADER, Repetition, key_value};
use crate::prepare::{SentAsOf, prepare_fetch, prepare_send};
use crate::request::{Asked, Manner};
use crate::{http_fetch, http_send};

/// Returns what these tools say of themselves, without any that could be called.
#[must_use]
pub fn tool_specs() -> Vec<ToolSpec> {
    vec![http_fetch::spec(), http_send::spec()]
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
    catalog: Arc<ToolCatalog>,
    parts: WebParts,
    fetches: Arc<Semaphore>,
    pages: Arc<Semaphore>,
}

/// One granted call, as these tools see it.
#[derive(Debug, Clone)]
pub(crate) struct Called {
    pub(crate) tool: ToolName,
    pub(crate) arguments: String,
    pub(crate) principal: PrincipalId,
    pub(crate) run: RunId,
    pub(crate) effect: EffectId,
    pub(crate) execution: Execution,
    pub(crate) key: EffectKey,
    pub(crate) output_bytes_max: usize,
}

impl Called {
    fn of(grant: &Grant, key: EffectKey) -> Self {
        Self {
            tool: grant.tool().clone(),
            arguments: grant.arguments().expose().clone(),
            principal: grant.principal(),
            run: grant.run(),
            effect: grant.effect(),
            execution: grant.execution(),
            key,
            output_bytes_max: grant.output_bytes_max(),
        }
    }

    fn user(&self) -> CredentialUser {
        CredentialUser { principal: self.principal, run: self.run, effect: self.effect }
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) bytes_total: u64,
    pub(crate) failure: Option<ErrorCode>,
}

impl Made {
    fn without_rest(rest: RestLost, called: &Called) -> Self {
        let RestLost { failure, mut told } = rest;
        if failure.is_some() {
            told.push_str(before(called));
        }
        Self { text: told, bytes_total: 0, failure }
    }
}

fn before(called: &Called) -> &'static str {
    match called.execution {
        Execution::First => "",
        Execution::Again => BEFORE,
    }
}

/// What to ask, and how its answer is wanted.
struct Exchange {
    request: FetchRequest,
    form: Form,
    offset: usize,
}

impl WebTools {
    /// Makes the tools; calls of this value and of its clones share their limits.
    #[must_use]
    pub fn new(parts: WebParts) -> Self {
        Self {
            catalog: Arc::new(ToolCatalog::new(tool_specs())),
            parts,
            fetches: Arc::new(Semaphore::new(FETCHES_MAX)),
            pages: Arc::new(Semaphore::new(PAGES_READ_MAX)),
        }
    }

    pub(crate) async fn run(&self, called: &Called, cancel: &CancelFlag) -> Result<Made, WebFailure> {
        match called.tool.as_str() {
            http_fetch::NAME => self.exchange(self.fetch(called)?, called, cancel).await,
            http_send::NAME => {
                let sent = self.send_out(called, cancel).await;
                match called.execution {
                    Execution::First => sent,
                    // Whatever keeps it from being answered now says nothing of the first try.
                    Execution::Again => sent.map_err(|_| WebFailure::InDoubt),
                }
            }
            other => Err(WebFailure::Arguments(format!("`{other}` asks no server"))),
        }
    }

    async fn send_out(&self, called: &Called, cancel: &CancelFlag) -> Result<Made, WebFailure> {
        self.exchange(self.send(called)?, called, cancel).await
    }

    fn fetch(&self, called: &Called) -> Result<Exchange, WebFailure> {
        let fetch = http_fetch::read(&called.arguments)?;
        let asked = Asked::read(&*self.parts.reader, &fetch.common, Manner::Asks)?;
        let request = asked.request(fetch.method, Vec::new(), called.user());
        Ok(Exchange { request, form: fetch.form, offset: fetch.offset })
    }

    fn send(&self, called: &Called) -> Result<Exchange, WebFailure> {
        let send = http_send::read(&called.arguments)?;
        match (called.execution, send.repetition) {
            (Execution::First, _) | (Execution::Again, Repetition::MeansTheSame) => {}
            (Execution::Again, Repetition::MayDoItTwice) => return Err(WebFailure::InDoubt),
        }
        let asked = Asked::read(&*self.parts.reader, &send.common, Manner::Sends)?;
        let mut request = asked.request(send.method, send.body.into_bytes(), called.user());
        request.headers.push((KEY_HEADER.to_owned(), key_value(&called.key).into()));
        Ok(Exchange { request, form: send.form, offset: 0 })
    }

    async fn exchange(
        &self,
        exchange: Exchange,
        called: &Called,
        cancel: &CancelFlag,
    ) -> Result<Made, WebFailure> {
        let Exchange { request, form, offset } = exchange;
        let method = request.method;
        let stopped = || FetchError { failure: FetchFailure::Cancelled, reached: FetchReach::Nobody };
        let _room = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped().into()),
            room = self.fetches.acquire() => room.expect("the room is never closed"),
        };
        let fetcher = (self.parts.fetcher_of)(called.principal);
        let response = match fetcher.fetch(request, cancel.clone()).await {
            Err(FetchError { failure, reached: FetchReach::Answered { status } }) => {
                return Ok(Made::without_rest(RestLost::of(&failure, status), called));
            }
            response => response?,
        };
        let status = response.status;
        let mut answer = match self.read(response, (method, form), cancel).await {
            // The server heard it and answered; only its words are not shown.
            Err(unshown @ (WebFailure::Binary(_) | WebFailure::Unread(_))) if !method.is_safe() => {
                return Ok(Made::without_rest(RestLost::unshown(&unshown, status), called));
            }
            answer => answer?,
        };
        if answer.failed && !method.is_safe() {
            answer.head.push_str(before(called));
        }
        let said = Said { text: &answer.text, offset, output_bytes_max: called.output_bytes_max };
        Ok(Made {
            text: told(&answer.head, said, &called.key),
            bytes_total: answer.text.len() as u64,
            failure: answer.failed.then_some(ErrorCode::FetchStatus),
        })
    }

    /// Reads an answer off the threads that serve sessions.
    async fn read(
        &self,
        response: FetchResponse,
        manner: (FetchMethod, Form),
        cancel: &CancelFlag,
    ) -> Result<Answer, WebFailure> {
        let stopped = || WebFailure::Unread("the call was stopped before its answer was read".to_owned());
        let room = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(stopped()),
            room = Arc::clone(&self.pages).acquire_owned() => room.expect("the room is never closed"),
        };
        let redactor = Arc::clone(&self.parts.redactor);
        let read = tokio::task::spawn_blocking(move || {
            let _room = room;
            Answer::of(&response, manner, &*redactor)
        });
        let bug = |_| Err(WebFailure::Unread("the answer hit a bug in its reader".to_owned()));
        read.await.unwrap_or_else(bug)
    }
}

fn outcome(made: Result<Made, WebFailure>) -> ToolExecutionOutcome {
    let made = made.unwrap_or_else(|failure| Made {
        bytes_total: 0,
        text: failure.to_string(),
        failure: Some(failure.code()),
    });
    ToolExecutionOutcome {
        failure: made.failure,
        output_bytes_total: made.bytes_total.max(made.text.len() as u64),
        output: Redacted::new(made.text),
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
    }
}

impl ToolRuntime for WebTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, PrepareRefusal>> {
        let parts = self.parts.clone();
        let arguments = intent.arguments().clone();
        let prepare = if intent.tool().as_str() == http_fetch::NAME { prepare_fetch } else { prepare_send };
        async move {
            // How a secret is sent is on a disk.
            let prepared = tokio::task::spawn_blocking(move || {
                prepare(&*parts.reader, &*parts.sent_as, arguments.expose())
            });
            let lost = |_| Err(WebFailure::Arguments("the call could not be prepared".to_owned()));
            prepared.await.unwrap_or_else(lost).map_err(|failure| PrepareRefusal {
                code: failure.code(),
                message: Redacted::new(failure.to_string()),
            })
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        let tools = self.clone();
        async move {
            let called = Called::of(&grant, supervision.key);
            match tools.run(&called, &supervision.cancel).await {
                Err(WebFailure::InDoubt) => Err(ExecuteToolError::OutcomeUnknown { tool: called.tool }),
                made => Ok(outcome(made)),
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
