//! Names and what is assigned to them, in code, environments, JSON, YAML, XML, command lines and prose.
//!
//! Owns how a value is found behind a word of its name. What it means is judged by [`super::name`] and
//! [`super::vendor`]. Invariant: it says that it cannot tell as long as what comes next could change anything.

use crate::byte_set::{ByteSet, NAME, VALUE};
use crate::rules::randomness::is_wordy;
use crate::verdict::{NOWHERE, View};

/// Bytes between a word of a name and what joins it to its value, at most.
const TAIL_BYTES_MAX: usize = 40;
/// Quotes and brackets on either side of what joins them, at most.
const FRAME_BYTES_MAX: usize = 16;
/// Bytes of a value that are judged, at most.
pub(crate) const VALUE_BYTES_MAX: usize = 512;
/// What a name is not taken from.
const PLACEHOLDER: &[u8] = b"<secret:";
/// How often something between a name and its value is taken for a part of the name.
const DETOURS_MAX: usize = 2;

/// What goes on with a value that is longer than what is judged.
pub(crate) static VALUE_REST: ByteSet = ByteSet::alphanumeric_and(b"_-+/=.~%:");

/// A value with its name.
#[derive(Debug)]
pub(crate) struct Assigned<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) joint: Joint,
    /// Whether it is compared, not assigned.
    pub(crate) is_compared: bool,
    /// Whether it is followed by what makes it a call, a path or a pattern.
    pub(crate) is_called: bool,
    /// Whether more of it follows than was judged.
    pub(crate) goes_on: bool,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    Quoted,
    Bare,
    /// Without quotes behind a quoted name: a number, in JSON.
    Number,
    /// Behind "is", or as a word of a command line.
    Said,
}

/// What was found behind a word of a name.
pub(crate) enum Sought<'a> {
    Nothing,
    /// More text is needed; a value would begin here or later.
    Wait(usize),
    Value(Assigned<'a>),
}

