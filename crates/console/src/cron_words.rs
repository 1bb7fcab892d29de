//! Times of schedules as people say them, and as the operations take them.
//!
//! Invariant: a sentence says exactly what its cron line plans; a line that no sentence fits has none. Begin at [`times_words`].

/// Times that were read from the text of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExactTimes {
    /// A cron line.
    Cron(String),
    /// An interval, such as `15m`.
    Every(String),
    /// One local time, such as `2027-03-14T18:00`.
    At(String),
}

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Returns the times that a schedule's own text says: `cron LINE (ZONE)`, `every 15 minutes` or `at TIME (ZONE)`.
pub(crate) fn exact_times(times: &str) -> Option<ExactTimes> {
    if let Some(line) = times.strip_prefix("cron ") {
        return Some(ExactTimes::Cron(without_zone(line)?.to_owned()));
    }
    if let Some(local) = times.strip_prefix("at ") {
        return Some(ExactTimes::At(without_zone(local)?.replacen(' ', "T", 1)));
    }
    let words: Vec<&str> = times.strip_prefix("every ")?.split(' ').collect();
    let (number, unit) = match words.as_slice() {
        [unit] => (1, *unit),
        [number, unit] => (number.parse::<u32>().ok()?, *unit),
        _ => return None,
    };
    let letter = match unit.trim_end_matches('s') {
        "minute" => "m",
        "hour" => "h",
        "day" => "d",
        _ => return None,
    };
    Some(ExactTimes::Every(format!("{number}{letter}")))
}

fn without_zone(text: &str) -> Option<&str> {
    text.strip_suffix(')')?.rsplit_once(" (").map(|(times, _)| times)
}

/// Returns the times of a schedule in words; the text as it is where no sentence fits.
pub(crate) fn times_words(times: &str) -> String {
    match exact_times(times) {
        Some(ExactTimes::Cron(line)) => {
            cron_words(&line).unwrap_or_else(|| format!("by the cron line {line}"))
        }
        Some(ExactTimes::At(local)) => format!("once, on {}", local.replacen('T', " at ", 1)),
        Some(ExactTimes::Every(_)) | None => times.to_owned(),
    }
}

/// Returns the sentence of a cron line.
fn cron_words(line: &str) -> Option<String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields.as_slice() else { return None };
    let days = days_words(day, month, weekday)?;
    if let (Some(minute), Some(hours)) = (number(minute, 59), numbers(hour, 23)) {
        let times: Vec<String> = hours.iter().map(|hour| format!("{hour:02}:{minute:02}")).collect();
        return Some(format!("{days} at {}", listed(&times)));
    }
    let rhythm = match (step(minute, 60), number(minute, 59), step(hour, 24)) {
        (Some(minutes), _, _) if *hour == "*" => every(minutes, "minute"),
        (Some(minutes), _, _) => {
            let (first, last) = range(hour, 23)?;
            format!("{} from {first:02}:00 to {last:02}:59", every(minutes, "minute"))
        }
        (None, Some(0), Some(hours)) => every(hours, "hour"),
        (None, Some(minute), Some(hours)) => format!("{} at minute {minute}", every(hours, "hour")),
        (None, _, _) => return None,
    };
    Some(if days == "every day" { rhythm } else { format!("{rhythm}, {days}") })
}

fn every(count: u32, unit: &str) -> String {
    if count == 1 { format!("every {unit}") } else { format!("every {count} {unit}s") }
}

fn days_words(day: &str, month: &str, weekday: &str) -> Option<String> {
    match (day, month, weekday) {
        ("*", "*", "*") => Some("every day".to_owned()),
        ("*", "*", weekday) => weekday_words(weekday),
        (day, "*", "*") => Some(format!("on day {} of each month", number(day, 31).filter(|day| *day > 0)?)),
        (day, month, "*") => {
            let day = number(day, 31).filter(|day| *day > 0)?;
            let at = usize::try_from(number(month, 12)?).ok()?.checked_sub(1)?;
            Some(format!("every year on {day} {}", MONTHS.get(at)?))
        }
        _ => None,
    }
}

fn weekday_words(field: &str) -> Option<String> {
    let mut days = Vec::new();
    for part in field.split(',') {
        let (begin, end) = part.split_once('-').unwrap_or((part, part));
        let first = weekday_number(begin)?;
        let last = weekday_number(end)?;
        days.extend(first..=last);
        if first > last {
            return None;
        }
    }
    // Sunday is 0 and 7, and comes last.
    let mut days: Vec<usize> = days.into_iter().map(|day| if day == 0 { 7 } else { day }).collect();
    days.sort_unstable();
    days.dedup();
    match days.as_slice() {
        [1, 2, 3, 4, 5, 6, 7] => Some("every day".to_owned()),
        [1, 2, 3, 4, 5] => Some("every weekday".to_owned()),
        some => {
            let name = |day: &usize| DAYS.get(*day % 7).copied().map(str::to_owned);
            let names: Vec<String> = some.iter().map(name).collect::<Option<_>>()?;
            Some(format!("every {}", listed(&names)))
        }
    }
}

