//! An approval as a person sees it: what would run, what it would change, why it is asked, and for how long.
//!
//! Pure. Invariant: nothing that will run is left out without saying so; what steers a terminal is made visible by
//! the program that prints the lines.

mod changes;

use std::time::{SystemTime, UNIX_EPOCH};

use palyra_wire::v1;
use palyra_wire::v1::argument_rule::Shape;
use prost_types::Timestamp;

use super::model_advice::for_person;
use super::times::{age, date};
use crate::answer::{OfferScope, SessionOffer, is_risky};
pub use changes::changes;
use palyra_screen_text::{LineLook, StyledLine, clean_line, count, diff_lines, escape_json, short_id};
use palyra_terminal::NoteKind;

/// Lines of a preview at a prompt.
const PROMPT_LINES_MAX: usize = 10;
/// Characters of one of them.
const PROMPT_LINE_CHARS_MAX: usize = 400;
/// Lines of a preview where no person can be asked.
const UNATTENDED_LINES_MAX: usize = 40;
const ARGUMENTS_CHARS_MAX: usize = 400;
const CALL_CHARS_MAX: usize = 160;
/// Characters of a whole id.
const ID_CHARS: usize = 26;
/// Characters of what was said with an answer.
const ANSWER_NOTE_CHARS_MAX: usize = 240;
const NAME_CHARS_MAX: usize = 64;
/// Tools whose preview ends with a block of details.
const COMMANDS: [&str; 2] = ["run_command", "start_job"];

/// Details of a command that say what it may change and reach.
const LIMITS: [&str; 3] = ["may change", "read-only", "network"];

/// Tools whose preview begins with a request and its headers.
const REQUESTS: [&str; 2] = ["http_fetch", "http_send"];

/// The key that shows what is left out at a prompt.
const MORE_KEY: &str = "m";

/// How much of an approval is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewDetail {
    /// At a prompt: a few lines; the others are behind one key.
    Prompt,
    /// Of a question of before: as at a prompt, without what only an answer to it can use.
    Replayed,
    /// Where no person can be asked: the preview, up to a limit.
    Unattended,
    /// All of it.
    Full,
    /// All of it, at a prompt whose keys are explained.
    More,
}

/// Returns what a person has to know to answer, line by line: a heading, and what is shown behind blanks. The id is for
/// the command that shows what is left out, where no key does.
pub fn question(
    approval_id: &str,
    prompt: &v1::ApprovalPrompt,
    risk: &str,
    detail: PreviewDetail,
    scope: &OfferScope,
) -> Vec<StyledLine> {
    let mut lines = vec![StyledLine::plain(heading(prompt, risk))];
    let mut add = |text: String| lines.push(StyledLine::plain(text));
    // The heading of a command names its folder.
    if !scope.elsewhere.is_empty() && !COMMANDS.contains(&prompt.tool.as_str()) {
        add(format!("In the folder {}", scope.elsewhere));
    }
    if !prompt.asked_again.is_empty() {
        add(format!("Asked again because {}", prompt.asked_again));
    }
    if let Some(arguments) = shown_arguments(prompt, detail) {
        add(arguments);
    }
    let show = format!("`palyra approve show {}`", short_id(approval_id));
    lines.extend(match detail {
        PreviewDetail::Prompt => prompt_preview(prompt, MORE_KEY),
        PreviewDetail::Replayed => prompt_preview(prompt, &show),
        PreviewDetail::Unattended => cut(diff_lines(&prompt.preview), UNATTENDED_LINES_MAX, 0, &show),
        PreviewDetail::Full | PreviewDetail::More => diff_lines(&prompt.preview),
    });
    if !prompt.reason.is_empty() {
        lines.push(StyledLine::plain(format!("Why: {}", why(&prompt.reason))));
    }
    if !prompt.unbound.is_empty() {
        lines.push(StyledLine::plain(format!("Not checked: {}", prompt.unbound)));
    }
    if matches!(detail, PreviewDetail::Prompt | PreviewDetail::More) {
        lines.extend(SessionOffer::of(prompt, risk).folder_line(scope).map(StyledLine::plain));
    }
    lines
}

/// Returns the line that says what runs, and how risky it is where a plain `y` is not enough.
pub(crate) fn heading(prompt: &v1::ApprovalPrompt, risk: &str) -> String {
    let risk = if is_risky(risk) { format!(" ({risk} risk)") } else { String::new() };
    format!("{}{risk}", call_line(prompt))
}

