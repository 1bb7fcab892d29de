//! Secrets by their name and by their place: what goes, and what stays.

use palyra_ports::Redactor;
use palyra_redaction::{RULESET, SecretScanner};

fn clean(text: &str) -> String {
    SecretScanner::new().redact(text.into()).text.into_exposed()
}

/// A value as chance would draw it, which stands nowhere in this file.
fn drawn(length: usize) -> String {
    "q7Xv2Lk9ZrT4mWb8NcY3pDs6HgJ5fAe1".chars().rev().cycle().take(length).collect()
}

#[test]
fn assigned_values_go_whatever_the_language() {
    let value = drawn(24);
    for (before, after) in [
        ("API_KEY=", "\n"),
        ("export CLIENT_SECRET='", "'\n"),
        ("{\"access_token\": \"", "\", \"expires_in\": 3600}"),
        ("{\\\"access_token\\\":\\\"", "\\\"}"),
        ("auth_token: ", "\n"),
        ("let api_key = \"", "\";"),
        ("const clientSecret: string = \"", "\";"),
        ("client.set(\"api_key\", \"", "\")"),
        ("'secret_key' => '", "',"),
        ("<token>", "</token>"),
        ("<add key=\"Password\" value=\"", "\" />"),
        ("{\"name\": \"API_TOKEN\", \"value\": \"", "\"}"),
        ("tool --api-key ", " run"),
        ("tool --password=", " run"),
        ("https://host/x?access_token=", "&page=2"),
        ("machine host login me password ", "\n"),
        ("the api key is ", ", keep it."),
        ("X-Api-Key: ", "\r\n"),
        ("Authorization: Token ", "\r\n"),
        ("authorization: Bearer ", "\n"),
        ("Server=db;Password=", ";Database=x"),
    ] {
        let cleaned = clean(&format!("{before}{value}{after}"));
        assert!(!cleaned.contains(&value), "{before}: {cleaned}");
        assert!(cleaned.starts_with(before) && cleaned.ends_with(after), "{before}: {cleaned}");
    }
}

#[test]
fn names_alone_blank_nothing() {
    for text in [
        "max_tokens: 5",
        "{\"max_tokens\": 4096, \"input_tokens\": 123456789012, \"token_count\": 17}",
        "\"token_type\": \"Bearer\"",
        "token_id: 123e4567-e89b-12d3-a456-426614174000",
        "idempotency_key: 0f8fad5b-d9cb-469f-a165-70867728950e",
        "session_token: 123e4567-e89b-12d3-a456-426614174000",
        "cache_key = \"d41d8cd98f00b204e9800998ecf8427e\"",
        "public_key: MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQ",
        "checksum = \"3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed\"",
        "let token = lexer.next_token();",
        "password: Option<String>",
        "if (password === confirm_password) {",
        "key: \"primary\"",
        "secret_name: my-database-secret-v2",
        "api_key: ${API_KEY}",
        "TOKEN=$(cat /run/token)",
        "password = \"<your password>\"",
        "token = \"xxxxxxxxxxxxxxxxxxxx\"",
        "keyboard: QWERTY-2024-layout",
        "pub const KEY_ALL_ACCESS: u32 = 0x8031006C_u32;",
        "the password is wrong",
        "access_token: 18446744073709551615",
        "Cookie: the header that carries state",
        "authorization: Option<Authorization>",
        "https://user:password@example.com/",
        "basic authentication is used here",
        "the bearer of this letter",
    ] {
        assert_eq!(clean(text), text);
    }
}

#[test]
fn credentials_in_urls_and_headers_go() {
    let value = drawn(16);
    let cleaned = clean(&format!("postgres://app:{value}@db:5432/x"));
    assert_eq!(cleaned, "postgres://app:<secret:url-password>@db:5432/x");
    let cleaned = clean(&format!("https://{value}{value}@github.test/x"));
    assert_eq!(cleaned, "https://<secret:url-password>@github.test/x");
    let cleaned = clean(&format!("Cookie: theme=dark; sid={value}\r\nAccept: */*"));
    assert_eq!(cleaned, "Cookie: <secret:cookie-header>\r\nAccept: */*");
    let cleaned = clean(&format!("curl -s -u me:{value} https://x"));
    assert_eq!(cleaned, "curl -s -u me:<secret:curl-user> https://x");
}

#[test]
fn the_most_telling_name_is_given() {
    let token = ["gh", "p_", &drawn(36)].concat();
    let expected = "Authorization: Bearer <secret:github-token>\n";
    assert_eq!(clean(&format!("Authorization: Bearer {token}\n")), expected);
    assert_eq!(clean(&format!("GITHUB_TOKEN={token}")), "GITHUB_TOKEN=<secret:github-token>");
}

#[test]
fn what_is_found_is_counted_and_not_told() {
    let scanner = SecretScanner::new();
    scanner.register(&["correct horse battery".into(), "too short".into()]).expect("a few values");
    let cleaned = scanner.redact("say correct horse battery or too short".into());
    assert_eq!(cleaned.text.expose(), "say <secret:vault> or too short");
    assert_eq!((cleaned.findings.replaced, cleaned.findings.registered), (1, 1));
    assert_eq!(scanner.ruleset(), RULESET);
    assert!(!format!("{scanner:?}").contains("horse"));
    scanner.register(&[]).expect("a few values");
    assert_eq!(scanner.redact("say correct horse battery".into()).findings.replaced, 0);
}

#[test]
fn json_is_cleaned_as_it_is_meant() {
    let scanner = SecretScanner::new();
    scanner.register(&["back\\slash \"quoted\" value".into()]).expect("a few values");
    let token = ["gh", "p_", &drawn(36)].concat();
    let text = format!("{{\"a\":\"\\u0067{}\", \"n\": 7}}", &token[1..]);
    assert_eq!(
        scanner.redact_json(text.as_str().into()).text.expose(),
        "{\"a\":\"<secret:github-token>\", \"n\": 7}"
    );
    let text = r#"{"a": "x back\\slash \"quoted\" value"}"#;
    let cleaned = scanner.redact_json(text.into()).text.into_exposed();
    assert_eq!(cleaned, r#"{"a": "x <secret:vault>"}"#);
    let broken = "{\"a\": ";
    assert_eq!(scanner.redact_json(broken.into()).text.expose(), broken);
}
