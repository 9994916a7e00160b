//! Requests of nodes and their replies: those of attempts that came to something.

use crate::id::{AttemptId, HostId};
use crate::plan::{Harm, Target};
use crate::report::twin::Message;
use crate::report::twins::most;
use crate::report::twins::view::View;
use crate::time::SimTime;
use crate::trace::{Event, Phase, StepName, Vote};

/// A request whose reply has not been seen.
struct Asked {
    attempt: AttemptId,
    step: StepName,
    to: HostId,
    /// When it left; `None`: its node stopped before that.
    sent: Option<SimTime>,
    reached: Option<SimTime>,
}

impl Asked {
    fn told(&self, seen: Option<SimTime>) -> Option<Message> {
        Some(Message {
            from: HostId::Node(self.attempt.node).to_string(),
            to: self.to.to_string(),
            step: self.step.to_owned(),
            sent_ms: self.sent?.0,
            reached_ms: self.reached.map(|at| at.0),
            seen_ms: seen.map(|at| at.0),
        })
    }

    fn host(&self) -> HostId {
        HostId::Node(self.attempt.node)
    }
}

/// All of them, in the order in which they left.
pub fn messages(view: &View<'_>) -> Vec<Message> {
    let mut post = Post { view, open: Vec::new(), told: Vec::new() };
    for (n, record) in view.records.iter().enumerate() {
        post.see(n, record.at, record.event);
    }
    let Post { open, mut told, .. } = post;
    told.extend(open.iter().filter_map(|asked| asked.told(None)));
    told.sort_by_key(|message| message.sent_ms);
    most::of(told, most::MESSAGES, view, |message| message.sent_ms)
}

struct Post<'a> {
    view: &'a View<'a>,
    open: Vec<Asked>,
    told: Vec<Message>,
}

impl Post<'_> {
    fn see(&mut self, n: usize, at: SimTime, event: Event) {
        match event {
            Event::Step { attempt, step, phase } => self.step(n, at, attempt, step, phase),
            Event::Resumed { host } => self.leaves(at, |asked| asked.host() == host),
            Event::GoesOn { attempt, step } => self.leaves(at, |asked| asked.attempt == attempt && asked.step == step),
            Event::ReplyLost { from, to } => self.answered(to, from, at),
            Event::LogGranted { through, to, .. } => self.arrives(to, at, Some(through), |peer| matches!(peer, HostId::Log(_))),
            Event::Paid { .. } | Event::PaymentRepeated { .. } => {
                if let Some(payer) = self.view.trail.payer(n) {
                    self.arrives(HostId::Node(payer.node), at, None, |peer| peer == HostId::Payout);
                }
            }
            Event::Voted { store, vote } => {
                if let Some(by) = asks_for(vote) {
                    self.arrives(by, at, None, |peer| peer == store);
                }
            }
            // Of several stores each has told its vote.
            event if self.view.votes() && Vote::of(&event).is_some() => {}
            event => {
                if let (Some(by), Some(server)) = told_by(&event) {
                    self.arrives(by, at, None, |peer| peer == server || (is_log(peer) && is_log(server)));
                }
            }
        }
    }

    fn step(&mut self, n: usize, at: SimTime, attempt: AttemptId, step: StepName, phase: Phase) {
        let Some(to) = self.view.peer(step).filter(|_| self.view.eventful(attempt)) else { return };
        let same = |asked: &Asked| asked.attempt == attempt && asked.step == step;
        match phase {
            Phase::Before => {
                self.forget(|asked| same(asked) || (asked.attempt.node == attempt.node && asked.attempt != attempt));
                let held_up = self.held_up(n, at, HostId::Node(attempt.node));
                self.open.push(Asked { attempt, step, to, sent: (!held_up).then_some(at), reached: None });
            }
            Phase::Sent => self.open.iter_mut().filter(|asked| same(asked)).for_each(|asked| asked.sent = asked.sent.or(Some(at))),
            Phase::After => {
                let Some(n) = self.open.iter().position(same) else { return };
                let asked = self.open.remove(n);
                let asked = Asked { sent: asked.sent.or(asked.reached).or(Some(at)), ..asked };
                self.told.extend(asked.told(Some(at)));
            }
        }
    }

    /// Whether a request that is about to leave does not: a fault that holds its node up is told at once.
    fn held_up(&self, n: usize, at: SimTime, node: HostId) -> bool {
        let next = self.view.records[n + 1..].iter().take_while(|next| next.at == at);
        let struck = next.map_while(|next| if let Event::Fired { fault } = next.event { Some(fault) } else { None });
        let faults = struck.filter_map(|fault| self.view.plan.faults.get(usize::from(fault.0)));
        faults.into_iter().any(|fault| holds_up(&fault.harm, node))
    }

    /// What is asked no more was never answered.
    fn forget(&mut self, is: impl Fn(&Asked) -> bool) {
        let (over, open) = std::mem::take(&mut self.open).into_iter().partition(is);
        self.open = open;
        let over: Vec<Asked> = over;
        self.told.extend(over.iter().filter_map(|asked| asked.told(None)));
    }

    /// What was held up goes on.
    fn leaves(&mut self, at: SimTime, is: impl Fn(&Asked) -> bool) {
        self.open.iter_mut().filter(|asked| asked.sent.is_none() && is(asked)).for_each(|asked| asked.sent = Some(at));
    }

    /// What is answered has arrived, even if nothing else tells of it.
    fn answered(&mut self, by: HostId, server: HostId, at: SimTime) {
        let asks = |asked: &&mut Asked| asked.host() == by && (asked.to == server || (is_log(asked.to) && is_log(server)));
        if let Some(asked) = self.open.iter_mut().rfind(asks) {
            asked.reached = asked.reached.or(Some(at));
        }
    }

    /// A server did what a client on a host had asked: the last that is under way.
    fn arrives(&mut self, by: HostId, at: SimTime, through: Option<HostId>, is: impl Fn(HostId) -> bool) {
        let under_way = |asked: &&mut Asked| asked.host() == by && asked.reached.is_none() && is(asked.to);
        if let Some(asked) = self.open.iter_mut().rfind(under_way) {
            asked.reached = Some(at);
            asked.sent = asked.sent.or(Some(at));
            asked.to = through.unwrap_or(asked.to);
        }
    }
}

