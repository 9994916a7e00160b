//! How a defect gets into right code: what a strategy asks of its stores, or what it hears from
//! them, is bent at one named step. The strategy's own code stays as it is.

use super::defects::Defect;
use futures_util::future::LocalBoxFuture;
use onceproof::async_trait;
use onceproof::host::Dialect;
use onceproof::store::sql::{Param, Returning, Row, Text, int, text};
use onceproof::strategy::tamper::Tamper;
use onceproof::strategy::{Context, Error};
use onceproof::trace::StepName;
use std::time::Duration;

/// What is done besides a request; it gets the request's parameters.
pub type Deed = for<'a> fn(&'a Context, &'a [Value]) -> LocalBoxFuture<'a, Result<(), Error>>;

/// What is asked before a request: whether it is left out.
pub type Question = for<'a> fn(&'a Context) -> LocalBoxFuture<'a, Result<bool, Error>>;

/// A statement's parameter, to be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A `bigint`.
    Int(i64),
    /// A `text`.
    Text(String),
}

impl Value {
    fn param(&self) -> Param<'_> {
        match self {
            Value::Int(number) => int(number),
            Value::Text(words) => text(words),
        }
    }

    /// The number that it has to be.
    pub fn number(&mut self) -> &mut i64 {
        match self {
            Value::Int(number) => number,
            Value::Text(other) => panic!("`{other}` is no number: the defect bends another statement than it means"),
        }
    }
}

/// One change.
pub enum Bend {
    /// The statement has other words.
    Words(StepName, fn(&Context, &str) -> String),
    /// The statement has other parameters.
    Params(StepName, fn(&Context, &mut [Value])),
    /// However many rows it changed, the strategy hears of this many.
    Count(StepName, u64),
    /// It is not asked, and taken for done.
    Unasked(StepName),
    /// It is not asked, and taken for done, if the answer to a question is yes.
    UnaskedIf(StepName, Question),
    /// If it fails, it is taken for done.
    PassedOver(StepName),
    /// Something is done before it.
    First(StepName, Deed),
    /// Something is done when it is done.
    Then(StepName, Deed),
    /// The lease is renewed, or released, whoever holds it.
    Anybodys(StepName),
    /// The lease is set, or set anew, whoever holds it.
    Overwritten(StepName),
    /// The lease is taken for one's own, whatever the store says.
    Believed(StepName),
    /// The lease lasts for another time.
    Ttl(StepName, fn(Duration) -> Duration),
    /// Every process writes the same owner into the lease.
    Owner(&'static str),
    /// The payment is asked for under another key, or none.
    Key(fn(&Context, &str) -> Option<String>),
    /// The job is taken for done when it has failed.
    JobPassedOver,
    /// Nodes wake so long before the end of a period.
    WakesEarly(Duration),
}

/// A statement as it will be asked.
struct Asked {
    words: String,
    values: Vec<Value>,
}

impl Asked {
    fn params(&self) -> Vec<Param<'_>> {
        self.values.iter().map(Value::param).collect()
    }
}

