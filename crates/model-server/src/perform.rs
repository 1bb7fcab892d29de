//! Puts answers and faults on the wire, in the dialect that was spoken.
//!
//! Words and refusals are the dialects' affair; what is broken below HTTP or JSON is broken here, for all
//! alike. Begin at [`answered`] and [`failed`].

use super::act::{WireAction, WireReply, halve_last};
use super::answer::{Answer, AnswerFault, AnswerQuirk, Part, Tear};
use super::exchange::{Dialect, ModelExchange};
use super::fault::Fault;
use super::refusal::pause_headers;
use super::{chat, messages, responses};

/// What a proxy or a login page sends.
const PAGE: &str =
    "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in first.</body></html>\n";
/// How much of an endless argument is sent at a time.
const FLOOD_BYTES: usize = 16 * 1024;

/// Performs an answer; one that does not stream fails as a whole.
pub(super) fn answered(answer: &Answer, exchange: &ModelExchange) -> WireReply {
    if exchange.streams {
        return streamed(answer, exchange);
    }
    let mut acts = answer.waits();
    let document = match exchange.dialect {
        Dialect::Chat => chat::wire::document(answer, exchange),
        Dialect::Messages => messages::wire::document(answer, exchange),
        Dialect::Responses => responses::wire::document(answer, exchange),
    };
    acts.push(WireAction::Send(document.to_string().into_bytes()));
    match answer.trouble {
        None => {}
        Some(AnswerFault::Torn(tear)) => acts = torn(acts, tear),
        Some(AnswerFault::Fails(fault)) => {
            acts.pop();
            let mut performance = failed(fault, exchange);
            acts.append(&mut performance.acts);
            return WireReply { acts, ..performance };
        }
    }
    WireReply::of(200, "application/json", acts)
}

fn streamed(answer: &Answer, exchange: &ModelExchange) -> WireReply {
    let mut acts = events(answer, exchange);
    match answer.breaks() {
        None => {}
        Some(AnswerFault::Torn(tear)) => acts = torn(acts, tear),
        Some(AnswerFault::Fails(fault)) => acts = within(fault, exchange, acts),
    }
    if answer.has(AnswerQuirk::EventsDoubled) {
        acts = acts.into_iter().flat_map(doubled).collect();
    }
    WireReply::of(200, "text/event-stream", acts)
}

/// Returns the events of an answer, up to where it breaks.
fn events(answer: &Answer, exchange: &ModelExchange) -> Vec<WireAction> {
    match exchange.dialect {
        Dialect::Chat => chat::events::events(answer, exchange),
        Dialect::Messages => messages::events::events(answer, exchange),
        Dialect::Responses => responses::events::events(answer, exchange),
    }
}

fn doubled(act: WireAction) -> Vec<WireAction> {
    match act {
        WireAction::Send(_) => vec![act.clone(), act],
        other => vec![other],
    }
}

/// Performs a refusal with a status, a code and words of the test's own.
pub(super) fn refused(status: u16, code: &str, message: &str, exchange: &ModelExchange) -> WireReply {
    let body = match exchange.dialect {
        Dialect::Chat | Dialect::Responses => chat::errors::plain(exchange.vendor, status, code, message),
        Dialect::Messages => messages::errors::plain(exchange.number, code, message),
    };
    WireReply::whole(status, "application/json", body.to_string().into_bytes())
}

