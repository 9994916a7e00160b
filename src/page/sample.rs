//! Verdicts for tests of what is made of them: a cell of every kind.

use crate::page::source::{Verdicts, document};

/// A small table: as expected or not, in every way.
pub fn verdicts() -> Verdicts {
    document::read(include_str!("sample/verdicts.json")).expect("the sample is as onceproof writes it")
}

/// The same with another name for its first strategy, and another text for what broke first.
pub fn named(name: &str, what: &str) -> Verdicts {
    let mut verdicts = verdicts();
    let strategy = &mut verdicts.strategies[0];
    name.clone_into(&mut strategy.name);
    name.clone_into(&mut strategy.label);
    for broken in strategy.cells.iter_mut().flat_map(|cell| &mut cell.broken) {
        what.clone_into(&mut broken.first.what);
    }
    verdicts
}
