//! Whether the daemon that was found uses the model that this environment selects.

use std::time::Duration;

use palyra_wire::v1;
use palyra_wire::v1::admin_service_client::AdminServiceClient;

use crate::options::OwnModel;
use crate::transport::Connection;

/// Begins the reason for which a daemon stays where none with the selected model could be started.
pub const NO_OTHER_STARTS: &str = "no other could be started";
/// How long a question about the model may take.
const ANSWERED_WITHIN: Duration = Duration::from_secs(3);

/// What the daemon's model is to this environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelVerdict {
    /// The same model, or the one that the daemon's configuration names.
    Meant,
    /// Another one than a daemon started here would use.
    Other,
    /// This environment selects something that no daemon could be started with.
    Unusable(String),
}

/// Compares the daemon's model with what this environment selects.
pub(super) fn judge(own: &OwnModel, origin: &v1::ModelOrigin) -> ModelVerdict {
    if origin.source() == v1::ModelSource::Configuration || origin.fingerprint.is_empty() {
        return ModelVerdict::Meant;
    }
    match (own.fingerprint)(&origin.salt) {
        Ok(fingerprint) if fingerprint == origin.fingerprint => ModelVerdict::Meant,
        Ok(_) => ModelVerdict::Other,
        // A configuration that became invalid later leaves the daemon that runs as it is.
        Err(_) if own.variables.is_empty() && own.unset_server.is_none() => ModelVerdict::Meant,
        Err(why) => ModelVerdict::Unusable(format!("{NO_OTHER_STARTS}: {why}")),
    }
}

/// Returns whether the daemon has the model of this environment at the same server, and lacks the key that is here.
pub(super) fn lacks_key(own: &OwnModel, origin: &v1::ModelOrigin) -> bool {
    (own.keyless_fingerprint)(&origin.salt).is_some_and(|keyless| keyless == origin.fingerprint)
}

impl OwnModel {
    /// Returns whether the daemon found at the server of this environment, with the same key, the model that a variable
    /// names here; or has the model whose server no variable names here.
    #[must_use]
    pub fn was_found(&self, origin: &v1::ModelOrigin, in_force: &str) -> bool {
        let is_unnamed =
            || (self.unnamed_fingerprint)(&origin.salt).is_some_and(|it| it == origin.fingerprint);
        self.name == in_force && (self.unset_server.is_some() || is_unnamed())
    }

    /// Returns the variable of the key that is not set here, where the daemon has its server, perhaps with a key, from an
    /// environment.
    #[must_use]
    pub fn unset_key_beside(&self, origin: &v1::ModelOrigin) -> Option<&'static str> {
        self.unset_key.filter(|_| origin.source() == v1::ModelSource::Environment)
    }

    /// Returns the name of the model that this environment selects, with what differs where the daemon's has the same name.
    #[must_use]
    pub fn name_beside(&self, in_force: &str) -> String {
        if self.name == in_force {
            format!("{in_force} at another server, or with another key")
        } else {
            self.name.clone()
        }
    }
}

/// Returns whether this environment has variables that select a model, and the daemon's model comes from elsewhere.
pub(super) fn ignores_variables(own: &OwnModel, origin: &v1::ModelOrigin) -> bool {
    !own.variables.is_empty() && origin.source() != v1::ModelSource::Environment
}

/// Returns where the daemon's default model comes from, if it says so.
pub(super) async fn origin(connection: &Connection) -> Option<v1::ModelOrigin> {
    let mut admin = AdminServiceClient::new(connection.transport.clone());
    let asked = admin.get_config(v1::GetConfigRequest {});
    let answer = tokio::time::timeout(ANSWERED_WITHIN, asked).await.ok().and_then(Result::ok);
    answer.and_then(|config| config.into_inner().model_origin)
}

