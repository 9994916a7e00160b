//! Beats on a page: true time on the left, then a lane for each node. On a page too narrow
//! for lanes, or with too many nodes, a plain list with the teller's name.

use crate::id::{HostId, NodeId};
use crate::report::paint::{ALARM, FAINT, STRONG, UNSURE, paint};
use crate::report::story::beats::{Beat, State, Voice};
use crate::report::story::clocks::Clocks;
use crate::report::words::{fit, signed, wrap};
use crate::settlement::Calendar;
use crate::time::{SimTime, WallTime, offset_name, zone_name};
use crate::trace::Trace;
use jiff::civil::Date;
use jiff::tz::Offset;

/// Columns of the true time, with the gap behind it.
const TIME: usize = 14;

/// The narrowest lane in which a node can be understood.
const NARROWEST: usize = 28;

/// Where the story is written.
pub struct Page<'a> {
    calendar: &'a Calendar,
    width: usize,
    lanes: Option<usize>,
    states: Vec<State>,
    clocks: Option<Clocks>,
    /// The day, and the offset on it, of the last line.
    day: Option<(Date, Offset)>,
}

impl<'a> Page<'a> {
    /// An empty page.
    pub fn new(calendar: &'a Calendar, nodes: u8, width: usize) -> Page<'a> {
        let nodes = usize::from(nodes);
        let lane = width.saturating_sub(TIME) / nodes.max(1);
        let lanes = (lane >= NARROWEST).then_some(lane.min(44));
        Page { calendar, width, lanes, states: vec![State::Running; nodes], clocks: None, day: None }
    }

    /// Learns the nodes' clocks from the history, and names the lanes.
    pub fn head(&mut self, trace: &Trace) -> Vec<String> {
        self.clocks = Some(Clocks::of(trace, self.calendar));
        let zone = zone_name(&self.calendar.zone);
        let Some(lane) = self.lanes else {
            return vec![paint(FAINT, &fit(&format!("true time in {zone}; a node's line begins with the time it believes"), self.width))];
        };
        let name = |n: usize| {
            let node = NodeId(n as u8);
            let off = self.off(node, SimTime::ZERO);
            let off = if off == 0 { String::new() } else { format!(" (clock {})", signed(off)) };
            pad(&fit(&format!("{node}{off}"), lane - 1), lane)
        };
        let names: String = (0..self.states.len()).map(name).collect();
        let title = format!("{}{}", pad("true time", TIME), names);
        let hint = format!("true time in {zone}; in a lane, the time that its node believes");
        vec![paint(FAINT, &hint), paint(STRONG, title.trim_end())]
    }

    /// How wrong a node's clock is, as far as it has shown.
    fn off(&self, node: NodeId, at: SimTime) -> i64 {
        self.clocks.as_ref().map_or(0, |clocks| clocks.off(HostId::Node(node), at))
    }

    /// One beat, after a line for the day if it is a new one, or if its offset is.
    pub fn beat(&mut self, beat: &Beat) -> Vec<String> {
        let mut lines = Vec::new();
        let now = self.zoned(self.calendar.origin.wall(beat.at));
        let day = (now.date(), now.offset());
        if self.day != Some(day) {
            self.day = Some(day);
            let changes = self.calendar.tells_offsets(beat.at);
            let offset = if changes { format!("{} ", offset_name(now.offset().seconds())) } else { String::new() };
            let rule = "─".repeat(self.width.min(100) - 14 - offset.len());
            lines.push(paint(STRONG, &format!("── {} {offset}{rule}", now.date())));
        }
        let time = now.strftime("%H:%M:%S.%3f").to_string();
        if let Voice::Node(node, state) = beat.voice {
            let believed = WallTime(self.calendar.origin.wall(beat.at).0 + self.off(node, beat.at));
            let believed = self.zoned(believed);
            let other = believed.offset() != now.offset();
            let offset = if other { offset_name(believed.offset().seconds()) } else { String::new() };
            let text = format!("{}{offset} {}", believed.strftime("%H:%M:%S"), beat.text);
            lines.push(self.in_lane(&time, node, &text));
            if let Some(known) = self.states.get_mut(usize::from(node.0)) {
                *known = state;
            }
            return lines;
        }
        let (style, lead) = match beat.voice {
            Voice::World(actor) => (anstyle::Style::new(), format!("├ {actor:<7} ")),
            Voice::Fault => (UNSURE, "↯ ".to_owned()),
            Voice::Note => (ALARM, "▼ ".to_owned()),
            Voice::Quiet | Voice::Node(..) => (FAINT, "  ".to_owned()),
        };
        let room = self.width.saturating_sub(TIME + lead.chars().count()).max(20);
        for (n, line) in wrap(&beat.text, room).into_iter().enumerate() {
            let (time, lead) = if n == 0 { (time.as_str(), lead.clone()) } else { ("", " ".repeat(lead.chars().count())) };
            lines.push(format!("{}{}", pad(time, TIME), paint(style, &format!("{lead}{line}"))));
        }
        lines
    }

    fn in_lane(&self, time: &str, node: NodeId, text: &str) -> String {
        let Some(lane) = self.lanes else {
            return fit(&format!("{}{node:<3} {text}", pad(time, TIME), node = node.to_string()), self.width);
        };
        let mut line = pad(time, TIME);
        for (n, state) in self.states.iter().enumerate() {
            let sign = match state {
                State::Running => "│",
                State::Paused => "┆",
                State::Down => "×",
            };
            let text = if n == usize::from(node.0) { fit(text, lane - 3) } else { String::new() };
            line.push_str(&pad(&format!("{sign} {text}"), lane));
        }
        line.trim_end().to_owned()
    }

    fn zoned(&self, wall: WallTime) -> jiff::Zoned {
        wall.timestamp().to_zoned(self.calendar.zone.clone())
    }
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}
