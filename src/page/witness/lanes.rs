//! The picture of a run: a lane for each host, true time to the right.

mod bars;
mod bands;
mod clashes;
mod clocks;
mod cuts;
mod frame;
mod marks;
mod messages;
mod names;
mod shelf;
mod tint;

pub use frame::LEGEND_FOLD;
pub use marks::{glyph, kinds};
pub use messages::left_out;
pub use tint::patterns;

use crate::page::witness::axis::Axis;
use crate::page::witness::instants;
use crate::page::witness::overlap::{self, Overlap};
use crate::page::witness::stamp::Stamps;
use crate::report::twin::{Host, Role, Twin};
use maud::{Markup, html};

/// Pixels between lanes.
const BETWEEN: f64 = 10.0;

/// Everything that drawing needs.
#[derive(Debug)]
pub struct Picture<'a> {
    /// The run.
    pub twin: &'a Twin,
    /// Its times.
    pub stamps: Stamps,
    /// Its axis.
    pub axis: Axis,
    /// From the top.
    pub lanes: Vec<Lane<'a>>,
    /// Height of what stands above the lanes.
    top: f64,
    /// Flags of what broke.
    flags: Vec<frame::Flag>,
    /// Parts of beliefs that are wrong.
    wrong: Vec<Overlap>,
}

/// The lane of a host. Heights are measured from the top of the picture.
#[derive(Debug)]
pub struct Lane<'a> {
    /// Whose.
    pub host: &'a Host,
    /// Its place among nodes, for its colour.
    pub node: Option<usize>,
    top: f64,
    bottom: f64,
    /// Where the lowest row of labels stands.
    label: f64,
    /// The line on which instants are.
    line: f64,
    /// Top of the first row of bars.
    bars: f64,
    /// Where the node's own clock stands.
    own: f64,
    /// Top of the strip that shows the clock's error.
    strip: Option<f64>,
    captions: Vec<bands::Caption>,
    labels: Vec<marks::Mark>,
    rows: Vec<bars::Bar>,
}

impl<'a> Picture<'a> {
    /// Lays a run out.
    pub fn new(twin: &'a Twin) -> Picture<'a> {
        let axis = Axis::new(&instants::ranked(twin), twin.ends_ms);
        let flags = frame::flags(twin, &axis);
        let top = frame::height(&flags);
        let mut picture = Picture {
            twin,
            stamps: Stamps::new(twin.origin_unix_ms, &twin.zone),
            axis,
            lanes: Vec::new(),
            top,
            flags,
            wrong: overlap::wrong(twin),
        };
        let mut nodes = 0..;
        let mut y = top + 4.0;
        for host in &twin.hosts {
            let node = if host.role == Role::Node { nodes.next() } else { None };
            let lane = picture.lane(host, node, y);
            y = lane.bottom + BETWEEN;
            picture.lanes.push(lane);
        }
        picture
    }

    fn lane(&self, host: &'a Host, node: Option<usize>, top: f64) -> Lane<'a> {
        let captions = bands::captions(self, host);
        let labels = marks::of(self, host);
        let rows = bars::of(self, host);
        let heads = captions.iter().filter_map(|caption| caption.row).map(|row| row + 1).max().unwrap_or(0) as f64;
        let texts = labels.iter().filter_map(|mark| mark.row).map(|row| row + 1).max().unwrap_or(0) as f64;
        let bars = rows.iter().map(|bar| bar.row + 1).max().unwrap_or(0) as f64;
        let label = top + 3.0 + heads * bands::CAPTION + texts * marks::LABEL;
        let line = label + if labels.iter().any(marks::Mark::is_large) { 17.0 } else { 13.0 };
        let first_bar = line + 13.0;
        let below = first_bar + bars * bars::HEIGHT;
        let own = below + 9.0;
        let below = if node.is_some() { below + 13.0 } else { below };
        let strip = clocks::is_wrong(self.twin, &host.name).then_some(below + 2.0);
        let bottom = strip.map_or(below, |strip| strip + clocks::HEIGHT).max(line + 18.0) + 2.0;
        Lane { host, node, top, bottom, label, line, bars: first_bar, own, strip, captions, labels, rows }
    }

    /// How high it is.
    pub fn height(&self) -> f64 {
        self.lanes.last().map_or(self.top, |lane| lane.bottom) + frame::BELOW
    }

    /// A host's lane.
    pub fn lane_of(&self, host: &str) -> Option<&Lane<'a>> {
        self.lanes.iter().find(|lane| lane.host.name == host)
    }

    /// A node's colour as a class, `nobody` for who is no node.
    pub fn tint(&self, host: &str) -> String {
        let node = self.lane_of(host).and_then(|lane| lane.node);
        node.map_or("nobody".to_owned(), |node| format!("t{}", node % tint::COLOURS))
    }

    /// The pattern that goes with [`Picture::tint`].
    pub fn pattern(&self, host: &str) -> String {
        let node = self.lane_of(host).and_then(|lane| lane.node);
        node.map_or("none".to_owned(), |node| format!("url(#p{})", node % tint::COLOURS))
    }

    /// The picture in its frame. `id` is that of its `<svg>`.
    pub fn draw(&self, id: &str) -> Markup {
        let (width, height) = (px(self.axis.width), px(self.height()));
        html! {
            div .picture tabindex="0" role="region" aria-label="Picture, scrolls sideways" style=(format!("--names:{};--wide:{width}", names::WIDTH)) {
                (names::draw(self))
                svg .lanes id=(id) role="img" aria-labelledby={ (id) "-title" } aria-describedby={ (id) "-desc" }
                    width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                    title id={ (id) "-title" } { (self.title()) }
                    desc id={ (id) "-desc" } { (self.told()) }
                    (frame::behind(self))
                    @for lane in &self.lanes { (bands::draw(self, lane)) }
                    @for lane in &self.lanes { (bands::captioned(self, lane)) }
                    (cuts::draw(self))
                    (frame::tears(self))
                    @for lane in &self.lanes { (bars::draw(self, lane)) }
                    (clashes::draw(self))
                    (frame::axis(self))
                    @for lane in &self.lanes { (clocks::draw(self, lane)) }
                    (messages::draw(self))
                    (marks::threads(self))
                    @for lane in &self.lanes { (marks::draw(self, lane)) }
                    (frame::broken(self))
                    g .cursor hidden { line y1=(px(self.top - 6.0)) y2=(px(self.height() - frame::BELOW)) {} path d=(format!("M-5 {0}h10l-5 7z", px(self.top - 12.0))) {} }
                }
            }
        }
    }

    fn title(&self) -> String {
        format!("What happened to {} under {}", self.twin.label, self.twin.faults)
    }

    /// What the picture says, for those who cannot see it.
    fn told(&self) -> String {
        let sentence = if self.twin.sentence.is_empty() { None } else { Some(self.twin.sentence.as_str()) };
        let broke = self.twin.violations.iter().map(|violation| violation.what.as_str());
        let lanes = self.twin.hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ");
        let parts: Vec<&str> = sentence.into_iter().chain(broke).collect();
        format!("{} Lanes: {lanes}. The story below tells everything that the picture shows.", parts.join(" "))
    }
}

/// A length in pixels, as short as it can be written.
pub fn px(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;