/// Returns the name of the default model in force.
pub(super) async fn in_force(connection: &Connection) -> String {
    let mut admin = AdminServiceClient::new(connection.transport.clone());
    let asked = admin.get_status(v1::GetStatusRequest {});
    let answer = tokio::time::timeout(ANSWERED_WITHIN, asked).await.ok().and_then(Result::ok);
    answer.map_or_else(|| "another model".to_owned(), |status| status.into_inner().default_model)
}

/// Asks the daemon to make room for another; returns why it stays and for how long, or nothing when it goes.
pub(super) async fn ask_to_make_room(
    connection: &Connection,
    request: v1::ShutdownRequest,
) -> v1::ShutdownResponse {
    let mut admin = AdminServiceClient::new(connection.transport.clone());
    let asked = admin.shutdown(request);
    match tokio::time::timeout(ANSWERED_WITHIN, asked).await {
        Ok(Ok(answer)) => answer.into_inner(),
        // One that is about to go may not get its answer out; the next look tells.
        Ok(Err(_)) | Err(_) => v1::ShutdownResponse::default(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_configured_model_stays_and_another_one_is_noticed() {
        let own = |answer: Result<Vec<u8>, String>, variables: Vec<&'static str>| OwnModel {
            name: "openai/m".to_owned(),
            variables,
            unset_key: Some("OPENAI_API_KEY"),
            unset_server: None,
            fingerprint: Arc::new(move |_| answer.clone()),
            unnamed_fingerprint: Arc::new(|_| Some(b"server".to_vec())),
            keyless_fingerprint: Arc::new(|_| Some(b"keyless".to_vec())),
        };
        let origin = |source: &str, fingerprint: &[u8]| v1::ModelOrigin {
            source: v1::ModelSource::from_short_name(source).unwrap().into(),
            fingerprint: fingerprint.to_vec(),
            ..Default::default()
        };
        let environment = origin("environment", b"one");
        assert_eq!(judge(&own(Ok(b"one".to_vec()), Vec::new()), &environment), ModelVerdict::Meant);
        assert_eq!(judge(&own(Ok(b"two".to_vec()), Vec::new()), &environment), ModelVerdict::Other);
        let built_in = origin("built_in", b"one");
        assert_eq!(judge(&own(Ok(b"two".to_vec()), Vec::new()), &built_in), ModelVerdict::Other);
        let configured = origin("configuration", b"one");
        assert_eq!(judge(&own(Ok(b"two".to_vec()), Vec::new()), &configured), ModelVerdict::Meant);
        // A daemon that was started without a name of the model found the same one at the same server.
        let named = own(Ok(b"two".to_vec()), vec!["OPENAI_BASE_URL", "PALYRA_MODEL"]);
        let detected = origin("environment", b"server");
        assert!(named.was_found(&detected, "openai/m") && !named.was_found(&detected, "openai/n"));
        assert!(!named.was_found(&environment, "openai/m"));
        assert!(lacks_key(&named, &origin("environment", b"keyless")) && !lacks_key(&named, &environment));
        assert_eq!(named.unset_key_beside(&environment), Some("OPENAI_API_KEY"));
        assert_eq!(named.unset_key_beside(&built_in), None);
        assert_eq!(named.name_beside("openai/n"), "openai/m");
        assert!(named.name_beside("openai/m").contains("another server"));
        let broken = own(Err("bad".to_owned()), vec!["OPENAI_BASE_URL"]);
        assert!(matches!(judge(&broken, &built_in), ModelVerdict::Unusable(_)));
        assert_eq!(judge(&own(Err("bad".to_owned()), Vec::new()), &built_in), ModelVerdict::Meant);
        // Without the variable of its server, the model is that of a daemon with its name, and of no other one.
        let unset =
            OwnModel { unset_server: Some("OPENAI_BASE_URL"), ..own(Err("unset".to_owned()), Vec::new()) };
        assert!(matches!(judge(&unset, &built_in), ModelVerdict::Unusable(_)));
        assert!(unset.was_found(&environment, "openai/m") && !unset.was_found(&built_in, "demo/demo"));
    }
}
