//! The human who is called when a period was given up: looks for alerts from time to time, mends
//! the cause, and gives the period back. Works beside the players, for nodes cannot call each other.

use crate::host::Host;
use crate::id::PeriodId;
use crate::node::Setup;
use crate::store::sql::{Text, column, int};
use crate::store::{Sql, StoreError};
use std::rc::Rc;

const OPEN: &str = "SELECT period FROM alert WHERE handled = 0 ORDER BY period";
/// Only what was given up: an alert may be older than the row.
const RELEASE: &str = "UPDATE task SET status = 0, failures = 0 WHERE period = $1 AND status = 4";
const CLOSE: &str = "UPDATE alert SET handled = 1 WHERE period = $1";

/// Looks every [`crate::scenario::GuardKnobs::operator`], for as long as nodes pay attention after a boundary.
pub async fn run(host: Rc<dyn Host>, setup: Rc<Setup>) {
    let every = setup.scenario.guard.operator;
    if every.is_zero() {
        return;
    }
    let sql = Sql::new(Rc::clone(&host), setup.scenario.node.timeout);
    for period in &setup.calendar.periods {
        let until = period.due + setup.scenario.node.attention;
        host.sleep(period.due.since(host.wall())).await;
        while host.wall() < until {
            host.sleep(every).await;
            // Who cannot reach the database looks again.
            let _ = look(&sql).await;
        }
    }
}

async fn look(sql: &Sql) -> Result<(), StoreError> {
    sql.ready().await?;
    for row in &sql.query(Text::from(OPEN), &[]).await? {
        let released = release(sql, PeriodId(column(row, 0)?)).await;
        if released.is_err() {
            sql.give_up_transaction();
        }
        released?;
    }
    Ok(())
}

/// Row and alert together: an alert that is closed has led to something.
async fn release(sql: &Sql, PeriodId(period): PeriodId) -> Result<(), StoreError> {
    sql.begin().await?;
    sql.execute(Text::from(RELEASE), &[int(&period)]).await?;
    sql.execute(Text::from(CLOSE), &[int(&period)]).await?;
    sql.commit().await?;
    sql.transaction_over();
    Ok(())
}
