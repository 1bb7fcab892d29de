//! A name of an attacker that leads to this machine.

use crate::asked::{asked, of, tape, writer};
use crate::browser_visit::BrowserVisit;
use crate::openai_server::{home_with, runtime, serve};

/// The controls: the page of the attacker reaches a server that takes every name, and the canonical name reaches ours.
#[test]
fn a_name_that_is_led_to_this_machine_reaches_nothing() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let home = home_with(&model);
    let waits = asked(&home, "one.txt a");
    let variables = [
        ("PALYRA_TEST_APPROVAL", waits.approval.as_str()),
        ("PALYRA_TEST_RESOLVER_RULES", "MAP evil.test 127.0.0.1"),
    ];
    let mut visit = BrowserVisit::start("console_attacks/rebinding.mjs", &home, &variables);
    let attack = visit.next("attack");
    // A page moves to the canonical name, which is another origin and so cannot be read.
    for moved in ["page", "stream"] {
        assert!(attack[moved]["failed"].is_string(), "{moved}: {attack}");
    }
    for refused in ["api", "probe", "form"] {
        assert_eq!(
            (&attack[refused]["status"], &attack[refused]["isOurs"]),
            (&421.into(), &true.into()),
            "{attack}"
        );
    }
    let careless = visit.next("careless");
    for answered in ["page", "api", "probe", "form"] {
        assert_eq!(careless[answered]["status"], 200, "the control: {careless}");
    }
    let control = visit.next("control");
    assert!(control["page"]["text"].as_str().unwrap().contains("one.txt"), "{control}");
    assert!(control["stream"]["data"].is_string() && control["form"]["status"] == 200, "{control}");
    let followed = visit.next("followed");
    assert!(followed.as_str().unwrap().starts_with("http://localhost:"), "{followed}");
    visit.end();

    let entries = tape(&home, &waits.run);
    let resolved = of(&entries, "approval_resolved");
    assert_eq!((resolved.len(), &resolved[0]["state"]), (1, &"APPROVAL_STATE_DENIED".into()), "{resolved:?}");
    assert_eq!(resolved[0]["note"], "rebound", "the control's form, and no other");
}
