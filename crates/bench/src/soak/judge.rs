//! What may grow in a soak, and by how much.
//!
//! Invariant: counts and sizes are judged in every soak; times only in one that is long enough to tell a trend from
//! a busy machine.

use serde::Serialize;

use super::sample::SoakSample;
use super::trend::LinearTrend;

/// Anonymous memory may rise by this whatever the length: what an allocator keeps differs from look to look. It
/// differs by more than this now and then, so that a few looks are judged by the smallest rise from one to the next:
/// a leak is in each of them.
const ANONYMOUS_RISE_MIB_MAX: f64 = 1.0;
/// In a long soak it may rise by so much per run instead: what a table of ids for a day's runs would take.
const ANONYMOUS_BYTES_PER_RUN_MAX: f64 = 8.0;
/// Descriptors and threads may not rise by one.
const COUNT_RISE_MAX: f64 = 0.99;
const WAL_MIB_MAX: f64 = 64.0;
/// A fortieth of the runs brings a file of 20 KiB, and long sessions ask long questions.
const DATABASE_BYTES_PER_RUN_MAX: f64 = 16_384.0;
/// How much slower a run may be at the end than in the middle, as a share.
const P50_RISE_SHARE_MAX: f64 = 0.25;
/// Fewer looks do not tell a trend from noise.
const TREND_LOOKS_MIN: usize = 8;

const MIB: f64 = 1_024.0 * 1_024.0;

/// What came of one thing that was watched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct WatchedTrend {
    /// What, with its unit.
    pub(super) what: &'static str,
    /// At the first look.
    pub(super) first: f64,
    /// At the last one.
    pub(super) last: f64,
    /// The rise of the fitted line from the first look to the last one.
    pub(super) rise: f64,
    /// The slope of the fitted line, in words.
    pub(super) slope: String,
    /// What it is held to, in words.
    pub(super) limit: String,
    /// Whether it keeps to that; `None` where it is only told.
    pub(super) kept: Option<bool>,
}

/// Judges the looks of a soak, in their order.
pub(super) fn judge(looks: &[SoakSample]) -> Vec<WatchedTrend> {
    vec![
        anonymous(looks),
        count("descriptors", looks, |sample| f64::from(sample.descriptors)),
        count("threads", looks, |sample| f64::from(sample.threads)),
        write_ahead_log(looks),
        database(looks),
        latency(looks),
    ]
}

fn fitted(
    what: &'static str,
    looks: &[SoakSample],
    value: fn(&SoakSample) -> f64,
) -> (WatchedTrend, f64, f64) {
    let points: Vec<(f64, f64)> = looks.iter().map(|sample| (runs(sample), value(sample))).collect();
    let trend = LinearTrend::of(&points);
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return (
            WatchedTrend {
                what,
                first: 0.0,
                last: 0.0,
                rise: 0.0,
                slope: String::new(),
                limit: String::new(),
                kept: Some(false),
            },
            0.0,
            0.0,
        );
    };
    let rise = trend.at(last.0) - trend.at(first.0);
    let watched = WatchedTrend {
        what,
        first: first.1,
        last: last.1,
        rise,
        slope: format!("{:+.3} per 1,000 runs", trend.slope * 1_000.0),
        limit: String::new(),
        kept: None,
    };
    (watched, trend.slope, last.0 - first.0)
}

fn runs(sample: &SoakSample) -> f64 {
    crate::rows::as_f64(sample.runs)
}

fn anonymous(looks: &[SoakSample]) -> WatchedTrend {
    let (watched, slope, span) = fitted("anonymous memory, MiB", looks, |sample| sample.anonymous_mib);
    let most = ANONYMOUS_RISE_MIB_MAX.max(span * ANONYMOUS_BYTES_PER_RUN_MAX / MIB);
    let slope = format!("{:+.1} bytes per run", slope * MIB);
    let (rise, limit) = match smallest_rise(looks) {
        Some(rise) if looks.len() > 2 && looks.len() < TREND_LOOKS_MIN => {
            (rise, format!("rises by less than {most:.1} between two looks at least once"))
        }
        _ => (watched.rise, format!("rises by less than {most:.1}")),
    };
    let kept = Some(!looks.is_empty() && rise < most);
    WatchedTrend { rise, slope, limit, kept, ..watched }
}

/// Returns the smallest rise of anonymous memory from one look to the next, in MiB.
fn smallest_rise(looks: &[SoakSample]) -> Option<f64> {
    looks.windows(2).map(|pair| pair[1].anonymous_mib - pair[0].anonymous_mib).min_by(f64::total_cmp)
}

/// Returns whether memory rose by more than it may, in looks that are too few to tell a leak from noise.
pub(super) fn is_unsure(looks: &[SoakSample]) -> bool {
    looks.len() < TREND_LOOKS_MIN && anonymous(looks).kept == Some(false)
}

fn count(what: &'static str, looks: &[SoakSample], value: fn(&SoakSample) -> f64) -> WatchedTrend {
    let (watched, ..) = fitted(what, looks, value);
    let kept = Some(!looks.is_empty() && watched.rise < COUNT_RISE_MAX);
    WatchedTrend { limit: "does not rise".to_owned(), kept, ..watched }
}

