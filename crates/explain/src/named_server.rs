//! The server and model to add: what a command line names, and for the rest what an environment names.
//!
//! Pure: the environment is handed in. No value of it is repeated: an address may hold a credential.

use std::net::IpAddr;

use palyra_screen_text::{host_of_url, is_server_name, server_name_like, shell_word};

const BASE_URL_VARIABLE: &str = "OPENAI_BASE_URL";
const MODEL_VARIABLE: &str = "PALYRA_MODEL";
const KEY_VARIABLE: &str = "OPENAI_API_KEY";
/// The name of a server of this machine or network, where none is given.
const LOCAL_NAME: &str = "local";

/// What a command line names of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedServer {
    /// Its name, or its address in the place of the name.
    pub name: Option<String>,
    /// Its address.
    pub base_url: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// A reference to its key.
    pub key: Option<String>,
    /// What the variables of the environment are about: servers of OpenAI's formats.
    pub variables: ServerVariables,
}

/// Whether the variables of an environment name the server of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerVariables {
    /// They may.
    Count,
    /// They are about another format.
    OfOtherFormat,
}

/// A server to add, complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedServer {
    /// Its name.
    pub name: String,
    /// Its address.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// A reference to its key.
    pub key: Option<String>,
    /// The variables of the environment that it was read from.
    pub variables: Vec<&'static str>,
}

/// Something is named nowhere; holds what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnnamedServer(pub String);

impl NamedServer {
    /// Completes a command line with the variables of an environment.
    ///
    /// # Errors
    /// The whole command line to write, where something is named nowhere.
    pub fn complete(
        typed: TypedServer,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, UnnamedServer> {
        let set = |name: &str| {
            variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let mut variables = Vec::new();
        let mut key = typed.key;
        let (name, mut base_url) = name_and_address(typed.name, typed.base_url)?;
        let is_of_environment = base_url.is_none() && typed.variables == ServerVariables::Count;
        let mut model = typed.model;
        if is_of_environment && let Some(url) = set(BASE_URL_VARIABLE) {
            variables.push(BASE_URL_VARIABLE);
            base_url = Some(url);
            if model.is_none()
                && let Some(named) = set(MODEL_VARIABLE)
            {
                variables.push(MODEL_VARIABLE);
                model = Some(named);
            }
            if key.is_none() && set(KEY_VARIABLE).is_some() {
                variables.push(KEY_VARIABLE);
                key = Some(format!("env:{KEY_VARIABLE}"));
            }
        }
        let Some(base_url) = base_url else {
            return Err(lacks_server(name.as_deref(), model.as_deref()));
        };
        let name = name.unwrap_or_else(|| name_of(&base_url));
        let address = variables.is_empty().then_some(base_url.as_str());
        let Some(model) = model else { return Err(lacks_model(&name, address)) };
        Ok(Self { name, base_url, model, key, variables })
    }
}

fn lacks_server(name: Option<&str>, model: Option<&str>) -> UnnamedServer {
    let name = server_name_like(name.unwrap_or(LOCAL_NAME)).unwrap_or_else(|| LOCAL_NAME.to_owned());
    let model = shell_word(model.unwrap_or("qwen3"));
    UnnamedServer(format!(
        "no server is named: --base-url is missing, and {BASE_URL_VARIABLE} of this shell names no server of this format; for example `palyra model add {name} --base-url http://127.0.0.1:11434/v1 --model {model}`"
    ))
}

/// `typed` is the address where the command line names it, and not the environment.
fn lacks_model(name: &str, typed: Option<&str>) -> UnnamedServer {
    let name = server_name_like(name).unwrap_or_else(|| LOCAL_NAME.to_owned());
    let (why, address) = match typed {
        None => (format!(", and {MODEL_VARIABLE} is not set"), String::new()),
        // Before the sign is a credential.
        Some(url) if url.contains('@') => (String::new(), "--base-url URL ".to_owned()),
        Some(url) => (String::new(), format!("--base-url {} ", shell_word(url))),
    };
    UnnamedServer(format!(
        "no model is named: --model is missing{why}; write `palyra model add {name} {address}--model MODEL` with the name \
         of a model of that server, which usually lists them at its address with /models behind it"
    ))
}

/// Takes an address in the place of the name for the address of a server without a name.
fn name_and_address(
    name: Option<String>,
    base_url: Option<String>,
) -> Result<(Option<String>, Option<String>), UnnamedServer> {
    let is_address = name.as_ref().is_some_and(|name| name.contains(['/', ':', '.']));
    match base_url {
        _ if !is_address => Ok((name, base_url)),
        None => Ok((None, name)),
        Some(url) => Err(UnnamedServer(format!(
            "the name of a server takes a-z, 0-9 and -, and its address is given by --base-url already; for example \
             `palyra model add {} --base-url URL`",
            shell_word(&name_of(&url))
        ))),
    }
}

/// Returns a name for the server at an address: the name of its site, or `local`.
fn name_of(base_url: &str) -> String {
    let host = host_of_url(base_url);
    let labels: Vec<&str> = host.split('.').collect();
    match labels.as_slice() {
        _ if host.parse::<IpAddr>().is_ok() => LOCAL_NAME.to_owned(),
        [.., site, _] if is_server_name(site) => (*site).to_owned(),
        _ => LOCAL_NAME.to_owned(),
    }
}
