//! `palyra usage` and the cost of runs, with a catalogue that prices the demo model.

use serde_json::Value;

use crate::home::Home;
use crate::pty::Pty;

const INPUT_PRICE: u64 = 2;
const OUTPUT_PRICE: u64 = 10;

/// Returns a catalogue in which each million tokens has these prices, so a token costs as many millionths.
fn catalogue(model: &str, input: u64, output: u64) -> String {
    format!(
        "currency = \"EUR\"\n[[price]]\nmodel = \"{model}\"\ninput = \"{input}\"\noutput = \"{output}\"\n"
    )
}

/// Makes a home whose demo model has prices.
fn priced_home() -> Home {
    let home = Home::new();
    home.write("prices.toml", &catalogue("demo/*", INPUT_PRICE, OUTPUT_PRICE));
    home.configure(&format!("prices.file = \"{}\"\n", home.work().join("prices.toml").display()));
    home
}

fn usage(home: &Home, arguments: &[&str]) -> Value {
    let all = [&["usage", "--json"], arguments].concat();
    home.palyra(&all).expect(0).json().remove(0)
}

fn number(totals: &Value, name: &str) -> u64 {
    totals[name].as_u64().unwrap_or_default()
}

/// Returns what these tokens cost.
fn cost_of(totals: &Value) -> u64 {
    number(totals, "input_tokens") * INPUT_PRICE + number(totals, "output_tokens") * OUTPUT_PRICE
}

#[test]
fn table_files_and_runs_have_the_cost_that_the_catalogue_gives() {
    let home = priced_home();
    let none = home.palyra(&["usage"]).expect(0);
    assert!(none.out.is_empty() && none.err.contains("no model was asked"), "{none:?}");
    home.palyra(&["run", "what can you do"]).expect(0);
    home.palyra(&["run", "hello"]).expect(0);

    let of_days = usage(&home, &[]);
    let cost = number(&of_days["all"], "cost_millionths");
    assert!(cost > 0 && cost == cost_of(&of_days["all"]), "{of_days}");
    assert_eq!(
        (of_days["currency"].as_str(), &of_days["all"]["unpriced_requests"]),
        (Some("EUR"), &Value::Null)
    );
    assert_eq!(of_days["price_catalogue"].as_str().map(str::len), Some(64));
    for by in ["day", "model", "session", "surface", "agent"] {
        let rows = usage(&home, &["--by", by]);
        let rows = rows["rows"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["grouping"] == by), "{rows:?}");
        let sum: u64 = rows.iter().map(|row| number(&row["totals"], "cost_millionths")).sum();
        assert_eq!(sum, cost, "{by}");
    }
    let agents = usage(&home, &["--by", "agent"]);
    assert!(agents["rows"][0]["agent"].as_str().is_some_and(|name| !name.is_empty()), "{agents}");

    let amount = format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000);
    let is_amount = |cell: &str| cell.starts_with("0.") && amount.starts_with(cell);
    let csv = home.palyra(&["usage", "--by", "model", "--csv"]).expect(0).out;
    let lines: Vec<Vec<&str>> = csv.split("\r\n").map(|line| line.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|cell| *cell == name).unwrap();
    assert_eq!(
        (lines.len(), lines[1][column("model")], lines[1][column("currency")]),
        (3, "demo/demo", "EUR")
    );
    assert!(is_amount(lines[1][column("cost")]), "{csv}");

    let table = home.palyra(&["usage", "--by", "model"]).expect(0);
    let rows: Vec<&str> = table.out.lines().collect();
    assert!(rows[0].starts_with("MODEL") && rows[0].ends_with("COST EUR"), "{}", table.out);
    assert!(rows[1].starts_with("demo/demo") && rows[2].starts_with("total"), "{}", table.out);
    assert!(
        rows[1..].iter().all(|row| row.split_whitespace().next_back().is_some_and(is_amount)),
        "{}",
        table.out
    );

    let listed = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    let costs = listed.iter().map(|run| {
        let shown =
            home.palyra(&["runs", "show", run["run_id"].as_str().unwrap(), "--json"]).expect(0).json();
        assert_eq!(shown[0]["cost"]["currency"], "EUR");
        number(&shown[0]["cost"], "cost_millionths")
    });
    assert_eq!(costs.sum::<u64>(), cost, "each run has its part");
    let shown = home.palyra(&["runs", "show", "last"]).expect(0).out;
    assert!(shown.lines().any(|line| line.starts_with("cost     0.") && line.ends_with(" EUR")), "{shown}");
}