fn write_ahead_log(looks: &[SoakSample]) -> WatchedTrend {
    let (watched, ..) = fitted("write-ahead log at its largest, MiB", looks, |sample| sample.wal_mib);
    let kept = Some(!looks.is_empty() && looks.iter().all(|sample| sample.wal_mib <= WAL_MIB_MAX));
    WatchedTrend { limit: format!("at most {WAL_MIB_MAX}"), kept, ..watched }
}

fn database(looks: &[SoakSample]) -> WatchedTrend {
    let (watched, slope, _) = fitted("database, MiB", looks, |sample| sample.database_mib);
    let kept = Some(!looks.is_empty() && slope * MIB <= DATABASE_BYTES_PER_RUN_MAX);
    let slope = format!("{:+.0} bytes per run", slope * MIB);
    WatchedTrend {
        slope,
        limit: format!("at most {DATABASE_BYTES_PER_RUN_MAX} bytes per run"),
        kept,
        ..watched
    }
}

fn latency(looks: &[SoakSample]) -> WatchedTrend {
    let (watched, ..) = fitted("median time of a plain run, ms", looks, |sample| sample.p50_ms);
    let middle = f64::midpoint(watched.first, watched.last);
    let kept = (looks.len() >= TREND_LOOKS_MIN).then_some(watched.rise <= middle * P50_RISE_SHARE_MAX);
    let limit =
        format!("rises by at most {:.0} %, from {TREND_LOOKS_MIN} looks on", P50_RISE_SHARE_MAX * 100.0);
    WatchedTrend { limit, kept, ..watched }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(runs: u64) -> SoakSample {
        SoakSample {
            runs,
            seconds: 1.0,
            anonymous_mib: 10.0,
            resident_mib: 20.0,
            descriptors: 30,
            threads: 7,
            wal_mib: 9.0,
            database_mib: 10.0,
            p50_ms: 2.0,
        }
    }

    fn failing(looks: &[SoakSample]) -> Vec<&'static str> {
        judge(looks).into_iter().filter(|row| row.kept == Some(false)).map(|row| row.what).collect()
    }

    #[test]
    fn what_stands_still_is_kept() {
        assert!(failing(&[sample(5_000), sample(25_000)]).is_empty());
    }

    #[test]
    fn each_growth_is_seen() {
        let after = sample(25_000);
        let grown = |last: SoakSample| failing(&[sample(5_000), last]);
        assert_eq!(grown(SoakSample { anonymous_mib: 11.1, ..after }), ["anonymous memory, MiB"]);
        assert_eq!(grown(SoakSample { descriptors: 31, ..after }), ["descriptors"]);
        assert_eq!(grown(SoakSample { threads: 8, ..after }), ["threads"]);
        assert_eq!(grown(SoakSample { wal_mib: 65.0, ..after }), ["write-ahead log at its largest, MiB"]);
        assert_eq!(grown(SoakSample { database_mib: 400.0, ..after }), ["database, MiB"]);
        assert!(
            grown(SoakSample { anonymous_mib: 10.9, p50_ms: 9.0, ..after }).is_empty(),
            "two times are no trend"
        );
    }

    #[test]
    fn a_leak_is_in_every_stretch_and_noise_is_not() {
        let looks = |mib: &[f64]| -> Vec<SoakSample> {
            let at = |(at, mib): (u64, &f64)| SoakSample {
                anonymous_mib: *mib,
                database_mib: 10.0,
                ..sample(8_000 + at * 16_000)
            };
            (0..).zip(mib).map(at).collect()
        };
        assert!(is_unsure(&looks(&[20.6, 22.0])));
        assert!(failing(&looks(&[20.6, 22.0, 21.8])).is_empty());
        assert!(!is_unsure(&looks(&[20.6, 22.0, 21.8])));
        assert_eq!(failing(&looks(&[20.6, 22.0, 23.1, 24.4])), ["anonymous memory, MiB"]);
        assert!(!is_unsure(&looks(&[20.6, 21.0])));
    }

    #[test]
    fn a_long_soak_tells_a_slope_from_noise() {
        let looks = |rise_mib: f64, rise_ms: f64| -> Vec<SoakSample> {
            let at = |at: u32| SoakSample {
                anonymous_mib: 10.0 + rise_mib * f64::from(at) / 10.0 + f64::from(at % 2),
                p50_ms: 2.0 + rise_ms * f64::from(at) / 10.0,
                ..sample(u64::from(at) * 100_000)
            };
            (0..=10).map(at).collect()
        };
        assert!(failing(&looks(6.0, 0.1)).is_empty(), "a million runs may leave 7.6 MiB");
        assert_eq!(failing(&looks(12.0, 0.1)), ["anonymous memory, MiB"]);
        assert_eq!(failing(&looks(0.0, 2.0)), ["median time of a plain run, ms"]);
    }

    #[test]
    fn nothing_seen_is_nothing_kept() {
        assert_eq!(failing(&[]).len(), 5);
    }
}
