//! Help: of a verb, of an error code, or about something that concerns all verbs.

use clap::error::{ContextKind, ContextValue};
use serde_json::json;

use crate::command_line::{self, ExplainVerb};
use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_explain::{ENVIRONMENT, ExplainTopic, nothing_called, page_text, topic_names};
use palyra_screen_text::{headings, section};
use palyra_terminal::{Output, Pager};

/// How a page of the documentation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageView {
    /// Page by page, where it is longer than the screen.
    Paged,
    /// All of it at once.
    Whole,
    /// Its headings.
    Headings,
}

/// Shows the help of a verb, or explains what else a word names.
pub(crate) fn run(context: &Context, words: &[String]) -> Result<Exit, Failure> {
    find(context, words, is_verb, PageView::Paged, None)
}

/// Explains what the words name: a code, a topic or a document, else a verb.
pub(crate) fn explain(context: &Context, verb: &ExplainVerb) -> Result<Exit, Failure> {
    if verb.topic.is_empty() {
        return topics(&context.output).map(|()| Exit::Done);
    }
    let view = match (verb.headings, verb.no_pager) {
        (true, _) => PageView::Headings,
        (false, true) => PageView::Whole,
        (false, false) => PageView::Paged,
    };
    find(context, &verb.topic, |_| false, view, Some("explain"))
}

fn find(
    context: &Context,
    words: &[String],
    is_verb: impl Fn(&str) -> bool,
    view: PageView,
    question: Option<&str>,
) -> Result<Exit, Failure> {
    if let [word] = words {
        let (name, part) = word.split_once('#').map_or((&**word, None), |(name, part)| (name, Some(part)));
        match ExplainTopic::read(name, is_verb) {
            Ok(Some(ExplainTopic::Page(page))) => {
                let section = part.map(|part| section_of(page, name, part)).transpose()?;
                return show_page(context, section.as_deref().unwrap_or(page), view).map(|()| Exit::Done);
            }
            Ok(Some(topic)) => return show(&context.output, topic).map(|()| Exit::Done),
            Ok(None) => {}
            Err(unknown) => return Err(Failure::Usage(unknown.message(word))),
        }
    }
    let words = &with_owner(words);
    let typed = ["palyra"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    let read = command_line::command().try_get_matches_from(typed);
    let is_prose = words.len() > 1 && !self::is_verb(&words[0]);
    match read.map_err(|error| command_line::with_tip(error, words)) {
        Err(error) if error.use_stderr() && names_no_verb(&error) && (words.len() == 1 || is_prose) => {
            Err(Failure::Usage(nothing_called(words, question)))
        }
        Err(error) => Ok(say(&error, &context.output)),
        Ok(_) => Ok(Exit::Done),
    }
}

/// Returns the words with the verb before a single word that only one verb has behind it, such as `runs` before `steer`.
fn with_owner(words: &[String]) -> Vec<String> {
    let definition = command_line::definition();
    let [word] = words else { return words.to_vec() };
    let mut owners = definition.get_subcommands().filter(|verb| verb.find_subcommand(word).is_some());
    match (owners.next(), owners.next()) {
        (Some(owner), None) if !is_verb(word) => vec![owner.get_name().to_owned(), word.clone()],
        _ => words.to_vec(),
    }
}

fn section_of(page: &str, name: &str, part: &str) -> Result<String, Failure> {
    section(page, part).ok_or_else(|| {
        let message = format!(
            "`{name}` has no section `{part}`; `palyra explain {name} --headings` lists its sections"
        );
        Failure::Usage(message)
    })
}

/// Shows a page or a section of one.
fn show_page(context: &Context, page: &str, view: PageView) -> Result<(), Failure> {
    let output = &context.output;
    if view == PageView::Headings {
        return Ok(headings(page).iter().try_for_each(|heading| {
            let indent = "  ".repeat(heading.level.saturating_sub(1));
            output.line(&format!("{indent}{}  #{}", heading.title, heading.anchor))
        })?);
    }
    let (frame, code) = output.page_frame();
    let rows = page_text(page, frame, code);
    let is_long = view == PageView::Paged && output.is_longer_than_screen(rows.lines().count());
    let pager = Pager::of(|name| std::env::var_os(name)).filter(|_| is_long);
    let shown = pager.map(|pager| context.interrupts.paused(|| pager.show(&rows)));
    if shown.is_some_and(|shown| shown.is_ok()) { Ok(()) } else { Ok(output.page(&rows)?) }
}

/// Returns whether the parser knows no verb that is near.
fn names_no_verb(error: &clap::Error) -> bool {
    [ContextKind::SuggestedSubcommand, ContextKind::Suggested].into_iter().all(|kind| match error.get(kind) {
        None => true,
        Some(ContextValue::Strings(names)) => names.is_empty(),
        Some(ContextValue::StyledStrs(tips)) => tips.is_empty(),
        Some(_) => false,
    })
}

fn is_verb(word: &str) -> bool {
    command_line::definition().find_subcommand(word).is_some()
}

fn show(output: &Output, topic: ExplainTopic) -> Result<(), Failure> {
    match topic {
        ExplainTopic::ExitCodes => exit_codes(output),
        ExplainTopic::Environment => environment(output),
        ExplainTopic::Options => {
            output.line("The options of every verb:")?;
            let options = command_line::shared_options();
            options.iter().try_for_each(|option| output.line(&format!("  {option}")))?;
            output.line("")?;
            Ok(output.line(
                "palyra run --preview-references TEXT: show what @file:PATH and others cost; start nothing",
            )?)
        }
        ExplainTopic::Topics => topics(output),
        ExplainTopic::Page(page) => Ok(output.page(page)?),
    }
}

/// Shows the overview after a command line without a verb, off a terminal: an invalid command line.
pub(crate) fn overview_instead(output: &Output) -> Exit {
    output.refused_arguments(&command_line::command().render_help());
    Exit::Usage
}

/// Prints the version.
pub(crate) fn version(output: &Output, format: OutputFormat) -> Result<Exit, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    match format {
        OutputFormat::Json => output.json(&json!({ "version": version }))?,
        OutputFormat::Text => output.line(&format!("palyra {version}"))?,
    }
    Ok(Exit::Done)
}

