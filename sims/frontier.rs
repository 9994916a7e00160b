//! The frontier of the default lease, on the default deployment, to a tenth of a second: thirty
//! minutes of lease, and nobody before them.

use onceproof::explore::frontier::{Frontier, Line, Point, Threshold};
use onceproof::seed::Seed;
use onceproof::strategy;
use onceproof::time::Span;
use std::sync::atomic::AtomicBool;

/// The holder stops for 40 minutes. The late node is answered within 0.1 s of its boundary, and so was the holder.
#[test]
fn who_comes_a_lease_later_is_let_in_to_a_fifth_of_a_second() {
    let all = Point::all_of(strategy::find("lease-set-px").expect("it is in the catalogue"));
    let stopped = |p: &Point| p.given.stall == 40.minutes() && p.given.store_ppm == 0 && p.given.store_set_ms == 0;
    let points: Vec<Point> = all.into_iter().filter(stopped).collect();
    let never = AtomicBool::new(false);
    let frontier = Frontier { points: &points, base: Seed(3), seeds: 10, resolution: 100.ms(), threads: 2 };
    let measured = frontier.run(&never, &|_| {}).expect("the catalogue is well behaved");
    assert_eq!((measured.len(), measured[0].point.overlap), (1, Line::From(1_800_000)));
    for threshold in [measured[0].overlap, measured[0].twice] {
        let Threshold::Between { holds, breaks, seen: 1.., of: 10 } = threshold else { panic!("{threshold:?}") };
        assert!(breaks - holds <= 100, "{threshold:?}");
        assert!(breaks.abs_diff(1_800_000) <= 300, "{threshold:?}");
    }
}
