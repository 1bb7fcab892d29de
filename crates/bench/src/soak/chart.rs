//! A picture of a soak: a panel for each thing that was watched, over the runs.

use std::fmt::Write as _;

use super::sample::SoakSample;
use super::trend::LinearTrend;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 70.0;
const PANEL_HEIGHT: f64 = 130.0;
const PLOT_HEIGHT: f64 = 84.0;
const TOP: f64 = 48.0;

type SampleValue = fn(&SoakSample) -> f64;

const PANELS: [(&str, SampleValue); 6] = [
    ("anonymous memory, MiB", |sample| sample.anonymous_mib),
    ("descriptors", |sample| sample.descriptors as f64),
    ("threads", |sample| sample.threads as f64),
    ("write-ahead log at its largest, MiB", |sample| sample.wal_mib),
    ("database, MiB", |sample| sample.database_mib),
    ("median time of a plain run, ms", |sample| sample.p50_ms),
];

/// Draws it as SVG.
pub(super) fn svg(settings: &str, looks: &[SoakSample]) -> String {
    let height = TOP + PANEL_HEIGHT * 6.0 + 20.0;
    let mut text = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="16" y="28" font-size="17" font-weight="600" fill="#1f2328">Soak: {settings}</text>
"##
    );
    let mut top = TOP;
    for (what, value) in PANELS {
        panel(
            &mut text,
            top,
            what,
            looks.iter().map(|sample| (crate::rows::as_f64(sample.runs), value(sample))).collect(),
        );
        top += PANEL_HEIGHT;
    }
    text + "</svg>\n"
}

fn panel(text: &mut String, top: f64, what: &str, points: Vec<(f64, f64)>) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let highest = points.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max) * 1.1;
    let span = (last.0 - first.0).max(1.0);
    let (begin, plot) = (first.0, WIDTH - LEFT - 30.0);
    let x = |runs: f64| LEFT + (runs - begin) / span * plot;
    let y = |value: f64| top + 24.0 + PLOT_HEIGHT * (1.0 - value / highest);
    let floor = y(0.0);
    let _ = writeln!(text, r##"<text x="16" y="{:.0}" fill="#1f2328">{what}</text>"##, top + 14.0);
    let _ = writeln!(
        text,
        r##"<path d="M{LEFT} {:.1}V{floor:.1}H{:.1}" fill="none" stroke="#8c959f"/><text x="{:.0}" y="{:.1}" text-anchor="end" fill="#59636e">{:.1}</text><text x="{:.0}" y="{floor:.1}" text-anchor="end" fill="#59636e">0</text>"##,
        top + 24.0,
        LEFT + plot,
        LEFT - 6.0,
        y(highest / 1.1) + 4.0,
        highest / 1.1,
        LEFT - 6.0
    );
    let trend = LinearTrend::of(&points);
    let _ = writeln!(
        text,
        r##"<path d="M{:.1} {:.1}L{:.1} {:.1}" stroke="#cf222e" stroke-dasharray="4 3"/>"##,
        x(first.0),
        y(trend.at(first.0)),
        x(last.0),
        y(trend.at(last.0))
    );
    for (runs, value) in points {
        let _ =
            writeln!(text, r##"<circle cx="{:.1}" cy="{:.1}" r="2.5" fill="#0969da"/>"##, x(runs), y(value));
    }
}