/// Returns which tool does what.
pub fn call_line(prompt: &v1::ApprovalPrompt) -> String {
    let tool = prompt.tool.as_str();
    let summary = summary(prompt);
    // A tool that is not asked what a call does is shown with its arguments, which may begin with its name.
    let names_itself = summary.strip_prefix(tool).is_some_and(|rest| rest.starts_with(' '));
    if names_itself { summary } else { format!("{tool} {summary}") }
}

/// Returns what the call does, in one line.
pub fn summary(prompt: &v1::ApprovalPrompt) -> String {
    if prompt.summary.is_empty() {
        return escape_json(&prompt.arguments);
    }
    let is_command = COMMANDS.contains(&prompt.tool.as_str());
    let home = std::env::var("HOME").unwrap_or_default();
    if is_command { in_short_folder(&prompt.summary, &home) } else { prompt.summary.clone() }
}

/// Returns a folder with `~` for the home directory.
pub fn short_folder(folder: &str, home: &str) -> String {
    let home = home.trim_end_matches('/');
    let rest = folder.strip_prefix(home).filter(|_| home.starts_with('/'));
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
    rest.map_or_else(|| folder.to_owned(), |rest| format!("~{rest}"))
}

/// Returns a line that ends with a folder, with `~` for the home directory in it.
fn in_short_folder(line: &str, home: &str) -> String {
    let short =
        line.rsplit_once(" in ").map(|(call, folder)| format!("{call} in {}", short_folder(folder, home)));
    short.unwrap_or_else(|| line.to_owned())
}

/// Returns why a call is asked, without what the heading says already.
fn why(reason: &str) -> String {
    with_short_ids(&reasons_of_rules(reason).unwrap_or_else(|| reason.to_owned()))
}

/// Returns what each rule says that asks, with the name of the rule; `None` where one of them gives no reason.
fn reasons_of_rules(reason: &str) -> Option<String> {
    let (_, by) = reason.split_once(" needs an approval by `")?;
    let (by, difference) = match by.split_once("); ") {
        Some((by, difference)) => (by, format!("; {difference}")),
        None => match by.rsplit_once(") and ").filter(|(_, more)| more.ends_with(" more")) {
            Some((by, more)) => (by, format!(", and {more}")),
            None => (by.strip_suffix(')')?, String::new()),
        },
    };
    let of_rule = |rule: &str| {
        let (rule, what) = rule.split_once("` (")?;
        (!rule.contains('`') && !what.contains("), `")).then(|| format!("{what} (rule `{rule}`)"))
    };
    let rules: Option<Vec<String>> = by.split(") and `").map(of_rule).collect();
    Some(format!("{}{difference}", rules?.join(", and ")))
}

