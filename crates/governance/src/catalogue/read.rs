//! Reads the text of a price catalogue.
//!
//! Owns which keys there are and what their values look like. A key without a meaning is refused: a misspelt `until` would
//! otherwise be a price without an end.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use palyra_types::{Timestamp, UtcDay};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entry::{DatedPrices, PricedModels};
use super::{CATALOGUE_BYTES_MAX, CatalogueError, PRICES_MAX};
use palyra_types::budget::TokenPrices;
use palyra_types::budget::{CurrencyCode, MoneyAmount};

const CURRENCY: &str = "currency";
const PRICE: &str = "price";
const MODEL: &str = "model";
const FROM: &str = "from";
const UNTIL: &str = "until";
const INPUT: &str = "input";
const CACHED_INPUT: &str = "cached_input";
const OUTPUT: &str = "output";
const REASONING: &str = "reasoning";

const ROOT_KEYS: &[&str] = &[CURRENCY, PRICE];
const PRICE_KEYS: &[&str] = &[MODEL, FROM, UNTIL, INPUT, CACHED_INPUT, OUTPUT, REASONING];

const A_CURRENCY: &str = "three capital letters in quotes, such as \"USD\"";
const TABLES: &str = "tables, each written as `[[price]]`";
const A_MODEL: &str = "the text \"provider/model\" or \"provider/*\"";
const A_DATE: &str = "a date without quotes, such as 2026-01-31";
const A_LATER_DATE: &str = "a date after `from`";
const AN_AMOUNT: &str =
    "an amount per million tokens in quotes with at most six digits behind the point, such as \"2.50\"";

/// What a catalogue says, in the order of its text.
pub(super) struct CatalogueContent {
    pub(super) currency: CurrencyCode,
    pub(super) rows: Vec<PriceRow>,
}

/// One price with the line at which its table begins.
pub(super) struct PriceRow {
    pub(super) line: usize,
    pub(super) models: PricedModels,
    pub(super) dated: DatedPrices,
}

