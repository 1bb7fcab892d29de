//! What a component of WebAssembly says about itself, in words.

use palyra_wire::v1;

/// Says what a contract of effects means for a call that was interrupted.
#[must_use]
pub fn effect_contract(contract: v1::EffectContract) -> &'static str {
    match contract {
        v1::EffectContract::Pure => "pure: it says that it changes nothing; it may be run again",
        v1::EffectContract::Keyed => "keyed: it may be run again with the same key",
        v1::EffectContract::Probe => "probe: it looks first what is done; it may be run again",
        v1::EffectContract::Local | v1::EffectContract::Opaque | v1::EffectContract::Unspecified => {
            "opaque: it is never run again by itself"
        }
    }
}

/// Says what a capability lets a component do.
#[must_use]
pub fn component_capability(name: &str) -> String {
    match name.split_once(':') {
        Some(("http", host)) => format!("ask the host {host}"),
        Some(("secret", secret)) => format!("use the secret {secret}, without seeing it"),
        Some(_) | None => match name {
            "read_files" => "read files of the workspace".to_owned(),
            "write_files" => "read and change files of the workspace".to_owned(),
            "key_value" => "keep values between its calls".to_owned(),
            other => other.to_owned(),
        },
    }
}
