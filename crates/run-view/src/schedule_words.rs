//! Schedules as people type them.

use palyra_schedule_text::interval_minutes;
use palyra_wire::v1;

/// A schedule in the words of a command line.
#[derive(Debug, Clone, Default)]
pub struct ScheduleWords {
    /// When, in plain words.
    pub words: Option<String>,
    /// A cron line.
    pub cron: Option<String>,
    /// An interval, such as `90m`.
    pub every: Option<String>,
    /// A local time.
    pub at: Option<String>,
    /// The time zone.
    pub zone: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The prompt of its runs.
    pub prompt: Option<String>,
    /// The text of a reminder.
    pub remind: Option<String>,
    /// The agent of its runs.
    pub agent: Option<String>,
    /// The missed rule: `skip`, `run-once` or `catch-up=N`.
    pub missed: String,
    /// The overlap rule: `forbid`, `queue` or `replace`.
    pub overlap: String,
    /// The longest random delay, in seconds.
    pub jitter: u32,
}

/// Returns what a schedule is to be, or what is wrong with the words.
///
/// # Errors
/// A sentence that names the word and how to write it.
pub fn schedule_draft(words: ScheduleWords) -> Result<v1::ScheduleDraft, String> {
    let every_minutes = words.every.as_deref().map(interval).transpose()?.unwrap_or(0);
    let (missed, catch_up_max) = missed_rule(&words.missed)?;
    let overlap = v1::ScheduleOverlapRule::from_short_name(&words.overlap).ok_or_else(|| {
        format!("`{}` is not an overlap rule; write forbid, queue or replace", words.overlap)
    })?;
    let draft = v1::ScheduleDraft {
        name: words.name.unwrap_or_default(),
        words: words.words.unwrap_or_default(),
        cron: words.cron.unwrap_or_default(),
        every_minutes,
        at: words.at.unwrap_or_default(),
        time_zone: words.zone.unwrap_or_default(),
        prompt: words.prompt.unwrap_or_default(),
        agent: words.agent.unwrap_or_default(),
        reminder: words.remind.unwrap_or_default(),
        missed: missed.into(),
        catch_up_max,
        overlap: overlap.into(),
        jitter_seconds: words.jitter,
    };
    let given = [!draft.words.is_empty(), !draft.cron.is_empty(), every_minutes > 0, !draft.at.is_empty()];
    if given.iter().filter(|is_given| **is_given).count() != 1 {
        return Err(
            "write when: plain words such as \"every weekday at 8\", or one of --cron, --every and --at"
                .to_owned(),
        );
    }
    Ok(draft)
}

fn missed_rule(word: &str) -> Result<(v1::ScheduleMissedRule, u32), String> {
    let wrong =
        || format!("`{word}` is not a missed rule; write skip, run-once or catch-up=N with N from 1 to 10");
    match word.split_once('=') {
        None if word == "skip" => Ok((v1::ScheduleMissedRule::Skip, 0)),
        None if word == "run-once" => Ok((v1::ScheduleMissedRule::RunOnce, 0)),
        Some(("catch-up", count)) => {
            Ok((v1::ScheduleMissedRule::CatchUp, count.parse().map_err(|_| wrong())?))
        }
        _ => Err(wrong()),
    }
}

fn interval(text: &str) -> Result<u32, String> {
    interval_minutes(text)
        .ok_or_else(|| format!("`{text}` is not an interval; write for example 15m, 2h or 1d"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(every: &str, missed: &str, overlap: &str) -> ScheduleWords {
        ScheduleWords {
            every: Some(every.to_owned()),
            missed: missed.to_owned(),
            overlap: overlap.to_owned(),
            ..ScheduleWords::default()
        }
    }

    #[test]
    fn intervals_and_rules_are_read_as_they_are_typed() {
        for (every, minutes) in [("1m", 1), ("15m", 15), ("2h", 120), ("1d", 1_440)] {
            let draft = schedule_draft(words(every, "catch-up=3", "queue")).unwrap();
            assert_eq!((draft.every_minutes, draft.catch_up_max), (minutes, 3), "{every}");
            assert_eq!(draft.overlap(), v1::ScheduleOverlapRule::Queue);
        }
        for (every, missed, overlap) in [
            ("15", "skip", "queue"),
            ("0m", "skip", "queue"),
            ("2y", "skip", "queue"),
            ("", "skip", "queue"),
            ("1m", "catch-up", "queue"),
            ("1m", "catch-up=x", "queue"),
            ("1m", "sometimes", "queue"),
            ("1m", "skip", "both"),
        ] {
            assert!(schedule_draft(words(every, missed, overlap)).is_err(), "{every} {missed} {overlap}");
        }
        let two = ScheduleWords { cron: Some("* * * * *".to_owned()), ..words("1m", "skip", "queue") };
        assert!(schedule_draft(two).unwrap_err().contains("--cron"));
    }
}
