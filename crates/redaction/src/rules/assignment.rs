//! Names and what is assigned to them, in code, environments, JSON, YAML, XML, command lines and prose.
//!
//! Owns how a value is found behind a word of its name. What it means is judged by [`super::name`] and
//! [`super::vendor`]. Invariant: it says that it cannot tell as long as what comes next could change anything.

use crate::byte_set::{ByteSet, NAME, VALUE};
use crate::rules::randomness::is_wordy;
use crate::verdict::{NOWHERE, TextView};

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
pub(crate) struct AssignedValue<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) value: &'a [u8],
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) joint: ValueForm,
    /// Whether it is compared, not assigned.
    pub(crate) is_compared: bool,
    /// Whether it is followed by what makes it a call, a path or a pattern.
    pub(crate) is_called: bool,
    /// Whether more of it follows than was judged.
    pub(crate) goes_on: bool,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueForm {
    Quoted,
    Bare,
    /// Without quotes behind a quoted name: a number, in JSON.
    Number,
    /// Behind "is", or as a word of a command line.
    Said,
}

/// What was found behind a word of a name.
pub(crate) enum NameTail<'a> {
    Nothing,
    /// More text is needed; a value would begin here or later.
    Wait(usize),
    Value(AssignedValue<'a>),
}

/// Looks for a value behind the word of a name that begins at `at` and ends at `end`.
pub(crate) fn seek(at: usize, end: usize, view: TextView<'_>) -> NameTail<'_> {
    let name_start = at - view.just_before(at, 64).iter().rev().take_while(|byte| NAME.has(**byte)).count();
    if view.just_before(name_start, PLACEHOLDER.len()) == PLACEHOLDER {
        return NameTail::Nothing;
    }
    let tail = read_tail(name_start, end, view);
    let mut place = match tail.stop {
        NameStop::Unknown => return NameTail::Wait(tail.said.unwrap_or(NOWHERE)),
        NameStop::At(place) => place,
    };
    let name_end = tail.name_end;
    let name = &view.text[with_word_before(name_start, view)..name_end];
    for _ in 0..=DETOURS_MAX {
        let said = tail.said.unwrap_or(NOWHERE);
        let joint = match read_joint(place, view) {
            JoinedName::Unknown(from) => return NameTail::Wait(from.min(said)),
            JoinedName::Not => {
                return tail.said.map_or(NameTail::Nothing, |start| spoken_value(name, start, view));
            }
            JoinedName::By(joint) => joint,
        };
        match read_value(name, &joint, view) {
            ReadValue::Unknown(from) => return NameTail::Wait(from.min(said)),
            ReadValue::Not => {
                return tail.said.map_or(NameTail::Nothing, |start| spoken_value(name, start, view));
            }
            ReadValue::Detour(next) => place = next,
            ReadValue::Value(assigned) => return NameTail::Value(assigned),
        }
    }
    NameTail::Nothing
}

/// Returns where a name of two words begins, such as "api key".
fn with_word_before(name_start: usize, view: TextView<'_>) -> usize {
    let before = view.just_before(name_start, 8);
    let words: [&[u8]; 8] =
        [b"api ", b"access ", b"secret ", b"private ", b"signing ", b"auth ", b"client ", b"bearer "];
    let fits = |word: &&&[u8]| {
        before.len() >= word.len() && before[before.len() - word.len()..].eq_ignore_ascii_case(word)
    };
    words.iter().find(fits).map_or(name_start, |word| name_start - word.len())
}

/// The rest of a name, up to what joins it.
struct NameRest {
    stop: NameStop,
    name_end: usize,
    /// Where a value would begin that is only said.
    said: Option<usize>,
}

enum NameStop {
    Unknown,
    At(usize),
}

fn read_tail(name_start: usize, end: usize, view: TextView<'_>) -> NameRest {
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
                && (is_option || is_login(name_start, view) || is_netrc_name(name_start, view))
            {
                said = Some(at + 1);
            }
        }
        at += 1;
    }
    if at < limit && view.open_at(at) {
        let said = said.filter(|start| could_become_value(*start, view));
        return NameRest { stop: NameStop::Unknown, name_end, said };
    }
    NameRest { stop: NameStop::At(at), name_end, said }
}

/// Returns whether the word at a place may still become a value that is said.
fn could_become_value(start: usize, view: TextView<'_>) -> bool {
    let end = VALUE.run(view.text, start, start + VALUE_BYTES_MAX);
    view.open_at(end) || !is_wordy(&view.text[start.min(end)..end])
}

