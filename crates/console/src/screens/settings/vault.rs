//! The vault and the names of its secrets; the rest of the page is there when it cannot be read.

use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_wire::v1;

use crate::page_parts::{refusal_body, wide_table};
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, command, line, line_or, time_tag};

const NO_SECRETS: &str = "The vault holds no secret.";

/// What is known of the vault.
#[derive(Default)]
pub(super) struct VaultFacts {
    pub(super) vault: v1::Vault,
    pub(super) secrets: Vec<v1::Secret>,
    /// Why nothing is known of it.
    pub(super) refusal: Option<ApiError>,
}

/// Reads the vault; a refusal is part of the answer.
pub(super) async fn read_vault(call: &ScreenCall) -> VaultFacts {
    let read = async {
        let vault = call.call(v1::GetVaultRequest {}).await?.vault.unwrap_or_default();
        let secrets = call.call(v1::ListSecretsRequest {}).await?.secrets;
        Ok(VaultFacts { vault, secrets, refusal: None })
    };
    read.await.unwrap_or_else(|refusal| VaultFacts { refusal: Some(refusal), ..Default::default() })
}

/// Returns the section of the vault.
pub(super) fn vault_section(facts: &VaultFacts, now: i64) -> Markup {
    html! {
        @match &facts.refusal {
            Some(refusal) => { (refusal_body(refusal)) }
            None => {
                (lock_state(&facts.vault))
                @if facts.secrets.is_empty() { p { (NO_SECRETS) } } @else { (secrets(&facts.secrets, now)) }
            }
        }
        (command("Store a secret for one host", "palyra admin vault put NAME --host HOST"))
    }
}

fn lock_state(vault: &v1::Vault) -> Markup {
    let mark = if vault.open {
        StateMark::new("✓", "open", "positive")
    } else {
        StateMark::new("✕", "locked", "danger")
    };
    html! {
        p { "The vault is " (mark.markup()) ". Its values are never shown. " (line(&vault.locked)) }
        @if !vault.damaged.is_empty() {
            p.notice.danger { "These cannot be read: " (line(&vault.damaged.join(", "))) }
        }
    }
}

fn secrets(secrets: &[v1::Secret], now: i64) -> Markup {
    let rows = html! {
        @for secret in secrets { tr {
            td { code { (line(&secret.name)) } div.muted { "version " (secret.version) } }
            td { (line_or(&secret.hosts.join(", "), "none")) }
            td { (line(&secret.sent_as)) }
            td { (line_or(&secret.principals.join(", "), "owner only")) }
            td { (time_tag(secret.changed.as_ref(), now)) }
        } }
    };
    wide_table("Secrets", &["Name", "Hosts", "Sent as", "People", "Changed"], &rows)
}

#[cfg(test)]
mod tests {
    use palyra_types::ErrorCode;

    use super::*;

    #[test]
    fn a_vault_that_cannot_be_read_says_why() {
        let refusal = ApiError::new(ErrorCode::Internal, "the vault is damaged".to_owned());
        let facts = VaultFacts { refusal: Some(refusal), ..Default::default() };
        let shown = vault_section(&facts, 0).into_string();
        assert!(shown.contains("the vault is damaged") && !shown.contains(NO_SECRETS), "{shown}");
        let empty = vault_section(&VaultFacts::default(), 0).into_string();
        assert!(empty.contains(NO_SECRETS) && empty.contains("locked"), "{empty}");
    }
}
