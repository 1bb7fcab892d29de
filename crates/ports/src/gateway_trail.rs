//! Which gateways a request passed: a gateway whose model is itself, directly or by way of another one, would ask without end.
//!
//! Owns the header, its limits and the decision. Each gateway adds its id to its requests to models, with the ids of the
//! gateways that it answers at that moment, and refuses a request that names it. Begin at [`GatewayTrail::check`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Entropy;

/// The header that names the gateways.
pub const GATEWAY_HEADER: &str = "palyra-gateway";
/// The code of the refusal, as a client of OpenAI's API reads it.
pub const GATEWAY_LOOP_CODE: &str = "gateway_loop";
/// Gateways that ask each other in a row, at most.
const GATEWAYS_MAX: usize = 8;
/// Characters of the id of a gateway, at most.
const ID_CHARS_MAX: usize = 32;

/// The id of a gateway, and the gateways that it answers.
///
/// The default has no id: its requests carry no header, and it refuses none for its own sake.
#[derive(Debug, Clone, Default)]
pub struct GatewayTrail {
    own: Option<Arc<str>>,
    answered: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// Why a request of a gateway is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GatewayLoop {
    /// This gateway asks itself.
    #[error(
        "this gateway is its own model: the server of its model is the gateway itself; name another model: \
         `palyra model use demo/demo`, `palyra model add`, or unset OPENAI_BASE_URL where the daemon is started"
    )]
    Itself,
    /// More gateways ask each other than is allowed.
    #[error(
        "the request passed {GATEWAYS_MAX} gateways already, which is the limit; ask a model server instead of a gateway"
    )]
    TooMany,
}

impl GatewayTrail {
    /// Makes the trail of a gateway: its id is random and new with each start, so it says nothing about machine or person.
    #[must_use]
    pub fn new(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0_u8; ID_CHARS_MAX / 2];
        entropy.fill(&mut bytes);
        let own = bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        Self { own: Some(own.into()), answered: Arc::default() }
    }

    /// Returns the value of the header for a request to a model.
    #[must_use]
    pub fn header(&self) -> Option<String> {
        let own = self.own.as_ref()?;
        let answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let others = answered.keys().take(GATEWAYS_MAX - 1).map(String::as_str);
        Some(std::iter::once(&**own).chain(others).collect::<Vec<_>>().join(", "))
    }

    /// Returns the gateways that a header names.
    ///
    /// # Errors
    /// [`GatewayLoop`] when this one is among them, or they are too many.
    pub fn check(&self, header: &str) -> Result<Vec<String>, GatewayLoop> {
        let is_id = |id: &&str| (1..=ID_CHARS_MAX).contains(&id.len());
        let ids: Vec<String> = header.split(',').map(str::trim).filter(is_id).map(str::to_owned).collect();
        if self.own.as_deref().is_some_and(|own| ids.iter().any(|id| id == own)) {
            return Err(GatewayLoop::Itself);
        }
        if ids.len() >= GATEWAYS_MAX { Err(GatewayLoop::TooMany) } else { Ok(ids) }
    }

    /// Notes the gateways of a request while it is answered, until the guard is dropped.
    #[must_use]
    pub fn answering(&self, gateways: Vec<String>) -> AnsweredGateways {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        for gateway in &gateways {
            *answered.entry(gateway.clone()).or_default() += 1;
        }
        drop(answered);
        AnsweredGateways { trail: self.clone(), gateways }
    }
}

/// Gateways whose request is answered.
#[derive(Debug)]
pub struct AnsweredGateways {
    trail: GatewayTrail,
    gateways: Vec<String>,
}

impl Drop for AnsweredGateways {
    fn drop(&mut self) {
        let mut answered = self.trail.answered.lock().unwrap_or_else(PoisonError::into_inner);
        for gateway in &self.gateways {
            let left = answered.get(gateway).copied().unwrap_or_default();
            if left > 1 {
                answered.insert(gateway.clone(), left - 1);
            } else {
                answered.remove(gateway);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Constant(u8);

    impl Entropy for Constant {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(self.0);
        }
    }

    fn header(trail: &GatewayTrail) -> String {
        trail.header().expect("an id")
    }

    #[test]
    fn a_gateway_refuses_what_it_asked_itself() {
        let gateway = GatewayTrail::new(&Constant(1));
        assert_eq!(gateway.check(&header(&gateway)), Err(GatewayLoop::Itself));
        assert_eq!(gateway.check(""), Ok(Vec::new()));
        assert_eq!(GatewayTrail::default().header(), None);
    }

    #[test]
    fn two_gateways_that_ask_each_other_are_found_while_they_do() {
        let (one, two) = (GatewayTrail::new(&Constant(1)), GatewayTrail::new(&Constant(2)));
        let from_one = two.check(&header(&one)).expect("another gateway");
        let answering = two.answering(from_one);
        assert_eq!(one.check(&header(&two)), Err(GatewayLoop::Itself));
        drop(answering);
        assert!(one.check(&header(&two)).is_ok());
    }

    #[test]
    fn a_row_of_gateways_has_an_end() {
        let gateway = GatewayTrail::new(&Constant(1));
        let ids = |count: usize| (0..count).map(|n| format!("g{n}")).collect::<Vec<_>>().join(", ");
        assert!(gateway.check(&ids(GATEWAYS_MAX - 1)).is_ok());
        assert_eq!(gateway.check(&ids(GATEWAYS_MAX)), Err(GatewayLoop::TooMany));
    }
}