/// Looks for a value behind the word of a name that begins at `at` and ends at `end`.
pub(crate) fn seek(at: usize, end: usize, view: View<'_>) -> Sought<'_> {
    let name_start = at - view.just_before(at, 64).iter().rev().take_while(|byte| NAME.has(**byte)).count();
    if view.just_before(name_start, PLACEHOLDER.len()) == PLACEHOLDER {
        return Sought::Nothing;
    }
    let tail = read_tail(name_start, end, view);
    let mut place = match tail.stop {
        Stop::Unknown => return Sought::Wait(tail.said.unwrap_or(NOWHERE)),
        Stop::At(place) => place,
    };
    let name_end = tail.name_end;
    let name = &view.text[with_word_before(name_start, view)..name_end];
    for _ in 0..=DETOURS_MAX {
        let said = tail.said.unwrap_or(NOWHERE);
        let joint = match read_joint(place, view) {
            Joined::Unknown(from) => return Sought::Wait(from.min(said)),
            Joined::Not => return tail.said.map_or(Sought::Nothing, |start| said_value(name, start, view)),
            Joined::By(joint) => joint,
        };
        match read_value(name, &joint, view) {
            Read::Unknown(from) => return Sought::Wait(from.min(said)),
            Read::Not => return tail.said.map_or(Sought::Nothing, |start| said_value(name, start, view)),
            Read::Detour(next) => place = next,
            Read::Value(assigned) => return Sought::Value(assigned),
        }
    }
    Sought::Nothing
}

/// Returns where a name of two words begins, such as "api key".
fn with_word_before(name_start: usize, view: View<'_>) -> usize {
    let before = view.just_before(name_start, 8);
    let words: [&[u8]; 8] =
        [b"api ", b"access ", b"secret ", b"private ", b"signing ", b"auth ", b"client ", b"bearer "];
    let fits = |word: &&&[u8]| {
        before.len() >= word.len() && before[before.len() - word.len()..].eq_ignore_ascii_case(word)
    };
    words.iter().find(fits).map_or(name_start, |word| name_start - word.len())
}

/// The rest of a name, up to what joins it.
struct Tail {
    stop: Stop,
    name_end: usize,
    /// Where a value would begin that is only said.
    said: Option<usize>,
}

enum Stop {
    Unknown,
    At(usize),
}

fn read_tail(name_start: usize, end: usize, view: View<'_>) -> Tail {
    let limit = end + TAIL_BYTES_MAX;
    let name_end = NAME.run(view.text, end, limit);
    let is_option = view.text.get(name_start..name_start + 2) == Some(b"--");
    let (mut at, mut said) = (name_end, None);
    while at < limit {
        let Some(byte) = view.byte(at) else { break };
        if !NAME.has(byte) && byte != b' ' && byte != b'\t' {
            break;
        }
        if byte == b' ' && said.is_none() {
            let word = |word: &str| view.says(at, word);
            if word(" is ") || word(" was ") {
                said = Some(at + if word(" is ") { 4 } else { 5 });
            } else if at == name_end
                && (is_option || is_login(name_start, view) || is_said_name(name_start, view))
            {
                said = Some(at + 1);
            }
        }
        at += 1;
    }
    if at < limit && view.open_at(at) {
        let said = said.filter(|start| may_be_said(*start, view));
        return Tail { stop: Stop::Unknown, name_end, said };
    }
    Tail { stop: Stop::At(at), name_end, said }
}

/// Returns whether the word at a place may still become a value that is said.
fn may_be_said(start: usize, view: View<'_>) -> bool {
    let end = VALUE.run(view.text, start, start + VALUE_BYTES_MAX);
    view.open_at(end) || !is_wordy(&view.text[start.min(end)..end])
}

/// Returns whether a name stands in a line such as those of a `.netrc`.
fn is_login(name_start: usize, view: View<'_>) -> bool {
    let before = view.just_before(name_start, 96);
    view.says(name_start, "password ") && before.windows(6).any(|word| word == b"login ")
}

/// Returns whether a name of two words such as "api key" ends here, which people put right before its value.
fn is_said_name(name_start: usize, view: View<'_>) -> bool {
    let ends = ["key ", "token ", "secret "].iter().any(|word| view.says(name_start, word));
    ends && with_word_before(name_start, view) < name_start
}

/// What joins a name and its value, and where the value's frame begins.
struct Joining {
    after: usize,
    name_quoted: bool,
    kind: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Equals,
    Colon,
    Comparison,
    Comma,
    Tag,
    /// A border between cells of a Markdown table.
    Cell,
}

enum Joined {
    /// A value would begin here or later.
    Unknown(usize),
    Not,
    By(Joining),
}

fn read_joint(place: usize, view: View<'_>) -> Joined {
    let mut at = place;
    let mut name_quoted = false;
    while at < place + FRAME_BYTES_MAX {
        match view.byte(at) {
            Some(b'"' | b'\'' | b'`') => name_quoted = true,
            Some(b' ' | b'\t' | b'\\' | b']' | b')') => {}
            Some(b'\n' | b'\r' | b'<') => return value_apart(at, view),
            Some(_) => break,
            None => return if view.open_at(at) { Joined::Unknown(NOWHERE) } else { Joined::Not },
        }
        at += 1;
    }
    // So many bytes tell what it is.
    let needed = match view.byte(at) {
        None | Some(b',' | b'>') => 1,
        Some(b'=' | b'!' | b'?' | b'|') => 2,
        Some(b':') if view.byte(at + 1) == Some(b':') => 4,
        Some(b':') => 2,
        Some(b'v' | b'V') => 6,
        Some(_) => return Joined::Not,
    };
    if view.open_at(at + needed - 1) {
        return Joined::Unknown(at + 1);
    }
    let rest = &view.text[at.min(view.text.len())..];
    let table: [(&[u8], By); 12] = [
        (b":::=", By::Equals),
        (b"::=", By::Equals),
        (b":=", By::Equals),
        (b"=>", By::Equals),
        (b"==", By::Comparison),
        (b"!=", By::Comparison),
        (b"?=", By::Equals),
        (b"||", By::Equals),
        (b"=", By::Equals),
        (b":", By::Colon),
        (b",", By::Comma),
        (b">", By::Tag),
    ];
    if rest.first() == Some(&b'|') && rest.get(1) != Some(&b'|') {
        let is_cell = view
            .just_before(place, 128)
            .iter()
            .rev()
            .find(|byte| !(NAME.has(**byte) || b" `*".contains(byte)));
        let joining = Joining { after: at + 1, name_quoted, kind: By::Cell };
        return if is_cell == Some(&b'|') { Joined::By(joining) } else { Joined::Not };
    }
    let Some((text, kind)) = table.iter().find(|(text, _)| rest.starts_with(text)) else {
        let names_value = name_quoted && rest.len() > 5 && rest[..5].eq_ignore_ascii_case(b"value");
        let joining = Joining { after: at, name_quoted, kind: By::Comma };
        return if names_value { Joined::By(joining) } else { Joined::Not };
    };
    if *kind == By::Colon && matches!(rest.get(1), Some(b':' | b'/')) {
        return Joined::Not;
    }
    Joined::By(Joining { after: at + text.len(), name_quoted, kind: *kind })
}

/// How far apart a name and the element or the line are that hold its value, in bytes.
const APART_BYTES_MAX: usize = 96;

/// Looks for the value of a name in what follows its line or its element: `value: ...` as lists of environments write
/// it, `</name><value>` of XML, `</key><string>` of property lists.
fn value_apart(at: usize, view: View<'_>) -> Joined {
    let limit = at + APART_BYTES_MAX;
    let blank = |mut place: usize| {
        while place < limit && view.byte(place).is_some_and(|byte| byte.is_ascii_whitespace()) {
            place += 1;
        }
        place
    };
    let is_element = view.byte(at) == Some(b'<');
    let closed = if is_element {
        let ends = [&b"</name>"[..], b"</key>"];
        match ends.iter().find(|end| begins(at, end, view) != Begins::No) {
            Some(end) if begins(at, end, view) == Begins::Yes => blank(at + end.len()),
            Some(_) => return Joined::Unknown(NOWHERE),
            None => return Joined::Not,
        }
    } else {
        blank(at)
    };
    let words: &[&[u8]] =
        if is_element { &[b"<value>", b"<string>"] } else { &[b"value:", b"\"value\":", b"'value':"] };
    if closed < limit && view.open_at(closed) {
        return Joined::Unknown(NOWHERE);
    }
    match words.iter().find(|word| begins(closed, word, view) != Begins::No) {
        Some(word) if begins(closed, word, view) == Begins::Yes => {
            let kind = if is_element { By::Tag } else { By::Colon };
            Joined::By(Joining { after: closed + word.len(), name_quoted: false, kind })
        }
        Some(_) => Joined::Unknown(closed),
        None => Joined::Not,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    Yes,
    No,
    /// The text ends before it can be known.
    Perhaps,
}

fn begins(at: usize, word: &[u8], view: View<'_>) -> Begins {
    let there = &view.text[at.min(view.text.len())..view.text.len().min(at + word.len())];
    if there.len() == word.len() && there.eq_ignore_ascii_case(word) {
        Begins::Yes
    } else if there.len() < word.len()
        && view.open_at(at + there.len())
        && word[..there.len()].eq_ignore_ascii_case(there)
    {
        Begins::Perhaps
    } else {
        Begins::No
    }
}

enum Read<'a> {
    Unknown(usize),
    Not,
    /// What looked like a value is a type or the word "value"; what joins them follows here.
    Detour(usize),
    Value(Assigned<'a>),
}

fn read_value<'a>(name: &'a [u8], joining: &Joining, view: View<'a>) -> Read<'a> {
    let mut at = joining.after;
    let mut quote = None;
    let mut escaped = false;
    let mut frame = Frame::Same;
    let mut limit = joining.after + FRAME_BYTES_MAX;
    while at < limit {
        match view.byte(at) {
            Some(b'\n' | b'\r') if quote.is_none() && matches!(joining.kind, By::Colon | By::Comma) => {
                frame = frame.max(Frame::NextLine);
                limit = joining.after + APART_BYTES_MAX;
            }
            Some(b'{') if quote.is_none() && joining.kind == By::Colon => frame = Frame::Object,
            Some(byte @ (b'"' | b'\'' | b'`')) => {
                escaped = at > 0 && view.text[at - 1] == b'\\';
                quote = Some(byte);
            }
            Some(b' ' | b'\t' | b'\\' | b'=' | b'(' | b'[') if quote.is_none() => {}
            // A letter before a quote says what kind of text it is.
            Some(b'b' | b'r' | b'f' | b'u' | b'L' | b'@' | b'#') if quote.is_none() => {
                if view.open_at(at + 2) {
                    return Read::Unknown(at);
                }
                if !matches!(view.byte(at + 1), Some(b'"' | b'\'' | b'#')) {
                    break;
                }
            }
            Some(_) => break,
            None => return if view.open_at(at) { Read::Unknown(at) } else { Read::Not },
        }
        at += 1;
    }
    let must_name_value = frame == Frame::Object || (frame == Frame::NextLine && joining.kind == By::Comma);
    match quote {
        Some(quote) => match quoted_value(name, at, (quote, escaped), joining, view) {
            Read::Value(_) if must_name_value => Read::Not,
            read => read,
        },
        None if joining.kind == By::Comma || must_name_value => names_value(at, at, view),
        None if frame == Frame::NextLine => alone(bare_value(name, at, joining, view), view),
        None => bare_value(name, at, joining, view),
    }
}

/// Where a value stands in relation to what joins it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Frame {
    Same,
    /// On a later line.
    NextLine,
    /// In an object of its own, as its member `value`.
    Object,
}

/// Takes a value on a later line only when nothing else stands there, and as one that is said.
fn alone<'a>(read: Read<'a>, view: View<'a>) -> Read<'a> {
    match read {
        Read::Value(assigned) if view.open_at(assigned.end) => Read::Unknown(assigned.start),
        Read::Value(assigned) if view.byte(assigned.end).is_none_or(|byte| matches!(byte, b'\n' | b'\r')) => {
            Read::Value(Assigned { joint: Joint::Said, ..assigned })
        }
        Read::Value(_) | Read::Detour(_) | Read::Not => Read::Not,
        Read::Unknown(from) => Read::Unknown(from),
    }
}

/// Goes on behind the word "value", which only says that one follows.
fn names_value<'a>(start: usize, end: usize, view: View<'a>) -> Read<'a> {
    let end = end.max(start + 5);
    if view.open_at(end) {
        return Read::Unknown(start);
    }
    if view.says(start, "value") { Read::Detour(end) } else { Read::Not }
}

