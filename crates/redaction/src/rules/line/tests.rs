//! Every row compiles, and what only looks like one stays.

use palyra_ports::Redactor;

use super::*;
use crate::SecretScanner;

#[test]
fn every_row_compiles_and_has_a_group_for_the_secret() {
    for rule in all() {
        let groups = rule.compiled().captures_len();
        assert!(
            groups > 1 + rule.name_group() || rule.span == LineSpan::Block,
            "{} {}",
            rule.kind,
            rule.start
        );
    }
}

#[test]
fn lines_without_a_secret_stay() {
    let scanner = SecretScanner::new();
    for text in [
        "mysql -h db -u root -p prod",
        "mysql -uroot -p\"$DB_PASSWORD\" prod",
        "sshpass -p $PASS ssh host",
        "sshpass -p <password> ssh host",
        "docker login -u ci --password-stdin registry.example.org",
        "echo hello | docker run -i alpine cat",
        "echo $TOKEN | docker login --password-stdin",
        "unzip -P password archive.zip",
        "ENV PATH /usr/local/bin:/usr/bin",
        "ENV NODE_ENV production",
        "set the timeout to 30 seconds",
        "set -x\nset -e PATH /bin",
        "CREATE USER app IDENTIFIED BY '${PASSWORD}'",
        "the mnemonic is easy to remember when you sing it",
        "?sig=short&x=1",
        "gh secret set NAME < file",
        "set password for the account in the settings page",
        "mongo is a document store; see --password in the manual",
        "smbclient -L host -N",
        "the login: anna/bob are both there",
    ] {
        assert_eq!(scanner.redact(text.into()).text.expose(), text);
    }
}
