//! Private keys as blocks of text: PEM and OpenSSH, OpenPGP, PuTTY.

use crate::byte_set::ByteSet;
use crate::verdict::{NOWHERE, RuleRank, RuleVerdict, Span, TextView};

/// What the prefilter looks for.
pub(crate) const PEM: &str = "-----BEGIN";
pub(crate) const PUTTY: &str = "Private-Lines:";

/// Bytes of a block that are looked at, at most.
const BLOCK_BYTES_MAX: usize = 16 * 1024;
/// Bytes of the first line, at most.
const LABEL_BYTES_MAX: usize = 100;
/// Bytes of key in a block, at least.
const KEY_BYTES_MIN: usize = 40;

/// What a block is made of, also as a text in JSON or in code.
static BODY: ByteSet = ByteSet::alphanumeric_and(b"+/=-_:,.;() \t\r\n\\\"'*>|");
/// What goes on with a block that has no end.
static REST: ByteSet = ByteSet::alphanumeric_and(b"+/=\r\n");

/// Judges a block that begins at `at`.
pub(crate) fn pem(at: usize, literal_end: usize, view: TextView<'_>) -> RuleVerdict {
    let mut label = literal_end;
    while label < literal_end + LABEL_BYTES_MAX
        && view.byte(label).is_some_and(|byte| byte != b'-' && byte != b'\n')
    {
        label += 1;
    }
    if view.open_at(label) {
        return RuleVerdict::Wait(at);
    }
    let words = &view.text[literal_end..label];
    if !words.windows(11).any(|word| word.eq_ignore_ascii_case(b"PRIVATE KEY")) {
        return RuleVerdict::No;
    }
    let dashes = ByteSet::run(&DASHES, view.text, label, label + 5);
    if view.open_at(dashes) && dashes < label + 5 {
        return RuleVerdict::Wait(at);
    }
    body(at, dashes, view)
}

static DASHES: ByteSet = ByteSet::graphic_without(
    b"!\"#$%&'()*+,./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~",
);

/// Takes everything up to the last line of a block.
fn body(at: usize, start: usize, view: TextView<'_>) -> RuleVerdict {
    let limit = start + BLOCK_BYTES_MAX;
    let stop = BODY.run(view.text, start, limit);
    let block = &view.text[start.min(stop)..stop];
    let last = block.windows(8).position(|word| word == b"-----END");
    let end = match last {
        Some(place) => {
            let from = start + place + 8;
            // The last line: words, then dashes.
            let words = ByteSet::run(&LABEL, view.text, from, from + LABEL_BYTES_MAX);
            let dashes = ByteSet::run(&DASHES, view.text, words, words + 5);
            if view.open_at(dashes) && dashes < words + 5 {
                return RuleVerdict::Wait(at);
            }
            dashes
        }
        None if stop < limit && view.open_at(stop) => return RuleVerdict::Wait(at),
        None => REST.run(view.text, start, stop).max(last_key_byte(start, stop, view)),
    };
    let key_bytes = view.text[start..end].iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    if key_bytes < KEY_BYTES_MIN {
        return RuleVerdict::No;
    }
    let grows = (last.is_none() && end == limit).then_some(&REST);
    RuleVerdict::Found(Span {
        start: at,
        end,
        kind: "private-key",
        rank: RuleRank::Token,
        grows,
        fills_word: false,
    })
}

static LABEL: ByteSet = ByteSet::alphanumeric_and(b" ");

/// Returns where the key of a block without an end is over.
fn last_key_byte(start: usize, stop: usize, view: TextView<'_>) -> usize {
    let block = &view.text[start..stop];
    block
        .iter()
        .rposition(|byte| byte.is_ascii_alphanumeric() || *byte == b'=')
        .map_or(start, |at| start + at + 1)
}

/// Judges the lines of a PuTTY key.
pub(crate) fn putty(end: usize, view: TextView<'_>) -> RuleVerdict {
    let first = super::super::byte_set::NAME.run(view.text, end, end);
    let mut start = first;
    while view.byte(start).is_some_and(|byte| {
        byte == b' ' || byte.is_ascii_digit() || byte == b'\r' || byte == b'\n' || byte == b'\\'
    }) && start < end + 16
    {
        start += 1;
    }
    if view.open_at(start) {
        return RuleVerdict::Wait(NOWHERE);
    }
    let limit = start + BLOCK_BYTES_MAX;
    let stop = REST.run(view.text, start, limit);
    if stop < limit && view.open_at(stop) {
        return RuleVerdict::Wait(start);
    }
    let end = last_key_byte(start, stop, view);
    if end - start < KEY_BYTES_MIN {
        return RuleVerdict::No;
    }
    let grows = (stop == limit).then_some(&REST);
    RuleVerdict::Found(Span {
        start,
        end,
        kind: "private-key",
        rank: RuleRank::Token,
        grows,
        fills_word: false,
    })
}
