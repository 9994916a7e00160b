//! `onceproof incident`: public reports, reproduced, each with its fix.

use crate::cli::exit::Failure;
use crate::cli::{Exit, names, out};
use crate::explore::Observed;
use crate::explore::observe::NoResult;
use crate::incident::{self, Staged};
use crate::report::incident::{Rerun, json, list, list_json, tell, tell_unexpressed, unexpressed_json};
use clap::Args;

/// Which incident.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  onceproof incident list          every public report that is reproduced here, and those that are not, with the reason
  onceproof incident B40           one of them: what was reported, the run that shows it, and the fix
  onceproof incident B40 --fixed   and the same run with the fix

Exit codes:
  0  it broke as reported, and held with the fix; or it is one that is not reproduced, and the reason is told
  1  it did not
  2  there is no such incident, or the output cannot be written")]
pub(super) struct IncidentArgs {
    /// `list`, or the number of an incident
    #[arg(value_name = "list|ID", default_value = "list")]
    what: String,
    /// Tell the run with the fix too
    #[arg(long)]
    fixed: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Lists, or tells one.
pub fn run(args: &IncidentArgs) -> Result<Exit, Failure> {
    if args.what == "list" {
        let (all, rest) = (incident::all(), incident::unexpressed());
        out::print(&if args.json { list_json(all, rest) } else { list(all, rest, out::width()) })?;
        return Ok(Exit::AsExpected);
    }
    if let Some(report) = incident::unexpressed_one(&args.what) {
        out::print(&if args.json { unexpressed_json(report) } else { tell_unexpressed(report, out::width()) })?;
        return Ok(Exit::AsExpected);
    }
    let incident = names::incident(&args.what)?;
    let wrong = |e: crate::scenario::Misconfigured| Failure::Distrust(format!("incident {}: {e}", incident.id));
    let (broken, fixed) = (incident.broken().map_err(wrong)?, incident.fixed().map_err(wrong)?);
    let (seen, mended) = (observed(&broken)?, observed(&fixed)?);
    let rerun = Rerun { incident, broken: (&broken, &seen), fixed: (&fixed, &mended) };
    out::print(&if args.json { json(&rerun) } else { tell(&rerun, args.fixed, out::width()) })?;
    match rerun.surprise() {
        None => Ok(Exit::AsExpected),
        Some(what) => {
            out::complain(&format!("incident {} is not as it was reported: {what}", incident.id));
            Ok(Exit::Unexpected)
        }
    }
}

fn observed(staged: &Staged) -> Result<Observed, Failure> {
    staged.observe().map_err(|e| match e {
        NoResult::Refused(why) => Failure::Distrust(why.to_string()),
        NoResult::Bug(what) => Failure::Distrust(format!("onceproof itself failed: {what}")),
    })
}
