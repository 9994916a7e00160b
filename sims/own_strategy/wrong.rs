//! A Redis lock around the job: it keeps two nodes from working at the same time, not one after the other.

use onceproof::strategy::body::{self, JOB_STEPS};
use onceproof::{Belief, Check, Context, Error, FaultClass, Letter, Period, Step, Strategy, async_trait, redis, steps};

struct Lock;

#[async_trait(?Send)]
impl Strategy for Lock {
    fn name(&self) -> &'static str {
        "my-lock"
    }

    fn steps(&self) -> &'static [Step] {
        steps![Step::lease("lock"), Step::lease("unlock"); JOB_STEPS]
    }

    async fn attempt(&self, context: &mut Context, period: Period) -> Result<Belief, Error> {
        let (set, del) = (redis::cmd("SET").arg(&["job", "1", "NX", "PX", "1800000"]).clone(), redis::Cmd::del("job"));
        if !context.redis("lock", async |mut redis| set.query_async(&mut redis).await).await? {
            return Ok(Belief::Busy);
        }
        let done = body::job(context, period).await;
        context.redis("unlock", async |mut redis| del.exec_async(&mut redis).await).await?;
        done
    }
}

#[test]
fn my_lock_settles_twice() {
    let checked = Check::of(&Lock).run().unwrap();
    assert!(checked.breaks(FaultClass::Calm, Letter::D), "{checked}");
}
