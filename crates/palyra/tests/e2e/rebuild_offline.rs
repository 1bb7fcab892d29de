//! Rebuilding what is derived from the log by the next start.

use crate::home::Home;

#[test]
fn a_rebuild_by_the_next_start_leaves_everything_as_it_was() {
    let home = Home::new();
    home.write("README.md", "# Amber\n\nIt keeps.\n");
    home.palyra(&["run", "read README.md"]).expect(0);
    let before = home.palyra(&["runs", "list", "--json"]).expect(0).out;
    let rebuilt = home.palyra(&["journal", "rebuild", "--offline"]).expect(0);
    assert!(rebuilt.err.contains("rebuilt from"), "{}", rebuilt.err);
    assert_eq!(home.palyra(&["runs", "list", "--json"]).expect(0).out, before);
    assert!(!home.state_dir().join("rebuild-derived").exists(), "the order is carried out once");
    home.palyra(&["journal", "verify"]).expect(0);
}
