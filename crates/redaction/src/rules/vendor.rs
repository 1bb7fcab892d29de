//! Values that nothing tells but the vendor's name in front: who makes them, and what they are made of.

use crate::rules::randomness::{consonants, entropy, is_uuid, is_wordy};

/// One vendor's values.
#[derive(Debug)]
pub(crate) struct VendorRule {
    pub(crate) kind: &'static str,
    /// Words in a name that mean this vendor.
    pub(crate) words: &'static [&'static str],
    shapes: &'static [Shape],
}

/// What a value consists of.
#[derive(Debug, Clone, Copy)]
struct Shape {
    prefix: &'static str,
    made_of: MadeOf,
    bytes_min: usize,
    bytes_max: usize,
}

#[derive(Debug, Clone, Copy)]
enum MadeOf {
    Hex,
    Digits,
    Letters,
    /// Letters, digits and `_-=`.
    Word,
    /// The same with `.+/%`.
    Wide,
    Uuid,
    /// Hexadecimal digits, `-` between some of them.
    Parts,
}

const fn hex(bytes: usize) -> Shape {
    Shape { prefix: "", made_of: MadeOf::Hex, bytes_min: bytes, bytes_max: bytes }
}

const fn digits(bytes: usize) -> Shape {
    Shape { prefix: "", made_of: MadeOf::Digits, bytes_min: bytes, bytes_max: bytes + 1 }
}

const fn letters(bytes: usize) -> Shape {
    Shape { prefix: "", made_of: MadeOf::Letters, bytes_min: bytes, bytes_max: bytes }
}

const fn word(bytes_min: usize, bytes_max: usize) -> Shape {
    Shape { prefix: "", made_of: MadeOf::Word, bytes_min, bytes_max }
}

const fn wide(bytes_min: usize, bytes_max: usize) -> Shape {
    Shape { prefix: "", made_of: MadeOf::Wide, bytes_min, bytes_max }
}

const UUID: Shape = Shape { prefix: "", made_of: MadeOf::Uuid, bytes_min: 36, bytes_max: 36 };

const fn prefixed(prefix: &'static str, shape: Shape) -> Shape {
    Shape { prefix, ..shape }
}