impl Defect {
    fn at<'d, T>(&'d self, bend: impl Fn(&'d Bend) -> Option<T> + 'd) -> impl Iterator<Item = T> + 'd {
        self.bends.iter().filter_map(bend)
    }

    fn asked(&self, context: &Context, step: StepName, words: &str, params: &[Param<'_>]) -> Asked {
        let owned = |param: &Param<'_>| match param {
            Param::Int(number) => Value::Int(**number),
            Param::Text(words) => Value::Text((*words).to_owned()),
        };
        let mut asked = Asked { words: words.to_owned(), values: params.iter().map(owned).collect() };
        for bend in self.bends {
            match bend {
                Bend::Words(at, change) if *at == step => asked.words = change(context, &asked.words),
                Bend::Params(at, change) if *at == step => change(context, &mut asked.values),
                _ => {}
            }
        }
        asked
    }

    async fn first(&self, context: &Context, step: StepName, values: &[Value]) -> Result<(), Error> {
        for bend in self.bends {
            match bend {
                Bend::First(at, deed) if *at == step => deed(context, values).await?,
                _ => {}
            }
        }
        Ok(())
    }

    async fn then(&self, context: &Context, step: StepName, values: &[Value]) -> Result<(), Error> {
        for bend in self.bends {
            match bend {
                Bend::Then(at, deed) if *at == step => deed(context, values).await?,
                _ => {}
            }
        }
        Ok(())
    }

    async fn unasked(&self, context: &Context, step: StepName) -> Result<bool, Error> {
        for bend in self.bends {
            match bend {
                Bend::Unasked(at) if *at == step => return Ok(true),
                Bend::UnaskedIf(at, question) if *at == step => return question(context).await,
                _ => {}
            }
        }
        Ok(false)
    }

    /// What the strategy hears of an outcome; `done` is what a success sounds like.
    fn heard<T>(&self, step: StepName, outcome: Result<T, Error>, done: T) -> Result<T, Error> {
        let passed_over = self.bends.iter().any(|bend| matches!(bend, Bend::PassedOver(at) if *at == step));
        match outcome {
            Err(Error::Store(_)) if passed_over => Ok(done),
            other => other,
        }
    }

    /// How long before the end of a period nodes wake.
    pub fn wakes_early(&self) -> Duration {
        self.at(|bend| if let Bend::WakesEarly(early) = bend { Some(*early) } else { None }).next().unwrap_or_default()
    }

    fn has(&self, is: impl Fn(&Bend) -> bool) -> bool {
        self.bends.iter().any(is)
    }

    fn owner<'v>(&'v self, value: &'v str) -> &'v str {
        self.at(|bend| if let Bend::Owner(owner) = bend { Some(*owner) } else { None }).next().unwrap_or(value)
    }

    fn ttl(&self, step: StepName, ttl: Duration) -> Duration {
        let change = self
            .at(|bend| {
                if let Bend::Ttl(at, change) = bend
                    && *at == step
                {
                    Some(change)
                } else {
                    None
                }
            })
            .next();
        change.map_or(ttl, |change| change(ttl))
    }
}

/// `SET key value PX ttl`, whoever holds it.
async fn overwrite(context: &Context, step: StepName, key: &str, value: &str, ttl: Duration) -> Result<bool, Error> {
    let milliseconds = u64::try_from(ttl.as_millis()).expect("a lease of a defect is short");
    let mut set = onceproof::redis::cmd("SET");
    set.arg(key).arg(value).arg("PX").arg(milliseconds);
    context.redis(step, async |mut redis| set.query_async::<()>(&mut redis).await).await?;
    Ok(true)
}

#[async_trait(?Send)]
impl Tamper for Defect {
    async fn query(&self, straight: &Context, step: StepName, statement: Text<'_>, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        let asked = self.asked(straight, step, statement.of(Dialect::PostgreSql), params);
        self.first(straight, step, &asked.values).await?;
        let outcome = straight.sql().query(step, &asked.words, &asked.params()).await;
        let rows = self.heard(step, outcome, Vec::new())?;
        self.then(straight, step, &asked.values).await?;
        Ok(rows)
    }

