//! Puts a fault on the wire: as a whole reply, or behind the text of a stream.
//!
//! Refusals are spoken by the dialects; what is broken below HTTP or JSON is broken here, for both alike.

use super::act::{Act, Performance, halve_last};
use super::answer::{Answer, Part, Quirk, Tear};
use super::exchange::{Dialect, Exchange};
use super::fault::Fault;
use super::reply::{answered, refused, whole, with_head};
use super::{chat, messages};

/// What a proxy or a login page sends.
const PAGE: &str =
    "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in first.</body></html>\n";
/// How much of an endless argument is sent at a time.
const FLOOD_BYTES: usize = 16 * 1024;

/// Performs a fault in place of an answer.
pub(super) fn performance(fault: Fault, exchange: &Exchange) -> Performance {
    match fault {
        Fault::Reset => Performance { head: None, acts: vec![Act::Reset] },
        Fault::Close => Performance { head: None, acts: vec![Act::Close] },
        Fault::Silence => Performance { head: None, acts: vec![Act::Hang] },
        Fault::Stall => with_head(200, "text/event-stream", vec![Act::Hang]),
        Fault::HtmlPage(status) => whole(status, "text/html; charset=utf-8", PAGE.into()),
        Fault::CutJson => whole(200, "application/json", cut_json(exchange).into_bytes()),
        Fault::BrokenEvents => with_head(200, "text/event-stream", vec![garbage()]),
        Fault::Twice => {
            let mut answer = Answer { parts: vec![Part::Text("Twice.".to_owned())], ..Answer::default() };
            answer.quirks.push(Quirk::Twice);
            twice(answered(&answer, exchange), exchange)
        }
        Fault::NoEnd | Fault::ResetMidFrame | Fault::CloseMidFrame | Fault::EndlessArguments => {
            with_head(200, "text/event-stream", within(fault, exchange, opening(exchange)))
        }
        Fault::Auth
        | Fault::Permission
        | Fault::RateLimit(_)
        | Fault::Quota
        | Fault::Server(_)
        | Fault::Overloaded
        | Fault::BadRequest
        | Fault::UnknownModel
        | Fault::ContextExceeded
        | Fault::TooLarge
        | Fault::ContentPolicy => refusal(fault, exchange),
    }
}

fn refusal(fault: Fault, exchange: &Exchange) -> Performance {
    let (status, body, headers) = match exchange.dialect {
        Dialect::Chat => chat::errors::refusal(fault, exchange),
        Dialect::Messages => messages::errors::refusal(fault, exchange),
    };
    refused(whole(status, "application/json", body.to_string().into_bytes()), fault, headers)
}

/// Adds a fault behind what a stream has said.
pub(super) fn within(fault: Fault, exchange: &Exchange, mut acts: Vec<Act>) -> Vec<Act> {
    match fault {
        // Behind text, the second telling of an answer is the fault; its first end was the proper one.
        Fault::Twice | Fault::NoEnd => {}
        Fault::Reset => acts.push(Act::Reset),
        Fault::Close => acts.push(Act::Close),
        Fault::Silence | Fault::Stall => acts.push(Act::Hang),
        Fault::HtmlPage(_) => acts.push(Act::Send(PAGE.into())),
        Fault::CutJson => acts.push(Act::Send(format!("data: {}\n\n", cut_json(exchange)).into_bytes())),
        Fault::BrokenEvents => acts.push(garbage()),
        Fault::ResetMidFrame => {
            halve_last(&mut acts);
            acts.push(Act::Reset);
        }
        Fault::CloseMidFrame => {
            halve_last(&mut acts);
            acts.push(Act::Close);
        }
        Fault::EndlessArguments => {
            let (begin, more) = match exchange.dialect {
                Dialect::Chat => chat::events::endless_call(exchange, FLOOD_BYTES),
                Dialect::Messages => messages::events::endless_call(FLOOD_BYTES),
            };
            acts.extend([Act::Send(begin), Act::Flood(more)]);
        }
        Fault::Auth
        | Fault::Permission
        | Fault::RateLimit(_)
        | Fault::Quota
        | Fault::Server(_)
        | Fault::Overloaded
        | Fault::BadRequest
        | Fault::UnknownModel
        | Fault::ContextExceeded
        | Fault::TooLarge
        | Fault::ContentPolicy => acts.push(Act::Send(match exchange.dialect {
            Dialect::Chat => chat::errors::event(fault, exchange),
            Dialect::Messages => messages::errors::event(fault, exchange),
        })),
    }
    acts
}

/// Adds a tear behind what was sent.
pub(super) fn torn(mut acts: Vec<Act>, tear: Tear) -> Vec<Act> {
    match tear {
        Tear::CleanEnd => {}
        Tear::Silence => acts.push(Act::Hang),
        Tear::MidFrame => {
            halve_last(&mut acts);
            acts.push(Act::Close);
        }
    }
    acts
}

/// Returns how a stream begins that breaks before its first word is through.
fn opening(exchange: &Exchange) -> Vec<Act> {
    let answer = Answer {
        parts: vec![Part::Text("x".to_owned())],
        trouble: Some(super::answer::Trouble::Torn(Tear::CleanEnd)),
        ..Answer::default()
    };
    let mut acts = match exchange.dialect {
        Dialect::Chat => chat::events::events(&answer, exchange),
        Dialect::Messages => messages::events::events(&answer, exchange),
    };
    // What is left says nothing yet.
    acts.pop();
    acts
}

/// A document told twice is no JSON any more.
fn twice(mut performance: Performance, exchange: &Exchange) -> Performance {
    if !exchange.streams {
        let again = performance.acts.clone();
        performance.acts.extend(again);
    }
    performance
}

fn cut_json(exchange: &Exchange) -> String {
    let document = answered(&Answer::default(), &Exchange { streams: false, ..exchange.clone() });
    let text = document.acts.into_iter().find_map(|act| match act {
        Act::Send(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    });
    let text = text.unwrap_or_default();
    text[..text.len() / 2].to_owned()
}

fn garbage() -> Act {
    Act::Send(b"\x00\xff garbage \n\n\r\rdata: {not json\n\n".to_vec())
}
