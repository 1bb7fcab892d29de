//! Whether a daemon's default model is the one that this environment selects.

use palyra_client::OwnModel;
use palyra_explain::KeptModel;
use palyra_wire::v1;

use crate::{OK, WARNING, check};

const NAME: &str = "model_selection";

/// Compares a daemon's default model with the one that this environment selects; `origin` says where the daemon has its model
/// from.
#[must_use]
pub fn check_selection(
    own: &OwnModel,
    origin: &v1::ModelOrigin,
    status: &v1::GetStatusResponse,
) -> v1::Check {
    let in_force = status.default_model.as_str();
    let fingerprint = (own.fingerprint)(&origin.salt);
    let is_same = fingerprint.as_ref().is_ok_and(|fingerprint| *fingerprint == origin.fingerprint);
    let is_configured = origin.source() == v1::ModelSource::Configuration;
    if is_same || is_configured || own.was_found(origin, in_force) {
        let place = if origin.place.is_empty() { "built in" } else { &origin.place };
        return check(NAME, OK, format!("by {place}"), "");
    }
    let name = own.name_beside(in_force);
    let found = format!("this environment selects {name}, the daemon uses {in_force}");
    let kept = KeptModel {
        in_force,
        own: &own.name,
        wait_seconds: 0,
        open_runs: u32::try_from(status.open_runs).unwrap_or(u32::MAX),
        unset_key: own.unset_key_beside(origin),
    };
    let mend = match fingerprint {
        Ok(_) => kept.mend_in_doctor(),
        // With a mistake no other daemon would start.
        Err(_) => {
            format!("correct the mistakes that `palyra config check` lists; then: {}", kept.mend_in_doctor())
        }
    };
    check(NAME, WARNING, found, &mend)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn own(answer: Result<Vec<u8>, String>, unset_key: Option<&'static str>) -> OwnModel {
        OwnModel {
            name: "openai/m".to_owned(),
            variables: vec!["OPENAI_BASE_URL"],
            unset_key,
            unset_server: None,
            fingerprint: Arc::new(move |_| answer.clone()),
            unnamed_fingerprint: Arc::new(|_| Some(b"found".to_vec())),
            keyless_fingerprint: Arc::new(|_| None),
        }
    }

    fn origin(fingerprint: &[u8]) -> v1::ModelOrigin {
        v1::ModelOrigin {
            source: v1::ModelSource::Environment.into(),
            fingerprint: fingerprint.to_vec(),
            ..Default::default()
        }
    }

    fn status(default_model: &str, open_runs: u64) -> v1::GetStatusResponse {
        v1::GetStatusResponse { default_model: default_model.to_owned(), open_runs, ..Default::default() }
    }

    #[test]
    fn the_same_name_with_another_key_is_said_to_be_that_and_the_key_is_exported() {
        let here = own(Ok(b"here".to_vec()), Some("OPENAI_API_KEY"));
        let found = check_selection(&here, &origin(b"there"), &status("openai/m", 0));
        assert!(found.found.contains("at another server, or with another key"), "{found:?}");
        assert!(found.mend.starts_with("OPENAI_API_KEY is not set here"), "{found:?}");
        for fingerprint in [b"here".as_slice(), b"found"] {
            let found = check_selection(&here, &origin(fingerprint), &status("openai/m", 0));
            assert_eq!(found.level(), OK, "{found:?}");
        }
    }

    #[test]
    fn a_daemon_with_another_model_is_stopped_only_where_no_run_is_open() {
        let here = own(Ok(b"here".to_vec()), None);
        for (open_runs, stops) in [(0, true), (1, false)] {
            let found = check_selection(&here, &origin(b"there"), &status("demo/demo", open_runs));
            assert_eq!(found.found, "this environment selects openai/m, the daemon uses demo/demo");
            assert_eq!(found.mend.contains("`palyra admin stop`"), stops, "{found:?}");
        }
        let mistaken = own(Err("bad".to_owned()), None);
        let found = check_selection(&mistaken, &origin(b"there"), &status("demo/demo", 0));
        assert!(found.mend.contains("`palyra config check`"), "{found:?}");
    }
}
