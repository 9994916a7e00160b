//! The example report that the repository holds is true of this build: its witnesses replay,
//! and their digests match. A change that alters any history has to make the example anew
//! (`cargo run --release`, then copy what is there), which is how it is noticed.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_example_witnesses_replay_to_the_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/example/witnesses");
    let mut replayed = 0;
    for entry in fs::read_dir(folder).expect("the example is committed") {
        let path = entry.expect("its folder is readable").path();
        // Beside each stand its page and what that is made of.
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let mut replay = Command::new(assert_cmd::cargo::cargo_bin!("onceproof"));
        let told = replay.args(["replay", "--no-page"]).arg(&path).output().expect("the program starts");
        let (story, error) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
        assert_eq!(told.status.code(), Some(0), "{}: {error}\n{story}", path.display());
        assert!(story.contains("as recorded"), "{}", path.display());
        replayed += 1;
    }
    assert_eq!(replayed, 4, "the example holds four witnesses");
}
