//! What holds for every text: where it is cut does not matter, clean text stays, cleaning twice is cleaning once.

use palyra_ports::Redactor;
use palyra_redaction::{REGISTERED_VALUES_MAX, RegisterError, SecretScanner};
use palyra_types::Content;
use proptest::prelude::*;

fn scanner() -> SecretScanner {
    SecretScanner::new()
}

fn clean(scanner: &SecretScanner, text: &str) -> String {
    scanner.redact(text.into()).text.into_exposed()
}

fn streamed(scanner: &SecretScanner, pieces: &[&str]) -> String {
    let mut stream = scanner.begin();
    let mut out: String = pieces.iter().map(|piece| stream.push((*piece).into()).into_exposed()).collect();
    out.push_str(stream.finish().expose());
    out
}

/// Letters and digits as chance would draw them, the same every time.
fn drawn(length: usize, seed: u32) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(alphabet[state as usize % alphabet.len()])
    };
    (0..length).map(|_| next()).collect()
}

/// Parts of texts with secrets in them, put together at run time.
fn part() -> impl Strategy<Value = String> {
    let seeded = |make: fn(String) -> String| (1_u32..9_999).prop_map(move |seed| make(drawn(44, seed)));
    prop_oneof![
        "[a-z ]{0,12}",
        "[a-zA-Z0-9_=:\"', \\n/.-]{0,16}",
        Just("the token is valid, max_tokens: 5\n".to_owned()),
        Just("ä → 日本 ".to_owned()),
        seeded(|d| format!(" {}{}", "gh", ["p_", &d[..36]].concat())),
        seeded(|d| format!("\"api_key\": \"{}\"", &d[..24])),
        seeded(|d| format!("DB_PASSWORD={}\n", &d[..14])),
        seeded(|d| format!("https://me:{}@host/x ", &d[..12])),
        seeded(|d| format!("Authorization: Bearer {d}\r\n")),
        seeded(|d| format!("Cookie: sid={d}; theme=dark\n")),
        seeded(|d| format!("{}-{d}{d}", ["sk", "proj"].join("-"))),
        seeded(|d| format!("ey{}.ey{d}.{}", &d[..20], &d[..30])),
        seeded(|d| format!("dropbox_token: {}\n", &d[..15])),
        seeded(|d| format!("curl -u me:{} https://x\n", &d[..10])),
        seeded(|d| format!(
            "{0} RSA PRIVATE KEY-----\n{d}\n{d}\n-----END RSA PRIVATE KEY-----\n",
            "-----BEGIN"
        )),
        seeded(|d| format!("kind: Secret\ndata:\n  key: {d}==\n")),
        seeded(|d| format!("my password is {}. ", &d[..12])),
        seeded(|d| format!("{}_{}_mmk ", &d[..6], &d[6..35])),
        seeded(|d| format!("{}8Q~{} ", &d[..3], &d[..34])),
        seeded(|d| format!("{}.atlasv1.{d}{d} ", &d[..14])),
        seeded(|d| d.repeat(26)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(part(), 1..7).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_stream_cut_anywhere_gives_what_the_whole_gives(text in text()) {
        let scanner = scanner();
        let whole = clean(&scanner, &text);
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let pieces = text.split_at(cut);
            prop_assert_eq!(&streamed(&scanner, &[pieces.0, pieces.1]), &whole, "cut at {}", cut);
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        prop_assert_eq!(streamed(&scanner, &letters), whole);
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(text in text()) {
        let scanner = scanner();
        let once = clean(&scanner, &text);
        prop_assert_eq!(clean(&scanner, &once), once);
    }

    #[test]
    fn valid_json_stays_valid(values in proptest::collection::vec((part(), part()), 1..5), number in any::<u64>()) {
        let pairs = values.into_iter().map(|(name, value)| (name, serde_json::Value::String(value)));
        let mut object: serde_json::Map<String, serde_json::Value> = pairs.collect();
        object.insert("max_tokens".to_owned(), number.into());
        object.insert("access_token".to_owned(), number.into());
        let text = serde_json::Value::Object(object).to_string();
        let cleaned = scanner().redact_json(text.as_str().into()).text.into_exposed();
        let read: serde_json::Value = serde_json::from_str(&cleaned).expect("it is still JSON");
        prop_assert_eq!(&read["max_tokens"], &serde_json::Value::from(number));
        prop_assert_eq!(&read["access_token"], &serde_json::Value::from(number));
    }

    #[test]
    fn registered_values_are_found_wherever_they_are_cut(value in "[!-~]{12,40}", before in "[a-z ]{0,6}", cut in 0_usize..50) {
        let scanner = scanner();
        scanner.register(&[Content::new(value.clone())]).expect("a few values");
        let text = format!("{before} {value} and more");
        let whole = clean(&scanner, &text);
        prop_assert!(whole.contains("<secret:vault>") && !whole.contains(&value), "{}", whole);
        let (first, second) = text.split_at(cut.min(text.len()));
        let pieces = streamed(&scanner, &[first, second]);
        // Three bytes may have been given out before anything looked like the value.
        prop_assert!(pieces.contains("<secret:vault>") && !pieces.contains(&value), "{}", pieces);
        prop_assert!(pieces.len() <= whole.len() + 3, "{} {}", pieces, whole);
    }
}

/// Registers values in turn and says a text in pieces, the values of each moment before its piece.
fn said_meanwhile(moments: &[(&[&str], &str)]) -> String {
    let scanner = scanner();
    let mut stream = scanner.begin();
    let mut out = String::new();
    for (values, piece) in moments {
        let values: Vec<_> = values.iter().map(|value| Content::new((*value).to_owned())).collect();
        scanner.register(&values).expect("a few values");
        out.push_str(stream.push((*piece).into()).expose());
    }
    out.push_str(stream.finish().expose());
    out
}

#[test]
fn a_text_that_has_begun_is_compared_with_what_is_registered_meanwhile() {
    const ONE: &str = "walnut-harbour-lantern";
    const TWO: &str = "copper-meadow-thimble";
    let begun = [
        (&[ONE][..], "it begins, "),
        (&[ONE, TWO], "one walnut-harbour-lantern, two copper-meadow-thimble."),
    ];
    assert_eq!(said_meanwhile(&begun), "it begins, one <secret:vault>, two <secret:vault>.");
    // The first that is registered at all, and one in the middle of which the set changes.
    let first = [(&[][..], "it begins, "), (&[TWO], "two copper-mea"), (&[ONE, TWO], "dow-thimble.")];
    assert_eq!(said_meanwhile(&first), "it begins, two <secret:vault>.");
    // What was held back for one value, and is the other's beginning by now.
    let held = [(&["walnut-harbour-quarrel"][..], "a walnut-har"), (&[ONE], "bour-lantern.")];
    assert_eq!(said_meanwhile(&held), "a <secret:vault>.");
    // The control: nobody knew it, and what was shown stays shown.
    let late = [(&[][..], "a walnut-harbour-lantern, "), (&[ONE], "a walnut-harbour-lantern.")];
    assert_eq!(said_meanwhile(&late), "a walnut-harbour-lantern, a <secret:vault>.");
}

#[test]
fn a_set_of_too_many_values_is_refused_and_the_one_before_stays() {
    let scanner = scanner();
    let value = |at: usize| Content::new(format!("canary-number-{at:05}"));
    let most: Vec<_> = (0..REGISTERED_VALUES_MAX).map(value).collect();
    scanner.register(&most).expect("so many are taken");
    let last = format!("it is canary-number-{:05}.", REGISTERED_VALUES_MAX - 1);
    assert_eq!(clean(&scanner, &last), "it is <secret:vault>.");
    let more: Vec<_> = (1..=REGISTERED_VALUES_MAX + 1).map(value).collect();
    assert_eq!(scanner.register(&more), Err(RegisterError::TooMany));
    assert_eq!(clean(&scanner, "it is canary-number-00000."), "it is <secret:vault>.");
}

#[test]
fn nothing_is_held_back_that_cannot_become_a_secret() {
    let scanner = scanner();
    scanner.register(&["wanderlust-is-secret".into()]).expect("a few values");
    let mut stream = scanner.begin();
    for piece in ["Hello ", "there, ", "wan", " the answer (42) ", "is: max_tokens = 5; ", "done."] {
        assert_eq!(stream.push(piece.into()).expose(), piece);
    }
    assert_eq!(stream.push("wand".into()).expose(), "");
    assert_eq!(stream.push("er".into()).expose(), "");
    assert_eq!(stream.push(" on".into()).expose(), "wander on");
    assert_eq!(stream.finish().expose(), "");
}

#[test]
fn a_text_without_an_end_is_not_held_for_ever() {
    let scanner = scanner();
    let mut stream = scanner.begin();
    let begun = ["gh", "p_"].concat();
    let mut held = begun.len();
    let mut most = 0;
    let first = stream.push(begun.as_str().into());
    held -= first.expose().len();
    for _ in 0..2_000 {
        held += 5;
        held -= stream.push("a-b.c".into()).expose().len();
        most = most.max(held);
    }
    assert!(most <= 1_100, "{most} bytes were held");
    let mut stream = scanner.begin();
    let out: usize = (0..2_000).map(|_| stream.push(begun.as_str().into()).expose().len()).sum();
    assert!(out >= 2_000 * begun.len() - 2_048, "{out}");
}
