use super::*;
use crate::explore::{Finding, Mark};
use crate::id::{AttemptId, FaultId, HostId, Letter, NodeId, PeriodId, PlayerId, TxId};
use crate::plan::{Harm, Target, Trigger};
use crate::scenario::Scenario;
use crate::seed::Seed;
use crate::settlement::FinalState;
use crate::time::{Span, WallTime};
use crate::trace::{Belief, Event, Phase, Proof, Trace};
use crate::world::{Ended, Felt, Receipt, Run};

const N0: NodeId = NodeId(0);
const N1: NodeId = NodeId(1);
const PERIOD: PeriodId = PeriodId(20_260_110);
const MIDNIGHT: u64 = 86_400_000;
/// What the stop interrupted.
const PROOF: Proof = Proof::Interrupted { attempt: AttemptId { node: N0, number: 1 } };

struct Pen(Trace);

impl Pen {
    fn at(&mut self, ms: u64, event: Event) {
        self.0.push(SimTime(MIDNIGHT + ms), event);
    }

    fn begin(&mut self, ms: u64, calendar: &Calendar, attempt: AttemptId, off: i64) {
        let wall = WallTime(calendar.origin.wall(SimTime(MIDNIGHT + ms)).0 + off);
        self.at(ms, Event::AttemptBegan { attempt, period: PERIOD, wall });
    }

    fn end(&mut self, ms: u64, attempt: AttemptId, belief: Belief) {
        self.at(ms, Event::AttemptEnded { attempt, period: PERIOD, belief });
    }

    fn settle(&mut self, ms: u64, tx: u32, node: NodeId) {
        let tx = TxId(tx);
        self.at(ms, Event::Committed { tx, by: HostId::Node(node), began: SimTime(MIDNIGHT + ms - 400) });
        for (rank, player) in [(1, PlayerId(7)), (2, PlayerId(3))] {
            self.at(ms, Event::Ranked { tx, period: PERIOD, rank, player, points: 90 });
            self.at(ms, Event::Taken { tx, player, points: 90 });
        }
        self.at(ms, Event::Settled { tx, period: PERIOD, node, attempt: 1 });
    }
}

/// The early node wins the lease because its clock is 3 s fast, then freezes for 40 minutes in
/// the middle of its work. Its lease runs out; n1, which has polled in vain for half an hour,
/// settles; then n0 goes on and settles again.
fn stalled() -> (Observed, FaultPlan, Calendar) {
    let calendar = Scenario::default().schedule.calendar().unwrap();
    let a0 = AttemptId { node: N0, number: 1 };
    let mut pen = Pen(Trace::default());
    pen.0.push(SimTime::ZERO, Event::Booted { host: HostId::Node(N0), incarnation: 0 });
    pen.0.push(SimTime::ZERO, Event::ClockSet { host: HostId::Node(N0), by: 3_000 });
    pen.begin(100, &calendar, a0, 3_000);
    pen.at(140, Event::LeaseGranted { to: HostId::Node(N0), ttl_ms: 1_800_000 });
    pen.at(150, Event::Step { attempt: a0, step: "job.work", phase: Phase::Before });
    pen.at(150, Event::Fired { fault: FaultId(0) });
    pen.at(150, Event::Paused { host: HostId::Node(N0) });
    for n in 1..=30 {
        let attempt = AttemptId { node: N1, number: n };
        let ms = 3_000 + u64::from(n - 1) * 60_000;
        pen.begin(ms, &calendar, attempt, 0);
        pen.at(ms + 40, Event::LeaseRefused { to: HostId::Node(N1), holder: HostId::Node(N0) });
        pen.end(ms + 60, attempt, Belief::Busy);
    }
    let a1 = AttemptId { node: N1, number: 31 };
    pen.begin(1_803_000, &calendar, a1, 0);
    pen.at(1_803_040, Event::LeaseExpired { holder: HostId::Node(N0) });
    pen.at(1_803_040, Event::LeaseGranted { to: HostId::Node(N1), ttl_ms: 1_800_000 });
    pen.at(1_803_100, Event::Step { attempt: a1, step: "job.work", phase: Phase::Before });
    pen.settle(1_923_000, 5, N1);
    pen.at(1_923_100, Event::Paid { period: PERIOD, rank: 1, player: PlayerId(7), amount: 100, keyed: false });
    pen.at(1_923_200, Event::LeaseReleased { by: HostId::Node(N1), holder: HostId::Node(N1) });
    pen.end(1_923_240, a1, Belief::Settled);
    pen.at(2_400_150, Event::Resumed { host: HostId::Node(N0) });
    pen.at(2_400_150, Event::Felt { fault: FaultId(0), proof: PROOF });
    pen.settle(2_520_150, 6, N0);
    pen.end(2_520_300, a0, Belief::Settled);
    pen.at(2_520_300, Event::Crashed { host: HostId::Lease });
    let plan = FaultPlan::of([
        Harm::Pause { host: Target::Self_, lasts: 40.minutes() }.when(Trigger::first("job.work", Phase::Before)),
        Harm::JobError { times: 2 }.when(Trigger::nth("job.work", Phase::After, 9)),
    ]);
    let fired = Receipt { fired: Some(SimTime(MIDNIGHT + 150)), felt: Some(Felt { at: SimTime(MIDNIGHT + 2_400_150), proof: PROOF }) };
    let run = Run {
        seed: Seed(7),
        trace: pen.0,
        end: FinalState::default(),
        ended: Ended::Horizon,
        ended_at: SimTime(MIDNIGHT + 9_000_000),
        receipts: vec![fired, Receipt::default()],
        panics: Vec::new(),
        complaints: Vec::new(),
    };
    let findings = vec![Finding {
        mark: Mark::Letter(Letter::D),
        rule: "settled-once",
        at: SimTime(MIDNIGHT + 2_520_150),
        period: Some(PERIOD),
        what: "2026-01-10 settled by n1 (its attempt 1), then again by n0".to_owned(),
    }];
    (Observed { run, findings, excuses: Vec::new(), felt: true }, plan, calendar)
}

