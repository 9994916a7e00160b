//! The marker is unique, and in a transaction of its own: before the work, or after it.

use crate::class::FaultClass;
use crate::id::Letter;
use crate::scenario::Rules;
use crate::settlement::{Decides, Period};
use crate::step::{Step, joined};
use crate::store::ErrorKind;
use crate::store::sql::{aggregate, int};
use crate::strategy::body::JOB_STEPS;
use crate::strategy::{Context, Error, Expectation, Policy, SETTLES_BY_ITS_OWN_ZONE, Strategy, body, pinned};
use crate::trace::Belief;
use async_trait::async_trait;

/// When the marker is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    First,
    Last,
}

/// A marker that is committed apart from what it marks.
pub struct Apart {
    name: &'static str,
    about: &'static str,
    when: When,
}

impl Apart {
    /// Marked, then done.
    pub const FIRST: Apart = Apart {
        name: "table-key-marker-first-apart",
        about: "commit the unique marker, then do the job in a transaction of its own",
        when: When::First,
    };
    /// Done, then marked.
    pub const LAST: Apart = Apart {
        name: "table-key-marker-last-apart",
        about: "count the markers; if none: do the job, then commit the unique marker",
        when: When::Last,
    };
}

const COUNT: &str = "SELECT count(*) FROM marker WHERE period = $1";
const MARK: &str = "INSERT INTO marker (period) VALUES ($1)";

const FIRST_STEPS: [Step; 14] = joined(&[&[Step::database("marker.insert")], &JOB_STEPS]);
const LAST_STEPS: [Step; 15] = joined(&[&[Step::database("table.check")], &JOB_STEPS, &[Step::database("marker.insert")]]);

/// Inserts the marker: whether it was the first.
async fn mark(context: &Context, period: Period) -> Result<bool, Error> {
    match context.sql().execute("marker.insert", MARK, &[int(&period.id.0)]).await {
        Ok(_) => Ok(true),
        Err(Error::Store(error)) if error.kind == ErrorKind::UniqueViolation => Ok(false),
        Err(error) => Err(error),
    }
}

#[async_trait(?Send)]
impl Strategy for Apart {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn policy(&self) -> Policy {
        Policy::Retry
    }

    fn decides(&self) -> Decides {
        Decides::Nothing
    }

    fn steps(&self) -> &'static [Step] {
        match self.when {
            When::First => &FIRST_STEPS,
            When::Last => &LAST_STEPS,
        }
    }

    fn expectations(&self, _: Rules) -> Vec<Expectation> {
        match self.when {
            When::First => vec![
                Expectation::must(
                    FaultClass::Crash,
                    &[Letter::L],
                    "the period is marked, and whoever marked it is dead: nobody does the job",
                    pinned::crash_in_the_job,
                ),
                Expectation::never_under(FaultClass::Calm, &[Letter::D], "the marker is unique, and is there before the job begins"),
                SETTLES_BY_ITS_OWN_ZONE,
            ],
            When::Last => vec![
                Expectation::must(
                    FaultClass::Calm,
                    &[Letter::D],
                    "all have counted before any has marked, and the marker is not in the transaction that it should undo",
                    pinned::calm,
                ),
                SETTLES_BY_ITS_OWN_ZONE,
            ],
        }
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        match self.when {
            When::First => {
                if !mark(context, period).await? {
                    return Ok(Belief::AlreadySettled);
                }
                body::job(context, period).await
            }
            When::Last => {
                let rows = context.sql().query("table.check", COUNT, &[int(&period.id.0)]).await?;
                if aggregate(&rows)? > 0 {
                    return Ok(Belief::AlreadySettled);
                }
                let belief = body::job(context, period).await?;
                // That somebody else has marked meanwhile changes nothing any more.
                mark(context, period).await?;
                Ok(belief)
            }
        }
    }
}
