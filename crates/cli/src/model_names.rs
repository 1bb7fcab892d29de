//! Which names of models mean the same model in every environment.

/// The beginning of the name of a model of the server that the environment names.
pub(crate) const ENVIRONMENT_PROVIDER: &str = "openai/";

/// Returns whether a name of the daemon's model means that model here too. A name of the server that a variable names may
/// mean another one in each environment, where this environment names a server as well.
pub(crate) fn is_same_model(in_force: &str, own: &str) -> bool {
    !(in_force.starts_with(ENVIRONMENT_PROVIDER) && own.starts_with(ENVIRONMENT_PROVIDER))
}
