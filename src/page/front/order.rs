//! Which of two strategies comes first: the one that less breaks, then the one that costs less.

use crate::page::front::row::{CALM, Row};
use crate::page::front::verdict::Verdict;
use crate::page::source::Throughput;
use crate::page::source::verdicts::Cost;

/// By what strategies that fulfil a need are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Attempts that settled nothing, then time to settle.
    Waste,
    /// The longest time to settle.
    Late,
    /// Time for a period with most nodes contending, where it was measured; then waste.
    Contended,
}

/// What is measured of a strategy under some fault classes; less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Attempts that settled nothing, for each period that was due, in the worst of the classes.
    pub waste: Option<f64>,
    /// 95 % of periods were settled in this time, in the worst of the classes.
    pub late_ms: Option<u64>,
    /// A period with the most nodes contending took so long.
    pub contended_ns: Option<f64>,
}

impl Price {
    /// What a strategy costs under these classes.
    pub fn of(row: &Row, classes: &[&str], throughput: Option<&Throughput>) -> Price {
        let costs: Vec<&Cost> = row.costs().filter(|(faults, _)| classes.contains(faults)).map(|(_, cost)| cost).collect();
        let measured = throughput.and_then(|t| t.strategies.iter().find(|s| s.name == row.label));
        Price {
            waste: costs.iter().map(|c| c.wasted as f64 / c.due as f64).reduce(f64::max),
            late_ms: costs.iter().filter(|c| c.to_settle.n > 0).map(|c| c.to_settle.p95_ms).max(),
            contended_ns: measured.and_then(|s| s.points.iter().max_by_key(|p| p.nodes)).map(|p| p.mean_ns),
        }
    }

    /// Numbers to sort by; what was not measured comes last.
    fn key(self, order: Order) -> [f64; 3] {
        let last = f64::INFINITY;
        let (waste, late) = (self.waste.unwrap_or(last), self.late_ms.map_or(last, |ms| ms as f64));
        match order {
            Order::Waste => [waste, late, 0.0],
            Order::Late => [late, waste, 0.0],
            Order::Contended => [self.contended_ns.unwrap_or(last), waste, late],
        }
    }

    /// Which of two is cheaper.
    pub fn compare(self, other: Price, order: Order) -> std::cmp::Ordering {
        let pairs = self.key(order).into_iter().zip(other.key(order));
        pairs.map(|(a, b)| a.total_cmp(&b)).find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    }
}

/// Best first: fewest columns broken, fewest undecided, least waste in calm, soonest to settle in the worst column.
pub fn best_first<'a>(rows: &[Row<'a>]) -> Vec<Row<'a>> {
    let mut sorted = rows.to_vec();
    let counts = |row: &Row| [Verdict::Breaks, Verdict::Undecided].map(|verdict| row.cells(verdict).count());
    let price = |row: &Row| {
        let classes: Vec<&str> = row.costs().map(|(faults, _)| faults).collect();
        Price { waste: Price::of(row, &[CALM], None).waste, ..Price::of(row, &classes, None) }
    };
    sorted.sort_by(|a, b| {
        let cheaper = price(a).compare(price(b), Order::Waste);
        counts(a).cmp(&counts(b)).then(cheaper).then_with(|| a.label.cmp(&b.label))
    });
    sorted
}