#[test]
fn a_reload_prices_past_days_anew_and_a_mistake_leaves_the_prices() {
    let home = priced_home();
    home.palyra(&["run", "hello"]).expect(0);
    let before = number(&usage(&home, &[])["all"], "cost_millionths");
    home.write("prices.toml", &catalogue("demo/*", INPUT_PRICE * 3, OUTPUT_PRICE * 3));
    let doctor = home.palyra(&["doctor", "--json"]).out;
    assert!(doctor.contains("edited, not applied yet: prices"), "{doctor}");
    let reloaded = home.palyra(&["config", "reload"]).expect(0);
    assert!((reloaded.out + &reloaded.err).contains("prices"));
    assert_eq!(number(&usage(&home, &[])["all"], "cost_millionths"), before * 3);

    home.write("prices.toml", &catalogue("demo", 1, 1));
    for verb in ["check", "reload"] {
        let refused = home.palyra(&["config", verb]);
        let shown = refused.out + &refused.err;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_ne!(refused.code, 0, "{verb}: {shown}");
        for part in ["prices.toml: line 3 of the price catalogue: `model` needs", "provider/*"] {
            assert!(shown.contains(part), "{verb}: {shown}");
        }
    }
    assert_eq!(number(&usage(&home, &[])["all"], "cost_millionths"), before * 3);
    home.write("prices.toml", &catalogue("other/*", 1, 1));
    home.palyra(&["config", "reload"]).expect(0);
    let unpriced = usage(&home, &["--by", "model"]);
    assert_eq!(unpriced["all"]["cost_millionths"], Value::Null, "{unpriced}");
    assert_eq!(unpriced["all"]["unpriced_requests"], unpriced["all"]["requests"]);
    let table = home.palyra(&["usage"]).expect(0);
    assert!(table.out.contains("no price"), "{}", table.out);
    assert!(table.err.contains("without a price (demo/demo)"), "{}", table.err);
}

#[test]
fn without_prices_nothing_has_a_cost() {
    let home = Home::new();
    home.palyra(&["run", "hello"]).expect(0);
    let usage = usage(&home, &[]);
    assert_eq!(
        (&usage["currency"], &usage["all"]["cost_millionths"]),
        (&Value::Null, &Value::Null),
        "{usage}"
    );
    let table = home.palyra(&["usage"]).expect(0);
    assert!(!table.out.contains("COST") && table.err.contains("no prices are configured"), "{table:?}");
    let shown = home.palyra(&["runs", "show", "last"]).expect(0).out;
    assert!(shown.contains("used ") && !shown.contains("cost "), "{shown}");
    let wrong = home.palyra(&["usage", "--since", "soon"]).expect(2).err;
    assert!(wrong.contains("2026-11-29"), "{wrong}");
    home.palyra(&["usage", "--since", "9999d"]).expect(2);
    home.palyra(&["usage", "--json", "--csv"]).expect(2);
}

#[test]
fn a_terminal_shows_bars_that_fit_and_the_cost_at_the_end_of_a_run() {
    let home = priced_home().with("TERM", "xterm").with("NO_COLOR", "1");
    let mut pty = Pty::spawn(&home.command(&["run", "hello"]), 80);
    assert_eq!(pty.ended(), 0);
    let text = pty.text();
    assert!(text.lines().any(|line| line.contains("cost 0.") && line.trim_end().ends_with(" EUR")), "{text}");
    for by in ["day", "model", "session"] {
        for columns in [40, 80] {
            let mut pty = Pty::spawn(&home.command(&["usage", "--by", by]), columns);
            assert_eq!(pty.ended(), 0);
            let text = pty.text();
            assert!(
                text.lines().all(|line| line.chars().count() <= usize::from(columns)),
                "{columns}: {text}"
            );
            let bars = text.lines().filter(|line| line.contains("██"));
            assert_eq!(bars.count(), 1, "{by} {columns}: {text}");
        }
    }
    // A turn of a chat ends with the same lines.
    let mut pty = Pty::spawn(&home.command(&["chat"]), 80);
    pty.expect("> ");
    pty.type_in("hello\r");
    pty.expect("tokens in");
    pty.expect("cost 0.");
    assert_eq!(pty.ended_after("\u{4}"), 0);
}