    async fn execute(&self, straight: &Context, step: StepName, statement: Text<'_>, params: &[Param<'_>]) -> Result<u64, Error> {
        let asked = self.asked(straight, step, statement.of(Dialect::PostgreSql), params);
        if self.unasked(straight, step).await? {
            return Ok(1);
        }
        self.first(straight, step, &asked.values).await?;
        let outcome = straight.sql().execute(step, &asked.words, &asked.params()).await;
        let count = self.heard(step, outcome, 1)?;
        self.then(straight, step, &asked.values).await?;
        let heard = self
            .at(|bend| {
                if let Bend::Count(at, count) = bend
                    && *at == step
                {
                    Some(*count)
                } else {
                    None
                }
            })
            .next();
        Ok(heard.unwrap_or(count))
    }

    async fn returning(&self, straight: &Context, step: StepName, update: &Returning<'_>, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        let asked = self.asked(straight, step, update.postgres, params);
        self.first(straight, step, &asked.values).await?;
        let update = Returning { postgres: &asked.words, ..*update };
        let rows = straight.sql().returning(step, &update, &asked.params()).await?;
        self.then(straight, step, &asked.values).await?;
        Ok(rows)
    }

    async fn set_nx_px(&self, straight: &Context, step: StepName, key: &str, value: &str, ttl: Duration) -> Result<bool, Error> {
        let (value, ttl) = (self.owner(value), self.ttl(step, ttl));
        match self.has(|bend| matches!(bend, Bend::Overwritten(at) if *at == step)) {
            true => overwrite(straight, step, key, value, ttl).await,
            false => straight.lease().set_nx_px(step, key, value, ttl).await,
        }
    }

    async fn compare_and_delete(&self, straight: &Context, step: StepName, key: &str, token: &str) -> Result<bool, Error> {
        if self.unasked(straight, step).await? {
            return Ok(true);
        }
        match self.has(|bend| matches!(bend, Bend::Anybodys(at) if *at == step)) {
            true => straight.lease().del(step, key).await,
            false => straight.lease().compare_and_delete(step, key, self.owner(token)).await,
        }
    }

    async fn compare_and_expire(&self, straight: &Context, step: StepName, key: &str, token: &str, ttl: Duration) -> Result<bool, Error> {
        if self.unasked(straight, step).await? {
            return Ok(true);
        }
        let (token, ttl) = (self.owner(token), self.ttl(step, ttl));
        let is = |is: fn(&Bend) -> Option<StepName>| self.has(|bend| is(bend) == Some(step));
        let ours = if is(|bend| if let Bend::Anybodys(at) = bend { Some(at) } else { None }) {
            straight.lease().pexpire(step, key, ttl).await
        } else if is(|bend| if let Bend::Overwritten(at) = bend { Some(at) } else { None }) {
            overwrite(straight, step, key, token, ttl).await
        } else {
            straight.lease().compare_and_expire(step, key, token, ttl).await
        };
        Ok(ours? || is(|bend| if let Bend::Believed(at) = bend { Some(at) } else { None }))
    }

    async fn pay(&self, straight: &Context, step: StepName, body: &str, key: Option<&str>) -> Result<(), Error> {
        let asked = [Value::Text(body.to_owned()), Value::Text(key.unwrap_or_default().to_owned())];
        self.first(straight, step, &asked).await?;
        let change = self.at(|bend| if let Bend::Key(change) = bend { Some(change) } else { None }).next();
        let key = match (change, key) {
            (Some(change), Some(key)) => change(straight, key),
            (_, key) => key.map(str::to_owned),
        };
        let outcome = straight.payout().pay(step, body, key.as_deref()).await;
        self.heard(step, outcome, ())?;
        self.then(straight, step, &asked).await
    }

    fn worked(&self, outcome: Result<(), Error>) -> Result<(), Error> {
        match outcome {
            Err(Error::Job(_)) if self.has(|bend| matches!(bend, Bend::JobPassedOver)) => Ok(()),
            other => other,
        }
    }
}

/// A statement with other words in one place.
pub fn instead(words: &str, right: &str, wrong: &str) -> String {
    assert!(words.contains(right), "a defect looks for `{right}`, and the statement is `{words}`");
    words.replacen(right, wrong, 1)
}

/// Commits what is open.
pub async fn commit(context: &Context) -> Result<(), Error> {
    context.postgres("tx.commit", async |db| db.batch_execute("COMMIT").await).await
}

/// Opens a transaction.
pub async fn begin(context: &Context) -> Result<(), Error> {
    context.postgres("tx.begin", async |db| db.batch_execute("BEGIN").await).await
}