/// Says what came of reading the command line: help, the version, or what is wrong with it.
pub(crate) fn say(said: &clap::Error, output: &Output) -> Exit {
    if said.use_stderr() {
        output.refused_arguments(&said.render());
        return Exit::Usage;
    }
    // Whoever asked for help may have stopped reading it.
    output.help(&said.render()).map_err(Failure::from).map_or_else(
        |failure| {
            failure.show(output);
            failure.exit()
        },
        |()| Exit::Done,
    )
}

fn exit_codes(output: &Output) -> Result<(), Failure> {
    output.line("What a verb exits with:")?;
    Ok(Exit::ALL
        .iter()
        .try_for_each(|exit| output.line(&format!("  {:>3}  {}", exit.number(), exit.meaning())))?)
}

fn environment(output: &Output) -> Result<(), Failure> {
    output.line("What the environment says:")?;
    Ok(ENVIRONMENT.iter().try_for_each(|(name, meaning)| output.line(&format!("  {name:<16} {meaning}")))?)
}

fn topics(output: &Output) -> Result<(), Failure> {
    output.line("`palyra explain TOPIC` explains a verb, or one of these:")?;
    Ok(topic_names().try_for_each(|(name, what)| output.line(&format!("  {name:<24} {what}")))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_only_one_verb_has_behind_it_is_explained_with_that_verb() {
        let words = |word: &str| with_owner(&[word.to_owned()]).join(" ");
        assert_eq!(words("steer"), "runs steer");
        assert_eq!(words("undo"), "runs undo");
        // Several verbs have a list, and a verb of its own stays one.
        assert_eq!(words("list"), "list");
        assert_eq!(words("run"), "run");
    }
}