/// Returns whether a name stands in a line such as those of a `.netrc`.
fn is_login(name_start: usize, view: TextView<'_>) -> bool {
    let before = view.just_before(name_start, 96);
    view.says(name_start, "password ") && before.windows(6).any(|word| word == b"login ")
}

/// Returns whether a name of two words such as "api key" ends here, which people put right before its value.
fn is_netrc_name(name_start: usize, view: TextView<'_>) -> bool {
    let ends = ["key ", "token ", "secret "].iter().any(|word| view.says(name_start, word));
    ends && with_word_before(name_start, view) < name_start
}

/// What joins a name and its value, and where the value's frame begins.
struct NameJoin {
    after: usize,
    name_quoted: bool,
    kind: JoinKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JoinKind {
    Equals,
    Colon,
    Comparison,
    Comma,
    Tag,
    /// A border between cells of a Markdown table.
    Cell,
}

enum JoinedName {
    /// A value would begin here or later.
    Unknown(usize),
    Not,
    By(NameJoin),
}

fn read_joint(place: usize, view: TextView<'_>) -> JoinedName {
    let mut at = place;
    let mut name_quoted = false;
    while at < place + FRAME_BYTES_MAX {
        match view.byte(at) {
            Some(b'"' | b'\'' | b'`') => name_quoted = true,
            Some(b' ' | b'\t' | b'\\' | b']' | b')') => {}
            Some(b'\n' | b'\r' | b'<') => return value_apart(at, view),
            Some(_) => break,
            None => return if view.open_at(at) { JoinedName::Unknown(NOWHERE) } else { JoinedName::Not },
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
        Some(_) => return JoinedName::Not,
    };
    if view.open_at(at + needed - 1) {
        return JoinedName::Unknown(at + 1);
    }
    let rest = &view.text[at.min(view.text.len())..];
    let table: [(&[u8], JoinKind); 12] = [
        (b":::=", JoinKind::Equals),
        (b"::=", JoinKind::Equals),
        (b":=", JoinKind::Equals),
        (b"=>", JoinKind::Equals),
        (b"==", JoinKind::Comparison),
        (b"!=", JoinKind::Comparison),
        (b"?=", JoinKind::Equals),
        (b"||", JoinKind::Equals),
        (b"=", JoinKind::Equals),
        (b":", JoinKind::Colon),
        (b",", JoinKind::Comma),
        (b">", JoinKind::Tag),
    ];
    if rest.first() == Some(&b'|') && rest.get(1) != Some(&b'|') {
        let is_cell = view
            .just_before(place, 128)
            .iter()
            .rev()
            .find(|byte| !(NAME.has(**byte) || b" `*".contains(byte)));
        let joining = NameJoin { after: at + 1, name_quoted, kind: JoinKind::Cell };
        return if is_cell == Some(&b'|') { JoinedName::By(joining) } else { JoinedName::Not };
    }
    let Some((text, kind)) = table.iter().find(|(text, _)| rest.starts_with(text)) else {
        let names_value = name_quoted && rest.len() > 5 && rest[..5].eq_ignore_ascii_case(b"value");
        let joining = NameJoin { after: at, name_quoted, kind: JoinKind::Comma };
        return if names_value { JoinedName::By(joining) } else { JoinedName::Not };
    };
    if *kind == JoinKind::Colon && matches!(rest.get(1), Some(b':' | b'/')) {
        return JoinedName::Not;
    }
    JoinedName::By(NameJoin { after: at + text.len(), name_quoted, kind: *kind })
}

/// How far apart a name and the element or the line are that hold its value, in bytes.
const APART_BYTES_MAX: usize = 96;

/// Looks for the value of a name in what follows its line or its element: `value: ...` as lists of environments write
/// it, `</name><value>` of XML, `</key><string>` of property lists.
fn value_apart(at: usize, view: TextView<'_>) -> JoinedName {
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
        match ends.iter().find(|end| begins(at, end, view) != ValueBegin::No) {
            Some(end) if begins(at, end, view) == ValueBegin::Yes => blank(at + end.len()),
            Some(_) => return JoinedName::Unknown(NOWHERE),
            None => return JoinedName::Not,
        }
    } else {
        blank(at)
    };
    let words: &[&[u8]] =
        if is_element { &[b"<value>", b"<string>"] } else { &[b"value:", b"\"value\":", b"'value':"] };
    if closed < limit && view.open_at(closed) {
        return JoinedName::Unknown(NOWHERE);
    }
    match words.iter().find(|word| begins(closed, word, view) != ValueBegin::No) {
        Some(word) if begins(closed, word, view) == ValueBegin::Yes => {
            let kind = if is_element { JoinKind::Tag } else { JoinKind::Colon };
            JoinedName::By(NameJoin { after: closed + word.len(), name_quoted: false, kind })
        }
        Some(_) => JoinedName::Unknown(closed),
        None => JoinedName::Not,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueBegin {
    Yes,
    No,
    /// The text ends before it can be known.
    Perhaps,
}

fn begins(at: usize, word: &[u8], view: TextView<'_>) -> ValueBegin {
    let there = &view.text[at.min(view.text.len())..view.text.len().min(at + word.len())];
    if there.len() == word.len() && there.eq_ignore_ascii_case(word) {
        ValueBegin::Yes
    } else if there.len() < word.len()
        && view.open_at(at + there.len())
        && word[..there.len()].eq_ignore_ascii_case(there)
    {
        ValueBegin::Perhaps
    } else {
        ValueBegin::No
    }
}

enum ReadValue<'a> {
    Unknown(usize),
    Not,
    /// What looked like a value is a type or the word "value"; what joins them follows here.
    Detour(usize),
    Value(AssignedValue<'a>),
}

fn read_value<'a>(name: &'a [u8], joining: &NameJoin, view: TextView<'a>) -> ReadValue<'a> {
    let mut at = joining.after;
    let mut quote = None;
    let mut frame = Frame::Same;
    let mut limit = joining.after + FRAME_BYTES_MAX;
    while at < limit {
        match view.byte(at) {
            Some(b'\n' | b'\r')
                if quote.is_none() && matches!(joining.kind, JoinKind::Colon | JoinKind::Comma) =>
            {
                frame = frame.max(Frame::NextLine);
                limit = joining.after + APART_BYTES_MAX;
            }
            Some(b'{') if quote.is_none() && joining.kind == JoinKind::Colon => frame = Frame::Object,
            Some(byte @ (b'"' | b'\'' | b'`')) => {
                let is_escaped = at > 0 && view.text[at - 1] == b'\\';
                quote = Some(OpenQuote { byte, is_escaped });
            }
            Some(b' ' | b'\t' | b'\\' | b'=' | b'(' | b'[') if quote.is_none() => {}
            // A letter before a quote says what kind of text it is.
            Some(b'b' | b'r' | b'f' | b'u' | b'L' | b'@' | b'#') if quote.is_none() => {
                if view.open_at(at + 2) {
                    return ReadValue::Unknown(at);
                }
                if !matches!(view.byte(at + 1), Some(b'"' | b'\'' | b'#')) {
                    break;
                }
            }
            Some(_) => break,
            None => return if view.open_at(at) { ReadValue::Unknown(at) } else { ReadValue::Not },
        }
        at += 1;
    }
    let must_name_value =
        frame == Frame::Object || (frame == Frame::NextLine && joining.kind == JoinKind::Comma);
    match quote {
        Some(quote) => match quoted_value(name, at, quote, joining, view) {
            ReadValue::Value(_) if must_name_value => ReadValue::Not,
            read => read,
        },
        None if joining.kind == JoinKind::Comma || must_name_value => names_value(at, at, view),
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
fn alone<'a>(read: ReadValue<'a>, view: TextView<'a>) -> ReadValue<'a> {
    match read {
        ReadValue::Value(assigned) if view.open_at(assigned.end) => ReadValue::Unknown(assigned.start),
        ReadValue::Value(assigned)
            if view.byte(assigned.end).is_none_or(|byte| matches!(byte, b'\n' | b'\r')) =>
        {
            ReadValue::Value(AssignedValue { joint: ValueForm::Said, ..assigned })
        }
        ReadValue::Value(_) | ReadValue::Detour(_) | ReadValue::Not => ReadValue::Not,
        ReadValue::Unknown(from) => ReadValue::Unknown(from),
    }
}

/// Goes on behind the word "value", which only says that one follows.
fn names_value<'a>(start: usize, end: usize, view: TextView<'a>) -> ReadValue<'a> {
    let end = end.max(start + 5);
    if view.open_at(end) {
        return ReadValue::Unknown(start);
    }
    if view.says(start, "value") { ReadValue::Detour(end) } else { ReadValue::Not }
}

/// The quote before a value; text that is itself quoted has a backslash before it.
#[derive(Clone, Copy)]
struct OpenQuote {
    byte: u8,
    is_escaped: bool,
}

fn quoted_value<'a>(
    name: &'a [u8],
    start: usize,
    quote: OpenQuote,
    joining: &NameJoin,
    view: TextView<'a>,
) -> ReadValue<'a> {
    let limit = start + VALUE_BYTES_MAX;
    let mut end = start;
    while end < limit {
        match view.byte(end) {
            None if view.open_at(end) => return ReadValue::Unknown(start),
            None => break,
            Some(b'\n') => break,
            Some(b'\\') if quote.is_escaped => break,
            Some(b'\\') => end += 1,
            Some(byte) if byte == quote.byte => break,
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
        return ReadValue::Detour(end);
    }
    if joining.kind == JoinKind::Comma && !joining.name_quoted {
        return ReadValue::Not;
    }
    let assigned = AssignedValue {
        name,
        value,
        start,
        end,
        joint: ValueForm::Quoted,
        is_compared: joining.kind == JoinKind::Comparison,
        is_called: false,
        goes_on: end >= limit,
    };
    ReadValue::Value(assigned)
}

fn bare_value<'a>(name: &'a [u8], start: usize, joining: &NameJoin, view: TextView<'a>) -> ReadValue<'a> {
    let limit = start + VALUE_BYTES_MAX;
    let stop = VALUE.run(view.text, start, limit);
    if view.open_at(stop) {
        return ReadValue::Unknown(start);
    }
    match type_end(start, view) {
        TypeMark::Unknown => return ReadValue::Unknown(start),
        TypeMark::Until(next) if joining.kind == JoinKind::Colon => return ReadValue::Detour(next),
        TypeMark::Until(_) | TypeMark::Not => {}
    }
    let mut end = stop;
    while end > start && matches!(view.text[end - 1], b'.' | b',' | b':' | b'!' | b'?') && stop < limit {
        end -= 1;
    }
    let joint = match joining.kind {
        JoinKind::Cell => ValueForm::Said,
        JoinKind::Colon if joining.name_quoted => ValueForm::Number,
        _ => ValueForm::Bare,
    };
    let assigned = AssignedValue {
        name,
        value: &view.text[start..end],
        start,
        end,
        joint,
        is_compared: joining.kind == JoinKind::Comparison,
        is_called: matches!(view.byte(stop), Some(b'(' | b'[' | b'{'))
            || (view.byte(stop) == Some(b'<') && joining.kind != JoinKind::Tag),
        goes_on: stop >= limit,
    };
    ReadValue::Value(assigned)
}

enum TypeMark {
    Unknown,
    Not,
    /// The equals sign behind a short type stands here.
    Until(usize),
}

fn type_end(start: usize, view: TextView<'_>) -> TypeMark {
    const TYPE_BYTES_MAX: usize = 32;
    let part = |byte: &u8| byte.is_ascii_alphabetic() || b"&'_<>: ".contains(byte);
    let window = &view.text[start.min(view.text.len())..view.text.len().min(start + TYPE_BYTES_MAX)];
    let length = window.iter().take_while(|byte| part(byte)).count();
    match window.get(length) {
        Some(b'=') if length > 0 => TypeMark::Until(start + length),
        None if length < TYPE_BYTES_MAX && view.open_at(start + length) => TypeMark::Unknown,
        Some(_) | None => TypeMark::Not,
    }
}

/// A value that stands behind "is", or behind an option of a command line.
fn spoken_value<'a>(name: &'a [u8], start: usize, view: TextView<'a>) -> NameTail<'a> {
    let limit = start + VALUE_BYTES_MAX;
    let stop = VALUE.run(view.text, start, limit);
    if stop < limit && view.open_at(stop) {
        return NameTail::Wait(start);
    }
    let mut end = stop;
    while end > start && matches!(view.text[end - 1], b'.' | b',' | b':' | b'!' | b'?') && stop < limit {
        end -= 1;
    }
    let value = &view.text[start.min(end)..end];
    let (is_compared, is_called, goes_on) = (false, false, stop >= limit);
    NameTail::Value(AssignedValue {
        name,
        value,
        start,
        end,
        joint: ValueForm::Said,
        is_compared,
        is_called,
        goes_on,
    })
}
