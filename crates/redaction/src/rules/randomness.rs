//! Tells what was drawn at random from what somebody wrote.

/// Returns the Shannon entropy of some bytes, in bits per byte.
pub(crate) fn entropy(bytes: &[u8]) -> f32 {
    let mut counts = [0_u16; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = bytes.len() as f32;
    let share = |count: &u16| {
        let share = f32::from(*count) / total;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(share).sum()
}

/// What kinds of characters a value has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CharacterKinds {
    pub(crate) digits: usize,
    pub(crate) lower: usize,
    pub(crate) upper: usize,
    pub(crate) others: usize,
}

impl CharacterKinds {
    pub(crate) fn of(value: &[u8]) -> Self {
        let mut makeup = Self::default();
        for byte in value {
            match byte {
                b'0'..=b'9' => makeup.digits += 1,
                b'a'..=b'z' => makeup.lower += 1,
                b'A'..=b'Z' => makeup.upper += 1,
                _ => makeup.others += 1,
            }
        }
        makeup
    }

    pub(crate) fn letters(self) -> usize {
        self.lower + self.upper
    }
}

/// Returns whether a value is one of the numbers that programs call things by: a UUID, or hexadecimal digits of a
/// digest's length.
pub(crate) fn is_identifier(value: &[u8]) -> bool {
    is_uuid(value) || (is_hex(value) && matches!(value.len(), 32 | 40 | 56 | 64 | 96 | 128))
}

pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

pub(crate) fn is_hex(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a value is put together from words and numbers, as names and versions are.
///
/// Random text has parts in which letters and digits follow each other in no order.
pub(crate) fn is_wordy(value: &[u8]) -> bool {
    value.split(|byte| !byte.is_ascii_alphanumeric()).all(is_wordy_part)
}

fn is_wordy_part(part: &[u8]) -> bool {
    if part.is_empty() || part.iter().all(u8::is_ascii_digit) {
        return part.len() <= 8;
    }
    let letters = part.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    if part[0].is_ascii_digit() {
        // "10ms", "2x"
        return letters <= 2 && borders(part, u8::is_ascii_digit) == 1;
    }
    if letters < part.len() {
        // "sha256", "utf8mb4", "x86": a number among letters.
        let ends_in_it = part[part.len() - 1].is_ascii_digit();
        let one_case =
            !part[1..].iter().any(u8::is_ascii_uppercase) || !part.iter().any(u8::is_ascii_lowercase);
        let few = borders(part, u8::is_ascii_digit) <= 2 && humps(part) <= 1 && part.len() <= 20;
        return few && (one_case || (ends_in_it && borders(part, u8::is_ascii_digit) == 1));
    }
    consonants(part) < 6 && humps(part) * 3 <= part.len()
}

/// Counts how often a run begins or ends.
fn borders(part: &[u8], belongs: impl Fn(&u8) -> bool) -> usize {
    part.windows(2).filter(|pair| belongs(&pair[0]) != belongs(&pair[1])).count()
}

/// Returns the length of the longest run of consonants in both cases: few words have six of them in a row.
pub(crate) fn consonants(part: &[u8]) -> usize {
    let vowel = |byte: &u8| !byte.is_ascii_alphabetic() || b"aeiouAEIOU".contains(byte);
    let mixed =
        |run: &&[u8]| run.iter().any(u8::is_ascii_lowercase) && run.iter().any(u8::is_ascii_uppercase);
    part.split(vowel).filter(mixed).map(<[u8]>::len).max().unwrap_or(0)
}

/// Counts the places where a small letter is followed by a capital one.
fn humps(part: &[u8]) -> usize {
    part.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_what_was_drawn() {
        for wordy in [
            "my_token_v2",
            "sha256",
            "getUserTokenById",
            "next-token",
            "self.client.key",
            "utf8",
            "2024-11-21",
        ] {
            assert!(is_wordy(wordy.as_bytes()), "{wordy}");
        }
        for drawn in ["a8f5x1k29q", "hunter2hunter2", "Zk3v9QwLp0", "xYzAbCdEfG"] {
            assert!(!is_wordy(drawn.as_bytes()), "{drawn}");
        }
    }

    #[test]
    fn entropy_is_in_bits() {
        assert!((entropy(b"aaaa") - 0.0).abs() < 0.001);
        assert!((entropy(b"abcdabcd") - 2.0).abs() < 0.001);
    }
}
