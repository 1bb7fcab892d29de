//! Signs reasoning, so that the server knows again what it said without remembering it.
//!
//! No cryptography: it finds the mistakes of a client, not forgeries. Invariant: another text, another
//! model or one changed byte has another signature.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Signs what a model thought. Looks like base64 with everything JSON and URLs may hurt.
pub(super) fn sign(model: &str, thought: &str) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, model, thought).hash(&mut hasher);
        hasher.finish()
    };
    format!("EqQB{:016x}+/{:016x}==", half(1), half(2))
}

/// Returns a token in the place of an encrypted text: as long and as random as the vendors' tokens, which begin with these letters.
pub(super) fn token(model: &str, text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const GROUPS: u64 = 40;
    let hash = |salted: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        salted(&mut hasher);
        hasher.finish()
    };
    let seed = hash(&|hasher| (model, text).hash(hasher));
    let digits = (0..GROUPS).flat_map(|group| {
        let bits = hash(&|hasher| (seed, group).hash(hasher));
        (0..10).map(move |at| char::from(DIGITS[(bits >> (6 * at) & 63) as usize]))
    });
    format!("gAAAAABp{}==", digits.collect::<String>())
}

/// Seals what only the vendor may read.
pub(super) fn seal(model: &str, secret: &str) -> String {
    let hidden: String = secret.bytes().map(|byte| format!("{:02x}", byte ^ 0x5a)).collect();
    format!("{hidden}+/{}", sign(model, &hidden))
}

/// Returns whether sealed data is as it was given out.
pub(super) fn is_sealed(model: &str, data: &str) -> bool {
    data.split_once("+/").is_some_and(|(hidden, signature)| signature == sign(model, hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_makes_another_signature() {
        assert_eq!(sign("m", "a"), sign("m", "a"));
        for other in [sign("m", "a "), sign("n", "a"), sign("m", "")] {
            assert_ne!(sign("m", "a"), other);
        }
        for other in [token("m", "a "), token("n", "a")] {
            assert_ne!(token("m", "a"), other);
        }
        let sealed = seal("m", "hush");
        assert!(is_sealed("m", &sealed) && !sealed.contains("hush"));
        assert!(!is_sealed("n", &sealed) && !is_sealed("m", &sealed[1..]) && !is_sealed("m", ""));
    }
}
