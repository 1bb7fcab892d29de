//! Columns line up, and a narrow screen cuts nothing that matters.

use super::*;

#[test]
fn columns_line_up_and_stay_on_one_line() {
    let rows = vec![["a".to_owned(), "first\nsecond".to_owned()], ["long one".to_owned(), String::new()]];
    let lines = table(["NAME", "TEXT"], rows.clone(), None);
    assert_eq!(lines, ["NAME      TEXT", "a         first second", "long one"]);
    assert_eq!(table(["NAME", "TEXT"], rows, Some(12))[1], "a       fir…");
}

/// Returns the rows of a list, each with what is below it.
fn blocks(lines: &[String]) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for line in lines {
        match line.strip_prefix("    ") {
            Some(below) => {
                let block = blocks.last_mut().expect("a list begins with a title");
                block.push(' ');
                block.push_str(below);
            }
            None => blocks.push(line.clone()),
        }
    }
    blocks
}

#[test]
fn a_narrow_table_is_cut_before_its_last_column() {
    let row = |cells: [&str; 5]| cells.map(str::to_owned);
    let head = ["APPROVAL", "STATE", "RISK", "AGE", "CALL"];
    let rows = vec![
        row(["9G5FAV", "waits, 23h left", "medium", "3m", "write_file: creates `src/app.py`"]),
        row(["01ARZ3NDEKTSV4RRFFQ69G5FAX", "denied", "high", "2h", "run_command: make test"]),
        row(["9G5FAZ", "approved by you", "low", "2h", "run_command: make"]),
    ];
    assert_eq!(
        table(head, rows.clone(), Some(80)),
        [
            "APPROVAL  STATE            RISK    AGE  CALL",
            "9G5FAV    waits, 23h left  medium  3m   write_file: creates `src/app.py`",
            "9G5FAX    denied           high    2h   run_command: make test",
            "9G5FAZ    approved by you  low     2h   run_command: make",
        ]
    );
    let narrow = table(head, rows.clone(), Some(40));
    assert_eq!(
        blocks(&narrow),
        [
            "9G5FAV state waits, 23h left; risk medium; age 3m; call write_file: creates `src/app.py`",
            "9G5FAX state denied; risk high; age 2h; call run_command: make test",
            "9G5FAZ state approved by you; risk low; age 2h; call run_command: make",
        ],
        "a narrow screen has every column"
    );
    for columns in 12..90 {
        let lines = table(head, rows.clone(), Some(columns));
        assert!(lines.iter().all(|line| line.width() <= columns), "{columns}: {lines:?}");
    }
}

#[test]
fn a_narrow_table_that_would_leave_columns_out_is_a_list_with_all_of_them() {
    let row = |cells: [&str; 5]| cells.map(str::to_owned);
    let head = ["RUN", "STATE", "AGE", "TURNS", "INPUT"];
    let rows = vec![
        row(["9G5FAV", "done", "3m", "2", "change depot to warehouse"]),
        row(["9G5FAX", "failed (turn_limit)", "2h", "12", "change all prices in shop.toml"]),
    ];
    assert_eq!(
        blocks(&table(head, rows.clone(), Some(40))),
        [
            "9G5FAV state done; age 3m; turns 2; input change depot to warehouse",
            "9G5FAX state failed (turn_limit); age 2h; turns 12; input change all prices in shop.toml",
        ]
    );
    assert!(table(head, rows.clone(), Some(80))[0].contains("TURNS"));
    let between = table(head, rows, Some(62));
    assert!(between[0].starts_with("RUN ") && !between[0].contains("TURNS"), "{between:?}");
}

#[test]
fn tasks_are_whole_at_each_width_since_their_names_are_typed() {
    let row = |cells: [&str; 6]| cells.map(str::to_owned);
    let head = ["TASK", "STATE", "LAST", "TOOK", "TICKS", "OUTCOME"];
    let waits = "waits until 2026-11-30T08:00:00Z";
    let rows = vec![
        row(["01ARZ3NDEKTSV4RRFFQ69G5FAV", waits, "4m", "5 ms", "12", "ok"]),
        row(["session_sweeps", "finished", "", "0 ms", "1", "failed: the disk is full"]),
    ];
    assert_eq!(
        table(head, rows.clone(), Some(40)),
        [
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "    state waits until",
            "    2026-11-30T08:00:00Z; last 4m;",
            "    took 5 ms; ticks 12; outcome ok",
            "session_sweeps",
            "    state finished; took 0 ms; ticks",
            "    1; outcome failed: the disk is full",
        ]
    );
    for columns in 30..130 {
        let lines = table(head, rows.clone(), Some(columns));
        assert!(lines.iter().all(|line| line.width() <= columns), "{columns}: {lines:?}");
        for name in ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "session_sweeps"] {
            assert!(lines.iter().any(|line| line.starts_with(name)), "{columns}: {lines:?}");
        }
    }
}