pub(super) fn read(text: &str) -> Result<CatalogueContent, CatalogueError> {
    if text.len() > CATALOGUE_BYTES_MAX {
        return Err(CatalogueError::TooLarge { bytes: text.len() });
    }
    let document = DeTable::parse(text).map_err(|error| CatalogueError::Syntax {
        line: line_of(text, error.span().unwrap_or_default().start),
        message: error.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    let root = TableReader { text, line: 1, table: document.get_ref() };
    root.check_keys(ROOT_KEYS)?;
    let (line, written) = root.required_text(CURRENCY, A_CURRENCY)?;
    let wrong_currency = CatalogueError::WrongValue { line, key: CURRENCY, expected: A_CURRENCY };
    let currency = CurrencyCode::parse(written).ok_or(wrong_currency)?;
    let Some(prices) = root.find(PRICE) else {
        return Ok(CatalogueContent { currency, rows: Vec::new() });
    };
    let wrong_tables =
        CatalogueError::WrongValue { line: root.line_of(prices), key: PRICE, expected: TABLES };
    let DeValue::Array(tables) = prices.get_ref() else { return Err(wrong_tables) };
    if tables.len() > PRICES_MAX {
        return Err(CatalogueError::TooMany { count: tables.len() });
    }
    let mut rows = Vec::new();
    for value in tables.iter() {
        let DeValue::Table(table) = value.get_ref() else { return Err(wrong_tables) };
        rows.push(price_row(&TableReader { text, line: root.line_of(value), table })?);
    }
    Ok(CatalogueContent { currency, rows })
}

fn price_row(table: &TableReader<'_>) -> Result<PriceRow, CatalogueError> {
    table.check_keys(PRICE_KEYS)?;
    let (line, written) = table.required_text(MODEL, A_MODEL)?;
    let wrong_model = CatalogueError::WrongValue { line, key: MODEL, expected: A_MODEL };
    let models = PricedModels::parse(written).ok_or(wrong_model)?;
    let from = table.date(FROM)?.unwrap_or(UtcDay(i32::MIN));
    let until = table.date(UNTIL)?;
    if until.is_some_and(|until| until <= from) {
        return Err(table.wrong(UNTIL, A_LATER_DATE));
    }
    let input = table.required_amount(INPUT)?;
    let output = table.required_amount(OUTPUT)?;
    let prices = TokenPrices {
        input,
        cached_input: table.amount(CACHED_INPUT)?.unwrap_or(input),
        output,
        reasoning: table.amount(REASONING)?.unwrap_or(output),
    };
    let prices = prices.checked().map_err(|cause| CatalogueError::Prices { line: table.line, cause })?;
    Ok(PriceRow { line: table.line, models, dated: DatedPrices { from, until, prices } })
}

/// A table with the text around it, for the lines of mistakes.
struct TableReader<'a> {
    text: &'a str,
    /// The line at which it begins.
    line: usize,
    table: &'a DeTable<'a>,
}

impl<'a> TableReader<'a> {
    fn check_keys(&self, known: &[&str]) -> Result<(), CatalogueError> {
        let unknown = self.table.iter().filter(|(name, _)| !known.contains(&name.get_ref().as_ref()));
        match unknown.min_by_key(|(name, _)| name.span().start) {
            None => Ok(()),
            Some((name, _)) => Err(CatalogueError::UnknownKey {
                line: line_of(self.text, name.span().start),
                key: name.get_ref().chars().take(40).collect(),
                known: known.join(", "),
            }),
        }
    }

    fn find(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn line_of(&self, value: &Spanned<DeValue<'_>>) -> usize {
        line_of(self.text, value.span().start)
    }

    /// Returns the mistake at the value of a key, or at the table when it has no such key.
    fn wrong(&self, key: &'static str, expected: &'static str) -> CatalogueError {
        let line = self.find(key).map_or(self.line, |value| self.line_of(value));
        CatalogueError::WrongValue { line, key, expected }
    }

    fn text(&self, key: &'static str, expected: &'static str) -> Result<Option<&'a str>, CatalogueError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        let DeValue::String(text) = value.get_ref() else { return Err(self.wrong(key, expected)) };
        Ok(Some(text.as_ref()))
    }

    /// Returns a text with its line.
    fn required_text(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Result<(usize, &'a str), CatalogueError> {
        let missing = CatalogueError::MissingKey { line: self.line, key, expected };
        let text = self.text(key, expected)?.ok_or(missing)?;
        Ok((self.find(key).map_or(self.line, |value| self.line_of(value)), text))
    }

    fn amount(&self, key: &'static str) -> Result<Option<MoneyAmount>, CatalogueError> {
        let Some(text) = self.text(key, AN_AMOUNT)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.wrong(key, AN_AMOUNT))
    }

    fn required_amount(&self, key: &'static str) -> Result<MoneyAmount, CatalogueError> {
        let missing = CatalogueError::MissingKey { line: self.line, key, expected: AN_AMOUNT };
        self.amount(key)?.ok_or(missing)
    }

    fn date(&self, key: &'static str) -> Result<Option<UtcDay>, CatalogueError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        let DeValue::Datetime(written) = value.get_ref() else { return Err(self.wrong(key, A_DATE)) };
        let is_day = written.time.is_none() && written.offset.is_none();
        let day = written.date.filter(|_| is_day).and_then(day_of);
        day.map(Some).ok_or_else(|| self.wrong(key, A_DATE))
    }
}

fn day_of(date: toml::value::Date) -> Option<UtcDay> {
    let year = i16::try_from(date.year).ok()?;
    let month = i8::try_from(date.month).ok()?;
    let date = Date::new(year, month, i8::try_from(date.day).ok()?).ok()?;
    let start = date.to_zoned(TimeZone::UTC).ok()?;
    Some(UtcDay::from(Timestamp(start.timestamp().as_microsecond())))
}

/// Returns the line, from 1, of a byte.
fn line_of(text: &str, byte: usize) -> usize {
    text.as_bytes().iter().take(byte).filter(|byte| **byte == b'\n').count() + 1
}