/// Returns a text with the ids in it as tables show them.
fn with_short_ids(text: &str) -> String {
    let is_id = |word: &str| {
        word.len() == ID_CHARS && word.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
    };
    let words = text.split(' ').map(|word| if is_id(word) { short_id(word) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

fn shown_arguments(prompt: &v1::ApprovalPrompt, detail: PreviewDetail) -> Option<String> {
    let shows_all = matches!(detail, PreviewDetail::Full | PreviewDetail::More);
    let is_in_heading = summary(prompt).contains(&escape_json(&prompt.arguments));
    // Where there is a preview, the arguments only say it again.
    if is_in_heading || (!shows_all && !prompt.preview.is_empty()) {
        return None;
    }
    let arguments = escape_json(&prompt.arguments);
    let chars = arguments.chars().count();
    if shows_all || chars <= ARGUMENTS_CHARS_MAX {
        return Some(format!("Arguments: {arguments}"));
    }
    let head: String = arguments.chars().take(ARGUMENTS_CHARS_MAX).collect();
    let left = count((chars - ARGUMENTS_CHARS_MAX) as u64, "more character");
    Some(format!("Arguments: {head}… ({left})"))
}

/// Returns what of a preview is shown at a prompt; what is left out is counted, and `more` shows it.
fn prompt_preview(prompt: &v1::ApprovalPrompt, more: &str) -> Vec<StyledLine> {
    let preview = prompt.preview.as_str();
    if COMMANDS.contains(&prompt.tool.as_str()) {
        return command_preview(prompt, more);
    }
    let (shown, left_out) = if REQUESTS.contains(&prompt.tool.as_str()) {
        // The heading says what the first line does; headers follow, and what is sent.
        let (head, body) = preview.split_once("\n\n").unwrap_or((preview, ""));
        let told = head.lines().next().is_some_and(|request| prompt.summary.starts_with(request));
        (diff_lines(body), head.lines().count() - usize::from(told))
    } else {
        (without_file_header(diff_lines(preview), &prompt.summary), 0)
    };
    cut(shown, PROMPT_LINES_MAX, left_out, more)
}

/// Returns what a call changes about which no person was asked, as a question would show it: `named` is a line that names
/// its file already, and `more` shows what is left out; without it all is shown.
pub(crate) fn change_lines(preview: &str, named: &str, more: Option<&str>) -> Vec<StyledLine> {
    let lines = without_file_header(diff_lines(preview), named);
    match more {
        Some(more) => cut(lines, PROMPT_LINES_MAX, 0, more),
        None => lines,
    }
}

/// Returns the blocks of a command's preview that say what it does, and in one line what it may change and reach; how
/// many lines of details follow is counted. The command itself is in the heading.
fn command_preview(prompt: &v1::ApprovalPrompt, more: &str) -> Vec<StyledLine> {
    let Some((first, rest)) = prompt.preview.split_once('\n').filter(|(first, _)| first.starts_with("$ "))
    else {
        return cut(diff_lines(&prompt.preview), PROMPT_LINES_MAX, 0, more);
    };
    let in_heading = prompt.summary.contains(first.trim_start_matches("$ "));
    let (blocks, details) = rest.rsplit_once("\n\n").unwrap_or(("", rest));
    let first = (!in_heading).then(|| StyledLine::plain(first));
    let blocks = blocks.lines().filter(|line| !line.is_empty()).map(StyledLine::plain);
    let mut shown: Vec<StyledLine> = first.into_iter().chain(blocks).collect();
    let left_out = shown.len().saturating_sub(PROMPT_LINES_MAX);
    shown.truncate(PROMPT_LINES_MAX);
    let (limits, details): (Vec<&str>, Vec<&str>) =
        details.lines().filter(|line| !line.is_empty()).partition(|line| is_limit(line));
    // One line, so that neither a long command nor a low screen takes it away.
    shown.extend((!limits.is_empty()).then(|| StyledLine::plain(one_line(&limits))));
    cut(shown, PROMPT_LINES_MAX + 1, left_out + details.len(), more)
}

/// Returns whether a detail says what a command may change or reach.
fn is_limit(detail: &str) -> bool {
    LIMITS.iter().any(|name| detail.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')))
}

/// Joins details, each of which begins with its name in a column.
fn one_line(details: &[&str]) -> String {
    let words = |detail: &&str| detail.split_whitespace().collect::<Vec<_>>().join(" ");
    details.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Leaves out the header of a diff of one file, where the heading names that file.
fn without_file_header(lines: Vec<StyledLine>, summary: &str) -> Vec<StyledLine> {
    let is_name = |line: &StyledLine| {
        line.look == LineLook::Header && (line.text.starts_with("--- ") || line.text.starts_with("+++ "))
    };
    let names: Vec<&str> = lines.iter().filter(|line| is_name(line)).map(|line| &line.text[4..]).collect();
    let is_named = match names.as_slice() {
        [old, new] => {
            [old, new].into_iter().all(|name| *name == "/dev/null" || summary.contains(&format!("`{name}`")))
        }
        _ => false,
    };
    if !is_named {
        return lines;
    }
    lines.into_iter().filter(|line| !is_name(line) && !is_start_of_new_file(line)).collect()
}

fn is_start_of_new_file(line: &StyledLine) -> bool {
    line.look == LineLook::Header && line.text.starts_with("@@ -0,0 ")
}

/// Cuts lines that are too many or too long for a prompt, and says how many are left out and where they are.
fn cut(lines: Vec<StyledLine>, lines_max: usize, left_out: usize, place: &str) -> Vec<StyledLine> {
    let left_out = left_out + lines.len().saturating_sub(lines_max);
    let mut shown: Vec<StyledLine> =
        lines.into_iter().take(lines_max).map(|line| shorter(line, place)).collect();
    if left_out > 0 {
        shown.push(StyledLine::plain(format!("({}: {place})", count(left_out as u64, "more line"))));
    }
    shown
}

fn shorter(line: StyledLine, place: &str) -> StyledLine {
    let chars = line.text.chars().count();
    if chars <= PROMPT_LINE_CHARS_MAX {
        return line;
    }
    let head: String = line.text.chars().take(PROMPT_LINE_CHARS_MAX).collect();
    let left = count((chars - PROMPT_LINE_CHARS_MAX) as u64, "more character");
    StyledLine { text: format!("{head}… ({left}: {place})"), look: line.look }
}

/// Returns how long there is time, such as `23h left`; empty when there is no end.
pub fn time_left(expires: Option<Timestamp>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    expires.map(|expires| left(expires.seconds.saturating_sub_unsigned(now))).unwrap_or_default()
}

fn left(seconds: i64) -> String {
    match seconds {
        ..=0 => "over".to_owned(),
        1..60 => format!("{seconds}s left"),
        60..3_600 => format!("{}m left", seconds / 60),
        3_600..172_800 => format!("{}h left", seconds / 3_600),
        _ => format!("{}d left", seconds / 86_400),
    }
}

/// Returns the state of an approval, in a word.
pub fn approval_state_name(state: v1::ApprovalState) -> &'static str {
    match state {
        v1::ApprovalState::Pending => "waits",
        v1::ApprovalState::Approved => "approved",
        v1::ApprovalState::Denied => "denied",
        v1::ApprovalState::Expired => "expired",
        v1::ApprovalState::Withdrawn => "withdrawn",
        v1::ApprovalState::Unspecified => "unknown",
    }
}

/// Returns which call an approval is about, in one line; empty once its content is erased.
fn approved_call(approval: &v1::Approval) -> String {
    let Some(prompt) = approval.prompt.as_ref().filter(|prompt| !prompt.tool.is_empty()) else {
        return String::new();
    };
    clean_line(&call_line(prompt), CALL_CHARS_MAX)
}

/// Says what a stored grant lets run, in the words of the question that was answered, and how it is ended.
pub(crate) fn granted(grant: &v1::StoredGrant, scope: &OfferScope) -> String {
    let id = short_id(&grant.grant_id);
    let place =
        if grant.session_id.is_empty() { String::new() } else { format!(" {}", scope.session_reach()) };
    let beneath = grant.rules.iter().find_map(|rule| match &rule.shape {
        Some(Shape::Beneath(folder)) => Some(scope.place_of(&clean_line(folder, CALL_CHARS_MAX))),
        _ => None,
    });
    let is_exact = grant.rules.iter().all(|rule| matches!(rule.shape, Some(Shape::Equal(_))));
    let what = match (beneath, is_exact) {
        (Some(place), _) => format!("every {} {place}", grant.tool),
        (None, true) => format!("this same {} call", grant.tool),
        (None, false) => format!("each matching {} call", grant.tool),
    };
    format!(
        "from now on {what} runs without asking{place} (grant {id}; `palyra approve revoke {id}` revokes that grant)"
    )
}

/// Returns who decided, in a word: by name where the daemon knows one.
pub fn decider(approval: &v1::Approval) -> String {
    match approval.decided_by_name.as_str() {
        "" => approval.decided_by.clone(),
        name => clean_line(name, NAME_CHARS_MAX),
    }
}

/// Says what became of a question: the answer, who gave it, when, and with which reason.
pub fn answered_question(approval: &v1::Approval) -> String {
    let state = approval_state_name(approval.state());
    let by = match approval.decided_by.as_str() {
        "" => String::new(),
        _ => format!(" by {}", decider(approval)),
    };
    let when = approval.decided.map_or_else(String::new, |_| format!(", {}", date(approval.decided)));
    let note = clean_line(&approval.note, ANSWER_NOTE_CHARS_MAX);
    let why = if note.is_empty() { note } else { format!(": {note}") };
    format!("the question: {state}{by}{when}{why}")
}

/// Returns what was decided, by whom and when.
fn decision(approval: &v1::Approval) -> String {
    let state = approval_state_name(approval.state());
    let when = approval.decided.map(|_| format!(", {} ago", age(approval.decided))).unwrap_or_default();
    format!("{state} by {}{when}", decider(approval))
}

/// Says that an answer repeats one that decided before; `None` where that is not so. `before` is the approval before it.
pub fn repeated(before: &v1::Approval, answer: &v1::ResolveApprovalResponse) -> Option<String> {
    let now = answer.approval.as_ref()?;
    let was_decided = before.state() != v1::ApprovalState::Pending && !before.decided_by.is_empty();
    (answer.counted && answer.grant_id.is_empty() && was_decided)
        .then(|| format!("it was already {}; nothing changed", decision(now)))
}

/// Returns whether the tape of the run says itself what became of an answer that did not count.
pub fn is_said_by_tape(answer: &v1::ResolveApprovalResponse) -> bool {
    let decided_by_rules = answer
        .approval
        .as_ref()
        .is_some_and(|approval| approval.decided_by.is_empty() && !approval.note.is_empty());
    answer.counted || (decided_by_rules && answer.asked_again_as.is_empty())
}

/// Returns an answer with the arguments that run, where those that were proposed do not.
#[must_use]
pub fn with_edited(mut answer: v1::ResolveApprovalResponse, arguments: &str) -> v1::ResolveApprovalResponse {
    let prompt = answer.approval.as_mut().and_then(|approval| approval.prompt.as_mut());
    // Once the content is erased there is no tool, and nothing to show.
    if let Some(prompt) = prompt.filter(|prompt| !arguments.is_empty() && !prompt.tool.is_empty()) {
        // It says what the proposed arguments would have done.
        prompt.summary.clear();
        arguments.clone_into(&mut prompt.arguments);
    }
    answer
}

/// Returns what became of an answer, for a call in a folder where that is known; `shown` is an id as messages show it.
pub fn outcome(
    answer: &v1::ResolveApprovalResponse,
    folder: &str,
    shown: impl Fn(&str) -> String,
) -> (NoteKind, String) {
    let approval = answer.approval.clone().unwrap_or_default();
    let state = approval_state_name(approval.state());
    let call = approved_call(&approval);
    let is_placed =
        folder.is_empty() || approval.prompt.iter().any(|prompt| COMMANDS.contains(&prompt.tool.as_str()));
    let place = if is_placed { String::new() } else { format!(" in {folder}") };
    let what = if call.is_empty() { String::new() } else { format!(": {call}{place}") };
    if !answer.asked_again_as.is_empty() {
        let told = format!(
            "what would run has changed since it was asked, so nothing ran; `palyra approve show {}` shows the new question",
            shown(&answer.asked_again_as)
        );
        return (NoteKind::Doubt, told);
    }
    if !answer.counted {
        let told = match (approval.decided_by.as_str(), approval.note.as_str()) {
            ("", "") if approval.state() == v1::ApprovalState::Expired => format!(
                "nothing ran; the question expired before it was answered. To have it asked again, say in its session that \
                 the model may try again: `palyra runs answer {} --new TEXT`",
                shown(&approval.run_id)
            ),
            ("", "") => format!("it was decided before: {state}"),
            ("", note) if approval.state() == v1::ApprovalState::Withdrawn => format!(
                "nothing ran; the question was withdrawn after it was asked: {}; `palyra runs tail {}` shows how it \
                 goes on",
                for_person(note),
                shown(&approval.run_id)
            ),
            // No person did: the rules, or whatever the call was about.
            ("", note) => format!("nothing ran; {state}: {note}"),
            (_, _) => format!("it was decided before: {}", decision(&approval)),
        };
        return (NoteKind::Doubt, told);
    }
    if approval.state() == v1::ApprovalState::Pending {
        let told = format!(
            "your yes counts; {} of {} people said yes{what}",
            approval.voters.len(),
            approval.needed
        );
        return (NoteKind::Good, told);
    }
    let granted = if answer.grant_id.is_empty() {
        String::new()
    } else {
        let id = short_id(&answer.grant_id);
        format!(
            "; matching calls now run without asking (grant {id}; `palyra approve revoke {id}` revokes that grant)"
        )
    };
    let mark = if approval.state() == v1::ApprovalState::Denied { NoteKind::Bad } else { NoteKind::Good };
    (
        mark,
        format!(
            "{state}{what}; `palyra runs tail {}` shows how it goes on{granted}",
            shown(&approval.run_id)
        ),
    )
}

#[cfg(test)]
mod tests;
