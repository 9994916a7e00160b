//! What the tables hold in the end.

use onceproof::store::sql::{Text, aggregate, column};
use onceproof::store::{Sql, StoreError};

/// The rows that a settlement leaves behind.
#[derive(Debug)]
pub struct Books {
    /// The period of every settlement row.
    pub settlements: Vec<i64>,
    /// Rank, player and points.
    pub ranking: Vec<(i64, i64, i64)>,
    /// Player and points.
    pub points: Vec<(i64, i64)>,
    /// The ids of the earnings that were settled.
    pub marked: Vec<i64>,
    /// Payments that nobody has delivered.
    pub unsent: i64,
    pub task_status: i64,
}

impl Books {
    pub async fn read(sql: &Sql) -> Result<Books, StoreError> {
        let ranking = Text::new(
            "SELECT rank, player, points FROM ranking ORDER BY rank, player",
            "SELECT `rank`, player, points FROM ranking ORDER BY `rank`, player",
        );
        let ones = async |text: &'static str| {
            let rows = sql.query(text.into(), &[]).await?;
            rows.iter().map(|row| column(row, 0)).collect::<Result<Vec<i64>, _>>()
        };
        let ranking = sql.query(ranking, &[]).await?;
        let points = sql.query("SELECT player, points FROM points ORDER BY player".into(), &[]).await?;
        Ok(Books {
            settlements: ones("SELECT period FROM settlement").await?,
            ranking: ranking
                .iter()
                .map(|row| Ok((column(row, 0)?, column(row, 1)?, column(row, 2)?)))
                .collect::<Result<_, StoreError>>()?,
            points: points.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect::<Result<_, StoreError>>()?,
            marked: ones("SELECT id FROM earnings WHERE settled_in IS NOT NULL ORDER BY id").await?,
            unsent: aggregate(&sql.query("SELECT count(*) FROM outbox WHERE sent = 0".into(), &[]).await?)?,
            task_status: aggregate(&sql.query("SELECT status FROM task".into(), &[]).await?)?,
        })
    }
}
