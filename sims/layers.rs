//! The layers of ARCHITECTURE.md hold: a module uses only modules of its own row and above.

use std::fs;
use std::path::{Path, PathBuf};

/// Rows from the top; a module may use its own row and those before it.
const LAYERS: [&[&str]; 15] = [
    &["id", "seed", "time", "trace", "step", "plan", "nearest"],
    &["settlement", "scenario", "class", "profile"],
    &["host"],
    &["real"],
    &["store"],
    &["strategy"],
    &["node"],
    &["deployment_file"],
    &["invariant"],
    &["world"],
    &["explore"],
    &["incident"],
    &["report", "page"],
    &["check"],
    &["cli", "main"],
];

/// A judge sees what was recorded, never how it came about: besides words and domain it may use nothing.
const JUDGES_MAY_USE: usize = 1;

fn row(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|modules| modules.contains(&module))
        .unwrap_or_else(|| panic!("module `{module}` stands in no layer: add it to LAYERS and to ARCHITECTURE.md"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src is readable") {
        let path = entry.expect("src is readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The modules of this crate that a source file names as `crate::module`.
fn used(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| {
        line.split("crate::").skip(1).map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>())
    })
    .filter(|name| LAYERS.iter().any(|modules| modules.contains(&name.as_str())))
    .collect()
}

#[test]
fn every_module_uses_only_its_own_row_and_those_above() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut seen = 0;
    for file in files {
        let inside = file.strip_prefix(&root).expect("found below src");
        let module =
            inside.components().next().expect("a file has a name").as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let lowest = if module == "invariant" { JUDGES_MAY_USE } else { row(&module) };
        for name in used(&fs::read_to_string(&file).expect("a source file is text")) {
            seen += 1;
            assert!(name == module || row(&name) <= lowest, "{} uses crate::{name}, which stands below its layer", inside.display());
        }
    }
    assert!(seen > 100, "only {seen} uses found: the test reads the wrong folder");
}
