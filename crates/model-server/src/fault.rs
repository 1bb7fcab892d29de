//! The ways in which a model provider fails, each with the class it belongs to.
//!
//! Owns the list that failure matrices are driven with. How a fault looks on the wire is the dialects'
//! affair. Begin at [`Fault::every`].

use palyra_types::model::ModelFailureClass as Class;

/// What a rate limit says about the pause it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// Nothing.
    Unsaid,
    /// A number of seconds.
    Seconds(u64),
    /// An HTTP date, this many seconds behind the reply's own `Date`.
    Date(u64),
    /// A number of milliseconds, in `retry-after-ms`.
    Millis(u64),
}

/// One way to fail, in place of an answer or behind some text of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The key is refused.
    Auth,
    /// The key may not use this.
    Permission,
    /// Too many requests.
    RateLimit(RetryAfter),
    /// The account is used up.
    Quota,
    /// The server fails with this status: 500, 502, 503, 504.
    Server(u16),
    /// The vendor is overloaded: 529 or 503, as it says it.
    Overloaded,
    /// A page for people, with this status: 200 behind a login, 502 from a proxy.
    HtmlPage(u16),
    /// The request is wrong.
    BadRequest,
    /// There is no such model.
    UnknownModel,
    /// The request is larger than the model's window.
    ContextExceeded,
    /// The request is larger than the server takes.
    TooLarge,
    /// A content policy refuses the request.
    ContentPolicy,
    /// JSON that breaks off, in a body that ends properly.
    CutJson,
    /// An event stream that is none.
    BrokenEvents,
    /// The whole answer is told twice before the stream ends.
    Twice,
    /// The stream ends properly, but nothing said why the model stopped.
    NoEnd,
    /// The arguments of a tool call never end.
    EndlessArguments,
    /// The connection is reset before the head of the reply.
    Reset,
    /// The connection is closed before the head of the reply.
    Close,
    /// The connection is reset inside an event.
    ResetMidFrame,
    /// The connection is closed inside an event.
    CloseMidFrame,
    /// No answer ever comes, not even a head.
    Silence,
    /// The head comes, and then nothing.
    Stall,
}

impl Fault {
    /// Returns every fault, those with a number with the numbers that matter.
    #[must_use]
    pub fn every() -> Vec<Self> {
        const HOURS: u64 = 5 * 3_600;
        vec![
            Self::Auth,
            Self::Permission,
            Self::RateLimit(RetryAfter::Unsaid),
            Self::RateLimit(RetryAfter::Seconds(2)),
            Self::RateLimit(RetryAfter::Seconds(HOURS)),
            Self::RateLimit(RetryAfter::Date(9)),
            Self::RateLimit(RetryAfter::Millis(40)),
            Self::Quota,
            Self::Server(500),
            Self::Server(502),
            Self::Server(503),
            Self::Overloaded,
            Self::HtmlPage(200),
            Self::HtmlPage(502),
            Self::BadRequest,
            Self::UnknownModel,
            Self::ContextExceeded,
            Self::TooLarge,
            Self::ContentPolicy,
            Self::CutJson,
            Self::BrokenEvents,
            Self::Twice,
            Self::NoEnd,
            Self::EndlessArguments,
            Self::Reset,
            Self::Close,
            Self::ResetMidFrame,
            Self::CloseMidFrame,
            Self::Silence,
            Self::Stall,
        ]
    }

    /// Returns the class of failure it is in place of an answer.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            Self::Auth => Class::Auth,
            Self::Permission => Class::Permission,
            Self::RateLimit(_) => Class::RateLimit,
            Self::Quota => Class::Quota,
            Self::Server(_) | Self::Overloaded => Class::Transient,
            Self::HtmlPage(status) if status >= 500 => Class::Transient,
            Self::BadRequest | Self::UnknownModel => Class::Permanent,
            Self::ContextExceeded | Self::TooLarge => Class::ContextExceeded,
            Self::ContentPolicy => Class::ContentPolicy,
            Self::HtmlPage(_)
            | Self::CutJson
            | Self::BrokenEvents
            | Self::Twice
            | Self::NoEnd
            | Self::EndlessArguments => Class::Malformed,
            Self::Reset | Self::Close | Self::ResetMidFrame | Self::CloseMidFrame => Class::Network,
            Self::Silence | Self::Stall => Class::Timeout,
        }
    }

    /// Returns the class of failure it is behind some text: there is no status any more.
    #[must_use]
    pub fn class_within(self) -> Class {
        match self {
            Self::HtmlPage(_) => Class::Malformed,
            other => other.class(),
        }
    }

    /// Returns whether it can happen behind some text. Keys and requests are judged before the first word.
    #[must_use]
    pub fn can_come_within(self) -> bool {
        !matches!(
            self,
            Self::Auth | Self::Permission | Self::BadRequest | Self::UnknownModel | Self::TooLarge
        )
    }

    /// Returns the pause the reply asks for, in milliseconds.
    #[must_use]
    pub fn pause_millis(self) -> Option<u64> {
        match self {
            Self::RateLimit(RetryAfter::Seconds(seconds) | RetryAfter::Date(seconds)) => {
                Some(seconds * 1_000)
            }
            Self::RateLimit(RetryAfter::Millis(millis)) => Some(millis),
            _ => None,
        }
    }

    /// Returns whether the server answers with a refusal, rather than with a broken answer.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        match self {
            Self::Auth
            | Self::Permission
            | Self::RateLimit(_)
            | Self::Quota
            | Self::Server(_)
            | Self::Overloaded
            | Self::BadRequest
            | Self::UnknownModel
            | Self::ContextExceeded
            | Self::TooLarge
            | Self::ContentPolicy => true,
            Self::HtmlPage(_)
            | Self::CutJson
            | Self::BrokenEvents
            | Self::Twice
            | Self::NoEnd
            | Self::EndlessArguments
            | Self::Reset
            | Self::Close
            | Self::ResetMidFrame
            | Self::CloseMidFrame
            | Self::Silence
            | Self::Stall => false,
        }
    }
}
