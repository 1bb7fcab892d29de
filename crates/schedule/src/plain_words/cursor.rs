//! A text as words, and what single words mean: numbers, times of day, weekdays, months. Owns the vocabulary.

use jiff::civil::{Time, Weekday};

const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// Splits a text into lower-case words; a comma is the word `and`.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let text =
        text.trim().trim_end_matches('.').to_lowercase().replace(", and ", " and ").replace(',', " and ");
    text.split_whitespace().map(str::to_owned).collect()
}

/// A place in the words of a text.
pub(super) struct WordCursor<'a> {
    words: &'a [String],
    at: usize,
}

impl<'a> WordCursor<'a> {
    pub(super) fn new(words: &'a [String]) -> Self {
        Self { words, at: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.words.len()
    }

    pub(super) fn text(&self) -> String {
        self.words.join(" ")
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).map(String::as_str)
    }

    /// Takes the next word if it is one of these.
    pub(super) fn take(&mut self, words: &[&str]) -> Option<&'a str> {
        let word = self.peek().filter(|word| words.contains(word))?;
        self.at += 1;
        Some(word)
    }

    /// Takes these words in order, or none.
    pub(super) fn take_all(&mut self, words: &[&str]) -> Option<()> {
        let end = self.at + words.len();
        let found = self.words.get(self.at..end)?;
        found.iter().zip(words).all(|(found, word)| found == word).then(|| self.at = end)
    }

    /// Takes the next word if a reader makes something of it.
    fn take_as<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = read(self.peek()?)?;
        self.at += 1;
        Some(value)
    }

    /// Reads with a reader, and goes back to the same place if it does not succeed.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.at;
        let value = read(self);
        if value.is_none() {
            self.at = start;
        }
        value
    }

    pub(super) fn is_plural_weekday(&self) -> bool {
        self.peek().and_then(|word| word.strip_suffix('s')).is_some_and(|word| WEEKDAYS.contains(&word))
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.take_as(|word| {
            let named =
                NUMBERS.iter().position(|name| *name == word).and_then(|number| u32::try_from(number).ok());
            named.or_else(|| {
                word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten()
            })
        })
    }

    /// Takes a day of a month: `1`, `1st`, `first`.
    pub(super) fn day_of_month(&mut self) -> Option<i8> {
        self.take_as(|word| {
            let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            let is_ordinal = ["", "st", "nd", "rd", "th"].contains(&&word[digits.len()..]);
            let named =
                ORDINALS.iter().position(|name| *name == word).and_then(|index| i8::try_from(index + 1).ok());
            named.or_else(|| digits.parse().ok().filter(|_| is_ordinal)).filter(|day| (1..=31).contains(day))
        })
    }

    /// Takes `first` to `fifth` or `last`, as cron writes them.
    pub(super) fn week_of_month(&mut self) -> Option<String> {
        self.take_as(|word| {
            let named = ORDINALS.iter().position(|name| *name == word).map(|index| (index + 1).to_string());
            named.or_else(|| (word == "last").then(|| "L".to_owned()))
        })
    }

    /// Takes a weekday in the singular; its number in cron.
    pub(super) fn weekday(&mut self) -> Option<u8> {
        self.take_as(|word| index_of(&WEEKDAYS, word))
    }

    /// Takes a weekday in the singular or plural.
    pub(super) fn weekday_or_plural(&mut self) -> Option<u8> {
        self.take_as(|word| {
            index_of(&WEEKDAYS, word).or_else(|| index_of(&WEEKDAYS, word.strip_suffix('s')?))
        })
    }

    pub(super) fn month(&mut self) -> Option<i8> {
        self.take_as(|word| index_of(&MONTHS, word)).and_then(|index| i8::try_from(index + 1).ok())
    }

    /// Takes a date like `2027-05-01`.
    pub(super) fn iso_date(&mut self) -> Option<jiff::civil::Date> {
        self.take_as(|word| if word.len() == 10 { word.parse().ok() } else { None })
    }

    /// Takes a time of day: `8`, `8:30`, `8am`, `7:30 pm`, `noon`, `midnight`.
    pub(super) fn time_of_day(&mut self) -> Option<Time> {
        if let Some(word) = self.take(&["noon", "midnight"]) {
            return Time::new(if word == "noon" { 12 } else { 0 }, 0, 0, 0).ok();
        }
        let start = self.at;
        let word = self.peek()?;
        self.at += 1;
        let (digits, half) = match word.strip_suffix("am").map(|digits| (digits, "am")) {
            Some(found) => found,
            None => match word.strip_suffix("pm") {
                Some(digits) => (digits, "pm"),
                None => (word, self.take(&["am", "pm"]).unwrap_or("")),
            },
        };
        let time = clock_time(digits, half);
        if time.is_none() {
            self.at = start;
        }
        if half.is_empty() {
            self.take(&["o'clock"]);
        }
        time
    }
}

fn index_of(names: &[&str], word: &str) -> Option<u8> {
    let is_short = |name: &str| word.len() == 3 && name.starts_with(word);
    names.iter().position(|name| *name == word || is_short(name)).and_then(|index| u8::try_from(index).ok())
}

fn clock_time(digits: &str, half: &str) -> Option<Time> {
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "00"));
    let is_number = |text: &str, lengths: &[usize]| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_number(hour, &[1, 2]) || !is_number(minute, &[2]) {
        return None;
    }
    let hour: i8 = hour.parse().ok()?;
    let hour = match half {
        "" => hour,
        "am" => (1..=12).contains(&hour).then_some(hour % 12)?,
        _ => (1..=12).contains(&hour).then_some(hour % 12 + 12)?,
    };
    Time::new(hour, minute.parse().ok()?, 0, 0).ok()
}

/// Returns the weekday of a number in cron.
pub(super) fn weekday_of(number: u8) -> Option<Weekday> {
    Weekday::from_sunday_zero_offset(i8::try_from(number).ok()?).ok()
}
