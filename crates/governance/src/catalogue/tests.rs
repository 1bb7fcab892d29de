//! Catalogues of a few lines: what is read, what is refused with which line, and which price is valid when.

use proptest::prelude::*;

use super::*;
use palyra_types::budget::{MoneyAmount, TokenPrices};

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// 2026-01-01.
const NEW_YEAR: i32 = 20_454;

const TWO_YEARS: &str = r#"
currency = "EUR"

[[price]]
model = "acme/large"
until = 2026-01-01
input = "4"
output = "20"

[[price]]
model = "acme/large"
from = 2026-01-01
input = "3.00"
cached_input = "0.30"
output = "15.00"
reasoning = "16"

[[price]]
model = "acme/*"
input = "1"
output = "2"
"#;

fn on(day: i32) -> Timestamp {
    UtcDay(day).start()
}

fn input_price(catalogue: &PriceCatalogue, model: &str, time: Timestamp) -> Option<u64> {
    let model = ModelRef::parse(model).unwrap();
    catalogue.price_at(&model, time).map(|quote| quote.prices.input.0)
}

fn refusal(text: &str) -> String {
    PriceCatalogue::parse(text).unwrap_err().to_string()
}

/// Returns a catalogue with one price whose lines are given; its table begins at line 2.
fn one_price(lines: &str) -> String {
    format!("currency = \"USD\"\n[[price]]\n{lines}\n")
}

#[test]
fn the_shipped_catalogue_is_read_and_names_no_provider_but_the_built_in_one() {
    let shipped = PriceCatalogue::shipped();
    assert_eq!(PriceCatalogue::parse(SHIPPED_CATALOGUE).as_ref(), Ok(&shipped));
    assert_eq!(input_price(&shipped, "demo/demo", on(NEW_YEAR)), Some(0));
    let models: Vec<String> = shipped.prices.keys().map(ToString::to_string).collect();
    assert_eq!(models, ["demo/*"]);
}

#[test]
fn the_price_of_a_day_is_the_one_that_is_valid_on_it() {
    let catalogue = PriceCatalogue::parse(TWO_YEARS).unwrap();
    assert_eq!(catalogue.currency().to_string(), "EUR");
    for (model, time, input) in [
        ("acme/large", on(NEW_YEAR - 1), Some(4_000_000)),
        ("acme/large", Timestamp(on(NEW_YEAR).0 - 1), Some(4_000_000)),
        ("acme/large", on(NEW_YEAR), Some(3_000_000)),
        ("acme/large", Timestamp(i64::MAX), Some(3_000_000)),
        ("acme/large", Timestamp(i64::MIN), Some(4_000_000)),
        ("acme/small", on(NEW_YEAR), Some(1_000_000)),
        ("other/large", on(NEW_YEAR), None),
    ] {
        assert_eq!(input_price(&catalogue, model, time), input, "{model} at {time:?}");
    }
    assert_eq!(on(NEW_YEAR).0 / DAY_MICROS, i64::from(NEW_YEAR));
}

#[test]
fn the_documented_example_is_read_and_its_models_are_priced() {
    let page = include_str!("../../../../docs/usage.md");
    let example = page.split("```toml").nth(2).and_then(|rest| rest.split("```").next()).unwrap();
    let catalogue = PriceCatalogue::parse(example).unwrap();
    assert_eq!(catalogue.currency().to_string(), "EUR");
    for (model, price) in
        [("acme/large", 3_000_000), ("acme/other", 500_000), ("local/any", 0), ("demo/demo", 0)]
    {
        assert_eq!(input_price(&catalogue, model, on(NEW_YEAR)), Some(price), "{model}");
    }
    assert_eq!(input_price(&catalogue, "acme/large", on(NEW_YEAR + 365)), Some(2_500_000));
    assert_eq!(input_price(&catalogue, "unknown/m", on(NEW_YEAR)), None);
}

#[test]
fn a_price_that_is_over_leaves_the_model_to_the_price_of_its_provider() {
    let text = "model = \"acme/large\"\nuntil = 2026-01-01\ninput = \"4\"\noutput = \"5\"\n\
                [[price]]\nmodel = \"acme/*\"\ninput = \"1\"\noutput = \"2\"";
    let catalogue = PriceCatalogue::parse(&one_price(text)).unwrap();
    assert_eq!(input_price(&catalogue, "acme/large", on(NEW_YEAR)), Some(1_000_000));
    let own = one_price("model = \"acme/large\"\nuntil = 2026-01-01\ninput = \"4\"\noutput = \"5\"");
    let catalogue = PriceCatalogue::parse(&own).unwrap();
    assert_eq!(input_price(&catalogue, "acme/large", on(NEW_YEAR)), None);
}

