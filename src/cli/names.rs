//! Names that users type: found, or answered with the nearest one.

use crate::class::{FaultClass, KINDS, Kind};
use crate::cli::exit::Failure;
use crate::incident::{self, Incident};
use crate::nearest::nearest;
use crate::scenario::Rules;
use crate::strategy::{self, Strategy};
use crate::world::EngineKind;

/// The strategy with this name.
pub fn strategy(name: &str) -> Result<&'static dyn Strategy, Failure> {
    if let Some((strategy, rules)) = name.split_once('@') {
        return Err(Failure::Usage(format!("`{name}` is the name of a row; write --strategy {strategy} --rules {rules}")));
    }
    strategy::find(name)
        .ok_or_else(|| unknown("strategy", name, strategy::catalogue().iter().map(|s| s.name()), "`onceproof list` shows all"))
}

/// The rows of a table: these strategies, or all that can run there, each under these rules, or under the default and
/// once more under those that decide its verdict.
pub fn rows(named: &[String], rules: Option<&str>) -> Result<Vec<(&'static dyn Strategy, Rules)>, Failure> {
    let named = named.iter().map(|name| strategy(name)).collect::<Result<Vec<_>, _>>()?;
    let rules = rules.map(self::rules).transpose()?;
    // Who is named and cannot run under these rules is refused where it is deployed.
    let is_named = |s: &&'static dyn Strategy| match &named[..] {
        [] => s.runs_under(rules.unwrap_or_default()),
        named => named.iter().any(|n| n.name() == s.name()),
    };
    let under = |s: &'static dyn Strategy| {
        let more = if rules.is_none() { s.also_under() } else { &[] };
        std::iter::once(rules.unwrap_or_default()).chain(more.iter().copied()).map(move |rules| (s, rules))
    };
    Ok(strategy::catalogue().iter().copied().filter(is_named).flat_map(under).collect())
}

/// The kind of single fault with this name.
pub fn kind(name: &str) -> Result<&'static Kind, Failure> {
    Kind::find(name).ok_or_else(|| {
        unknown("kind of fault", name, KINDS.iter().map(|kind| kind.name), "`onceproof list` shows all, and `core` is seven of them")
    })
}

/// The fault class with this name.
pub fn class(name: &str) -> Result<FaultClass, Failure> {
    let found = FaultClass::ALL.into_iter().find(|c| c.name() == name);
    found.ok_or_else(|| unknown("fault class", name, FaultClass::ALL.map(FaultClass::name), "`onceproof list` shows all"))
}

/// The incident with this number.
pub fn incident(id: &str) -> Result<&'static Incident, Failure> {
    incident::find(id).ok_or_else(|| {
        unknown("incident", id, incident::all().iter().map(|incident| incident.id.as_str()), "`onceproof incident list` shows all")
    })
}

/// The engine with this name.
pub fn engine(name: &str) -> Result<EngineKind, Failure> {
    let found = EngineKind::ALL.into_iter().find(|e| e.name() == name);
    found.ok_or_else(|| unknown("engine", name, EngineKind::ALL.map(EngineKind::name), "write `event` or `turmoil`"))
}

/// The database rules with this name.
pub fn rules(name: &str) -> Result<Rules, Failure> {
    Rules::find(name).ok_or_else(|| {
        let all = Rules::ALL.map(Rules::name).join(", ");
        unknown("rules", name, Rules::ALL.iter().flat_map(|r| [r.name(), r.short()]), &format!("write postgresql, innodb, or one of {all}"))
    })
}

fn unknown(what: &str, name: &str, known: impl IntoIterator<Item = &'static str>, all: &str) -> Failure {
    let meant = nearest(name, known).map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
    Failure::Usage(format!("unknown {what} `{name}`; {meant}{all}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        assert_eq!(
            class("partion"),
            Err(Failure::Usage("unknown fault class `partion`; did you mean `partition`? `onceproof list` shows all".to_owned()))
        );
        assert_eq!(class("earthquake"), Err(Failure::Usage("unknown fault class `earthquake`; `onceproof list` shows all".to_owned())));
        assert_eq!(
            engine("turmoi"),
            Err(Failure::Usage("unknown engine `turmoi`; did you mean `turmoil`? write `event` or `turmoil`".to_owned()))
        );
    }
}
