//! `palyra api`: any operation of the daemon by name, JSON in and JSON out.
//!
//! Owns which operations there are on the command line and how a body is read. What an operation takes and answers is
//! in the schemas alone: an operation that a daemon gets is here without a line of code.

use std::io::Read;

use palyra_client::Client;
use palyra_types::ErrorCode;
use palyra_wire::json::{JSON_BYTES_MAX, JsonInputError, bytes_to_json, from_json};
use palyra_wire::operations::{OPERATIONS, OperationAudience, OperationKind, OperationSpec};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// As the body: read it from standard input.
const FROM_STDIN: &str = "-";
const SHORTEST_ALIKE: usize = 4;

/// Call an operation of the daemon by name; without a name, list them
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra api\n  palyra api ListRuns --json '{\"page_size\": 5}'\n  palyra api PutSecret --json - < secret.json\n`palyra explain docs/grpc.md#operations` describes the JSON"
)]
pub(crate) struct ApiArgs {
    /// The operation; it answers with JSON, a stream with a line for each message
    operation: Option<String>,
    /// The request; `-` reads it from standard input. Without a value: list as JSON
    #[arg(long, value_name = "BODY", num_args = 0..=1, default_missing_value = "")]
    json: Option<String>,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: ApiArgs) -> Result<Exit, Failure> {
    let Some(name) = args.operation else { return list(context, args.json.as_deref()) };
    let operation = named(&name)?;
    let text = match args.json.as_deref() {
        None | Some("") => "{}".to_owned(),
        Some(FROM_STDIN) => read_stdin()?,
        Some(body) => body.to_owned(),
    };
    let request = from_json(operation.input, &text).map_err(|error| invalid_body(operation, &error))?;
    let client = match operation.kind {
        OperationKind::Read => context.connect_to_inspect().await?,
        OperationKind::Change => context.connect().await?,
    };
    if operation.server_streams {
        return stream(context, &client, operation, request).await;
    }
    let response = client.call_operation(operation, request).await?;
    context.output.json(&shown(operation, &response)?)?;
    Ok(Exit::Done)
}

async fn stream(
    context: &Context,
    client: &Client,
    operation: &OperationSpec,
    request: Vec<u8>,
) -> Result<Exit, Failure> {
    let mut messages = client.stream_operation(operation, request).await?;
    while let Some(message) = messages.next().await? {
        context.output.json(&shown(operation, &message)?)?;
    }
    Ok(Exit::Done)
}

fn shown(operation: &OperationSpec, response: &[u8]) -> Result<Value, Failure> {
    bytes_to_json(operation.output, response).ok_or_else(|| {
        Failure::local(ErrorCode::Internal, format!("the answer is no `{}`", operation.output))
    })
}

fn list(context: &Context, body: Option<&str>) -> Result<Exit, Failure> {
    let operations = callable();
    match body {
        Some("") => operations.map(described).try_for_each(|one| context.output.json(&one))?,
        Some(_) => {
            return Err(Failure::Usage("a body needs an operation: palyra api NAME --json BODY".to_owned()));
        }
        None => {
            let rows = operations.map(|operation| [operation.name.to_owned(), operation.summary.to_owned()]);
            context.table(["OPERATION", "SUMMARY"], rows.collect())?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the operations that can be called with one request, in order of name.
pub(crate) fn callable() -> impl Iterator<Item = &'static OperationSpec> {
    let mut operations: Vec<_> = OPERATIONS.iter().filter(|operation| !operation.client_streams).collect();
    operations.sort_by_key(|operation| operation.name);
    operations.into_iter()
}

fn described(operation: &OperationSpec) -> Value {
    let audience = match operation.audience {
        OperationAudience::Principals => "principals",
        OperationAudience::Owner => "owner",
        OperationAudience::OwnerSocket => "owner_socket",
    };
    let kind = match operation.kind {
        OperationKind::Read => "read",
        OperationKind::Change => "change",
    };
    json!({
        "name": operation.name,
        "summary": operation.summary,
        "audience": audience,
        "scope": operation.scope.name(),
        "kind": kind,
        "request": operation.input,
        "response": operation.output,
        "streams": operation.server_streams,
    })
}

fn named(name: &str) -> Result<&'static OperationSpec, Failure> {
    let unusable =
        |message: String, mend: String| Failure::Input { code: ErrorCode::InvalidArgument, message, mend };
    match OperationSpec::by_name(name) {
        Some(operation) if operation.client_streams => Err(unusable(
            format!("`{}` takes a stream of requests, and this verb sends one", operation.name),
            "use `palyra run` or `palyra runs tail`; `palyra api` lists the operations".to_owned(),
        )),
        Some(operation) => Ok(operation),
        None => {
            let near = callable().find(|operation| is_alike(operation.name, name));
            let mend = near.map_or_else(
                || "`palyra api` lists the operations".to_owned(),
                |near| format!("did you mean `{}`? `palyra api` lists the operations", near.name),
            );
            let shown: String = name.chars().filter(|letter| !letter.is_control()).take(60).collect();
            Err(unusable(format!("there is no operation `{shown}`"), mend))
        }
    }
}

/// Returns whether a name is spelled like another, with other separators, or as a part of it.
fn is_alike(known: &str, given: &str) -> bool {
    let given: String = given.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let known = known.to_lowercase();
    given.len() >= SHORTEST_ALIKE && (known.contains(&given) || given.contains(&known))
}

fn invalid_body(operation: &OperationSpec, error: &JsonInputError) -> Failure {
    Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: format!("the body of {} is not valid: {error}", operation.name),
        mend: "correct the JSON; `palyra explain docs/grpc.md#operations` describes it".to_owned(),
    }
}

/// Reads at most one byte more than a body may have, so that a longer one is refused as one.
fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(JSON_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let unreadable = |why: String| Failure::Input {
        code: ErrorCode::InvalidArgument,
        message: format!("standard input cannot be read: {why}"),
        mend: "give the body as JSON in UTF-8".to_owned(),
    };
    std::io::stdin().take(limit).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))
}

#[cfg(test)]
mod tests;
