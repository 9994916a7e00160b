use super::*;
use crate::page::witness::samples;
use crate::report::twin::Message;

fn svg(twin: &Twin) -> String {
    Picture::new(twin).draw("lanes").into_string()
}

#[test]
fn two_who_believe_at_once_are_marked() {
    let twin = samples::pause();
    let svg = svg(&twin);
    assert!(svg.contains("both believe"), "{svg}");
    assert!(svg.contains("n1 and n2 both believe to hold the lease"));
    assert!(svg.contains("wrong: n2 holds it"), "{svg}");
}

#[test]
fn one_who_believes_alone_is_not_marked() {
    let mut twin = samples::pause();
    twin.beliefs.truncate(1);
    twin.leases.truncate(1);
    let svg = svg(&twin);
    assert!(!svg.contains("both believe") && !svg.contains("url(#clash)"));
}

#[test]
fn lanes_stand_below_each_other() {
    for twin in [samples::pause(), samples::partition()] {
        let picture = Picture::new(&twin);
        for pair in picture.lanes.windows(2) {
            assert!(pair[0].bottom < pair[1].top);
        }
        for lane in &picture.lanes {
            assert!(lane.top < lane.line && lane.line < lane.bottom);
        }
    }
}

#[test]
fn everything_that_broke_has_a_flag() {
    let twin = samples::pause();
    assert!(svg(&twin).contains("✗ D settled-once, S no-stale-commit"));
}

#[test]
fn messages_that_are_too_many_are_left_out_and_lost_ones_never() {
    let mut twin = samples::partition();
    let message = twin.messages[0].clone();
    let at = message.sent_ms;
    twin.messages.extend((0..1000).map(|i| Message { sent_ms: at + i, ..message.clone() }));
    let svg = svg(&twin);
    assert_eq!(svg.matches("class=\"message ").count() + left_out(&Picture::new(&twin)), twin.messages.len());
    assert!(left_out(&Picture::new(&twin)) > 500);
    assert_eq!(svg.matches(": never answered").count(), 2);
}

#[test]
fn of_two_messages_in_one_place_the_lost_one_is_named() {
    let mut twin = samples::partition();
    let seen = twin.messages.iter().find(|message| message.seen_ms.is_some() && message.reached_ms.is_some()).unwrap().clone();
    let lost = Message { step: "is.lost".to_owned(), seen_ms: None, sent_ms: seen.sent_ms + 1, ..seen.clone() };
    twin.messages = vec![Message { step: "is.seen".to_owned(), ..seen }, lost];
    let svg = svg(&twin);
    assert!(svg.contains(">is.lost<") && !svg.contains(">is.seen<"), "{svg}");
}

#[test]
fn of_the_polls_in_a_quiet_time_one_is_drawn() {
    let twin = samples::pause();
    assert_eq!(left_out(&Picture::new(&twin)), 28);
}
