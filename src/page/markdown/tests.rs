use super::*;
use crate::page::sample;

fn told(verdicts: &Verdicts) -> String {
    let sentence = |witness: &str| (witness == "witnesses/table-key@innodb--crash.toml").then(|| "n1 | n2, and both settle".to_owned());
    summary(verdicts, &Place { reports: "my reports", sentence: &sentence })
}

#[test]
fn what_is_not_as_expected_comes_first() {
    insta::assert_snapshot!(told(&sample::verdicts()));
}

#[test]
fn a_table_that_is_as_expected_is_told_in_the_first_line() {
    let mut verdicts = sample::verdicts();
    for cell in verdicts.strategies.iter_mut().flat_map(|strategy| &mut strategy.cells) {
        cell.as_expected = true;
    }
    let told = told(&verdicts);
    assert!(told.starts_with("## onceproof: ✓ all 12 cells are as expected\n\n| strategy | calm |"), "{told}");
}

/// Every line of a table has as many bars as its head, whatever the names are, and nothing in them is HTML or Markdown.
#[test]
fn signs_of_markdown_and_html_are_shown_not_obeyed() {
    let nasty = "a|b <script>alert(1)</script> `c` *d* _e_ [f](g) \\|\n| h |";
    let told = told(&sample::named(nasty, nasty));
    assert!(!told.contains("<script") && !told.replace(r"\]", "").contains("](") && told.contains("&lt;script&gt;"), "{told}");
    assert!(told.contains(r"a\|b &lt;script&gt;alert(1)&lt;/script&gt; \`c\` \*d\* \_e\_ \[f\](g) \\\|; \| h \|"), "{told}");
    let bars = |line: &str| line.replace(r"\\", "").replace(r"\|", "").matches('|').count();
    let heads: Vec<usize> = told.lines().filter(|line| line.starts_with("| strategy |")).map(bars).collect();
    assert_eq!(heads, [5, 6]);
    let (first, second) = told.split_once("\n| strategy | calm |").unwrap();
    assert!(first.lines().filter(|line| line.starts_with('|')).all(|line| bars(line) == 5), "{first}");
    assert!(second.lines().skip(1).filter(|line| line.starts_with('|')).all(|line| bars(line) == 6), "{second}");
}

#[test]
fn a_command_is_fenced_by_more_backticks_than_it_has() {
    assert_eq!(code("onceproof replay a|b"), r"`onceproof replay a\|b`");
    assert_eq!(code(r"replay a\|b"), r"replay a\\\|b");
    assert_eq!(code("replay 'x``y'"), "``` replay 'x``y' ```");
}

#[test]
fn without_cells_there_is_no_table() {
    let mut verdicts = sample::verdicts();
    verdicts.strategies.iter_mut().for_each(|strategy| strategy.cells.clear());
    let told = told(&verdicts);
    assert!(told.starts_with("## onceproof: no cell was looked at\n") && !told.contains('|'), "{told}");
}
