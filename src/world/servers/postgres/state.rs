//! What the database holds in the end, typed.

use super::sqlite::Sqlite;
use crate::id::{PeriodId, PlayerId};
use crate::settlement::{EarningRow, FinalState, OutboxRow, RankingRow, SettlementRow, TaskRow};
use crate::time::WallTime;
use crate::trace::TaskStatus;
use rusqlite::types::Type;

/// Reads everything. Rows that cannot be typed are left out.
pub(super) fn read(sqlite: &Sqlite) -> FinalState {
    FinalState {
        settlements: sqlite.read("SELECT period, node, attempt, at FROM settlement ORDER BY rowid", &[], |row| {
            Ok(SettlementRow { period: PeriodId(row.get(0)?), node: row.get(1)?, attempt: row.get(2)?, at: WallTime(row.get(3)?) })
        }),
        rankings: sqlite.read("SELECT period, rank, player, points FROM ranking ORDER BY rowid", &[], |row| {
            Ok(RankingRow { period: PeriodId(row.get(0)?), rank: row.get(1)?, player: PlayerId(row.get(2)?), points: row.get(3)? })
        }),
        points: sqlite.read("SELECT player, points FROM points WHERE points <> 0 ORDER BY player", &[], |row| {
            Ok((PlayerId(row.get(0)?), row.get(1)?))
        }),
        earnings: sqlite.read("SELECT id, player, amount, at, settled_in FROM earnings ORDER BY rowid", &[], |row| {
            let settled_in = row.get::<_, Option<i64>>(4)?.map(PeriodId);
            Ok(EarningRow { id: row.get(0)?, player: PlayerId(row.get(1)?), amount: row.get(2)?, at: WallTime(row.get(3)?), settled_in })
        }),
        tasks: sqlite.read("SELECT period, status, version, attempt FROM task ORDER BY period", &[], |row| {
            let status = TaskStatus::from_code(row.get(1)?);
            let status = status.ok_or_else(|| rusqlite::Error::InvalidColumnType(1, "status".to_owned(), Type::Integer))?;
            Ok(TaskRow { period: PeriodId(row.get(0)?), status, version: row.get(2)?, attempt: row.get(3)? })
        }),
        outbox: sqlite.read("SELECT id, sent FROM outbox ORDER BY rowid", &[], |row| {
            Ok(OutboxRow { id: row.get(0)?, sent: row.get::<_, i64>(1)? != 0 })
        }),
        leases: Vec::new(),
        in_doubt: Vec::new(),
    }
}
