//! Two axes with a grid, and where values lie between them.

use crate::page::plot::axis::Axis;
use crate::page::plot::ink::Ink;
use crate::page::plot::panel::{self, Area, At, Drawn, SMALL, Spot};
use plotters::chart::ChartBuilder;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind};
use plotters::prelude::SVGBackend;
use plotters::style::Color;
use std::io;

type Plane<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// Space around the plane, in pixels; labels of the axes are in it.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Above.
    pub top: u32,
    /// To the right.
    pub right: u32,
    /// Below: the labels of the x axis, and its name.
    pub below: u32,
    /// To the left: the labels of the y axis.
    pub left: u32,
}

/// A plane to draw on.
pub struct Chart<'a> {
    plane: Plane<'a>,
}

impl<'a> Chart<'a> {
    /// Draws the axes, with their names: of the horizontal one below, of the vertical one on top of it.
    pub fn new(
        area: &Area<'a>,
        (x, y): (&Axis, &Axis),
        around: Around,
        (x_name, y_name): (&str, &str),
    ) -> Result<Self, DrawingAreaErrorKind<io::Error>> {
        let mut chart = ChartBuilder::on(area)
            .margin_top(around.top)
            .margin_right(around.right)
            .x_label_area_size(around.below)
            .y_label_area_size(around.left)
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            .axis_style(Ink::Line.rgb())
            .bold_line_style(Ink::Line.rgb().mix(0.6))
            .set_all_tick_mark_size(4)
            .x_label_formatter(&|at| x.label(*at))
            .y_label_formatter(&|at| y.label(*at))
            .label_style(panel::style(SMALL, Ink::Soft, At::Middle))
            .draw()?;
        let (width, height) = area.dim_in_pixel();
        panel::say(area, x_name, (width as i32 - around.right as i32, height as i32 - 8), SMALL, Ink::Soft, At::End)?;
        panel::say(area, y_name, (2, around.top as i32 - 12), SMALL, Ink::Soft, At::Start)?;
        Ok(Chart { plane: chart.plotting_area().clone() })
    }

    /// Where two values lie, in pixels.
    pub fn spot(&self, x: f64, y: f64) -> Spot {
        self.plane.map_coordinate(&(x, y))
    }

    /// The same for several.
    pub fn spots(&self, values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Spot> {
        values.into_iter().map(|(x, y)| self.spot(x, y)).collect()
    }

    /// A line from the lower to the upper end, at a value of the horizontal axis.
    pub fn upright(&self, area: &Area<'_>, x: f64, ink: Ink, width: u32) -> Drawn {
        let ends = [f64::NEG_INFINITY, f64::INFINITY].map(|y| self.spot(x, y));
        panel::path(area, &ends, ink, width)
    }
}