const fn vendor(kind: &'static str, words: &'static [&'static str], shapes: &'static [Shape]) -> VendorRule {
    VendorRule { kind, words, shapes }
}

/// Bits per character that such a value has at least.
const ENTROPY_MIN: f32 = 2.0;

impl VendorRule {
    /// Returns whether a value is one of this vendor's.
    pub(crate) fn made(&self, value: &[u8]) -> bool {
        self.shapes.iter().any(|shape| shape.fits(value)) && entropy(value) >= ENTROPY_MIN
    }
}

impl Shape {
    fn fits(&self, value: &[u8]) -> bool {
        let Some((prefix, rest)) = value.split_at_checked(self.prefix.len()) else { return false };
        let bytes = self.bytes_min..=self.bytes_max;
        if !prefix.eq_ignore_ascii_case(self.prefix.as_bytes()) || !bytes.contains(&rest.len()) {
            return false;
        }
        let mixed = || rest.iter().any(u8::is_ascii_digit) && rest.iter().any(u8::is_ascii_alphabetic);
        let drawn = || mixed() || !is_wordy(rest) || consonants(rest) >= 5;
        match self.made_of {
            MadeOf::Hex => rest.iter().all(u8::is_ascii_hexdigit) && rest.iter().any(u8::is_ascii_digit),
            MadeOf::Digits => rest.iter().all(u8::is_ascii_digit),
            MadeOf::Letters => rest.iter().all(u8::is_ascii_alphanumeric) && drawn(),
            MadeOf::Word => rest.iter().all(|byte| is_word(*byte)) && drawn(),
            MadeOf::Wide => rest.iter().all(|byte| is_word(*byte) || b".+/%:".contains(byte)) && drawn(),
            MadeOf::Uuid => is_uuid(rest),
            MadeOf::Parts => {
                rest.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-:".contains(byte)) && drawn()
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-=".contains(&byte)
}

const fn parts(bytes: usize) -> Shape {
    Shape { prefix: "", made_of: MadeOf::Parts, bytes_min: bytes, bytes_max: bytes }
}

/// Every vendor whose values have no beginning of their own.
pub(crate) static VENDORS: [VendorRule; 77] = [
    vendor("adafruit-key", &["adafruit"], &[word(32, 32)]),
    vendor("adobe-client", &["adobe"], &[hex(32)]),
    vendor("airtable-key", &["airtable"], &[letters(17)]),
    vendor("algolia-key", &["algolia"], &[letters(32)]),
    vendor("alibaba-secret", &["alibaba", "aliyun"], &[letters(30)]),
    vendor("asana-client", &["asana"], &[digits(16), letters(32)]),
    vendor("atlassian-token", &["atlassian", "confluence", "jira"], &[letters(24)]),
    vendor(
        "aws-secret-key",
        &["aws_secret", "aws-secret", "awssecret", "secret_access_key", "secretaccesskey"],
        &[wide(40, 40)],
    ),
    vendor("azure-storage-key", &["accountkey", "account_key", "azure"], &[wide(86, 88), letters(52)]),
    vendor("beamer-token", &["beamer"], &[prefixed("b_", word(44, 44))]),
    vendor("bitbucket-client", &["bitbucket"], &[letters(32), word(64, 64)]),
    vendor("bittrex-key", &["bittrex"], &[letters(32)]),
    vendor("buildkite-token", &["buildkite"], &[letters(40), letters(50)]),
    vendor("cisco-meraki-key", &["meraki"], &[hex(40)]),
    vendor("cloudflare-key", &["cloudflare"], &[word(40, 40), hex(37)]),
    vendor("codecov-token", &["codecov"], &[letters(32), UUID]),
    vendor("cohere-key", &["cohere", "co_api_key"], &[letters(40)]),
    vendor("coinbase-token", &["coinbase"], &[word(64, 64)]),
    vendor("confluent-key", &["confluent"], &[letters(16), letters(64)]),
    vendor("contentful-token", &["contentful"], &[word(43, 43)]),
    vendor("datadog-key", &["datadog", "dd_api", "dd_app"], &[letters(40), hex(32)]),
    vendor("discord-secret", &["discord"], &[hex(64), digits(18), word(32, 32), wide(59, 72)]),
    vendor("drone-ci-token", &["droneci", "drone_token"], &[letters(32)]),
    vendor("dropbox-token", &["dropbox"], &[letters(15), word(64, 64), prefixed("sl.", word(130, 140))]),
    vendor("etsy-token", &["etsy"], &[letters(24)]),
    vendor("facebook-secret", &["facebook"], &[hex(32)]),
    vendor("fastly-token", &["fastly"], &[word(32, 32)]),
    vendor("finicity-secret", &["finicity"], &[hex(32), letters(20)]),
    vendor("finnhub-token", &["finnhub"], &[letters(20)]),
    vendor("flickr-token", &["flickr"], &[letters(32)]),
    vendor("freshbooks-token", &["freshbooks"], &[letters(64)]),
    vendor("gitter-token", &["gitter"], &[word(40, 40)]),
    vendor("gocardless-token", &["gocardless"], &[prefixed("live_", word(40, 40))]),
    vendor("heroku-key", &["heroku"], &[UUID]),
    vendor("hubspot-key", &["hubspot"], &[UUID]),
    vendor("intercom-key", &["intercom"], &[word(60, 60)]),
    vendor("jfrog-key", &["jfrog", "artifactory", "bintray", "xray"], &[letters(73), letters(64)]),
    vendor("kraken-token", &["kraken"], &[wide(80, 90)]),
    vendor("kucoin-key", &["kucoin"], &[hex(24), UUID]),
    vendor("launchdarkly-token", &["launchdarkly"], &[word(40, 40)]),
    vendor("linear-secret", &["linear"], &[hex(32)]),
    vendor("linkedin-client", &["linkedin", "linked_in", "linked-in"], &[letters(14), letters(16)]),
    vendor("lob-key", &["lob_", "lob-", "lob."], &[prefixed("live_", hex(35)), prefixed("test_", hex(35))]),
    vendor("looker-client", &["looker"], &[letters(20), letters(24)]),
    vendor("mailchimp-key", &["mailchimp"], &[parts(36), parts(37)]),
    vendor("mailgun-key", &["mailgun"], &[parts(50)]),
    vendor("mattermost-token", &["mattermost"], &[letters(26)]),
    vendor("messagebird-token", &["messagebird", "message-bird", "message_bird"], &[letters(25), UUID]),
    vendor("netlify-token", &["netlify"], &[word(40, 46)]),
    vendor("newrelic-user", &["new-relic", "newrelic", "new_relic"], &[letters(64)]),
    vendor("nytimes-token", &["nytimes", "new-york-times", "newyorktimes"], &[word(32, 32)]),
    vendor("okta-token", &["okta"], &[prefixed("00", word(40, 40))]),
    vendor("plaid-client", &["plaid"], &[letters(24), letters(30)]),
    vendor("privateai-token", &["privateai", "private_ai", "private-ai"], &[letters(32)]),
    vendor("rapidapi-token", &["rapidapi"], &[word(50, 50)]),
    vendor("sendbird-token", &["sendbird"], &[UUID, hex(40)]),
    vendor("sentry-token", &["sentry"], &[hex(64)]),
    vendor("sidekiq-secret", &["contribsys"], &[parts(17)]),
    vendor("snyk-token", &["snyk"], &[UUID]),
    vendor("sonar-token", &["sonar"], &[word(40, 40)]),
    vendor("sourcegraph-token", &["sourcegraph"], &[hex(40)]),
    vendor("squarespace-token", &["squarespace"], &[UUID]),
    vendor("sumologic-key", &["sumo"], &[prefixed("su", word(12, 12)), letters(64)]),
    vendor("telegram-bot-token", &["telegr"], &[wide(41, 52)]),
    vendor("travis-ci-token", &["travis"], &[letters(22)]),
    vendor("twilio-secret", &["twilio"], &[hex(32)]),
    vendor("twitch-token", &["twitch"], &[letters(30)]),
    vendor("twitter-key", &["twitter"], &[letters(45), letters(25), letters(50), wide(36, 66)]),
    vendor("typeform-token", &["typeform"], &[prefixed("tfp_", wide(59, 59))]),
    vendor("yandex-key", &["yandex"], &[prefixed("YC", word(38, 38)), prefixed("AQVN", word(35, 38))]),
    vendor("zendesk-key", &["zendesk"], &[letters(40)]),
    vendor("digitalocean-key", &["digitalocean"], &[hex(64), letters(43)]),
    vendor("elastic-key", &["elastic"], &[wide(56, 64)]),
    vendor("mistral-key", &["mistral"], &[letters(32)]),
    vendor("railway-token", &["railway"], &[UUID]),
    vendor("postmark-token", &["postmark"], &[UUID]),
    vendor("wandb-key", &["wandb"], &[hex(40)]),
];
