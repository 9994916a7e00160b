//! A conditional update of the period's task row, inside the settlement transaction: whoever comes second changes nothing.

use onceproof::strategy::body::{self, ATOMIC_STEPS};
use onceproof::{Belief, Check, Context, Error, Period, PeriodId, Step, Strategy, async_trait, steps};

const TAKE: &str = "UPDATE task SET status = 2 WHERE period = $1 AND status = 0";

struct TaskRow;

#[async_trait(?Send)]
impl Strategy for TaskRow {
    fn name(&self) -> &'static str {
        "my-task-row"
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::database("take"), Step::database("tx.settlement"); ATOMIC_STEPS]
    }

    async fn unsettled(&self, context: &mut Context) -> Result<Option<Vec<PeriodId>>, Error> {
        body::unfinished(context).await.map(Some)
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let context = &*context;
        let take = async |now| {
            let taken = context.postgres("take", async |db| db.execute(TAKE, &[&period.id.0]).await).await?;
            body::record(context, period, 1, now).await?;
            Ok(taken == 1)
        };
        body::atomic_job(context, period, take).await
    }
}

#[test]
fn my_task_row_settles_exactly_once() {
    Check::of(&TaskRow).run().unwrap().assert_as_expected();
}
