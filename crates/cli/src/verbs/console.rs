//! `palyra console`: signs a browser in to the web console, or signs all of them out.
//!
//! Invariant: the link is in no program's arguments, which other users of the machine can read: the browser is given a file
//! that only this user can read and that leads to it.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use palyra_client::Client;
use palyra_wire::json::to_json;
use palyra_wire::v1;

use super::start_run::{RunChoice, workspace_root};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::{NoteKind, Output};

/// The program that opens a file in the browser of a desktop.
const OPENER: &str = "xdg-open";
/// Below the state directory.
const LINK_FILE: &str = "console-link.html";

/// Open the web console, signed in
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra console\n  palyra console --print\n  palyra console --sign-out-all"
)]
pub(crate) struct ConsoleArgs {
    /// Print the link and open nothing
    #[arg(long, conflicts_with = "sign_out_all")]
    print: bool,
    /// End every session of the console, and links that were not used
    #[arg(long)]
    sign_out_all: bool,
    /// As JSON; opens nothing
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, client: &Client, args: &ConsoleArgs) -> Result<Exit, Failure> {
    let output = &context.output;
    if args.sign_out_all {
        let ended = client.call(v1::EndConsoleSessionsRequest {}).await?;
        if args.json {
            output.json(&to_json(&ended))?;
        } else {
            let sessions = palyra_screen_text::count(ended.ended.into(), "session");
            output.line(&format!("{sessions} of the console ended"))?;
        }
        return Ok(Exit::Done);
    }
    // A folder that no agent may work in is not offered there, and nothing else depends on it.
    let workspace_root = workspace_root(context, &RunChoice::default()).unwrap_or_default();
    let request = v1::CreateConsoleLinkRequest { workspace_root, ..Default::default() };
    let link = client.call(request).await?;
    if args.json {
        output.json(&to_json(&link))?;
        return Ok(Exit::Done);
    }
    output.exact_line(&link.url)?;
    let note = format!("it signs one browser in, within {} seconds", link.seconds);
    output.note(NoteKind::Info, &note);
    if !args.print && has_desktop() {
        open(output, &context.state_dir()?.join(LINK_FILE), &link.url);
    }
    Ok(Exit::Done)
}

fn has_desktop() -> bool {
    ["WAYLAND_DISPLAY", "DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Opens the link in a browser. Where that fails, the printed link is there.
fn open(output: &Output, file: &Path, url: &str) {
    let opened = write_link(file, url).and_then(|()| start_opener(file));
    if let Err(error) = opened {
        output.note(NoteKind::Doubt, &format!("no browser was opened: {error}"));
    }
}

/// Writes a page that leads to the link; the one before is replaced.
fn write_link(file: &Path, url: &str) -> std::io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut page = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    page.write_all(link_page(url).as_bytes())
}

/// Returns the page; the URL is the daemon's own and has no character that HTML gives a meaning.
fn link_page(url: &str) -> String {
    format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>Palyra</title>"
    )
}

fn start_opener(file: &Path) -> std::io::Result<()> {
    let mut opener = Command::new(OPENER);
    opener.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut opener = opener.spawn()?;
    // It ends by itself, after this program or before.
    std::thread::spawn(move || opener.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_page_with_the_link_is_for_this_user_only_and_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(LINK_FILE);
        for code in ["first", "second"] {
            write_link(&file, &format!("http://localhost:1/console/login/{code}")).unwrap();
            let page = std::fs::read_to_string(&file).unwrap();
            assert!(page.contains(&format!("0;url=http://localhost:1/console/login/{code}\"")), "{page}");
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
