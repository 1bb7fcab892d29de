//! Names that say that a secret follows, and what a secret behind such a name looks like.
//!
//! Owns the generic rule. It never blanks a field because of its name alone: counts, kinds, addresses, UUIDs and
//! digests stay whatever they are called.

use crate::rules::assignment::{AssignedValue, ValueForm};
use crate::rules::randomness::{CharacterKinds, entropy, is_hex, is_identifier, is_uuid, is_wordy};

/// Words in a name that make the prefilter stop.
pub(crate) const WORDS: [&str; 12] = [
    "passw",
    "_pass",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "creds",
    "auth",
    "access",
    "api",
];

/// Bytes of a value that is judged by its name, at least; of a password, and of anything else.
const PASSWORD_BYTES_MIN: usize = 8;
const VALUE_BYTES_MIN: usize = 10;
const WEAK_VALUE_BYTES_MIN: usize = 16;

/// How much a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameWeight {
    Password,
    Strong,
    Weak,
    Harmless,
}

/// Returns the kind of secret that is assigned to a name, if it is one.
pub(crate) fn judge(assigned: &AssignedValue<'_>) -> Option<&'static str> {
    let value = assigned.value;
    let plain = |byte: &u8| if *byte == b' ' { b'_' } else { byte.to_ascii_lowercase() };
    let name: Vec<u8> = assigned.name.iter().map(plain).collect();
    let makeup = CharacterKinds::of(value);
    let weight = weigh(&name, value);
    let spaced = weight == NameWeight::Password && assigned.joint == ValueForm::Quoted && makeup.digits > 0;
    if value.len() < PASSWORD_BYTES_MIN
        || is_reference(value)
        || is_example(value)
        || (has_spaces(value) && !spaced)
    {
        return None;
    }
    match weight {
        NameWeight::Harmless => None,
        NameWeight::Password => is_password(assigned, makeup).then_some("password"),
        NameWeight::Strong => is_secret(assigned, makeup).then_some("secret-value"),
        NameWeight::Weak => is_key(assigned, makeup).then_some("secret-value"),
    }
}

fn weigh(name: &[u8], value: &[u8]) -> NameWeight {
    let has = |word: &str| name.windows(word.len()).any(|part| part == word.as_bytes());
    let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word.as_bytes()));
    if ends(&HARMLESS_ENDINGS) || HARMLESS_PARTS.iter().any(|word| has(word)) {
        return NameWeight::Harmless;
    }
    if has("passw") || has("_pass") || has("passphrase") || has("pwd") {
        return NameWeight::Password;
    }
    let strong = ["secret", "token", "credential", "creds"].iter().any(|word| has(word))
        || STRONG_KEYS.iter().any(|word| has(word));
    if strong && !is_uuid(value) { NameWeight::Strong } else { NameWeight::Weak }
}

/// Ends of names whose values are about a secret, not the secret.
const HARMLESS_ENDINGS: [&str; 62] = [
    "count",
    "counts",
    "limit",
    "max",
    "min",
    "size",
    "length",
    "len",
    "bytes",
    "type",
    "kind",
    "url",
    "uri",
    "endpoint",
    "path",
    "file",
    "filename",
    "dir",
    "name",
    "names",
    "prefix",
    "suffix",
    "id",
    "ids",
    "index",
    "hash",
    "sha",
    "sha1",
    "sha256",
    "sha512",
    "digest",
    "checksum",
    "fingerprint",
    "algorithm",
    "alg",
    "format",
    "version",
    "date",
    "time",
    "at",
    "ttl",
    "expiry",
    "expires",
    "in",
    "usage",
    "used",
    "tokens",
    "stream",
    "header",
    "field",
    "label",
    "title",
    "description",
    "hint",
    "text",
    "message",
    "error",
    "class",
    "policy",
    "regex",
    "pattern",
    "mode",
];

/// Parts of names that have such a word in them and mean something else.
const HARMLESS_PARTS: [&str; 30] = [
    "passwordmgr",
    "password_validators",
    "websocket-key",
    "websocket-accept",
    "bypass",
    "public",
    "pubkey",
    "pub_key",
    "primary",
    "foreign",
    "cache",
    "sort_key",
    "partition",
    "idempotency",
    "author",
    "keyword",
    "keyboard",
    "monkey",
    "turkey",
    "keymap",
    "keycode",
    "accessib",
    "accessor",
    "tokeniz",
    "hotkey",
    "rapid",
    "capital",
    "keyframe",
    "apiversion",
    "issuer",
];

