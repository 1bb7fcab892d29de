//! Passwords on command lines, by the option of each program that takes one (its manual page), and in SQL statements.

use super::{LineRule, ValueCheck, value};

const fn line(kind: &'static str, start: &'static str, pattern: &'static str) -> LineRule {
    LineRule::new(kind, start, pattern)
}

pub(super) static LINES: [LineRule; 42] = [
    // mysql(1), mariadb(1): the value follows -p without a blank.
    line("command-password", "mysql", concat!(r"\w*(?:\.exe)?\s[^\n|;]*?\s?-p", value!())),
    line("command-password", "mariadb", concat!(r"[\w-]*\s[^\n|;]*?\s?-p", value!())),
    line("command-password", "sshpass", concat!(r"\s[^\n|;]*?-p\s*", value!())),
    line("command-password", "redis-cli", concat!(r"\s[^\n|;]*?(?:-a|--pass)[ =]+", value!())),
    line(
        "command-password",
        "ldap",
        concat!(r"(?:search|modify|add|delete|whoami|passwd|compare|modrdn)\s[^\n|;]*?-w\s*", value!()),
    ),
    line(
        "command-password",
        "smbclient",
        concat!(r#"\s[^\n|;]*?(?:-U|--user)[ =]?['"]?[\w.\\/-]+%"#, value!()),
    ),
    line(
        "command-password",
        "rpcclient",
        concat!(r#"\s[^\n|;]*?(?:-U|--user)[ =]?['"]?[\w.\\/-]+%"#, value!()),
    ),
    line(
        "command-password",
        "htpasswd",
        concat!(r"(?:\s+-\w+)*?\s+-\w*n\w*b\w*(?:\s+-\w+)*\s+\S+\s+", value!()),
    ),
    line(
        "command-password",
        "htpasswd",
        concat!(r"(?:\s+-\w+)*?\s+-\w*b\w*(?:\s+-\w+)*\s+\S+\s+\S+\s+", value!()),
    ),
    // openssl(1), "Pass Phrase Options".
    line("command-password", "-pass", concat!(r"(?:in|out)?\s+pass:", value!())),
    line("command-password", "unzip", concat!(r"\s[^\n|;]*?-P\s*", value!())),
    line("command-password", "zip ", concat!(r"[^\n|;]*?-P\s*", value!())),
    line("command-password", "7z", concat!(r"[arz]?\s[^\n|;]*?\s-p", value!())),
    line("command-password", "sqlplus", r#"\s[^\n|;]*?['"]?[\w$#.]+/"?([^\s"'@/<>$]{4,})"?@"#),
    line(
        "command-password",
        "mongo",
        concat!(r"(?:sh|dump|restore|export|import|stat|top)?\s[^\n|;]*?(?:-p|--password)[ =]*", value!()),
    ),
    line("command-password", "sqlcmd", concat!(r"\s[^\n|;]*?-P\s*", value!())),
    line("command-password", "bcp ", concat!(r"[^\n|;]*?-P\s*", value!())),
    line("command-password", "docker login", concat!(r"\s[^\n|;]*?(?:-p|--password)[ =]+", value!())),
    line("command-password", "podman login", concat!(r"\s[^\n|;]*?(?:-p|--password)[ =]+", value!())),
    line("command-password", "registry login", concat!(r"\s[^\n|;]*?(?:-p|--password)[ =]+", value!())),
    line("command-password", "az login", concat!(r"\s[^\n|;]*?(?:-p|--password)[ =]+", value!())),
    line("command-password", "secret set", concat!(r"\s+\S+[^\n|;]*?(?:--body|-b)[ =]+", value!())),
    line("command-password", "--from-literal", concat!(r#"[ =]['"]?[\w.-]+="#, value!()))
        .check(ValueCheck::Drawn(25)),
    line("command-password", "net use", concat!(r"\s[^\n|;]*?/user:\S+\s+", value!())),
    line(
        "command-password",
        "echo ",
        concat!(
            r"(?:-\w+\s+)?",
            value!(),
            r"\s*\|\s*(?:sudo\s+-S|su\b|(?:docker|podman|nerdctl|helm\s+registry|oras|skopeo|crane\s+auth|buildah)\s+login|passwd|chpasswd|cryptsetup|gpg|kinit|gh\s+auth|glab\s+auth|vault\s+login|xargs\s+-I)"
        ),
    ),
    line(
        "command-password",
        "printf ",
        concat!(
            r"(?:'%s(?:\\n)?'\s+)?",
            value!(),
            r"\s*\|\s*(?:sudo\s+-S|su\b|(?:docker|podman|nerdctl|helm\s+registry|oras|skopeo|crane\s+auth|buildah)\s+login|passwd|chpasswd|cryptsetup|gpg|kinit|gh\s+auth|glab\s+auth)"
        ),
    ),
    // Names that are set by a command of a shell or of a build.
    line("secret-value", "env ", concat!(r"([A-Z][A-Z0-9_]{2,60})\s+", value!())).check(ValueCheck::Named),
    line("secret-value", "setx ", concat!(r#"(?:/[smfk]\s+)?"?([A-Z][A-Z0-9_]{2,60})"?\s+"#, value!()))
        .check(ValueCheck::Named),
    line("secret-value", "set -", concat!(r"[a-zA-Z]{1,4}\s+([A-Z][A-Z0-9_]{2,60})\s+", value!()))
        .check(ValueCheck::Named),
    line("secret-value", "setenv ", concat!(r"([A-Z][A-Z0-9_]{2,60})\s+", value!())).check(ValueCheck::Named),
    line("secret-value", "config set ", concat!(r"([\w./:-]{3,120})\s+", value!())).check(ValueCheck::Named),
    line("secret-value", "config:set ", concat!(r"([\w.:-]{3,120})[= ]", value!())).check(ValueCheck::Named),
    line("secret-value", "set ", concat!(r"(?:the\s+)?([\w.-]{3,60})\s+(?:to|as|=)\s+", value!()))
        .check(ValueCheck::Named),
    // ALTER USER, CREATE ROLE and SET PASSWORD of PostgreSQL, MySQL, MariaDB and Oracle.
    line(
        "sql-password",
        "identified",
        concat!(r"\s+(?:with\s+\S+\s+)?(?:by|as|using)\s+(?:password\s+)?", value!()),
    ),
    line("sql-password", "password '", r"([^'\r\n]{4,})'"),
    line("sql-password", "password E'", r"([^'\r\n]{4,})'"),
    line("sql-password", "password = '", r"([^'\r\n]{4,})'").check(ValueCheck::Drawn(25)),
    line("sql-password", "password = N'", r"([^'\r\n]{4,})'"),
    line("sql-password", "set password", concat!(r"\b[^\n]{0,120}?=\s*(?:password\()?", value!())),
    // The file of passwords of PostgreSQL: host:port:database:user:password.
    line("pgpass", ":5432:", r"[^:\s]{1,64}:[^:\s]{1,64}:([^\s:]{4,})"),
    line("pgpass", ":5433:", r"[^:\s]{1,64}:[^:\s]{1,64}:([^\s:]{4,})"),
    line("pgpass", ":*:*:", r"[^:\s]{1,64}:([^\s:]{4,})"),
];
