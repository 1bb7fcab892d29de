//! A report for people.
//!
//! Owns the wording. Prints nothing a log says beyond numbers, ids and hashes, so that no log can steer a terminal.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::report::{BundleRun, EntryTime, LogFreshness, LogVerdict, Signer, VerifyReport};

/// Ranges printed one by one.
const RANGES_MAX: usize = 20;

/// Returns a report as lines of text.
pub fn text_report(report: &VerifyReport) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_words(&mut text, report);
    text
}

fn write_words(text: &mut String, report: &VerifyReport) -> std::fmt::Result {
    write_verdict(text, report)?;
    if let Some(log) = &report.log {
        writeln!(text, "log       {log}, {} epochs", report.epochs)?;
    }
    writeln!(text, "entries   {}", report.entries)?;
    writeln!(text, "root      {}", STANDARD.encode(report.root))?;
    match &report.newest {
        Some(head) => writeln!(
            text,
            "signed    size {}, epoch {}, {}",
            head.size,
            head.epoch,
            entry_time(head.entry_time)
        )?,
        None => writeln!(text, "signed    nothing")?,
    }
    if let Some((head, log)) = report.newest.as_ref().zip(report.log.as_ref()) {
        writeln!(text, "key       {}", head.verifier_key(log))?;
    }
    writeln!(text, "signer    {}", signer(report.signer))?;
    writeln!(text, "freshness {}", freshness(report))?;
    write!(text, "payloads  {} checked", report.payloads_checked)?;
    match report.payloads_sealed {
        0 => writeln!(text)?,
        sealed => writeln!(text, ", {sealed} could not be checked because they are sealed")?,
    }
    for BundleRun { run, last_tape_seq, finished } in report.runs.iter().take(RANGES_MAX) {
        let end = if *finished { "to its end" } else { "without its end" };
        writeln!(text, "run       {}, {last_tape_seq} entries, {end}", ulid(run))?;
    }
    write_changes(text, report)
}

/// Says whether it holds, first.
fn write_verdict(text: &mut String, report: &VerifyReport) -> std::fmt::Result {
    match report.verdict() {
        LogVerdict::Holds => writeln!(text, "ok: everything holds")?,
        LogVerdict::Unchecked => writeln!(
            text,
            "unchecked ({}): nothing contradicts, but {} payloads are sealed and were not checked; \
             give the state directory with --keys",
            report.exit_code(),
            report.payloads_sealed
        )?,
        LogVerdict::Unfinished => writeln!(
            text,
            "unfinished ({}): the entries in the bundle are valid, but the run's end is missing: the bundle was cut, or the run \
             was exported before its end (--open-run accepts that)",
            report.exit_code()
        )?,
        LogVerdict::Faulty(fault) => {
            let seq = fault.seq.map_or_else(String::new, |seq| format!(", first at entry {seq}"));
            writeln!(text, "{} ({}){seq}: {}", fault.code, fault.code.number(), fault.what)?;
            if report.faults > 1 {
                writeln!(text, "  and {} more", report.faults - 1)?;
            }
        }
    }
    Ok(())
}

/// Says what was given up and what was erased.
fn write_changes(text: &mut String, report: &VerifyReport) -> std::fmt::Result {
    for old in &report.reopened {
        writeln!(
            text,
            "reopened  by entry {}: before it {}, given up at size {} ({})",
            old.seq,
            old.old_name,
            old.abandoned_size,
            reopening(old.reason)
        )?;
    }
    for range in report.erased.iter().take(RANGES_MAX) {
        writeln!(
            text,
            "erased    {} to {} by principal {} in entry {} ({})",
            range.first,
            range.last,
            ulid(&range.authoriser),
            range.by,
            erasing(range.reason)
        )?;
    }
    match report.erased_count.saturating_sub(RANGES_MAX as u64) {
        0 => Ok(()),
        more => writeln!(text, "erased    and {more} more ranges"),
    }
}

fn signer(signer: Signer) -> &'static str {
    match signer {
        Signer::NotChecked => "not checked: consistent; give --key to check who signed",
        Signer::Trusted => "the given key leads to the newest signed head",
        Signer::Foreign => "not the given key",
    }
}

/// Says of which entry a time is: a bundle need not have the last one of its head.
fn entry_time(time: EntryTime) -> String {
    match time {
        EntryTime::OfHead(time) => format!("its last entry of {}", utc(time)),
        EntryTime::OfBundle(time) => format!("the newest entry in this bundle of {}", utc(time)),
    }
}

fn freshness(report: &VerifyReport) -> String {
    match (report.freshness, &report.newest) {
        (LogFreshness::Since(size), _) => format!("compared with the kept checkpoint of size {size}"),
        (LogFreshness::Unknown, Some(head)) => format!("unknown; newest signed at size {}", head.size),
        (LogFreshness::Unknown, None) => "unknown; nothing is signed".to_owned(),
    }
}

pub(crate) fn erasing(reason: u64) -> &'static str {
    match reason {
        1 => "request",
        2 => "retention",
        3 => "leaked secret",
        _ => "unknown reason",
    }
}

pub(crate) fn reopening(reason: u64) -> &'static str {
    match reason {
        1 => "rollback accepted",
        2 => "restored",
        3 => "key lost",
        _ => "unknown reason",
    }
}

/// Returns an id as the daemon prints it: 26 characters of Crockford base32.
pub(crate) fn ulid(id: &[u8; 16]) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let number = u128::from_be_bytes(*id);
    (0..26).rev().map(|at| char::from(DIGITS[(number >> (5 * at)) as usize & 31])).collect()
}

/// Returns microseconds since 1970 as a date and time; days to dates as in Howard Hinnant's `civil_from_days`.
pub(crate) fn utc(micros: i64) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

#[cfg(test)]
mod tests {
    use super::{ulid, utc};

    #[test]
    fn a_run_is_named_as_the_daemon_names_it() {
        assert_eq!(ulid(&[0; 16]), "0".repeat(26));
        assert_eq!(ulid(&[0xFF; 16]), format!("7{}", "Z".repeat(25)));
        let id = 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10_u128.to_be_bytes();
        assert_eq!(ulid(&id), "01081G81860W40J2GB1G6GW3RG");
    }

    #[test]
    fn times_are_dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(1_735_689_600_000_000), "2025-01-01T00:00:00Z");
        assert_eq!(utc(1_709_210_096_123_456), "2024-02-29T12:34:56Z");
        assert_eq!(utc(-1), "1969-12-31T23:59:59Z");
        assert!(utc(i64::MIN).starts_with('-') && utc(i64::MAX).ends_with('Z'));
    }
}