fn told(nodes: u8, width: usize) -> String {
    let (seen, plan, calendar) = stalled();
    let lines = story(&seen, &plan, &calendar, nodes, width);
    let text = anstream::adapter::strip_str(&lines.join("\n")).to_string();
    assert!(text.lines().all(|line| line.chars().count() <= width), "a line is wider than {width}:\n{text}");
    text
}

#[test]
fn three_lanes_on_120_columns() {
    insta::assert_snapshot!(told(3, 120));
}

#[test]
fn too_narrow_for_lanes() {
    insta::assert_snapshot!(told(3, 80));
}

/// Nine nodes do not fit side by side; nothing else changes.
#[test]
fn many_nodes_are_told_as_a_list() {
    let text = told(9, 120);
    assert!(text.contains("n1  00:30:03 #31 for 2026-01-10"), "{text}");
    assert!(!text.contains('│'));
}

/// Little things stand before what happened later, and a poll behind what made it come to nothing.
#[test]
fn what_is_gathered_stands_at_its_time() {
    let (mut seen, plan, calendar) = stalled();
    let mut pen = Pen(Trace::default());
    let (a0, a1) = (AttemptId { node: N0, number: 1 }, AttemptId { node: N1, number: 1 });
    pen.at(6_000, Event::Committed { tx: TxId(1), by: HostId::Traffic, began: SimTime(MIDNIGHT + 5_990) });
    pen.at(6_000, Event::Earned { tx: TxId(1), earning: 1, player: PlayerId(7), amount: 5, at: WallTime(0) });
    pen.begin(7_000, &calendar, a1, 0);
    pen.begin(7_010, &calendar, a0, 0);
    pen.at(7_050, Event::LeaseGranted { to: HostId::Node(N0), ttl_ms: 1_800_000 });
    pen.at(7_060, Event::LeaseRefused { to: HostId::Node(N1), holder: HostId::Node(N0) });
    pen.end(7_070, a1, Belief::Busy);
    pen.settle(9_000, 2, N0);
    pen.end(9_100, a0, Belief::Settled);
    (seen.run.trace, seen.findings) = (pen.0, Vec::new());
    let text = anstream::adapter::strip_str(&story(&seen, &plan, &calendar, 3, 120).join("\n")).to_string();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("00:")).collect();
    let starts = ["00:00:06.000    … 1 earning …", "00:00:07.010  │ 00:00:07 #1 for", "00:00:07.050  ├ lease   granted to n0"];
    assert!(starts.iter().zip(&lines).all(|(start, line)| line.starts_with(start)), "{text}");
    assert_eq!(lines[3], "00:00:07.070    … 1 poll: lease refused …");
    assert!(lines.windows(2).all(|pair| pair[0][..12] <= pair[1][..12]), "time runs backwards:\n{text}");
}

/// Whatever is cut, both ways or one, the victim stands in front.
#[test]
fn links_that_break_together_are_one_line() {
    let (mut seen, plan, calendar) = stalled();
    let mut trace = Trace::default();
    let n0 = HostId::Node(N0);
    for other in [HostId::Lease, HostId::Database] {
        trace.push(SimTime(5), Event::Cut { from: n0, to: other });
        trace.push(SimTime(5), Event::Cut { from: other, to: n0 });
    }
    for other in [HostId::Lease, HostId::Database] {
        trace.push(SimTime(9), Event::Cut { from: other, to: n0 });
    }
    (seen.run.trace, seen.findings) = (trace, Vec::new());
    let text = anstream::adapter::strip_str(&story(&seen, &plan, &calendar, 3, 120).join("\n")).to_string();
    assert!(text.contains("cut: n0 ↔ lease, db\n") && text.contains("cut: n0 ← lease, db\n"), "{text}");
}

#[test]
fn records_leave_nothing_out() {
    let (seen, _, calendar) = stalled();
    assert_eq!(records(&seen.run.trace, &calendar).len(), seen.run.trace.records().len());
}