fn weekday_number(text: &str) -> Option<usize> {
    if let Some(number) = number(text, 7) {
        return usize::try_from(number).ok();
    }
    DAYS.iter().position(|day| day.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(text)))
}

/// Returns a plain number up to `max`.
fn number(text: &str, max: u32) -> Option<u32> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number <= max)
}

/// Returns a list of plain numbers, in their order on the clock.
fn numbers(text: &str, max: u32) -> Option<Vec<u32>> {
    let mut all = text.split(',').map(|part| number(part, max)).collect::<Option<Vec<u32>>>()?;
    all.sort_unstable();
    all.dedup();
    Some(all)
}

fn range(text: &str, max: u32) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-')?;
    Some((number(first, max)?, number(last, max)?)).filter(|(first, last)| first <= last)
}

/// Returns the step of `*` or `*/N`, where all steps of a cycle are equally long.
fn step(text: &str, cycle: u32) -> Option<u32> {
    let step = match text.strip_prefix('*')? {
        "" => 1,
        rest => number(rest.strip_prefix('/')?, cycle)?,
    };
    (step > 0 && cycle.is_multiple_of(step) && step < cycle).then_some(step)
}

fn listed(parts: &[String]) -> String {
    match parts {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        parts => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cron_line_is_a_sentence_that_says_the_same() {
        for (line, words) in [
            ("0 8 * * 1-5", "every weekday at 08:00"),
            ("5 18,9 * * *", "every day at 09:05 and 18:05"),
            ("0 8 * * MON,thu", "every Monday and Thursday at 08:00"),
            ("0 8 * * 0,6", "every Saturday and Sunday at 08:00"),
            ("0 8 * * 5-7", "every Friday, Saturday and Sunday at 08:00"),
            ("30 7 1 * *", "on day 1 of each month at 07:30"),
            ("0 18 24 12 *", "every year on 24 December at 18:00"),
            ("* * * * *", "every minute"),
            ("*/15 * * * *", "every 15 minutes"),
            ("*/30 9-17 * * 1-5", "every 30 minutes from 09:00 to 17:59, every weekday"),
            ("0 * * * *", "every hour"),
            ("20 */6 * * *", "every 6 hours at minute 20"),
        ] {
            assert_eq!(cron_words(line).as_deref(), Some(words), "{line}");
        }
    }

    /// These lines plan something that a short sentence does not say.
    #[test]
    fn a_line_that_no_sentence_fits_is_shown_as_it_is() {
        for line in [
            "*/7 * * * *",
            "0 */5 * * *",
            "*/60 * * * *",
            "0 8 13 * 5",
            "0 8 L * *",
            "0 8 * * 1#2",
            "0 8 0 * *",
            "0 8 1 13 *",
            "0,30 8 * * *",
            "*/15 8,9 * * *",
            "0 8 * * 6-1",
            "0 8 * *",
            "60 8 * * *",
            "",
        ] {
            assert_eq!(cron_words(line), None, "{line}");
        }
        assert_eq!(times_words("cron 0 8 13 * 5 (UTC)"), "by the cron line 0 8 13 * 5");
    }

    #[test]
    fn the_text_of_a_schedule_is_read_back() {
        let at = |text: &str| Some(ExactTimes::At(text.to_owned()));
        let every = |text: &str| Some(ExactTimes::Every(text.to_owned()));
        assert_eq!(
            exact_times("cron 0 8 * * 1-5 (Europe/Prague)"),
            Some(ExactTimes::Cron("0 8 * * 1-5".to_owned()))
        );
        assert_eq!(exact_times("at 2027-03-14 18:00 (UTC)"), at("2027-03-14T18:00"));
        assert_eq!(exact_times("every 90 minutes"), every("90m"));
        assert_eq!((exact_times("every hour"), exact_times("every 2 days")), (every("1h"), every("2d")));
        for text in ["", "cron 0 8 * * *", "every", "every x days", "every 2 weeks", "at noon"] {
            assert_eq!(exact_times(text), None, "{text}");
            assert_eq!(times_words(text), text);
        }
        assert_eq!(times_words("at 2027-03-14 18:00 (UTC)"), "once, on 2027-03-14 at 18:00");
    }
}
