//! Schedules in plain words: `every weekday at 8` becomes a cron line that a person sees before it is saved.
//!
//! Owns the forms and their examples. A text is read by exactly one form and to its last word, or it is refused with examples;
//! no word is ignored. Knows no clock: the time and zone of the person are inputs.
//!
//! Begin at [`read_plain_words`].

mod cursor;
mod days;
mod local_clock;
mod more_words;
mod once;
mod repeated;

use jiff::tz::TimeZone;
use palyra_types::Timestamp;

use crate::cron::CronLine;
use crate::spec::ScheduleSpec;
use crate::spec_error::InvalidSpec;
use cursor::WordCursor;
use more_words::{in_quotes, more_words};

/// Length of a text, at most.
pub const WORDS_BYTES_MAX: usize = 200;
/// Examples in a refusal.
const SUGGESTIONS: usize = 3;

/// The time and zone of the person who writes.
#[derive(Debug, Clone, Copy)]
pub struct WordsContext<'a> {
    /// Now.
    pub now: Timestamp,
    /// The person's zone.
    pub zone: &'a TimeZone,
    /// Its IANA name.
    pub zone_name: &'a str,
}

impl WordsContext<'_> {
    fn cron(&self, line: String) -> ScheduleSpec {
        ScheduleSpec::Cron { line, zone: self.zone_name.to_owned() }
    }
}

/// Why a text cannot be read as a schedule.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableWords {
    /// The text is too long.
    #[error(
        "the text is longer than {bytes_max} bytes: write only when the schedule is due, for example `every day at 9:00`"
    )]
    TooLong {
        /// Bytes, at most.
        bytes_max: usize,
    },
    /// No form reads the whole text.
    #[error("`{text}` is not understood: write for example {}", quoted(.suggestions))]
    Unknown {
        /// The text.
        text: String,
        /// Texts that are understood, the most similar first.
        suggestions: Vec<&'static str>,
    },
    /// A form reads the beginning, and the rest is likely the task.
    #[error(
        "`{task}` is not a part of a time: the text of the task is an option of its own, as in `palyra admin schedules add \
         {} --prompt {}`, and --remind in the place of --prompt delivers it without a model",
        in_quotes(.when),
        in_quotes(.task)
    )]
    Task {
        /// The beginning.
        when: String,
        /// The rest.
        task: String,
    },
    /// A form reads the beginning, and none reads the rest.
    #[error("`{rest}` behind `{when}` is not understood: write for example {}", quoted(.suggestions))]
    Rest {
        /// The beginning.
        when: String,
        /// The rest.
        rest: String,
        /// Texts that are understood, the most similar first.
        suggestions: Vec<&'static str>,
    },
    /// The time of day is missing.
    #[error("`{text}` does not say at which time: write for example `{text} at 9:00`")]
    NoTime {
        /// The text.
        text: String,
    },
    /// One cron line cannot have these times.
    #[error("times with different minutes need one schedule for each time")]
    DifferentMinutes,
    /// The text is a cron line that is not valid.
    #[error(transparent)]
    Cron(#[from] InvalidSpec),
}

fn quoted(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ")
}

/// What a form makes of a text.
type FormResult = Option<Result<ScheduleSpec, UnreadableWords>>;

/// A form: a text that it reads, and its reader. A reader that stops before the last word has not read the text.
struct WordForm {
    example: &'static str,
    read: fn(&mut WordCursor<'_>, &WordsContext<'_>) -> FormResult,
}

