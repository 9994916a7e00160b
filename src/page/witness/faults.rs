//! The faults of the plan and what became of them, and what is not as usual in the deployment.

use crate::page::witness::stamp::Stamps;
use crate::page::witness::words;
use crate::report::twin::{Planned, Twin};
use maud::{Markup, html};

/// Both.
pub fn draw(twin: &Twin, stamps: &Stamps) -> Markup {
    html! {
        h3 { "Faults planned" }
        @if twin.plan.is_empty() { p { "None: this run is calm." } }
        ol .plan { @for planned in &twin.plan { (fault(planned, stamps)) } }
        @if !twin.knobs.is_empty() {
            h3 { "Not as usual" }
            dl .knobs { @for knob in &twin.knobs { div { dt { code { (knob.name) } } dd { (knob.value) } } } }
        }
        @if !twin.because.is_empty() {
            h3 { "What the sentence is made of" }
            ul .because { @for event in &twin.because { li { (words::coded(event)) } } }
        }
    }
}

fn fault(planned: &Planned, stamps: &Stamps) -> Markup {
    html! {
        li {
            (words::coded(&planned.what))
            ul {
                li { @match planned.fired_ms { Some(at) => { "struck at " (stamps.full(at)) } None => { "never struck" } } }
                @if planned.fired_ms.is_some() {
                    li {
                        @match planned.felt_ms { Some(at) => { "felt at " (stamps.full(at)) } None => { "not felt by anybody" } }
                        @if let Some(proof) = &planned.proof { ": " (words::coded(proof)) }
                    }
                }
            }
        }
    }
}