/// Performs a fault in place of an answer.
pub(super) fn failed(fault: Fault, exchange: &ModelExchange) -> WireReply {
    match fault {
        Fault::Reset => WireReply::headless(WireAction::Reset),
        Fault::Close => WireReply::headless(WireAction::Close),
        Fault::Silence => WireReply::headless(WireAction::Hang),
        Fault::Stall => WireReply::of(200, "text/event-stream", vec![WireAction::Hang]),
        Fault::HtmlPage(status) => WireReply::whole(status, "text/html; charset=utf-8", PAGE.into()),
        Fault::CutJson => WireReply::whole(200, "application/json", cut_json(exchange).into_bytes()),
        Fault::BrokenEvents => WireReply::of(200, "text/event-stream", vec![garbage()]),
        Fault::Twice => twice(exchange),
        Fault::NoEnd | Fault::ResetMidFrame | Fault::CloseMidFrame | Fault::EndlessArguments => {
            WireReply::of(200, "text/event-stream", within(fault, exchange, opening(exchange)))
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

fn refusal(fault: Fault, exchange: &ModelExchange) -> WireReply {
    let (status, body, headers) = match exchange.dialect {
        Dialect::Chat | Dialect::Responses => chat::errors::refusal(fault, exchange),
        Dialect::Messages => messages::errors::refusal(fault, exchange),
    };
    let mut performance = WireReply::whole(status, "application/json", body.to_string().into_bytes());
    if let Some(head) = &mut performance.head {
        head.headers.extend(pause_headers(fault));
        head.headers.extend(headers);
    }
    performance
}

/// Adds a fault behind what a stream has said.
fn within(fault: Fault, exchange: &ModelExchange, mut acts: Vec<WireAction>) -> Vec<WireAction> {
    match fault {
        // An answer that is told twice does not break.
        Fault::Twice | Fault::NoEnd => {}
        Fault::Reset => acts.push(WireAction::Reset),
        Fault::Close => acts.push(WireAction::Close),
        Fault::Silence | Fault::Stall => acts.push(WireAction::Hang),
        Fault::HtmlPage(_) => acts.push(WireAction::Send(PAGE.into())),
        Fault::CutJson => {
            acts.push(WireAction::Send(format!("data: {}\n\n", cut_json(exchange)).into_bytes()));
        }
        Fault::BrokenEvents => acts.push(garbage()),
        Fault::ResetMidFrame => {
            halve_last(&mut acts);
            acts.push(WireAction::Reset);
        }
        Fault::CloseMidFrame => {
            halve_last(&mut acts);
            acts.push(WireAction::Close);
        }
        Fault::EndlessArguments => {
            let (begin, more) = match exchange.dialect {
                Dialect::Chat => chat::events::endless_call(exchange, FLOOD_BYTES),
                Dialect::Messages => messages::events::endless_call(FLOOD_BYTES),
                Dialect::Responses => responses::events::endless_call(FLOOD_BYTES),
            };
            acts.extend([WireAction::Send(begin), WireAction::Flood(more)]);
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
        | Fault::ContentPolicy => acts.push(WireAction::Send(match exchange.dialect {
            Dialect::Chat => chat::errors::event(fault, exchange),
            Dialect::Messages => messages::errors::event(fault, exchange),
            Dialect::Responses => responses::errors::event(fault, exchange),
        })),
    }
    acts
}

fn torn(mut acts: Vec<WireAction>, tear: Tear) -> Vec<WireAction> {
    match tear {
        Tear::CleanEnd => {}
        Tear::Silence => acts.push(WireAction::Hang),
        Tear::MidFrame => {
            halve_last(&mut acts);
            acts.push(WireAction::Close);
        }
    }
    acts
}

/// Returns how a stream begins that breaks before its first word is through.
fn opening(exchange: &ModelExchange) -> Vec<WireAction> {
    let answer = Answer {
        parts: vec![Part::Text("x".to_owned())],
        trouble: Some(AnswerFault::Torn(Tear::CleanEnd)),
        ..Answer::default()
    };
    let mut acts = events(&answer, exchange);
    // What is left says nothing yet.
    acts.pop();
    acts
}

/// A document told twice is no JSON any more.
fn twice(exchange: &ModelExchange) -> WireReply {
    let mut answer = Answer { parts: vec![Part::Text("Twice.".to_owned())], ..Answer::default() };
    answer.quirks.push(AnswerQuirk::Twice);
    let mut performance = answered(&answer, exchange);
    if !exchange.streams {
        performance.acts.extend(performance.acts.clone());
    }
    performance
}

fn cut_json(exchange: &ModelExchange) -> String {
    let document = match exchange.dialect {
        Dialect::Chat => chat::wire::document(&Answer::default(), exchange),
        Dialect::Messages => messages::wire::document(&Answer::default(), exchange),
        Dialect::Responses => responses::wire::document(&Answer::default(), exchange),
    };
    let text = document.to_string();
    text[..text.floor_char_boundary(text.len() / 2)].to_owned()
}

fn garbage() -> WireAction {
    WireAction::Send(b"\x00\xff garbage \n\n\r\rdata: {not json\n\n".to_vec())
}
