//! Guards that work through a queue in a Redis-style store: a message that says that the job is
//! done, a consumer that takes tasks off a list, and one that cannot lose them.

mod consumer;
mod marker;
mod reliable;

pub use consumer::QueueConsumer;
pub use marker::QueueMarker;
pub use reliable::QueueReliable;

use crate::id::PeriodId;
use crate::settlement::Period;
use crate::strategy::Context;

/// The list of tasks: each message names a period.
const TASKS: &str = "settlement:tasks";

/// The message that names a period.
fn message(period: Period) -> String {
    period.id.0.to_string()
}

/// The period that a message names; `None`: it is no period of this deployment.
fn named(context: &Context, message: &str) -> Option<Period> {
    context.calendar().period(PeriodId(message.parse().ok()?))
}