fn quoted_value<'a>(
    name: &'a [u8],
    start: usize,
    (quote, escaped): (u8, bool),
    joining: &Joining,
    view: View<'a>,
) -> Read<'a> {
    let limit = start + VALUE_BYTES_MAX;
    let mut end = start;
    while end < limit {
        match view.byte(end) {
            None if view.open_at(end) => return Read::Unknown(start),
            None => break,
            Some(b'\n') => break,
            Some(b'\\') if escaped => break,
            Some(b'\\') => end += 1,
            Some(byte) if byte == quote => break,
            Some(_) => {}
        }
        end += 1;
    }
    end = end.min(view.text.len());
    while end > start && end < view.text.len() && (view.text[end] & 0xC0) == 0x80 {
        end -= 1;
    }
    let value = &view.text[start..end];
    if value.eq_ignore_ascii_case(b"value") {
        return Read::Detour(end);
    }
    if joining.kind == By::Comma && !joining.name_quoted {
        return Read::Not;
    }
    let assigned = Assigned {
        name,
        value,
        start,
        end,
        joint: Joint::Quoted,
        is_compared: joining.kind == By::Comparison,
        is_called: false,
        goes_on: end >= limit,
    };
    Read::Value(assigned)
}

fn bare_value<'a>(name: &'a [u8], start: usize, joining: &Joining, view: View<'a>) -> Read<'a> {
    let limit = start + VALUE_BYTES_MAX;
    let stop = VALUE.run(view.text, start, limit);
    if view.open_at(stop) {
        return Read::Unknown(start);
    }
    match type_end(start, view) {
        Typed::Unknown => return Read::Unknown(start),
        Typed::Until(next) if joining.kind == By::Colon => return Read::Detour(next),
        Typed::Until(_) | Typed::Not => {}
    }
    let mut end = stop;
    while end > start && matches!(view.text[end - 1], b'.' | b',' | b':' | b'!' | b'?') && stop < limit {
        end -= 1;
    }
    let joint = match joining.kind {
        By::Cell => Joint::Said,
        By::Colon if joining.name_quoted => Joint::Number,
        _ => Joint::Bare,
    };
    let assigned = Assigned {
        name,
        value: &view.text[start..end],
        start,
        end,
        joint,
        is_compared: joining.kind == By::Comparison,
        is_called: matches!(view.byte(stop), Some(b'(' | b'[' | b'{'))
            || (view.byte(stop) == Some(b'<') && joining.kind != By::Tag),
        goes_on: stop >= limit,
    };
    Read::Value(assigned)
}

