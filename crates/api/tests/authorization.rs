//! Who may call what, compared with a table that is edited by hand.
//!
//! The table `authorization.txt` has a row for each operation and a column for each credential and transport. A new
//! operation fails here until it has its row.

use palyra_admin::{CallConfirmation, Caller};
use palyra_api::authorize;
use palyra_types::access::{AccessScope, Credential, CredentialKind, Role, ScopeSet};
use palyra_types::surface::Surface;
use palyra_types::{ErrorCode, PrincipalId, TokenId};
use palyra_wire::operations::{OPERATIONS, OperationSpec};

const TABLE: &str = include_str!("authorization.txt");

/// The surfaces over which programs call.
const OF_PROGRAMS: [Surface; 4] = [Surface::Tcp, Surface::Http, Surface::Openai, Surface::Quic];

fn credential(kind: CredentialKind, scopes: ScopeSet) -> Credential {
    Credential { principal: PrincipalId::from_parts(1, 1), token: TokenId::from_parts(1, 2), kind, scopes }
}

/// Returns every caller that a column stands for.
fn callers(column: &str) -> Vec<Caller> {
    let (column, confirmation) = match column.strip_suffix("+code") {
        Some(column) => (column, CallConfirmation::Fresh),
        None => (column, CallConfirmation::None),
    };
    let of_program = |scopes| (CredentialKind::Program, scopes, OF_PROGRAMS.to_vec());
    let of_person = |role: Role| (CredentialKind::PersonSession, role.scopes(), vec![Surface::Console]);
    let (kind, scopes, surfaces) = match column {
        "socket" => return vec![Caller::at_socket(PrincipalId::from_parts(1, 1))],
        "owner-token" => of_program(Role::Owner.scopes()),
        "owner-console" => of_person(Role::Owner),
        "member-token" => of_program(Role::Member.scopes()),
        "member-console" => of_person(Role::Member),
        "approver-console" => of_person(Role::Approver),
        "viewer-token" => of_program(Role::Viewer.scopes()),
        "old-token" => of_program(ScopeSet::BEFORE_SCOPES),
        "openai-token" => of_program(ScopeSet::of(&[AccessScope::Openai])),
        "metrics-token" => of_program(ScopeSet::of(&[AccessScope::Metrics])),
        other => panic!("no such column: {other}"),
    };
    let credential = credential(kind, scopes);
    let caller = |surface| Caller { confirmation, ..Caller::with_credential(&credential, surface) };
    surfaces.into_iter().map(caller).collect()
}

fn decided(operation: &OperationSpec, caller: &Caller) -> &'static str {
    match authorize(operation, caller).map_err(|refusal| refusal.code()) {
        Ok(()) => "yes",
        Err(ErrorCode::ScopeMissing) => "scope",
        Err(ErrorCode::ConfirmationNeeded) => "code",
        Err(ErrorCode::PermissionDenied) => "socket",
        Err(other) => panic!("{}: {other}", operation.path),
    }
}

#[test]
fn every_operation_answers_whom_the_table_says() {
    let mut rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = rows.next().unwrap().split_whitespace().skip(1).collect();
    let mut listed = Vec::new();
    for row in rows {
        let mut cells = row.split_whitespace();
        let name = cells.next().unwrap();
        let operation = OperationSpec::by_name(name).unwrap_or_else(|| panic!("no such operation: {name}"));
        let cells: Vec<&str> = cells.collect();
        assert_eq!(cells.len(), columns.len(), "{name}");
        for (column, cell) in columns.iter().zip(cells) {
            for caller in callers(column) {
                assert_eq!(
                    decided(operation, &caller),
                    cell,
                    "{name} as {column} over {:?}",
                    caller.actor.surface
                );
            }
        }
        listed.push(operation.name);
    }
    let mut known: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    known.sort_unstable();
    listed.sort_unstable();
    assert_eq!(known, listed, "each operation has one row");
}

/// A program's credential with every scope, over any surface.
#[test]
fn no_credential_of_a_program_decides_approvals_anywhere() {
    let operation = OperationSpec::by_name("ResolveApproval").unwrap();
    let of_program = credential(CredentialKind::Program, ScopeSet::ALL);
    let of_person = credential(CredentialKind::PersonSession, ScopeSet::ALL);
    for surface in Surface::ALL {
        let program = Caller::with_credential(&of_program, surface);
        let confirmed = Caller { confirmation: CallConfirmation::Fresh, ..program };
        for caller in [program, confirmed] {
            assert_eq!(decided(operation, &caller), "scope", "{surface:?}");
        }
        // The control: a person's session decides where persons are, and not where programs call.
        let expected =
            if OF_PROGRAMS.contains(&surface) || matches!(surface, Surface::Schedule | Surface::Background) {
                "scope"
            } else {
                "yes"
            };
        assert_eq!(
            decided(operation, &Caller::with_credential(&of_person, surface)),
            expected,
            "{surface:?}"
        );
    }
}
