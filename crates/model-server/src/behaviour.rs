//! Chooses the reply to a request.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::assistant;
use super::exchange::Vendor;
use super::fault::Fault;
use super::reply::Reply;

/// How a server behaves.
///
/// ```
/// use palyra_model_server::{Behaviour, Fault, Reply};
///
/// let recovers = Behaviour::times(2, Fault::Overloaded).then(Reply::text("There you are."));
/// let by_model = Behaviour::per_model([
///     ("small", Behaviour::always(Fault::ContextExceeded)),
///     ("large", Behaviour::always(Reply::text("It fits."))),
/// ]);
/// # drop((recovers, by_model));
/// ```
pub struct Behaviour {
    models: Vec<String>,
    models_reply: Option<Reply>,
    key: Option<String>,
    vendor: Vendor,
    choice: ReplyChoice,
}

enum ReplyChoice {
    By(Box<dyn Fn(&Value) -> Reply + Send + Sync>),
    Steps(Mutex<VecDeque<ReplyStep>>),
    PerModel(Vec<(String, Behaviour)>),
}

/// A reply, and how often it is given.
struct ReplyStep {
    left: usize,
    reply: Reply,
}

impl Behaviour {
    /// Answers every request by a function of its body.
    #[must_use]
    pub fn by(choose: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Self {
        Self::of(ReplyChoice::By(Box::new(choose)))
    }

    /// Answers every request alike.
    #[must_use]
    pub fn always(reply: impl Into<Reply>) -> Self {
        Self::times(usize::MAX, reply)
    }

    /// Answers with each reply once, in order, and then with "ok".
    #[must_use]
    pub fn each(replies: Vec<Reply>) -> Self {
        let steps = replies.into_iter().chain([Reply::text("ok")]);
        Self::of(ReplyChoice::Steps(Mutex::new(steps.map(|reply| ReplyStep { left: 1, reply }).collect())))
    }

    /// Answers so many requests alike; goes on with [`then`](Self::then).
    #[must_use]
    pub fn times(times: usize, reply: impl Into<Reply>) -> Self {
        let step = ReplyStep { left: times, reply: reply.into() };
        Self::of(ReplyChoice::Steps(Mutex::new(VecDeque::from([step]))))
    }

    /// Answers the next request with this; the last reply of a sequence is given for ever.
    #[must_use]
    pub fn then(self, reply: impl Into<Reply>) -> Self {
        self.then_times(1, reply)
    }

    /// Answers the next so many requests with this.
    #[must_use]
    pub fn then_times(mut self, times: usize, reply: impl Into<Reply>) -> Self {
        let ReplyChoice::Steps(steps) = &mut self.choice else { panic!("only a sequence goes on") };
        let steps = steps.get_mut().unwrap_or_else(PoisonError::into_inner);
        steps.push_back(ReplyStep { left: times, reply: reply.into() });
        self
    }

    /// Behaves by the model that is asked for, and lists these; any other model does not exist.
    ///
    /// Keys and vendors of the inner behaviours do not count.
    #[must_use]
    pub fn per_model<'a>(behaviours: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let each = behaviours.into_iter().map(|(model, behaviour)| (model.to_owned(), behaviour));
        let each: Vec<_> = each.collect();
        let models = each.iter().map(|(model, _)| model.clone()).collect();
        Self { models, ..Self::of(ReplyChoice::PerModel(each)) }
    }

    /// Behaves like a small assistant: reads the file that is spoken of, if it may, and answers with
    /// what stands in it; waits before each piece. Thinks where it is asked to, names the images it is
    /// shown, and fits an answer into a schema.
    #[must_use]
    pub fn assistant(pace: Duration) -> Self {
        Self::by(move |body| assistant::assist(body).paced(pace))
    }

    /// Lists other models.
    #[must_use]
    pub fn with_models(mut self, models: &[&str]) -> Self {
        self.models = models.iter().map(|model| (*model).to_owned()).collect();
        self
    }

    /// Answers the question for its models with this.
    #[must_use]
    pub fn with_models_reply(mut self, reply: impl Into<Reply>) -> Self {
        self.models_reply = Some(reply.into());
        self
    }

    /// Wants a key: as a bearer; from Messages also in `x-api-key`.
    #[must_use]
    pub fn with_key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Speaks Chat Completions as this vendor's server does.
    #[must_use]
    pub fn as_vendor(mut self, vendor: Vendor) -> Self {
        self.vendor = vendor;
        self
    }

    fn of(choice: ReplyChoice) -> Self {
        let models = vec!["test-model".to_owned()];
        Self { models, models_reply: None, key: None, vendor: Vendor::default(), choice }
    }

    pub(super) fn models(&self) -> &[String] {
        &self.models
    }

    pub(super) fn models_reply(&self) -> Option<&Reply> {
        self.models_reply.as_ref()
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    pub(super) fn vendor(&self) -> Vendor {
        self.vendor
    }

    pub(super) fn choose(&self, body: &Value) -> Reply {
        match &self.choice {
            ReplyChoice::By(choose) => choose(body),
            ReplyChoice::Steps(steps) => next(&mut steps.lock().unwrap_or_else(PoisonError::into_inner)),
            ReplyChoice::PerModel(each) => {
                match each.iter().find(|(model, _)| body["model"] == model.as_str()) {
                    Some((_, behaviour)) => behaviour.choose(body),
                    None => Fault::UnknownModel.into(),
                }
            }
        }
    }
}

fn next(steps: &mut VecDeque<ReplyStep>) -> Reply {
    while steps.len() > 1 && steps.front().is_some_and(|step| step.left == 0) {
        steps.pop_front();
    }
    let step = steps.front_mut().expect("a sequence has a step");
    step.left = step.left.saturating_sub(1);
    step.reply.clone()
}
