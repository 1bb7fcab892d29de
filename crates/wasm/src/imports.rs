//! The imports of `palyra:tool`: each checks first what this call was given.

use std::sync::Arc;

use palyra_ports::{
    BodyCompleteness, BoundCredential, CredentialHandle, FetchFailure, FetchLimits, FetchMethod,
    FetchRequest, FetchResponse, HostRule, HostScope,
};
use palyra_types::Content;
use wasmtime::component::Resource;

use crate::bindings::palyra::tool::{clock, description, http, key_value, log, secrets};
use crate::inside::InstanceState;
use crate::key_value::{KEY_BYTES_MAX, KeepValues, KeyValueError, VALUE_BYTES_MAX};
use crate::limits::{REQUESTS_MAX, TEXT_BYTES_MAX};
use crate::reach::Methods;
use crate::secret::OpenedSecret;

/// Bytes of a log line that are kept.
const LOG_LINE_BYTES_MAX: usize = 4 << 10;

/// The header by which the other side of a request knows it when it is made again.
const KEY_HEADER: &str = "idempotency-key";
/// The port at which credentials are sent where a host is named without one.
const TLS_PORT: u16 = 443;

impl InstanceState {
    async fn fetch_for(
        &mut self,
        request: http::Request,
        secret: Option<String>,
    ) -> Result<http::Response, http::Problem> {
        let Some(ports) = self.ports.clone() else {
            return Err(refused("nothing can be reached while a tool is described"));
        };
        let asked = self.request_of(request, secret.as_deref())?;
        let Some(fetch) = &ports.fetch else {
            return Err(refused("this daemon reaches no other machine; see `egress.enabled`"));
        };
        let answer = fetch.fetch(asked, ports.cancel.clone()).await;
        answer.map(response_of).map_err(|error| problem_of(&error.failure))
    }

    /// Returns the request as it is made, if this call may make it.
    fn request_of(
        &mut self,
        request: http::Request,
        secret: Option<&str>,
    ) -> Result<FetchRequest, http::Problem> {
        if self.given.hosts.is_empty() {
            return Err(refused("this tool was not given any host"));
        }
        self.requests += 1;
        if self.requests > REQUESTS_MAX {
            return Err(refused("a call makes no more requests than it has made"));
        }
        let method = method_of(&request.method)?;
        if self.given.methods == Methods::Safe && !method.is_safe() {
            return Err(refused("a tool that says it changes nothing asks with GET and HEAD only"));
        }
        let mut headers: Vec<_> =
            request.headers.into_iter().map(|(name, value)| (name, Content::new(value))).collect();
        if let Some(key) = self.given.key {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case(KEY_HEADER));
            let key: String = key.0.iter().map(|byte| format!("{byte:02x}")).collect();
            headers.push((KEY_HEADER.to_owned(), Content::new(format!("{key}-{}", self.requests))));
        }
        let rules: Vec<_> = self.given.hosts.iter().map(|host| rule_of(host)).collect();
        let used_by = self.given.used_by;
        let bound = |rule: &HostRule| BoundCredential {
            host: rule.host.clone(),
            port: rule.port.unwrap_or(TLS_PORT),
            handle: CredentialHandle(secret.unwrap_or_default().to_owned()),
            used_by,
        };
        Ok(FetchRequest {
            method,
            url: Content::new(request.url),
            headers,
            body: Content::new(request.body),
            credentials: if secret.is_some() { rules.iter().map(bound).collect() } else { Vec::new() },
            hosts: HostScope::Only(rules),
            limits: FetchLimits::default(),
        })
    }
}

fn refused(why: &str) -> http::Problem {
    http::Problem::Refused(why.to_owned())
}

fn method_of(name: &str) -> Result<FetchMethod, http::Problem> {
    Ok(match name {
        "GET" => FetchMethod::Get,
        "HEAD" => FetchMethod::Head,
        "POST" => FetchMethod::Post,
        "PUT" => FetchMethod::Put,
        "PATCH" => FetchMethod::Patch,
        "DELETE" => FetchMethod::Delete,
        other => return Err(http::Problem::Invalid(format!("`{other:.20}` is not an allowed method"))),
    })
}

fn response_of(answer: FetchResponse) -> http::Response {
    http::Response {
        status: answer.status,
        headers: answer.headers.into_iter().map(|(name, value)| (name, value.into_exposed())).collect(),
        body: answer.body.into_exposed(),
        truncated: answer.completeness == BodyCompleteness::Cut,
    }
}

