//! What a call that succeeded brought, in a few words.
//!
//! Pure: reads the lines in which a tool of ours sums its result up, and shows them cleaned. Invariant: a result that it
//! does not know is its length.

use serde_json::Value;

use palyra_screen_text::{bytes, clean_line};

const RESULT_CHARS_MAX: usize = 160;
const OBJECT_CHARS_MAX: usize = 40;
/// Arguments that say what a call is about, the first that is there.
const OBJECTS: [&str; 6] = ["pattern", "path", "url", "subcommand", "question", "name"];

/// Returns what a call brought.
pub(super) fn result_line(tool: &str, output: &str, output_bytes: u64) -> String {
    let summed = match tool {
        "search" | "glob" => matches(output),
        "write_file" | "edit_file" | "apply_patch" => changes(output),
        "ask_user" => Some("answered".to_owned()),
        "run_command" | "git" => ended(output, output_bytes),
        _ => None,
    };
    summed.unwrap_or_else(|| format!("{} of output", bytes(output_bytes)))
}

/// Returns a call by its tool and what it is about, such as `search "total"`.
pub(super) fn call_label(tool: &str, arguments: &str) -> String {
    let read: Value = serde_json::from_str(arguments).unwrap_or_default();
    let object = OBJECTS.iter().find_map(|name| read.get(name)?.as_str());
    match object {
        Some(object) => format!("{tool} \"{}\"", clean_line(object, OBJECT_CHARS_MAX)),
        None => tool.to_owned(),
    }
}

/// Reads "[3 matches in 2 files (9 files searched)]", and from the last line how many hidden names were passed over.
fn matches(output: &str) -> Option<String> {
    let head = in_brackets(output.lines().next()?)?;
    let found = head.split(" (").next()?;
    let number = found.split(' ').next()?;
    if number != "no" && number.parse::<u64>().is_err() {
        return None;
    }
    let hidden = output.lines().last().and_then(in_brackets).and_then(|notes| {
        let note = notes.split("; ").find(|note| note.contains(" not searched: set `hidden`"))?;
        Some(note.split(" (").next().unwrap_or(note).split(" not searched").next().unwrap_or(note).to_owned())
    });
    let hidden = hidden.map_or_else(String::new, |hidden| format!("; {hidden} not searched"));
    Some(clean_line(&format!("{found}{hidden}"), RESULT_CHARS_MAX))
}

/// Reads "exit code 0", lines about the network and what was protected, an empty line, and what the program printed.
fn ended(output: &str, output_bytes: u64) -> Option<String> {
    let how = output.lines().next().filter(|line| line.starts_with("exit code "))?;
    let head = output.split_once("\n\n").map_or(output.len(), |(head, _)| head.len() + "\n\n".len());
    let printed = output_bytes.saturating_sub(u64::try_from(head).unwrap_or(u64::MAX));
    let how = clean_line(how, RESULT_CHARS_MAX);
    Some(match printed {
        0 => format!("{how}, no output"),
        printed => format!("{how}, {} of output", bytes(printed)),
    })
}

/// Reads "created a.txt: 5 bytes, sha256 ...", a line for each file.
fn changes(output: &str) -> Option<String> {
    let mut lines = output.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next()?;
    let first = first.split(", sha256 ").next().unwrap_or(first);
    let more = match lines.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!("{}{more}", clean_line(first, RESULT_CHARS_MAX)))
}

fn in_brackets(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests;