const FORMS: [WordForm; 24] = [
    WordForm { example: "every 15 minutes", read: repeated::every_minutes_or_hours },
    WordForm {
        example: "every 15 minutes between 9:00 and 17:00 on weekdays",
        read: repeated::between_hours,
    },
    WordForm { example: "hourly", read: repeated::hourly },
    WordForm { example: "every hour at minute 30", read: repeated::minute_of_hours },
    WordForm { example: "twice a day", read: repeated::times_a_day },
    WordForm { example: "every day at 7:30pm", read: days::days_then_times },
    WordForm { example: "every weekday at 8", read: days::days_then_times },
    WordForm { example: "on weekends at 10:00", read: days::days_then_times },
    WordForm { example: "every monday and thursday at 10:00", read: days::days_then_times },
    WordForm { example: "monday to friday at 8 and 17", read: days::days_then_times },
    WordForm { example: "on the first of each month at 9", read: days::days_then_times },
    WordForm { example: "on the last day of every month at 18:00", read: days::days_then_times },
    WordForm { example: "on the second friday of each month at noon", read: days::days_then_times },
    WordForm { example: "every year on 1 may at 9", read: days::days_then_times },
    WordForm { example: "at 8 every day", read: days::times_then_days },
    WordForm { example: "every 3 days at 9", read: repeated::every_days_or_weeks },
    WordForm { example: "every other monday at 9", read: repeated::every_days_or_weeks },
    WordForm { example: "in 20 minutes", read: once::in_a_while },
    WordForm { example: "today at 17:00", read: once::day_then_time },
    WordForm { example: "tomorrow at 9", read: once::day_then_time },
    WordForm { example: "next monday at 9", read: once::day_then_time },
    WordForm { example: "on 24 december at 18:00", read: once::day_then_time },
    WordForm { example: "at noon", read: once::time_then_day },
    WordForm { example: "every day", read: days::days_without_time },
];

/// Returns a text for each form, as examples.
pub fn word_examples() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.example).filter(|example| *example != "every day")
}

/// Reads a schedule in plain words, or a cron line.
///
/// # Errors
/// [`UnreadableWords`], with texts that are understood.
pub fn read_plain_words(text: &str, context: &WordsContext<'_>) -> Result<ScheduleSpec, UnreadableWords> {
    if text.len() > WORDS_BYTES_MAX {
        return Err(UnreadableWords::TooLong { bytes_max: WORDS_BYTES_MAX });
    }
    if let Some(read) = read_whole(text, context) {
        return read;
    }
    Err(more_words(text, context).unwrap_or_else(|| UnreadableWords::Unknown {
        text: text.trim().to_owned(),
        suggestions: suggestions(text),
    }))
}

/// Reads a text with the form that reads all of it; `None` where there is no such form.
fn read_whole(text: &str, context: &WordsContext<'_>) -> FormResult {
    if is_cron(text) {
        let line = CronLine::parse(text).map(|line| context.cron(line.text().to_owned()));
        return Some(line.map_err(UnreadableWords::from));
    }
    let words = cursor::words_of(text);
    FORMS.iter().find_map(|form| {
        let mut cursor = WordCursor::new(&words);
        (form.read)(&mut cursor, context).filter(|_| cursor.is_at_end())
    })
}

/// Returns whether a text looks like a cron line: it begins like one, and its fields are short or have signs of cron.
fn is_cron(text: &str) -> bool {
    let mut fields = text.split_whitespace();
    let starts_like_cron = fields
        .next()
        .is_some_and(|field| field.starts_with(|sign: char| sign == '*' || sign.is_ascii_digit()));
    let is_field =
        |field: &str| field.contains('*') || field.len() <= 3 || field.contains([',', '-', '/', '#']);
    starts_like_cron && (4..=6).contains(&text.split_whitespace().count()) && fields.all(is_field)
}

/// Returns the examples that share most words with a text.
fn suggestions(text: &str) -> Vec<&'static str> {
    let words = cursor::words_of(text);
    let shared =
        |example: &str| example.split(' ').filter(|word| words.iter().any(|given| given == word)).count();
    let mut examples: Vec<&'static str> = word_examples().collect();
    examples.sort_by_key(|example| std::cmp::Reverse(shared(example)));
    examples.truncate(SUGGESTIONS);
    examples
}

#[cfg(test)]
mod tests;