enum Typed {
    Unknown,
    Not,
    /// The equals sign behind a short type stands here.
    Until(usize),
}

fn type_end(start: usize, view: View<'_>) -> Typed {
    const TYPE_BYTES_MAX: usize = 32;
    let part = |byte: &u8| byte.is_ascii_alphabetic() || b"&'_<>: ".contains(byte);
    let window = &view.text[start.min(view.text.len())..view.text.len().min(start + TYPE_BYTES_MAX)];
    let length = window.iter().take_while(|byte| part(byte)).count();
    match window.get(length) {
        Some(b'=') if length > 0 => Typed::Until(start + length),
        None if length < TYPE_BYTES_MAX && view.open_at(start + length) => Typed::Unknown,
        Some(_) | None => Typed::Not,
    }
}

/// A value that stands behind "is", or behind an option of a command line.
fn said_value<'a>(name: &'a [u8], start: usize, view: View<'a>) -> Sought<'a> {
    let limit = start + VALUE_BYTES_MAX;
    let stop = VALUE.run(view.text, start, limit);
    if stop < limit && view.open_at(stop) {
        return Sought::Wait(start);
    }
    let mut end = stop;
    while end > start && matches!(view.text[end - 1], b'.' | b',' | b':' | b'!' | b'?') && stop < limit {
        end -= 1;
    }
    let value = &view.text[start.min(end)..end];
    let (is_compared, is_called, goes_on) = (false, false, stop >= limit);
    Sought::Value(Assigned { name, value, start, end, joint: Joint::Said, is_compared, is_called, goes_on })
}
