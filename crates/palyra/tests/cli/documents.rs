//! Documents of the program: on a terminal through a pager, elsewhere whole.

use crate::home::Home;
use crate::pty::Pty;

fn on_terminal(home: &Home, arguments: &[&str]) -> String {
    let mut pty = Pty::spawn(&home.command(arguments), 80);
    assert_eq!(pty.ended(), 0, "{}", pty.text());
    pty.text()
}

#[test]
fn a_long_document_goes_through_the_pager_of_the_environment_on_a_terminal_only() {
    const PAGED: &str = "shown by the pager";
    let plain = Home::new().with("TERM", "xterm");
    let home = Home::new().with("TERM", "xterm").with("PALYRA_PAGER", "head -3; echo shown by the pager");
    let long = &["explain", "docs/policy.md"][..];
    let paged = on_terminal(&home, long);
    assert!(paged.contains(PAGED) && paged.lines().count() < 8, "{paged}");
    for whole in [
        on_terminal(&home, &["explain", "docs/policy.md", "--no-pager"]),
        on_terminal(&plain.with("PALYRA_PAGER", "").with("PAGER", "false"), long),
        // One that does not run shows nothing.
        on_terminal(&Home::new().with("TERM", "xterm").with("PAGER", "/nothing/here"), long),
        home.palyra(long).expect(0).out,
        home.palyra(&["help", "docs/policy.md"]).expect(0).out,
    ] {
        assert!(!whole.contains(PAGED) && whole.lines().count() > 300, "{whole}");
    }
    let short = on_terminal(&home, &["explain", "docs/policy.md#three-outcomes"]);
    assert!(!short.contains(PAGED) && short.contains("waits until a person approves it"), "{short}");
}

#[test]
fn a_section_and_the_headings_of_a_document_are_shown() {
    let home = Home::new();
    let section = home.palyra(&["explain", "docs/policy.md#folders"]).expect(0).out;
    assert!(section.starts_with("## Folders\n") && !section.contains("## Annotations"), "{section}");
    assert_eq!(home.palyra(&["explain", "docs/policy.md#Folders"]).expect(0).out, section);
    let headings = home.palyra(&["explain", "docs/policy.md", "--headings"]).expect(0).out;
    assert!(headings.contains("\n  Folders  #folders\n"), "{headings}");
    let refused = home.palyra(&["explain", "docs/policy.md#nothing"]).expect(2).err;
    assert!(refused.contains("`palyra explain docs/policy.md --headings` lists its sections"), "{refused}");
    let help = home.palyra(&["policy", "--help"]).expect(0).out;
    assert!(help.contains("docs/policy.md#folders") && help.contains("`policies` beside"), "{help}");
}
