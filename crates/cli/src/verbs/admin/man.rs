//! `palyra admin man`: man pages, made of the command line's own definition.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap_mangen::Man;
use palyra_types::ErrorCode;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::NoteKind;

/// Print the man page, or write those of all verbs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  palyra admin man --dir ~/.local/share/man/man1\n  palyra admin man | man -l -"
)]
pub(crate) struct ManArgs {
    /// Write the page of every verb into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Runs the verb.
pub(super) fn run(context: &Context, args: &ManArgs) -> Result<Exit, Failure> {
    let mut definition = (context.definition)().disable_help_subcommand(true);
    definition.build();
    let pages = pages(&definition, &source(&definition));
    match &args.dir {
        None => {
            let (_, first) = pages.into_iter().next().unwrap_or_default();
            context.output.verbatim(&first)?;
        }
        Some(folder) => {
            let message = write(folder, &pages).map_err(|error| {
                let what = format!("{} cannot be written: {error}", folder.display());
                Failure::local(ErrorCode::InvalidArgument, what)
            })?;
            context.output.note(NoteKind::Good, &message);
        }
    }
    Ok(Exit::Done)
}

fn write(folder: &Path, pages: &[(String, String)]) -> std::io::Result<String> {
    std::fs::create_dir_all(folder)?;
    for (name, page) in pages {
        let mut file = std::fs::File::create(folder.join(name))?;
        file.write_all(page.as_bytes())?;
    }
    Ok(format!("wrote {} pages to {}", pages.len(), folder.display()))
}

/// Returns the name and version of the program, which each page has in its footer.
fn source(program: &clap::Command) -> String {
    format!("{} {}", program.get_name(), program.get_version().unwrap_or_default())
}

/// Returns each verb's file name and page, the program's own first.
fn pages(command: &clap::Command, source: &str) -> Vec<(String, String)> {
    let mut pages = vec![page(command, source)];
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help") {
        pages.extend(self::pages(verb, source));
    }
    pages
}

fn page(command: &clap::Command, source: &str) -> (String, String) {
    let page = Man::new(command.clone()).source(source).manual("Palyra Manual");
    let mut text = Vec::new();
    // A vector takes everything.
    let _ = page.render(&mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    text.push_str(&exit_status());
    (page.get_filename(), text)
}

fn exit_status() -> String {
    let mut text = ".SH \"EXIT STATUS\"\n".to_owned();
    for exit in Exit::ALL {
        let _ = writeln!(text, ".TP\n{}\n{}", exit.number(), exit.meaning());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_with_its_sections() {
        let mut command = clap::Command::new("palyra")
            .about("Asks models")
            .subcommand(clap::Command::new("runs").subcommand(clap::Command::new("tail").about("Follows")));
        command.build();
        let pages = pages(&command, "palyra 1.2.3");
        let names: Vec<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["palyra.1", "palyra-runs.1", "palyra-runs-tail.1"]);
        for (name, page) in &pages {
            let head = page.lines().find(|line| line.starts_with(".TH ")).unwrap();
            assert!(head.contains("\"palyra 1.2.3\""), "{name}: {head}");
        }
        for section in [".TH palyra", ".SH NAME", ".SH SYNOPSIS", ".SH \"EXIT STATUS\"\n.TP\n0\ndone\n"] {
            assert!(pages[0].1.contains(section), "{section}: {}", pages[0].1);
        }
    }
}
