//! The story's clock as the runtime sees it; may be told to lose a timer.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use palyra_ports::Clock;
use palyra_types::{BootTime, Timestamp};

use crate::mutation::Mutation;
use crate::world::SimWorld;

/// Longer than questions to people last; windows of budgets are as long.
const LONG_SPAN_MIN: Duration = Duration::from_secs(12 * 60);

/// The clock of one story.
pub(crate) struct SimClock {
    world: Arc<SimWorld>,
}

impl SimClock {
    pub(crate) fn new(world: Arc<SimWorld>) -> Self {
        Self { world }
    }
}

impl Clock for SimClock {
    fn wall(&self) -> Timestamp {
        self.world.clock.wall()
    }

    fn boot(&self) -> BootTime {
        self.world.clock.boot()
    }

    fn wall_set(&self) -> BoxFuture<'static, ()> {
        self.world.clock.wall_set()
    }

    fn sleep_until(&self, deadline: BootTime) -> BoxFuture<'static, ()> {
        if self.world.mutates(Mutation::LosesTimers) {
            return pending().boxed();
        }
        let is_long = deadline.since(self.world.clock.boot()) > LONG_SPAN_MIN;
        if is_long && self.world.mutates(Mutation::LosesLongTimers) {
            return pending().boxed();
        }
        self.world.clock.sleep_until(deadline)
    }
}
