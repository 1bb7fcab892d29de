//! Ratios are of pairs, above 1 is worse, and each unit has its own limit.

use serde_json::json;

use super::*;

fn report(values: &[(&str, &str, f64)]) -> Vec<SideFigure> {
    let figure = |(what, unit, value): &(&str, &str, f64)| json!({ "row": "r", "what": what, "unit": unit, "ours": { "p50": value, "p99": 9.0, "samples": 3 } });
    let report = json!({ "figures": values.iter().map(figure).collect::<Vec<_>>() });
    figures(&serde_json::to_vec(&report).expect("a value")).expect("a report")
}

fn compared(unit: &str, pairs: &[(f64, f64)]) -> FigureComparison {
    let mut comparison = FigureComparison::default();
    for (before, now) in pairs {
        comparison.add(&report(&[("x", unit, *before)]), &report(&[("x", unit, *now)]));
    }
    comparison
}

#[test]
fn the_median_of_the_pairs_decides_whatever_the_machine_did_between_them() {
    // Pairs drift by ten times, while each side of a pair is close to the other.
    let steady = [(1.0, 1.0), (10.0, 10.2), (2.0, 2.04), (5.0, 4.9), (1.0, 3.0)];
    let comparison = compared("ms", &steady);
    assert!(comparison.holds(), "{}", comparison.table());
    assert!(comparison.table().contains("1.020 (0.980 to 3.000, n 5)"), "{}", comparison.table());
    let slower = [(1.0, 1.06), (10.0, 10.6), (2.0, 2.2)];
    assert!(!compared("ms", &slower).holds() && compared("ms", &slower).table().contains("MISSED"));
    let even = compared("ms", &[(1.0, 1.0), (1.0, 1.1)]);
    assert!(even.holds() && even.table().contains("1.050"), "{}", even.table());
}

#[test]
fn each_unit_has_its_own_direction_and_limit() {
    for (unit, before, now, holds) in [
        ("per_second", 1_000.0, 900.0, false),
        ("per_second", 1_000.0, 2_000.0, true),
        ("cpu_us", 100.0, 104.0, true),
        ("count", 6.0, 6.0, true),
        ("count", 6.0, 6.5, false),
        ("bytes", 1_000.0, 1_010.0, false),
        ("bytes", 1_000.0, 900.0, true),
        ("mi_b", 24.0, 24.9, true),
        ("mi_b", 24.0, 25.1, false),
    ] {
        assert_eq!(compared(unit, &[(before, now)]).holds(), holds, "{unit} {before} {now}");
    }
}

#[test]
fn counts_that_depend_on_the_scheduler_may_scatter() {
    for (what, now, holds) in [
        ("a text run: system calls", 101.5, true),
        ("a text run: system calls", 103.0, false),
        ("entries", 101.5, false),
    ] {
        let mut comparison = FigureComparison::default();
        comparison.add(&report(&[(what, "count", 100.0)]), &report(&[(what, "count", now)]));
        assert_eq!(comparison.holds(), holds, "{what} {now}");
    }
}

#[test]
fn figures_of_one_side_only_are_left_out_and_nothing_is_no_success() {
    let mut comparison = FigureComparison::default();
    assert!(!comparison.holds());
    comparison.add(&report(&[("old", "ms", 1.0)]), &report(&[("new", "ms", 1.0), ("zero", "ms", 0.0)]));
    assert!(!comparison.holds() && comparison.table().lines().count() == 2);
    assert!(figures(b"no report").is_err() && figures(b"{}").is_err());
}
