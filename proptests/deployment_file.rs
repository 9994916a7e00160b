//! Deployment files that somebody has spoilt: read or refused, never a panic, and every mistake
//! lies in the file.

use onceproof::deployment_file::{DeploymentFile, EXAMPLE, Place};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

fn config(cases: u32) -> ProptestConfig {
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("regressions")) as Box<_>);
    ProptestConfig { cases, failure_persistence, ..ProptestConfig::default() }
}

/// One slip of the hand.
#[derive(Clone, Debug)]
enum Slip {
    Cut(usize, usize),
    Put(usize, String),
    Twice(usize),
    Swap(usize, usize),
}

fn slip() -> impl Strategy<Value = Slip> {
    let values = prop::sample::select(vec![
        "\"\"",
        "[",
        "]",
        "=",
        "\n",
        "#",
        "0",
        "-1",
        "99999999999999999999",
        "1e400",
        "nan",
        "inf",
        "0x10",
        "1979-05-27",
        "true",
        "\"0s\"",
        "\"-1s\"",
        "\"999999999h\"",
        "{}",
        "[[lease]]\n",
        "[job]\n",
        "job = \"1m\"\n",
        "\u{0}",
        "ä",
        "\"\"\"",
        "'''",
        "[knobs]\nnodes = 0\n",
        "[knobs.schedule]\nperiods = 0\n",
        "guard = \"table-key\"\n",
        "profile = \"redisson\"\n",
        ".",
        "\"* * * * *\"",
        "\"0 0 31 2 *\"",
    ]);
    prop_oneof![
        (any::<usize>(), 0_usize..40).prop_map(|(at, n)| Slip::Cut(at, n)),
        (any::<usize>(), values).prop_map(|(at, text)| Slip::Put(at, text.to_owned())),
        (any::<usize>(), "\\PC{0,12}").prop_map(|(at, text)| Slip::Put(at, text)),
        any::<usize>().prop_map(Slip::Twice),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Slip::Swap(a, b)),
    ]
}

/// Half of them with the comments opened, so that more keys are there to be spoilt.
fn opened() -> String {
    let open = |line: &str| match line.strip_prefix("# ") {
        Some(inner) if inner.contains(" = ") || inner.starts_with('[') => inner.to_owned(),
        _ => line.to_owned(),
    };
    EXAMPLE.lines().map(open).collect::<Vec<_>>().join("\n")
}

fn spoil(text: &str, slips: &[Slip]) -> String {
    let mut lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().chain(['\n']).collect()).collect();
    for slip in slips {
        match slip {
            Slip::Twice(at) if !lines.is_empty() => {
                let line = lines[at % lines.len()].clone();
                lines.insert(at % lines.len(), line);
            }
            Slip::Swap(a, b) if !lines.is_empty() => {
                let n = lines.len();
                lines.swap(a % n, b % n);
            }
            Slip::Cut(at, n) => {
                let mut all: Vec<char> = lines.concat();
                let at = at % (all.len() + 1);
                all.drain(at..(at + n).min(all.len()));
                lines = all.split_inclusive(|c| *c == '\n').map(<[char]>::to_vec).collect();
            }
            Slip::Put(at, text) => {
                let mut all: Vec<char> = lines.concat();
                let at = at % (all.len() + 1);
                all.splice(at..at, text.chars());
                lines = all.split_inclusive(|c| *c == '\n').map(<[char]>::to_vec).collect();
            }
            Slip::Twice(_) | Slip::Swap(..) => {}
        }
    }
    lines.concat().into_iter().collect()
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn a_spoilt_file_is_read_or_told_its_mistakes(whole: bool, slips in prop::collection::vec(slip(), 0..6)) {
        let text = spoil(&if whole { opened() } else { EXAMPLE.to_owned() }, &slips);
        match DeploymentFile::read("d.toml", &text) {
            Ok(file) => {
                prop_assert!(file.scenario.validate().is_ok());
                prop_assert!(onceproof::deployment_file::checks::checks(&file).iter().all(|check| !check.cure.is_empty()));
            }
            Err(mistakes) => {
                prop_assert!(!mistakes.all.is_empty());
                let lines = text.lines().count().max(1);
                for mistake in &mistakes.all {
                    prop_assert!(!mistake.what.is_empty());
                    if let Some(span) = &mistake.span {
                        let place = Place::of(&text, span);
                        prop_assert!(place.line <= lines + 1, "{} of {lines}", place.line);
                        prop_assert!(place.column <= place.text.chars().count() + 1);
                    }
                }
                let told = mistakes.to_string();
                prop_assert!(told.lines().all(|line| !line.chars().any(char::is_control)), "{told:?}");
            }
        }
    }
}
