//! Chat, mail and telephones.

use super::TokenRule;

const fn token(kind: &'static str, start: &'static str, body: &'static str) -> TokenRule {
    TokenRule::new(kind, start, body)
}

pub(super) static TOKENS: [TokenRule; 42] = [
    token("slack-token", "xoxb-", "[A-Za-z0-9-]{15,}"),
    token("slack-token", "xoxp-", "[A-Za-z0-9-]{15,}"),
    token("slack-token", "xoxa-", "[A-Za-z0-9-]{8,}"),
    token("slack-token", "xoxr-", "[A-Za-z0-9-]{8,}"),
    token("slack-token", "xoxo-", "[A-Fa-f0-9-]{5,}").entropy(1.5),
    token("slack-token", "xoxs-", "[A-Fa-f0-9-]{5,}").entropy(1.5),
    token("slack-token", "xoxc-", "[A-Za-z0-9-]{15,}"),
    token("slack-token", "xoxd-", "[A-Za-z0-9%/+-]{15,}"),
    token("slack-token", "xoxe-", "[A-Za-z0-9-]{15,}").any_case(),
    token("slack-token", "xoxe.xox", r"[bpBP]-\d-[A-Za-z0-9]{100,}").any_case(),
    token("slack-token", "xapp-", r"\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]+").any_case(),
    token("slack-webhook", "hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}"),
    token("discord-webhook", "discord.com/api/webhooks/", r"\d{15,}/[A-Za-z0-9_-]{30,}"),
    token("discord-webhook", "discordapp.com/api/webhooks/", r"\d{15,}/[A-Za-z0-9_-]{30,}"),
    token("teams-webhook", "webhook.office.com/webhookb2/", r"[A-Za-z0-9@/-]{40,}"),
    token("telegram-bot-token", ":AA", "[A-Za-z0-9_-]{33}").behind(r"\d{8}", 0),
    token("sendgrid-key", "SG.", r"[A-Za-z0-9=_.-]{60,}"),
    token("brevo-key", "xkeysib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("brevo-key", "xsmtpsib-", "[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("mailgun-key", "key-", "[a-f0-9]{32}").any_case(),
    token("mailgun-key", "pubkey-", "[a-f0-9]{32}").any_case(),
    token("mailersend-token", "mlsn.", "[a-f0-9]{64}"),
    token("resend-key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}").with_digit(),
    token("twilio-key", "SK", "[A-Fa-f0-9]{32}"),
    token("facebook-token", "EAAM", "[A-Za-z0-9]{60,}"),
    token("facebook-token", "EAAC", "[A-Za-z0-9]{60,}"),
    token("facebook-token", "|", "[A-Za-z0-9_-]{27,40}").behind(r"\d{15}", 0).with_digit(),
    token("facebook-token", "%", "[A-Za-z0-9_-]{27,40}").behind(r"\d{15}", 0).with_digit(),
    token("instagram-token", "IGQV", "[A-Za-z0-9_-]{80,}"),
    token("twitter-bearer-token", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{60,}"),
    token("discord-token", "MD", DISCORD),
    token("discord-token", "MT", DISCORD),
    token("discord-token", "Mj", DISCORD),
    token("discord-token", "Mz", DISCORD),
    token("discord-token", "ND", DISCORD),
    token("discord-token", "NT", DISCORD),
    token("discord-token", "Nj", DISCORD),
    token("discord-token", "Nz", DISCORD),
    token("discord-token", "OD", DISCORD),
    token("discord-token", "OT", DISCORD),
    token("matrix-token", "syt_", r"[A-Za-z0-9=+/]{2,90}_[A-Za-z]{20}_[A-Za-z0-9]{6}"),
    token("firebase-key", "AAAA", r"[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,180}"),
];

/// The number of a bot in base64, a time and a signature; numbers begin with a digit, so tokens with one of ten pairs.
const DISCORD: &str = r"[A-Za-z0-9]{22,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}";
