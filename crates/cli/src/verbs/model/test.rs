//! `palyra model test`.

use std::path::{Path, PathBuf};

use palyra_client::Client;
use palyra_config_text::has_provider;
use palyra_types::ErrorCode;
use palyra_wire::json::to_json_with_defaults;
use palyra_wire::v1;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_explain::mend_of_test;
use palyra_run_view::{UnusedServer, unused_server};
use palyra_screen_text::clean_line;
use palyra_terminal::{NoteKind, Output};

const ANSWER_CHARS_MAX: usize = 200;

/// Test a model with a real completion.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  palyra model test demo/demo")]
pub(crate) struct TestArgs {
    /// The model, as provider/model [default: the default model]
    model: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: TestArgs) -> Result<Exit, Failure> {
    let client = context.connect_to_model(args.model.as_deref()).await?;
    let test = client.test_model(args.model.as_deref());
    let tested = match context.waiting("waiting for the model", test).await {
        Err(error) if error.code() == ErrorCode::ModelNotConfigured => {
            let file = context.config_file().ok().filter(|_| context.is_local());
            let model = args.model.as_deref().unwrap_or_default();
            return Err(not_in_force(&client, file, model).await.unwrap_or_else(|| error.into()));
        }
        tested => tested?,
    };
    if args.json {
        context.output.json(&to_json_with_defaults(&tested))?;
    } else {
        show(&context.output, &tested, &TestPurpose::Known { file: &context.config_file()? })?;
    }
    Ok(if tested.ok { Exit::Done } else { Exit::Failed })
}

/// Returns why the daemon does not know a model; `None` where the configuration file here does not have its server.
async fn not_in_force(client: &Client, file: Option<PathBuf>, model: &str) -> Option<Failure> {
    let server = model.split('/').next().unwrap_or_default();
    let file = file?;
    let text = std::fs::read_to_string(&file).ok()?;
    if !has_provider(&text, server).unwrap_or(false) {
        return None;
    }
    let checks = client.status().await.map(|status| status.checks).unwrap_or_default();
    let UnusedServer { message, mend } = unused_server(server, &file, &checks);
    Some(Failure::WithMend { code: ErrorCode::ModelNotConfigured, message, mend })
}

/// Returns whether a configuration file sends pictures to a server.
pub(crate) fn has_images(file: &Path, provider: &str) -> bool {
    let setting = provider_of(file, provider).and_then(|settings| settings.get("images")?.as_bool());
    setting == Some(true)
}

fn provider_of(file: &Path, provider: &str) -> Option<toml_edit::Item> {
    let document: toml_edit::DocumentMut = std::fs::read_to_string(file).ok()?.parse().ok()?;
    document.get("providers")?.get(provider).cloned()
}

/// The purpose of a test.
pub(super) enum TestPurpose<'a> {
    /// A model that can be asked already.
    Known {
        /// The configuration file.
        file: &'a Path,
    },
    /// A server that is being added.
    Add {
        /// Whether images are sent to it in any case.
        images: bool,
        /// Returns what to do after a failure, which depends on more than its code.
        mend: fn(ErrorCode) -> &'static str,
    },
}

/// Says whether images are sent to a server that is being added, where this test has asked.
fn images_of_added(tested: &v1::TestModelResponse, in_any_case: bool) -> Option<&'static str> {
    match tested.images() {
        v1::ImageSupport::TriedYes => Some("it named the colour of a picture: images are sent to it"),
        v1::ImageSupport::TriedNo if in_any_case => {
            Some("a test picture was not understood; images are sent all the same, as --images says")
        }
        v1::ImageSupport::TriedNo => {
            Some("a test picture was not understood, so images are not sent to it; with --images they are")
        }
        v1::ImageSupport::Yes | v1::ImageSupport::No | v1::ImageSupport::Unspecified => None,
    }
}

/// Says whether images are sent to it, where this test has asked.
fn images(tested: &v1::TestModelResponse, file: &Path) -> Option<String> {
    let provider = tested.model.split('/').next().unwrap_or_default();
    let setting = match has_images(file, provider) {
        _ if !tested.images_command.is_empty() => {
            format!("`{}`, which keeps its server in the configuration file,", tested.images_command)
        }
        false => format!(
            "`images = true` below `[providers.{provider}]` in {}, then `palyra config reload`,",
            file.display()
        ),
        true => format!(
            "{} has `images = true` below `[providers.{provider}]` already, and `palyra config reload`, which applies it,",
            file.display()
        ),
    };
    match tested.images() {
        v1::ImageSupport::TriedYes => Some(format!(
            "it named the colour of a picture: images are sent to it from now on; {setting} keeps that after a restart"
        )),
        v1::ImageSupport::TriedNo => Some(format!(
            "a test picture was not understood, so pictures will not be sent to it; {setting} sends them all the same"
        )),
        v1::ImageSupport::Yes | v1::ImageSupport::No | v1::ImageSupport::Unspecified => None,
    }
}

/// Shows what came of a test.
pub(super) fn show(
    output: &Output,
    tested: &v1::TestModelResponse,
    purpose: &TestPurpose<'_>,
) -> Result<(), Failure> {
    let said = clean_line(&tested.text, ANSWER_CHARS_MAX);
    if tested.ok {
        output.line(&format!(
            "ok: {} answers, first text after {} ms, whole after {} ms: {said}",
            tested.model, tested.first_text_ms, tested.total_ms
        ))?;
        let note = match purpose {
            TestPurpose::Known { file } => images(tested, file),
            TestPurpose::Add { images, .. } => images_of_added(tested, *images).map(str::to_owned),
        };
        note.into_iter().for_each(|note| output.note(NoteKind::Info, &note));
        return Ok(());
    }
    let code = ErrorCode::ALL.iter().copied().find(|code| code.to_string() == tested.error_code);
    let (code, message) =
        (code.unwrap_or(ErrorCode::ModelTransient), format!("{} does not answer: {said}", tested.model));
    match purpose {
        TestPurpose::Add { mend, .. } => {
            Failure::WithMend { code, message, mend: mend(code).to_owned() }.show(output);
        }
        TestPurpose::Known { .. } => match mend_of_test(code, &message, &tested.model) {
            Some(mend) => Failure::WithMend { code, message, mend }.show(output),
            None => Failure::local(code, message).naming_run("", &tested.model).show(output),
        },
    }
    Ok(())
}