#[test]
fn prices_that_are_left_out_are_those_of_the_dearer_kind() {
    let catalogue =
        PriceCatalogue::parse(&one_price("model = \"a/b\"\ninput = \"3\"\noutput = \"9\"")).unwrap();
    let quote = catalogue.price_at(&ModelRef::new("a", "b"), on(0)).unwrap();
    let three = MoneyAmount(3_000_000);
    let nine = MoneyAmount(9_000_000);
    assert_eq!(
        quote.prices,
        TokenPrices { input: three, cached_input: three, output: nine, reasoning: nine }
    );
    assert_eq!(quote.catalogue, catalogue.digest());
}

#[test]
fn mistakes_are_refused_with_their_line_and_key() {
    let good = "model = \"a/b\"\ninput = \"1\"\noutput = \"2\"\n";
    for (text, expected) in [
        ("currency = \n".to_owned(), "is not valid TOML"),
        (String::new(), "no `currency`"),
        ("currency = \"usd\"\n".to_owned(), "line 1 of the price catalogue: `currency`"),
        ("\n\ncurency = \"USD\"\n".to_owned(), "line 3 of the price catalogue has the unknown key `curency`"),
        ("currency = \"USD\"\nprice = 3\n".to_owned(), "line 2 of the price catalogue: `price`"),
        ("currency = \"USD\"\nprice = [3]\n".to_owned(), "line 2 of the price catalogue: `price`"),
        (
            one_price(&format!("{good}untill = 2026-01-01")),
            "line 6 of the price catalogue has the unknown key `untill`",
        ),
        (one_price("input = \"1\"\noutput = \"2\""), "table at line 2 of the price catalogue has no `model`"),
        (one_price("model = \"a/b\"\ninput = \"1\""), "has no `output`"),
        (one_price("model = \"b\"\ninput = \"1\"\noutput = \"2\""), "line 3 of the price catalogue: `model`"),
        (
            one_price("model = \"*/*\"\ninput = \"1\"\noutput = \"2\""),
            "line 3 of the price catalogue: `model`",
        ),
        (one_price(&format!("{good}input = \"1\"")), "is not valid TOML"),
        (
            one_price("model = \"a/b/*\"\ninput = \"1\"\noutput = \"2\""),
            "line 3 of the price catalogue: `model`",
        ),
        (
            one_price("model = \"a/ b\"\ninput = \"1\"\noutput = \"2\""),
            "line 3 of the price catalogue: `model`",
        ),
        (one_price("model = \"a/b\"\ninput = 1.0\noutput = \"2\""), "line 4 of the price catalogue: `input`"),
        (
            one_price("model = \"a/b\"\ninput = \"1\"\noutput = \"-2\""),
            "line 5 of the price catalogue: `output`",
        ),
        (one_price(&format!("{good}from = \"2026-01-01\"")), "line 6 of the price catalogue: `from`"),
        (one_price(&format!("{good}from = 2026-01-01T00:00:00Z")), "line 6 of the price catalogue: `from`"),
        (
            one_price(&format!("{good}from = 2026-01-02\nuntil = 2026-01-02")),
            "line 7 of the price catalogue: `until`",
        ),
        (one_price(&format!("{good}cached_input = \"1.5\"")), "line 2 of the price catalogue cannot be used"),
        (one_price(&format!("{good}[[price]]\n{good}")), "lines 2 and 6 "),
        ("#".repeat(CATALOGUE_BYTES_MAX + 1), "bytes"),
        (format!("currency = \"USD\"\nprice = [{}]", "{},".repeat(PRICES_MAX + 1)), "10001 prices"),
    ] {
        let message = refusal(&text);
        let shown: String = text.chars().take(120).collect();
        assert!(message.contains(expected), "{shown}\n{message}");
    }
}

#[test]
fn the_digest_depends_on_the_content_alone() {
    let digest = |text: &str| PriceCatalogue::parse(text).unwrap().digest();
    let plain = one_price("model = \"a/b\"\ninput = \"1\"\noutput = \"2\"");
    let spelled =
        "# prices\n[[price]]\noutput = \"2.00\"\nreasoning = \"2\"\ninput = \"1.0\"\nmodel = \"a/b\"\n";
    assert_eq!(digest(&plain), digest(&format!("currency = \"USD\" # dollars\n{spelled}")));
    for other in [
        one_price("model = \"a/c\"\ninput = \"1\"\noutput = \"2\""),
        one_price("model = \"a/*\"\ninput = \"1\"\noutput = \"2\""),
        one_price("model = \"a/b\"\ninput = \"2\"\noutput = \"2\""),
        one_price("model = \"a/b\"\ninput = \"1\"\noutput = \"2\"\nuntil = 2026-01-01"),
        plain.replace("USD", "EUR"),
    ] {
        assert_ne!(digest(&plain), digest(&other), "{other}");
    }
    assert_eq!(digest(&plain).to_string().len(), 64);
}

proptest! {
    #[test]
    fn no_text_panics(text in "[a-z\"=\\[\\]{},.#* \n/0-9-]{0,120}") {
        let _ = PriceCatalogue::parse(&text);
        let _ = PriceCatalogue::parse(&one_price(&text));
    }
}
