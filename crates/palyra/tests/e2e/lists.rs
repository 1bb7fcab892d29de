//! What lists and looks say, so that one can choose without opening everything.

use crate::home::Home;

#[test]
fn lists_say_what_helps_to_choose() {
    let home = Home::new();
    home.write("notes.txt", "tea\n");
    home.palyra(&["run", "list the files here"]).expect(0);
    home.palyra(&["run", "--session", "shop", "what can you do"]).expect(0);
    home.palyra(&["run", "--session", "shop", "create tea.txt with buy Tea"]).expect(3);
    let listed = home.palyra(&["sessions", "list"]).expect(0).out;
    assert!(listed.contains("list the files here") && listed.contains("shop"), "{listed}");
    let found = home.palyra(&["sessions", "list", "--search", "BUY tea"]).expect(0).out;
    assert!(found.contains("shop: create tea.txt with buy Tea") && found.lines().count() == 2, "{found}");

    let waiting = home.palyra(&["runs", "show", "last"]).expect(0).out;
    assert!(
        waiting.contains("asks     write_file creates") && waiting.contains("palyra approve yes"),
        "{waiting}"
    );

    let tools = home.palyra(&["tools", "list"]).expect(0).out;
    let row = |tool: &str| tools.lines().find(|line| line.starts_with(tool)).unwrap().to_owned();
    assert!(row("read_file ").contains("  runs  ") && row("write_file ").contains("  asks  "), "{tools}");
    assert!(row("run_command ").contains("Runs one program in the workspace"), "{tools}");
    home.palyra(&["policy", "posture", "set", "read_file", "disabled"]).expect(0);
    let tools = home.palyra(&["tools", "list"]).expect(0).out;
    assert!(tools.lines().any(|line| line.starts_with("read_file") && line.contains("  off  ")), "{tools}");

    home.palyra(&["approve", "yes", "last"]).expect(0);
    let tail = home.palyra(&["runs", "tail", "last"]).expect(0);
    let decided = tail.err.lines().find(|line| line.contains("asks by policy (medium risk)")).unwrap();
    let place: Vec<&str> = decided.split_whitespace().take(3).collect();
    assert!(place[1].parse::<u32>().is_ok() && place[2].len() == 8 && place[2].contains(':'), "{decided}");
    assert!(tail.err.contains("turns, 1 tool call, "), "{}", tail.err);
    let effects = home.palyra(&["runs", "effects"]).expect(0).out;
    assert!(effects.contains("creates `tea.txt`"), "{effects}");
    let decided = home.palyra(&["approve", "list", "--all", "--json"]).expect(0).json().remove(0);
    let shown = home.palyra(&["approve", "show", decided["approval_id"].as_str().unwrap()]).expect(0).out;
    assert!(shown.contains("decider   you") && !shown.contains("left"), "{shown}");
}
