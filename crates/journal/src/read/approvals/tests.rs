//! How SQLite goes about the pages: by which index, and whether it sorts.

use super::*;
use crate::schema;

fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    // Only the plan is asked for; what is not bound is NULL.
    let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<Vec<_>, _>>();
    steps.unwrap().join("; ")
}

fn tables() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    schema::create(&connection).unwrap();
    connection
}

#[test]
fn what_waits_is_neither_scanned_for_nor_sorted() {
    let connection = tables();
    let (principal, run) = (PrincipalId::NIL, RunId::NIL);
    for (principal, run, index) in [
        (None, None, "approval_pending ("),
        (Some(principal), None, "approval_pending_of_principal ("),
        (None, Some(run), "approval_of_run ("),
        (Some(principal), Some(run), "approval_of_run ("),
    ] {
        let query = ApprovalQuery { principal, run, ..ApprovalQuery::default() };
        let sql = format!("SELECT {APPROVAL_COLUMNS} FROM approval {}", page_of_approvals(&query));
        let plan = plan(&connection, &sql);
        assert!(plan.contains(index) && plan.starts_with("SEARCH") && !plan.contains("TEMP"), "{plan}");
    }
}

#[test]
fn pages_of_what_was_decided_are_read_in_their_order() {
    let connection = tables();
    for only in [ApprovalFilter::Decided, ApprovalFilter::All] {
        for principal in [None, Some(PrincipalId::NIL)] {
            let query = ApprovalQuery { principal, only, ..ApprovalQuery::default() };
            let sql = format!("SELECT {APPROVAL_COLUMNS} FROM approval {}", page_of_approvals(&query));
            let plan = plan(&connection, &sql);
            assert!(plan.starts_with("SEARCH") && !plan.contains("TEMP"), "{plan}");
        }
    }
}

#[test]
fn pages_of_effects_are_read_in_their_order() {
    let connection = tables();
    for only in [EffectFilter::All, EffectFilter::Unknown, EffectFilter::Changing] {
        for principal in [None, Some(PrincipalId::NIL)] {
            let query = EffectQuery { principal, only, ..EffectQuery::default() };
            let sql = format!("SELECT {EFFECT_COLUMNS} FROM effect {}", page_of_effects(&query));
            let plan = plan(&connection, &sql);
            assert!(plan.starts_with("SEARCH") && !plan.contains("TEMP"), "{plan}");
        }
    }
}
