//! What people write around a secret.

use super::{LineRule, ValueCheck, value};

const fn line(kind: &'static str, start: &'static str, pattern: &'static str) -> LineRule {
    LineRule::new(kind, start, pattern)
}

/// Words of a wallet's seed (BIP 39): 12 to 24 of them, of three to eight letters.
macro_rules! seed {
    () => {
        r#"(?:\s+is)?["'`\s:=]{1,6}((?:[a-z]{3,8}\s+){11,23}[a-z]{3,8})\b"#
    };
}

pub(super) static LINES: [LineRule; 23] = [
    line("password", "log in as", concat!(r"\s+\S{1,64}\s*(?:/|:|,|\bwith\b(?:\s+password)?)\s*", value!())),
    line("password", "login as", concat!(r"\s+\S{1,64}\s*(?:/|:|,|\bwith\b(?:\s+password)?)\s*", value!())),
    line("password", "login:", concat!(r"\s*[^\s/]{1,64}\s*/\s*", value!())).check(ValueCheck::Drawn(27)),
    line("password", "credentials:", concat!(r"\s*[^\s/:]{1,64}\s*[/:]\s*", value!()))
        .check(ValueCheck::Drawn(27)),
    line("password", "passwort", concat!(r#"(?:\s+(?:ist|lautet))?["'\s:=]{1,4}"#, value!()))
        .check(ValueCheck::Password),
    line("password", "kennwort", concat!(r#"(?:\s+(?:ist|lautet))?["'\s:=]{1,4}"#, value!()))
        .check(ValueCheck::Password),
    line("password", "mot de passe", concat!(r#"(?:\s+est)?["'\s:=]{1,4}"#, value!()))
        .check(ValueCheck::Password),
    line("password", "contraseña", concat!(r#"(?:\s+es)?["'\s:=]{1,4}"#, value!()))
        .check(ValueCheck::Password),
    line("password", "contrasena", concat!(r#"(?:\s+es)?["'\s:=]{1,4}"#, value!()))
        .check(ValueCheck::Password),
    line("password", "senha", concat!(r#"(?:\s+(?:é|e))?["'\s:=]{1,4}"#, value!()))
        .check(ValueCheck::Password),
    line("password", "wachtwoord", concat!(r#"(?:\s+is)?["'\s:=]{1,4}"#, value!()))
        .check(ValueCheck::Password),
    line("password", "pw:", concat!(r"\s*", value!())).check(ValueCheck::Password),
    line("password", "pw=", value!()).check(ValueCheck::Password),
    line("password", "psk", concat!(r#"["'\s:=]{1,4}"#, value!())).check(ValueCheck::Password),
    line("wallet-seed", "seed phrase", seed!()),
    line("wallet-seed", "seed words", seed!()),
    line("wallet-seed", "recovery phrase", seed!()),
    line("wallet-seed", "secret phrase", seed!()),
    line("wallet-seed", "backup phrase", seed!()),
    line("wallet-seed", "seed_phrase", seed!()),
    line("wallet-seed", "mnemonic", seed!()),
    line("wallet-seed", "mnemonic_phrase", seed!()),
    line("registry-login", "\"auth\"", r#"\s*:\s*"([A-Za-z0-9+/_-]{12,}={0,2})""#)
        .check(ValueCheck::UserPassword),
];
