//! Registered values in the encodings that programs write them in, whole and cut anywhere.

use palyra_ports::Redactor;
use palyra_redaction::SecretScanner;

const VALUE: &str = "Zq7/kW+v9~é%tR4m-Hx2Lb8 Yc5_nP3w";

fn scanner() -> SecretScanner {
    let scanner = SecretScanner::new();
    scanner.register(&[VALUE.into()]).expect("one value");
    scanner
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        let digit = move |place: usize| char::from(ALPHABET[(bits >> (18 - 6 * place)) as usize & 63]);
        (0..4).map(move |place| if place <= chunk.len() { digit(place) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// Breaks a text into lines of so many characters.
fn wrapped(text: &str, columns: usize, end: &str) -> String {
    let lines: Vec<_> = text.as_bytes().chunks(columns).map(String::from_utf8_lossy).collect();
    lines.join(end)
}

fn each_byte(of: impl Fn(u8) -> String) -> String {
    VALUE.bytes().map(of).collect()
}

fn each_unit(of: impl Fn(u16) -> String) -> String {
    VALUE.encode_utf16().map(of).collect()
}

/// Encodings by name, and what of them may stay, in characters at each end.
fn encodings() -> Vec<(&'static str, String)> {
    let mixed =
        |byte: u8| if byte.is_multiple_of(2) { format!("%{byte:02x}") } else { format!("%{byte:02X}") };
    let some = |byte: u8| {
        if byte.is_ascii_alphabetic() && !byte.is_multiple_of(3) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02x}")
        }
    };
    let alternating =
        |unit: u16| if unit.is_multiple_of(2) { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
    let long = format!("user-name-of-some-length:{VALUE}:and-what-follows-it-until-another-line-begins");
    vec![
        ("each byte percent-encoded", each_byte(|byte| format!("%{byte:02X}"))),
        ("each byte percent-encoded, small", each_byte(|byte| format!("%{byte:02x}"))),
        ("each byte percent-encoded, either case", each_byte(mixed)),
        ("some bytes percent-encoded", each_byte(some)),
        ("JSON escapes", each_unit(|unit| format!("\\u{unit:04x}"))),
        ("JSON escapes, capital", each_unit(|unit| format!("\\u{unit:04X}"))),
        ("JSON escapes, either case", each_unit(alternating)),
        ("JSON escapes in JSON", each_unit(|unit| format!("\\\\u{unit:04x}"))),
        ("escapes of bytes", each_byte(|byte| format!("\\x{byte:02x}"))),
        ("numeric entities", VALUE.chars().map(|c| format!("&#{};", u32::from(c))).collect()),
        ("numeric entities, hexadecimal", VALUE.chars().map(|c| format!("&#x{:x};", u32::from(c))).collect()),
        ("base64 in lines of 76", wrapped(&base64(long.as_bytes()), 76, "\n")),
        ("base64 in lines of 64", wrapped(&base64(long.as_bytes()), 64, "\r\n")),
        ("base64 in lines of 20", wrapped(&base64(VALUE.as_bytes()), 20, "\n")),
        ("base64 with escaped line ends", wrapped(&base64(VALUE.as_bytes()), 20, "\\n")),
        ("hexadecimal with blanks", each_byte(|byte| format!("{byte:02x} "))),
        ("hexadecimal with colons", each_byte(|byte| format!("{byte:02X}:"))),
        ("hexadecimal in lines", wrapped(&each_byte(|byte| format!("{byte:02x}")), 30, "\n")),
    ]
}

/// Returns how many characters of an encoding are left in a cleaned text, in its longest part.
fn left(cleaned: &str, encoded: &str) -> usize {
    let part = |bytes: usize| {
        encoded
            .as_bytes()
            .windows(bytes)
            .any(|part| cleaned.as_bytes().windows(bytes).any(|there| there == part))
    };
    (1..=encoded.len()).take_while(|bytes| part(*bytes)).last().unwrap_or(0)
}

#[test]
fn a_value_is_found_in_every_encoding() {
    let scanner = scanner();
    for (name, encoded) in encodings() {
        let cleaned = scanner.redact(format!("before {encoded} behind").into()).text.into_exposed();
        // A wrapped base64 text holds a name before the value and words behind it, which stay.
        let is_wrapped = encoded.len() > 100 && name.starts_with("base64");
        let inner = if is_wrapped { wrapped_value(&encoded) } else { encoded.clone() };
        assert!(left(&cleaned, &inner) < 10, "{name}: {cleaned}");
        assert!(cleaned.contains("<secret:vault>") && cleaned.starts_with("before "), "{name}: {cleaned}");
    }
}

/// Returns the part of the long base64 text that holds the value's own bits.
fn wrapped_value(encoded: &str) -> String {
    let characters: String = encoded.chars().filter(|c| !c.is_whitespace()).collect();
    let front = "user-name-of-some-length:".len() * 8 / 6 + 2;
    let inner = &characters[front..front + VALUE.len() * 8 / 6 - 4];
    inner.to_owned()
}

#[test]
fn a_value_cut_anywhere_is_found_as_in_the_whole() {
    let scanner = scanner();
    for (name, encoded) in encodings() {
        let text = format!("before {encoded} behind");
        let whole = scanner.redact(text.as_str().into()).text.into_exposed();
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let mut stream = scanner.begin();
            let mut out = stream.push((&text[..cut]).into()).into_exposed();
            out.push_str(stream.push((&text[cut..]).into()).expose());
            out.push_str(stream.finish().expose());
            if out == whole {
                continue;
            }
            // Up to three bytes of a value's beginning may be given out before the rest of it is there.
            let left_in = |cleaned: &str| left(&cleaned.replace("<secret:vault>", ""), &encoded);
            assert!(left_in(&out) <= left_in(&whole).max(3), "{name} cut at {cut}: {out}");
        }
    }
}

#[test]
fn another_value_in_the_same_encoding_stays() {
    let scanner = scanner();
    let other = "Zq7/kW+v9~é%tR4m-Hx2Lb8 Yc5_nP3X";
    let encoded: String = other.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for text in [format!("before {other} behind"), format!("before {encoded} behind")] {
        assert_eq!(scanner.redact(text.as_str().into()).text.expose(), &text);
    }
}