/// Whether a fault that a node's step sets off keeps the step's request from leaving.
fn holds_up(harm: &Harm, node: HostId) -> bool {
    match *harm {
        Harm::Crash { host, .. } | Harm::Power { host, .. } | Harm::Pause { host, .. } | Harm::Shutdown { host, .. } => match host {
            Target::Host(host) => host == node,
            Target::Self_ | Target::AllNodes | Target::Everyone => true,
            Target::Peer => false,
        },
        Harm::SlowStep { .. } | Harm::JobError { .. } => true,
        Harm::Partition { .. }
        | Harm::ReplyLost { .. }
        | Harm::Late { .. }
        | Harm::ClockOffset { .. }
        | Harm::ClockDrift { .. }
        | Harm::LeaseWipe { .. }
        | Harm::LeaseEvict { .. }
        | Harm::LeaseFailover { .. }
        | Harm::LeaseStall { .. }
        | Harm::CommitFails { .. }
        | Harm::SessionEnds { .. }
        | Harm::Zone { .. }
        | Harm::Redeliver => false,
    }
}

fn is_log(host: HostId) -> bool {
    matches!(host, HostId::Log(_))
}

/// The client whom a vote answers.
fn asks_for(vote: Vote) -> Option<HostId> {
    match vote {
        Vote::Granted { to, .. } | Vote::Refused { to, .. } => Some(to),
        Vote::Extended { by, .. } | Vote::Released { by, .. } => Some(by),
        Vote::Expired { .. } | Vote::Lost { .. } | Vote::Returned { .. } => None,
    }
}

/// Who asked for what a server did, and which server that is.
fn told_by(event: &Event) -> (Option<HostId>, Option<HostId>) {
    let (by, server) = match *event {
        Event::LeaseGranted { to: by, .. }
        | Event::LeaseRefused { to: by, .. }
        | Event::LeaseExtended { by, .. }
        | Event::LeaseReleased { by, .. }
        | Event::Pushed { by, .. }
        | Event::Moved { by, .. }
        | Event::Popped { by, .. } => (by, HostId::Lease),
        Event::Committed { by, .. }
        | Event::CommitRefused { by }
        | Event::SessionEnded { by }
        | Event::ClientGone { by }
        | Event::Prepared { by, .. }
        | Event::PreparedEnded { by, .. } => (by, HostId::Database),
        Event::PaymentsPrepared { by, .. } | Event::PaymentsEnded { by, .. } => (by, HostId::Payout),
        Event::LogReleased { by, .. } | Event::LogDecided { to: by, .. } => (by, HostId::Log(0)),
        Event::Dispatched { to, .. } => (to, HostId::Centre),
        _ => return (None, None),
    };
    (Some(by), Some(server))
}
