//! The form that sets what self-healing does in a domain, for owners.

use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_wire::short_names::must_be;
use palyra_wire::v1;

use super::words::{domain_word, mode_words};
use crate::forms::FormFields;
use crate::paths::HEALING_MODE_PATH;

/// The value with which the setting of the configuration is in force.
const CONFIGURED: &str = "configured";

/// What the fields of the form have in them.
pub(crate) struct HealingModeForm {
    token: String,
    domain: String,
    mode: String,
}

impl HealingModeForm {
    /// Returns the form with what was chosen before, but for the code.
    pub(crate) fn filled(token: String, fields: &FormFields) -> Self {
        Self { token, domain: fields.text("domain"), mode: fields.text("mode") }
    }

    pub(crate) fn markup(&self) -> Markup {
        let domains = v1::HealingDomain::SHORT_NAMES.iter().filter_map(|name| {
            v1::HealingDomain::from_short_name(name).map(|domain| (*name, domain_word(domain)))
        });
        let modes = v1::HealingMode::SHORT_NAMES
            .iter()
            .filter_map(|name| v1::HealingMode::from_short_name(name).map(|mode| (*name, mode_words(mode))));
        html! {
            h3 id="mode" { "Set a mode" }
            form.card method="post" action=(HEALING_MODE_PATH) autocomplete="off" {
                input type="hidden" name="token" value=(self.token);
                label for="domain" { "Domain" }
                select id="domain" name="domain" {
                    @for (value, text) in domains { option value=(value) selected[value == self.domain] { (text) } }
                }
                label for="new-mode" { "Mode" }
                select id="new-mode" name="mode" {
                    @for (value, text) in modes { option value=(value) selected[value == self.mode] { (text) } }
                    option value=(CONFIGURED) selected[self.mode == CONFIGURED] { "as the configuration says" }
                }
                label for="confirmation" { "Confirmation code" }
                input id="confirmation" name="confirmation" type="text" autocomplete="off" required
                    aria-describedby="confirmation-help";
                p.muted id="confirmation-help" {
                    "Run " code { "palyra admin confirm" } " on the daemon's machine. A code works once, within a minute."
                }
                div.actions { button type="submit" { "Set this mode" } }
            }
        }
    }
}

/// Returns the request of a form.
///
/// # Errors
/// [`ApiError`]: the domain or the mode is not known.
pub(crate) fn mode_request(fields: &FormFields) -> Result<v1::SetHealingModeRequest, ApiError> {
    let domain = v1::HealingDomain::from_short_name(&fields.text("domain"))
        .filter(|domain| *domain != v1::HealingDomain::Unspecified)
        .ok_or_else(|| ApiError::invalid_argument(&must_be("domain", v1::HealingDomain::SHORT_NAMES)))?;
    let named = |name: &str| {
        v1::HealingMode::from_short_name(name).filter(|mode| *mode != v1::HealingMode::Unspecified)
    };
    let mode = match fields.text("mode").as_str() {
        CONFIGURED => v1::HealingMode::Unspecified,
        name => named(name)
            .ok_or_else(|| ApiError::invalid_argument(&must_be("mode", v1::HealingMode::SHORT_NAMES)))?,
    };
    Ok(v1::SetHealingModeRequest { domain: domain.into(), mode: mode.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_and_mode_can_be_chosen() {
        let shown =
            HealingModeForm::filled("token".to_owned(), &FormFields::default()).markup().into_string();
        for name in v1::HealingDomain::SHORT_NAMES.iter().chain(v1::HealingMode::SHORT_NAMES) {
            assert!(shown.contains(&format!("<option value=\"{name}\"")), "{name}: {shown}");
        }
        let request = |text: &str| mode_request(&FormFields::parse(text).unwrap());
        let auto = request("domain=runs&mode=auto").unwrap();
        assert_eq!((auto.domain(), auto.mode()), (v1::HealingDomain::Runs, v1::HealingMode::Auto));
        assert_eq!(request("domain=runs&mode=configured").unwrap().mode(), v1::HealingMode::Unspecified);
        for wrong in ["", "domain=runs", "domain=moon&mode=auto", "domain=runs&mode=always"] {
            assert!(request(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_refused_form_keeps_what_was_chosen_and_not_the_code() {
        let fields = FormFields::parse("domain=tasks&mode=auto&confirmation=CANARYCODE").unwrap();
        let shown = HealingModeForm::filled("token".to_owned(), &fields).markup().into_string();
        assert!(shown.contains("\"tasks\" selected") && shown.contains("\"auto\" selected"), "{shown}");
        assert!(!shown.contains("CANARYCODE"), "{shown}");
    }
}