fn problem_of(failure: &FetchFailure) -> http::Problem {
    match failure {
        FetchFailure::Url { .. } | FetchFailure::Request { .. } => {
            http::Problem::Invalid(failure.to_string())
        }
        FetchFailure::HostNotGranted { .. } | FetchFailure::Address { .. } => {
            http::Problem::Refused(failure.to_string())
        }
        FetchFailure::Unresolved { .. }
        | FetchFailure::Unreachable { .. }
        | FetchFailure::Tls { .. }
        | FetchFailure::NoTls { .. }
        | FetchFailure::Credential(_)
        | FetchFailure::Redirect { .. }
        | FetchFailure::Answer { .. }
        | FetchFailure::TimedOut { .. }
        | FetchFailure::Cancelled => http::Problem::Failed(failure.to_string()),
    }
}

/// Reads a host as capabilities name it: a name, or a name and a port.
fn rule_of(host: &str) -> HostRule {
    match host.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?))) {
        Some((name, port)) => HostRule::exact(name).at(port),
        None => HostRule::exact(host),
    }
}

impl http::Host for InstanceState {
    async fn fetch(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, http::Problem>> {
        Ok(self.fetch_for(request, None).await)
    }

    async fn fetch_with(
        &mut self,
        request: http::Request,
        secret: Resource<OpenedSecret>,
    ) -> wasmtime::Result<Result<http::Response, http::Problem>> {
        let name = self.table.get(&secret)?.name.clone();
        Ok(self.fetch_for(request, Some(name)).await)
    }
}

impl secrets::Host for InstanceState {
    async fn open(
        &mut self,
        name: String,
    ) -> wasmtime::Result<Result<Resource<OpenedSecret>, secrets::Problem>> {
        if !self.given.secrets.contains(&name) {
            return Ok(Err(secrets::Problem::Refused(format!(
                "this tool was not given the secret `{name:.64}`"
            ))));
        }
        if let Some(secrets) = self.ports.as_ref().and_then(|ports| ports.secrets.clone()) {
            let (asked, used_by) = (name.clone(), self.given.used_by);
            let missing = tokio::task::spawn_blocking(move || secrets.is_missing(&asked, used_by)).await;
            if missing.unwrap_or(false) {
                return Ok(Err(secrets::Problem::Missing));
            }
        }
        Ok(Ok(self.table.push(OpenedSecret { name })?))
    }
}

impl secrets::HostSecret for InstanceState {
    async fn drop(&mut self, secret: Resource<OpenedSecret>) -> wasmtime::Result<()> {
        self.table.delete(secret)?;
        Ok(())
    }
}

impl InstanceState {
    /// Does what may wait for a disk where it may.
    async fn keeping<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&dyn KeepValues, &str) -> Result<T, KeyValueError> + Send + 'static,
    ) -> Result<T, key_value::Problem> {
        let (Some(ports), Some(tool)) = (&self.ports, &self.given.key_value) else {
            return Err(key_value::Problem::Refused(
                "this tool was not given a place to keep values".to_owned(),
            ));
        };
        let (values, tool) = (Arc::clone(&ports.values), tool.clone());
        let done = tokio::task::spawn_blocking(move || work(&*values, &tool)).await;
        done.unwrap_or_else(|lost| Err(KeyValueError::Failed(lost.to_string()))).map_err(value_problem)
    }
}

fn value_problem(error: KeyValueError) -> key_value::Problem {
    match error {
        KeyValueError::TooLarge => key_value::Problem::TooLarge,
        KeyValueError::Failed(why) => key_value::Problem::Failed(why),
    }
}

impl key_value::Host for InstanceState {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, key_value::Problem>> {
        let of = self.principal;
        Ok(self.keeping(move |values, tool| values.get(tool, of, &key)).await)
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), key_value::Problem>> {
        if key.len() > KEY_BYTES_MAX || value.len() > VALUE_BYTES_MAX {
            return Ok(Err(key_value::Problem::TooLarge));
        }
        let of = self.principal;
        Ok(self.keeping(move |values, tool| values.set(tool, of, &key, Some(value))).await)
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<(), key_value::Problem>> {
        let of = self.principal;
        Ok(self.keeping(move |values, tool| values.set(tool, of, &key, None)).await)
    }

    async fn keys(&mut self) -> wasmtime::Result<Result<Vec<String>, key_value::Problem>> {
        let of = self.principal;
        Ok(self.keeping(move |values, tool| values.keys(tool, of)).await)
    }
}

impl log::Host for InstanceState {
    async fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.logged = self.logged.saturating_add(message.len());
        if self.logged > TEXT_BYTES_MAX {
            return Ok(());
        }
        let line = &message[..message.floor_char_boundary(LOG_LINE_BYTES_MAX)];
        // What a component says may be anybody's text, so that it is shown to those who look for it only.
        tracing::debug!(?level, line = %line.escape_debug(), "a component says");
        Ok(())
    }
}

impl clock::Host for InstanceState {
    async fn now_ms(&mut self) -> wasmtime::Result<u64> {
        Ok(self.ports.as_ref().map_or(0, |ports| ports.clock.wall().unix_ms()))
    }
}

impl description::Host for InstanceState {}