#[test]
fn a_narrow_list_of_memory_has_days_and_whole_texts() {
    let row = |cells: [&str; 4]| cells.map(str::to_owned);
    let text = "invoices are written on the first of each month";
    let rows = vec![row(["9G5FAV", "2026-11-30T08:00:00Z", "run KSRYTB, read web", text])];
    let head = ["ID", "SAVED", "FROM", "TEXT"];
    let lines = table(head, rows.clone(), Some(40));
    assert!(lines[1].starts_with("9G5FAV  2026-11-30  run KSRYTB, "), "{lines:?}");
    assert!(lines.iter().all(|line| line.width() <= 40), "{lines:?}");
    assert_eq!(lines[2..].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "), text);
    assert!(table(head, rows, Some(80))[1].contains("2026-11-30T08:00:00Z"));
}

#[test]
fn a_narrow_table_of_entries_keeps_the_time_and_the_whole_kind() {
    let row = |cells: [&str; 6]| cells.map(str::to_owned);
    let head = ["SEQ", "TIME", "RUN", "BY", "LEAF", "ENTRY"];
    let time = "2026-11-28T18:12:24Z";
    let rows = vec![
        row(["1173", time, "D4GYET:12", "", "c0bfa2201e834a5b", "model_attempt_abandoned"]),
        row(["1174", time, "", "you unix_socket", "ad3c0bfa2201e834", "approval_resolved"]),
    ];
    let wide = table(head, rows.clone(), Some(120));
    assert!(wide[2].ends_with("  you unix_socket  ad3c0bfa2201e834  approval_resolved"), "{wide:?}");
    let narrower = table(head, rows.clone(), Some(80));
    assert!(narrower[2].ends_with("  you unix_socket  approval_resolved"), "{narrower:?}");
    assert_eq!(table(head, rows.clone(), Some(54))[1], "1173  2026-11-28T18:12:24Z  model_attempt_abandoned");
    // Narrower than these, the terminal wraps them.
    assert_eq!(table(head, rows, Some(40))[2], "1174  2026-11-28T18:12:24Z  approval_resolved");
}

#[test]
fn a_name_that_is_typed_is_never_cut() {
    let row = |cells: [&str; 4]| cells.map(str::to_owned);
    let head = ["", "MODEL", "WINDOW", "NOTE"];
    let note = "built in, offline, deterministic; understands a few plain sentences";
    let rows = vec![
        row(["*", "mine/scripted-1-instruct", "32768", ""]),
        row(["", "late/*", "-", "not asked"]),
        row(["", "demo/demo", "1000000", note]),
    ];
    for columns in 8..100 {
        let lines = table(head, rows.clone(), Some(columns));
        let is_named = |line: &String| line.contains("mine/scripted-1-instruct");
        assert!(lines.iter().any(is_named), "{columns}: {lines:?}");
        // A note that does not fit goes on below.
        let words = lines.join(" ");
        let words: Vec<&str> = words.split_whitespace().collect();
        assert!(
            words.ends_with(&note.split(' ').collect::<Vec<_>>()) || columns < 24,
            "{columns}: {lines:?}"
        );
        let most = columns.max("*  mine/scripted-1-instruct".len());
        assert!(lines.iter().all(|line| line.width() <= most), "{columns}: {lines:?}");
    }
    let narrow = table(head, rows.clone(), Some(40));
    assert_eq!(
        narrow,
        [
            "*  mine/scripted-1-instruct",
            "    window 32768",
            "   late/*",
            "    note not asked",
            "   demo/demo",
            "    window 1000000; note built in,",
            "    offline, deterministic;",
            "    understands a few plain sentences",
        ]
    );
    assert!(table(head, rows, Some(80))[0].contains("WINDOW"));
}

#[test]
fn a_narrow_table_of_secrets_keeps_their_names_and_hosts() {
    let head = ["SECRET", "VERSION", "AS", "CHANGED", "PRINCIPALS", "HOSTS"];
    let row = ["shopkey", "1", "bearer", "2026-11-28", "owner", "localhost:8443"].map(str::to_owned);
    let several = ["forge", "1", "bearer", "2026-11-28", "owner", "api.forge.example:8443 localhost:8080"];
    let narrow = table(head, vec![row, several.map(str::to_owned)], Some(40));
    let forge = "version 1; as bearer; changed 2026-11-28; principals owner; hosts api.forge.example:8443 \
                 localhost:8080";
    assert_eq!(
        blocks(&narrow),
        [
            "shopkey version 1; as bearer; changed 2026-11-28; principals owner; hosts localhost:8443",
            &format!("forge {forge}"),
        ]
    );
}

#[test]
fn a_narrow_table_of_budgets_is_a_list_in_which_nothing_is_cut() {
    let head = ["BUDGET", "FOR", "SPENT", "RESERVED", "LIMIT", "UNTIL"];
    let row = ["daily", "person 9G5FAV", "12000", "0", "500000 tokens", "2026-11-30"].map(str::to_owned);
    assert_eq!(
        table(head, vec![row.clone()], Some(40)),
        [
            "daily",
            "    for person 9G5FAV; spent 12000;",
            "    reserved 0; limit 500000 tokens;",
            "    until 2026-11-30",
        ]
    );
    assert_eq!(
        table(head, vec![row], Some(80))[0],
        "BUDGET  FOR            SPENT  RESERVED  LIMIT          UNTIL"
    );
}

#[test]
fn what_a_tool_does_is_read_below_it_on_a_narrow_screen() {
    let row = ["read_file", "run", "reads a text file, or lines of it"].map(str::to_owned);
    let narrow = table(["TOOL", "CALLS", "WHAT IT DOES"], vec![row], Some(40));
    assert_eq!(narrow[1..], ["read_file  run", "    reads a text file, or lines of it"]);
}

#[test]
fn wide_characters_take_two_columns() {
    let rows = vec![["灯り".to_owned(), "x".to_owned()], ["ab".to_owned(), "y".to_owned()]];
    assert_eq!(table(["N", "T"], rows, None), ["N     T", "灯り  x", "ab    y"]);
    assert_eq!(cut("灯りの箱", 6), "灯り…");
    assert_eq!(cut("灯りの箱", 8), "灯りの箱");
}
