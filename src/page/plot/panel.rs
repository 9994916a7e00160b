//! One `<svg>`, with its name for those who cannot see it.

use crate::page::plot::ink::Ink;
use maud::html;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, TextStyle};
use std::io;

/// What is drawn on, in pixels.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Drawing into a string does not fail; plotters cannot know that.
pub type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// A place, in pixels.
pub type Spot = (i32, i32);

/// Size of text that names something, in pixels.
pub const TEXT: f64 = 13.0;

/// Size of text at axes.
pub const SMALL: f64 = 12.0;

/// A plot, or one of several that stand beside each other.
pub struct Panel<'a> {
    /// Unique on a page.
    pub id: String,
    /// What it is.
    pub title: &'a str,
    /// What can be seen in it.
    pub about: &'a str,
    /// Width and height.
    pub size: (u32, u32),
}

impl Panel<'_> {
    /// The `<svg>`.
    ///
    /// # Panics
    /// Never: a string takes whatever is drawn.
    pub fn draw(&self, with: impl FnOnce(&Area<'_>) -> Drawn) -> String {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, self.size).into_drawing_area();
            with(&area).and_then(|()| area.present()).expect("a string takes whatever is drawn");
        }
        self.named(&svg)
    }

    /// With its name, and without what only takes space.
    fn named(&self, svg: &str) -> String {
        let inside = svg.split_once('>').map_or("", |(_, inside)| inside);
        // A quotation mark in a text is escaped, so these are attributes.
        let idle = [" opacity=\"1\"", " stroke=\"none\"", " stroke-width=\"1\"", " font-family=\"sans-serif\""];
        let inside = idle.into_iter().fold(inside.replace(" \"/>\n", "\"/>"), |inside, idle| inside.replace(idle, ""));
        let (title, about) = (format!("{}-title", self.id), format!("{}-about", self.id));
        let named = html! { title id=(title) { (self.title) } desc id=(about) { (self.about) } }.into_string();
        let (width, height) = self.size;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
             aria-labelledby=\"{title}\" aria-describedby=\"{about}\">{named}{inside}"
        )
    }
}

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Writes a text, if there is one; its middle line is at the place.
pub fn say(area: &Area<'_>, text: &str, spot: Spot, size: f64, ink: Ink, at: At) -> Drawn {
    if text.is_empty() { Ok(()) } else { area.draw_text(text, &style(size, ink, at), spot) }
}

/// Writes a text that is read from below.
pub fn say_upwards(area: &Area<'_>, text: &str, spot: Spot, size: f64, ink: Ink) -> Drawn {
    area.draw_text(text, &style(size, ink, At::Start).transform(FontTransform::Rotate270), spot)
}

/// The style of a text.
pub fn style(size: f64, ink: Ink, at: At) -> TextStyle<'static> {
    let side = match at {
        At::Start => HPos::Left,
        At::Middle => HPos::Center,
        At::End => HPos::Right,
    };
    // plotters divides by this.
    let style = TextStyle::from(("sans-serif", size * 1.24).into_font());
    TextStyle { color: ink.rgb().to_backend_color(), ..style.pos(Pos::new(side, VPos::Center)) }
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Down,
    Plus,
    Cross,
    Bar,
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 8] =
        [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond, Shape::Down, Shape::Plus, Shape::Cross, Shape::Bar];

    fn outline(self, (x, y): Spot, r: i32) -> Vec<Spot> {
        match self {
            Shape::Circle | Shape::Plus | Shape::Cross => Vec::new(),
            Shape::Square => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
            Shape::Triangle => vec![(x, y - r - 1), (x + r + 1, y + r), (x - r - 1, y + r)],
            Shape::Down => vec![(x, y + r + 1), (x + r + 1, y - r), (x - r - 1, y - r)],
            Shape::Diamond => vec![(x, y - r - 1), (x + r + 1, y), (x, y + r + 1), (x - r - 1, y)],
            Shape::Bar => vec![(x - r - 1, y - r / 2), (x + r + 1, y - r / 2), (x + r + 1, y + r / 2), (x - r - 1, y + r / 2)],
        }
    }

    fn strokes((x, y): Spot, shape: Shape, r: i32) -> [[Spot; 2]; 2] {
        match shape {
            Shape::Plus => [[(x - r, y), (x + r, y)], [(x, y - r), (x, y + r)]],
            _ => [[(x - r, y - r), (x + r, y + r)], [(x - r, y + r), (x + r, y - r)]],
        }
    }
}

/// Draws a mark of radius `r`, filled or as an outline.
pub fn mark(area: &Area<'_>, shape: Shape, spot: Spot, r: i32, ink: Ink, filled: bool) -> Drawn {
    match (shape, filled) {
        (Shape::Circle, true) => area.draw(&Circle::new(spot, r, ink.area(1.0))),
        (Shape::Circle, false) => area.draw(&Circle::new(spot, r, ink.line(2))),
        (Shape::Plus | Shape::Cross, _) => {
            Shape::strokes(spot, shape, r).into_iter().try_for_each(|stroke| path(area, &stroke, ink, if filled { 3 } else { 2 }))
        }
        (_, true) => area.draw(&Polygon::new(shape.outline(spot, r), ink.area(1.0))),
        (_, false) => {
            let mut outline = shape.outline(spot, r);
            outline.extend(outline.first().copied());
            path(area, &outline, ink, 2)
        }
    }
}

/// Draws a line.
pub fn path(area: &Area<'_>, spots: &[Spot], ink: Ink, width: u32) -> Drawn {
    area.draw(&PathElement::new(spots, ink.line(width)))
}

/// Fills a polygon.
pub fn fill(area: &Area<'_>, spots: Vec<Spot>, ink: Ink, opacity: f64) -> Drawn {
    if spots.len() < 3 { Ok(()) } else { area.draw(&Polygon::new(spots, ink.area(opacity))) }
}
