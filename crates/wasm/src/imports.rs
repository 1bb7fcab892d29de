//! The imports of `palyra:tool`: each checks first what this call was given.

use std::sync::Arc;

use palyra_ports::{
    BodyCompleteness, BoundCredential, CancelFlag, Clock, CredentialHandle, FetchFailure, FetchHttp,
    FetchLimits, FetchMethod, FetchRequest, HostRule, HostScope,
};
use palyra_types::Redacted;
use wasmtime::component::Resource;

use crate::bindings::palyra::tool::{clock, http, key_value, log, secrets};
use crate::inside::{Inside, OpenedSecret};
use crate::key_value::{KEY_BYTES_MAX, KeepValues, KeyValueError, VALUE_BYTES_MAX};
use crate::limits::TEXT_BYTES_MAX;

/// Bytes of a log line that are kept.
const LOG_LINE_BYTES_MAX: usize = 4 << 10;

/// What components reach through the daemon.
#[derive(Clone)]
pub struct Ports {
    /// Other machines.
    pub fetch: Arc<dyn FetchHttp>,
    /// Values between calls.
    pub values: Arc<dyn KeepValues>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Raised when the call should end.
    pub cancel: CancelFlag,
}

impl Inside {
    async fn fetch_for(
        &mut self,
        request: http::Request,
        credential: Option<CredentialHandle>,
    ) -> Result<http::Response, http::Problem> {
        let Some(ports) = self.ports.clone() else {
            return Err(http::Problem::Refused(
                "nothing can be reached while a tool is described".to_owned(),
            ));
        };
        if self.given.hosts.is_empty() {
            return Err(http::Problem::Refused("this tool was not given any host".to_owned()));
        }
        let method = match request.method.as_str() {
            "GET" => FetchMethod::Get,
            "HEAD" => FetchMethod::Head,
            "POST" => FetchMethod::Post,
            "PUT" => FetchMethod::Put,
            "PATCH" => FetchMethod::Patch,
            "DELETE" => FetchMethod::Delete,
            other => return Err(http::Problem::Invalid(format!("`{other:.20}` is no method that is made"))),
        };
        let bind = |handle: CredentialHandle| {
            let bound = self.given.hosts.iter().map(move |host| (host.clone(), handle.clone()));
            bound
                .map(|(host, handle)| BoundCredential { host, port: 443, handle, used_by: None })
                .collect::<Vec<_>>()
        };
        let asked = FetchRequest {
            method,
            url: Redacted::new(request.url),
            headers: request.headers.into_iter().map(|(name, value)| (name, Redacted::new(value))).collect(),
            body: Redacted::new(request.body),
            hosts: HostScope::Only(self.given.hosts.iter().map(rule_of).collect()),
            credentials: credential.map(bind).unwrap_or_default(),
            limits: FetchLimits::default(),
        };
        let answer =
            ports.fetch.fetch(asked, ports.cancel.clone()).await.map_err(|error| match &error.failure {
                FetchFailure::Url { .. } | FetchFailure::Request { .. } => {
                    http::Problem::Invalid(error.to_string())
                }
                FetchFailure::HostNotGranted { .. } | FetchFailure::Address { .. } => {
                    http::Problem::Refused(error.to_string())
                }
                FetchFailure::Unresolved { .. }
                | FetchFailure::Unreachable { .. }
                | FetchFailure::Tls { .. }
                | FetchFailure::Credential(_)
                | FetchFailure::Redirect { .. }
                | FetchFailure::Answer { .. }
                | FetchFailure::TimedOut { .. }
                | FetchFailure::Cancelled => http::Problem::Failed(error.to_string()),
            })?;
        Ok(http::Response {
            status: answer.status,
            headers: answer.headers.into_iter().map(|(name, value)| (name, value.expose().clone())).collect(),
            body: answer.body.expose().clone(),
            truncated: answer.completeness == BodyCompleteness::Cut,
        })
    }
}

