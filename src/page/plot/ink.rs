//! Colours of plots. What plotters writes are stand-ins, each its own; the style sheet puts the
//! page's colours in their place, light or dark. Without it they are readable on white.

use plotters::style::{Color, RGBColor, ShapeStyle};

/// What something is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Text and what matters.
    Text,
    /// Text of second rank.
    Soft,
    /// Grids and axes.
    Line,
    /// A raised background.
    Panel,
    /// What is wrong.
    Bad,
    /// One of eight colours that also the colour-blind can tell apart.
    Hue(usize),
}

/// The stand-ins of [`Ink::Hue`].
const HUES: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(148, 103, 189),
    RGBColor(140, 86, 75),
];

impl Ink {
    /// The stand-in.
    pub fn rgb(self) -> RGBColor {
        match self {
            Ink::Text => RGBColor(27, 27, 27),
            Ink::Soft => RGBColor(89, 89, 89),
            Ink::Line => RGBColor(201, 201, 201),
            Ink::Panel => RGBColor(240, 240, 240),
            Ink::Bad => RGBColor(179, 38, 30),
            Ink::Hue(n) => HUES[n % HUES.len()],
        }
    }

    /// Lines of this width.
    pub fn line(self, width: u32) -> ShapeStyle {
        self.rgb().stroke_width(width)
    }

    /// An area of this opacity.
    pub fn area(self, opacity: f64) -> ShapeStyle {
        self.rgb().mix(opacity).filled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plot::STYLE;

    #[test]
    fn the_style_sheet_knows_every_stand_in() {
        let hues = (0..HUES.len()).map(Ink::Hue);
        let all: Vec<Ink> = [Ink::Text, Ink::Soft, Ink::Line, Ink::Panel, Ink::Bad].into_iter().chain(hues).collect();
        for ink in &all {
            let RGBColor(r, g, b) = ink.rgb();
            for what in ["fill", "stroke"] {
                let rule = format!("[{what}=\"#{r:02X}{g:02X}{b:02X}\"]{{{what}:var(--");
                assert_eq!(STYLE.matches(&rule).count(), 1, "{ink:?}: {rule}");
            }
        }
        for (n, ink) in all.iter().enumerate() {
            assert!(all[..n].iter().all(|other| other.rgb() != ink.rgb()), "{ink:?} looks like another");
        }
    }
}