/// Keys that are not a lookup's.
const STRONG_KEYS: [&str; 22] = [
    "api_key",
    "apikey",
    "api-key",
    "api.key",
    "access_key",
    "accesskey",
    "access-key",
    "private_key",
    "privatekey",
    "private-key",
    "secret_key",
    "auth_key",
    "authkey",
    "account_key",
    "accountkey",
    "signing_key",
    "encryption_key",
    "master_key",
    "shared_key",
    "sharedaccesskey",
    "license_key",
    "app_key",
];

/// Returns whether a value stands for another one.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let has = |part: &str| value.windows(part.len()).any(|there| there == part.as_bytes());
    matches!(value.first(), Some(b'/' | b'$' | b'@' | b'~'))
        || value.starts_with(b"./")
        || ["${", "{{", "$(", "%(", "://", "::", "<", "->", "/**"].iter().any(|part| has(part))
        || is_number(value)
}

/// Returns whether a value is a number as code writes it: `0x8031006C_u32`, `8192i32`.
fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(value.strip_prefix(b"-").unwrap_or(value));
    let typed = [&b"u8"[..], b"u16", b"u32", b"u64", b"i8", b"i16", b"i32", b"i64", b"usize", b"f32", b"f64"];
    let digits = typed.iter().find_map(|kind| digits.strip_suffix(*kind)).unwrap_or(digits);
    let plain = digits.iter().all(|byte| byte.is_ascii_digit() || b"_.".contains(byte));
    let hex = value.starts_with(b"0x") && digits.len() <= 20;
    plain || (hex && digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'_'))
}

fn has_spaces(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_whitespace)
}

/// Returns whether a value only shows where one would be.
pub(super) fn is_example(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    let has = |part: &str| value.windows(part.len()).any(|there| there == part.as_bytes());
    [
        "example",
        "xxxx",
        "****",
        "....",
        "----",
        "placeholder",
        "changeme",
        "change_me",
        "your-",
        "your_",
        "dummy",
    ]
    .iter()
    .any(|part| has(part))
}

/// Quoted values are data; the others may be code.
fn is_password(assigned: &AssignedValue<'_>, makeup: CharacterKinds) -> bool {
    let value = assigned.value;
    let mixed = makeup.digits > 0 && makeup.letters() > 0;
    let odd = makeup.others > 0 && makeup.letters() > 0;
    let bits = entropy(value);
    match assigned.joint {
        ValueForm::Quoted => {
            (mixed || (odd && makeup.upper > 0) || !is_wordy(value)) && !assigned.is_compared && bits >= 2.2
        }
        ValueForm::Bare | ValueForm::Number => {
            (mixed || makeup.upper > 0) && !assigned.is_called && !is_wordy(value) && bits >= 2.4
        }
        ValueForm::Said => mixed && !is_wordy(value) && bits >= 2.7,
    }
}

fn is_secret(assigned: &AssignedValue<'_>, makeup: CharacterKinds) -> bool {
    let value = assigned.value;
    let mixed = makeup.digits > 0 && makeup.letters() > 0;
    let drawn = mixed && (!is_wordy(value) || (is_hex(value) && value.len() >= 16)) && entropy(value) >= 2.9;
    let letters_only = makeup.digits == 0 && value.len() >= 16 && !is_wordy(value) && entropy(value) >= 3.3;
    value.len() >= VALUE_BYTES_MIN
        && !assigned.is_called
        && (drawn || (letters_only && assigned.joint != ValueForm::Bare))
}

fn is_key(assigned: &AssignedValue<'_>, makeup: CharacterKinds) -> bool {
    let value = assigned.value;
    value.len() >= WEAK_VALUE_BYTES_MIN
        && !assigned.is_called
        && assigned.joint != ValueForm::Said
        && !is_identifier(value)
        && !is_hex(value)
        && makeup.digits > 1
        && makeup.lower > 0
        && makeup.upper > 0
        && !is_wordy(value)
        && entropy(value) >= 3.5
}