/// Reads a host as capabilities name it: a name, or a name and a port.
fn rule_of(host: &String) -> HostRule {
    match host.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?))) {
        Some((name, port)) => HostRule::exact(name).at(port),
        None => HostRule::exact(host),
    }
}

impl http::Host for Inside {
    async fn fetch(
        &mut self,
        request: http::Request,
    ) -> wasmtime::Result<Result<http::Response, http::Problem>> {
        Ok(self.fetch_for(request, None).await)
    }

    async fn fetch_with(
        &mut self,
        request: http::Request,
        scheme: String,
        secret: Resource<OpenedSecret>,
    ) -> wasmtime::Result<Result<http::Response, http::Problem>> {
        let name = self.table.get(&secret)?.name.clone();
        let plain =
            !scheme.is_empty() && scheme.len() <= 16 && scheme.chars().all(|c| c.is_ascii_alphanumeric());
        if !plain {
            return Ok(Err(http::Problem::Invalid("a scheme is one word, such as `Bearer`".to_owned())));
        }
        Ok(self.fetch_for(request, Some(CredentialHandle(format!("{name} {scheme}")))).await)
    }
}

impl secrets::Host for Inside {
    async fn open(
        &mut self,
        name: String,
    ) -> wasmtime::Result<Result<Resource<OpenedSecret>, secrets::Problem>> {
        if !self.given.secrets.contains(&name) {
            return Ok(Err(secrets::Problem::Refused(format!(
                "this tool was not given the secret `{name:.64}`"
            ))));
        }
        Ok(Ok(self.table.push(OpenedSecret { name })?))
    }
}

impl secrets::HostSecret for Inside {
    async fn drop(&mut self, secret: Resource<OpenedSecret>) -> wasmtime::Result<()> {
        self.table.delete(secret)?;
        Ok(())
    }
}

impl Inside {
    fn kept(&self) -> Result<(Arc<dyn KeepValues>, String), key_value::Problem> {
        match (&self.ports, &self.given.key_value) {
            (Some(ports), Some(tool)) => Ok((Arc::clone(&ports.values), tool.clone())),
            (None, _) | (_, None) => {
                Err(key_value::Problem::Refused("this tool was not given a place to keep values".to_owned()))
            }
        }
    }
}

fn told(error: KeyValueError) -> key_value::Problem {
    match error {
        KeyValueError::TooLarge => key_value::Problem::TooLarge,
        KeyValueError::Failed(why) => key_value::Problem::Failed(why),
    }
}

impl key_value::Host for Inside {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, key_value::Problem>> {
        let of = self.principal;
        Ok(self.kept().and_then(|(values, tool)| values.get(&tool, of, &key).map_err(told)))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), key_value::Problem>> {
        if key.len() > KEY_BYTES_MAX || value.len() > VALUE_BYTES_MAX {
            return Ok(Err(key_value::Problem::TooLarge));
        }
        let of = self.principal;
        Ok(self.kept().and_then(|(values, tool)| values.set(&tool, of, &key, Some(value)).map_err(told)))
    }

    async fn delete(&mut self, key: String) -> wasmtime::Result<Result<(), key_value::Problem>> {
        let of = self.principal;
        Ok(self.kept().and_then(|(values, tool)| values.set(&tool, of, &key, None).map_err(told)))
    }

    async fn keys(&mut self) -> wasmtime::Result<Result<Vec<String>, key_value::Problem>> {
        let of = self.principal;
        Ok(self.kept().and_then(|(values, tool)| values.keys(&tool, of).map_err(told)))
    }
}

impl log::Host for Inside {
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

impl clock::Host for Inside {
    async fn now_ms(&mut self) -> wasmtime::Result<u64> {
        Ok(self.ports.as_ref().map_or(0, |ports| ports.clock.wall().unix_ms()))
    }
}

impl crate::bindings::palyra::tool::description::Host for Inside {}
