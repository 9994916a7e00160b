//! As much of regular expressions as the schema's patterns have: classes, groups, choices, repetition, and looking ahead.

/// Whether a text is matched somewhere.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let (node, read) = choice(&pattern, 0);
    assert_eq!(read, pattern.len(), "the pattern is read to its end");
    let text: Vec<char> = text.chars().collect();
    (0..=text.len()).any(|at| node.run(&text, at, &mut |_| true))
}

enum Node {
    One(Box<dyn Fn(char) -> bool>),
    Begin,
    End,
    Ahead(Box<Node>),
    Row(Vec<Node>),
    Choice(Vec<Node>),
    Times(Box<Node>, usize, usize),
}

impl Node {
    fn run(&self, text: &[char], at: usize, then: &mut dyn FnMut(usize) -> bool) -> bool {
        match self {
            Node::One(is) => text.get(at).is_some_and(|c| is(*c)) && then(at + 1),
            Node::Begin => at == 0 && then(at),
            Node::End => at == text.len() && then(at),
            Node::Ahead(node) => node.run(text, at, &mut |_| true) && then(at),
            Node::Row(all) => row(all, text, at, then),
            Node::Choice(all) => all.iter().any(|node| node.run(text, at, then)),
            Node::Times(node, least, most) => times(node, (*least, *most), text, at, then),
        }
    }
}

fn row(all: &[Node], text: &[char], at: usize, then: &mut dyn FnMut(usize) -> bool) -> bool {
    match all.split_first() {
        None => then(at),
        Some((first, rest)) => first.run(text, at, &mut |at| row(rest, text, at, then)),
    }
}

fn times(node: &Node, (least, most): (usize, usize), text: &[char], at: usize, then: &mut dyn FnMut(usize) -> bool) -> bool {
    let more = most > 0
        && node.run(text, at, &mut |next| (next > at || least > 0) && times(node, (least.saturating_sub(1), most - 1), text, next, then));
    more || least == 0 && then(at)
}

fn choice(pattern: &[char], mut at: usize) -> (Node, usize) {
    let mut all = Vec::new();
    loop {
        let (node, next) = sequence(pattern, at);
        all.push(node);
        if pattern.get(next) != Some(&'|') {
            return (Node::Choice(all), next);
        }
        at = next + 1;
    }
}

fn sequence(pattern: &[char], mut at: usize) -> (Node, usize) {
    let mut all = Vec::new();
    while at < pattern.len() && !"|)".contains(pattern[at]) {
        let (node, next) = atom(pattern, at);
        let (node, next) = repeated(node, pattern, next);
        all.push(node);
        at = next;
    }
    (Node::Row(all), at)
}

fn atom(pattern: &[char], at: usize) -> (Node, usize) {
    match pattern[at] {
        '^' => (Node::Begin, at + 1),
        '$' => (Node::End, at + 1),
        '.' => (Node::One(Box::new(|c| c != '\n')), at + 1),
        '\\' => (Node::One(escaped(pattern[at + 1])), at + 2),
        '[' => class(pattern, at + 1),
        '(' => {
            let ahead = pattern[at + 2] == '=';
            assert!(pattern[at + 1] == '?' && (ahead || pattern[at + 2] == ':'), "groups are (?: or (?=");
            let (node, next) = choice(pattern, at + 3);
            assert_eq!(pattern[next], ')');
            (if ahead { Node::Ahead(Box::new(node)) } else { node }, next + 1)
        }
        c => (Node::One(Box::new(move |other| other == c)), at + 1),
    }
}

fn escaped(c: char) -> Box<dyn Fn(char) -> bool> {
    match c {
        's' => Box::new(char::is_whitespace),
        'S' => Box::new(|c| !c.is_whitespace()),
        't' => Box::new(|c| c == '\t'),
        'n' => Box::new(|c| c == '\n'),
        'f' => Box::new(|c| c == '\u{c}'),
        'r' => Box::new(|c| c == '\r'),
        c => Box::new(move |other| other == c),
    }
}

fn class(pattern: &[char], mut at: usize) -> (Node, usize) {
    let mut all: Vec<Box<dyn Fn(char) -> bool>> = Vec::new();
    while pattern[at] != ']' {
        if pattern[at] == '\\' {
            all.push(escaped(pattern[at + 1]));
            at += 2;
        } else if pattern[at + 1] == '-' {
            let (least, most) = (pattern[at], pattern[at + 2]);
            all.push(Box::new(move |c| (least..=most).contains(&c)));
            at += 3;
        } else {
            let one = pattern[at];
            all.push(Box::new(move |c| c == one));
            at += 1;
        }
    }
    (Node::One(Box::new(move |c| all.iter().any(|is| is(c)))), at + 1)
}

fn repeated(node: Node, pattern: &[char], at: usize) -> (Node, usize) {
    let (least, most, next) = match pattern.get(at) {
        Some('?') => (0, 1, at + 1),
        Some('*') => (0, usize::MAX, at + 1),
        Some('+') => (1, usize::MAX, at + 1),
        Some('{') => {
            let end = at + pattern[at..].iter().position(|c| *c == '}').expect("it is closed");
            let bounds: String = pattern[at + 1..end].iter().collect();
            let (least, most) = bounds.split_once(',').unwrap_or((&bounds, &bounds));
            (least.parse().expect("a number"), most.parse().expect("a number"), end + 1)
        }
        _ => return (node, at),
    };
    (Node::Times(Box::new(node), least, most), next)
}
