//! Dialogues with one rank of three: its inputs and exactly its actions.

use super::*;
use crate::units::Bytes;

const A: RailId = RailId(0);
const B: RailId = RailId(1);

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Rank 0 of three, two rails, chunks of four bytes.
fn handler() -> Handler {
    let config = Config { chunk: Bytes::new(4), ..Config::default() };
    let member = Membership { rank: RankId(0), ranks: 3, rails: 2 };
    Handler::new(Time::ZERO, &config, &member).unwrap()
}

/// Two chunks on each rail.
fn started() -> Handler {
    let mut handler = handler();
    let division = Division::new([8, 8].map(Bytes::new).to_vec());
    let expected = [Some(Span::from_ms(10)); 2];
    handler.handle_operation(Time::ZERO, OperationId(0), &division, &expected).unwrap();
    handler
}

fn key(chunk: u32, epoch: u64) -> ChunkKey {
    ChunkKey { operation: OperationId(0), chunk, epoch: Epoch(epoch) }
}

/// Returns the actions of the handler, abbreviated.
fn actions(handler: &mut Handler) -> Vec<String> {
    let placement =
        |chunk: &ChunkIssue| format!("{}@{} on {}", chunk.key.chunk, chunk.key.epoch.0, chunk.rail);
    let list = |chunks: &[ChunkIssue]| chunks.iter().map(placement).collect::<Vec<_>>().join(", ");
    let mut all = Vec::new();
    while let Some(action) = handler.poll_action() {
        all.push(match action {
            Action::Send { to, over, message } => {
                let what = match message {
                    RankMessage::Heartbeat { .. } => "heartbeat".to_owned(),
                    RankMessage::Probe { .. } => "probe".to_owned(),
                    RankMessage::Answer { started, .. } => format!("answer {started:?}"),
                    RankMessage::Report { report, kind } => {
                        let done: Vec<String> = report
                            .operations
                            .iter()
                            .flat_map(|it| &it.done)
                            .map(|&done| u8::from(done).to_string())
                            .collect();
                        format!("up {}, done {} {kind:?}", report.view.up(), done.concat())
                    }
                };
                format!("{what} to {to} over {over}")
            }
            Action::Issue(chunks) => format!("issue {}", list(&chunks)),
            Action::Reissue(chunks) => format!("again {}", list(&chunks)),
            Action::Rails { up, epoch } => format!("epoch {}: {up}", epoch.0),
            Action::StateChange { rail, state, cause } => format!("{rail} {state} ({cause})"),
            Action::Complete(id) => format!("complete {}", id.0),
            Action::Release(id) => format!("release {}", id.0),
        });
    }
    all
}

/// Returns a report of another rank, derived from the report of rank 0.
fn report_of(handler: &Handler, done: [bool; 4]) -> RankMessage {
    let mut report = handler.report.clone();
    report.operations[0].done = done.to_vec();
    RankMessage::Report { report, kind: ReportKind::Request }
}

#[test]
fn an_error_is_published_and_chunks_that_any_rank_lacks_are_repeated() {
    let mut rank = started();
    assert_eq!(
        actions(&mut rank),
        ["issue 0@0 on rail0, 1@0 on rail0, 2@0 on rail1, 3@0 on rail1"]
    );
    assert_eq!(rank.handle_chunk(ms(1), &key(0, 0)), ChunkAdmission::Accepted);
    assert_eq!(rank.handle_chunk(ms(1), &key(2, 0)), ChunkAdmission::Accepted);
    rank.handle_link_down(ms(2), B);
    assert_eq!(
        actions(&mut rank),
        [
            "rail1 down (error)",
            "up rail0, done 1010 Request to rank1 over rail0",
            "up rail0, done 1010 Request to rank2 over rail0",
        ]
    );
    assert!(rank.is_agreeing() && rank.table.awaits(B).is_none());
    // A late completion does not count; one on the other rail does.
    assert_eq!(rank.handle_chunk(ms(3), &key(3, 0)), ChunkAdmission::Stale);
    assert_eq!(rank.handle_chunk(ms(3), &key(1, 0)), ChunkAdmission::Accepted);
    // Rank 1 has both chunks, rank 2 lacks one that this rank has.
    let report = report_of(&rank, [true, true, true, true]);
    rank.handle_message(ms(3), RankId(1), A, &report);
    assert_eq!(actions(&mut rank), [""; 0]);
    let report = report_of(&rank, [false, false, false, true]);
    rank.handle_message(ms(4), RankId(2), A, &report);
    assert_eq!(actions(&mut rank), ["epoch 1: rail0", "again 2@1 on rail0, 3@1 on rail0"]);
    // It takes part in the repetition of a chunk that it has, for rank 2.
    assert_eq!(rank.handle_chunk(ms(5), &key(2, 1)), ChunkAdmission::Repeated);
    assert_eq!(rank.handle_chunk(ms(5), &key(3, 0)), ChunkAdmission::Stale);
    assert_eq!(rank.handle_chunk(ms(5), &key(3, 1)), ChunkAdmission::Accepted);
    assert_eq!(actions(&mut rank), ["complete 0"]);
    assert_eq!(rank.handle_chunk(ms(6), &key(3, 1)), ChunkAdmission::Repeated);
    // Inputs are released once all ranks have all sums.
    let complete = vec![OperationId(1); 3];
    rank.handle_message(ms(7), RankId(2), A, &RankMessage::Heartbeat { complete });
    assert_eq!(actions(&mut rank), ["release 0"]);
    assert_eq!(rank.handle_chunk(ms(8), &key(3, 1)), ChunkAdmission::Stale);
}

#[test]
fn missing_heartbeats_make_a_rail_suspect_and_then_down() {
    let mut rank = handler();
    rank.handle_timeout(Time::ZERO);
    assert_eq!(
        actions(&mut rank),
        ["heartbeat to rank1 over rail0", "heartbeat to rank1 over rail1"]
    );
    let beat = RankMessage::Heartbeat { complete: vec![OperationId(0); 3] };
    // Rank 2 precedes rank 0. After 30 ms its messages arrive on only one rail.
    rank.handle_message(ms(30), RankId(2), A, &beat);
    rank.handle_message(ms(30), RankId(2), B, &beat);
    rank.handle_message(ms(80), RankId(2), A, &beat);
    rank.handle_timeout(ms(50));
    actions(&mut rank);
    assert_eq!(rank.poll_timeout(), ms(85));
    rank.handle_timeout(ms(85));
    assert_eq!(actions(&mut rank), ["rail1 suspect (silence)"]);
    rank.handle_timeout(ms(100));
    rank.handle_message(ms(130), RankId(2), A, &beat);
    actions(&mut rank);
    assert_eq!(rank.poll_timeout(), ms(135));
    rank.handle_timeout(ms(135));
    assert_eq!(actions(&mut rank)[0], "rail1 down (silence)");
    // 30 ms + 2 heartbeats + grace, within the budget.
    assert_eq!(rank.up().to_string(), "rail0");
}

#[test]
fn a_late_heartbeat_returns_a_suspect_rail_to_up() {
    let mut rank = handler();
    rank.handle_timeout(ms(55));
    assert_eq!(rank.state(A), RailState::Suspect);
    let beat = RankMessage::Heartbeat { complete: Vec::new() };
    for rail in [A, B] {
        rank.handle_message(ms(60), RankId(2), rail, &beat);
    }
    assert_eq!((rank.state(A), rank.state(B)), (RailState::Up, RailState::Up));
}

#[test]
fn a_stall_is_probed_and_confirmed_unless_a_rank_has_only_just_started() {
    // Chunks are expected every 10 ms: suspect after 30 ms, down after another 20 ms. A rank that
    // started less than 30 ms ago explains the stall.
    let answer = |started| RankMessage::Answer { round: 1, started };
    let beats = |rank: &mut Handler, at| {
        let beat = RankMessage::Heartbeat { complete: Vec::new() };
        rank.handle_message(at, RankId(2), A, &beat);
        rank.handle_message(at, RankId(2), B, &beat);
    };
    let stalled = Span::from_ms(30);
    let recent = Span::from_ps(stalled.as_ps() - 1);
    for (lags, started_ago) in [(true, None), (true, Some(recent)), (false, Some(stalled))] {
        let mut rank = started();
        for chunk in 0..2 {
            rank.handle_chunk(ms(20), &key(chunk, 0));
        }
        beats(&mut rank, ms(20));
        rank.handle_timeout(ms(20));
        actions(&mut rank);
        assert_eq!(rank.poll_timeout(), ms(30));
        rank.handle_timeout(ms(30));
        let asked =
            ["rail1 suspect (stall)", "probe to rank1 over rail1", "probe to rank2 over rail1"];
        assert_eq!(actions(&mut rank), asked);
        rank.handle_message(ms(31), RankId(1), B, &answer(started_ago));
        rank.handle_message(ms(31), RankId(2), B, &answer(Some(Span::from_ms(31))));
        if lags {
            assert_eq!(actions(&mut rank), ["rail1 up (cleared)"]);
            assert_eq!(rank.poll_timeout(), ms(61));
        } else {
            assert_eq!(actions(&mut rank), [""; 0]);
            assert_eq!(rank.poll_timeout(), ms(50));
            rank.handle_timeout(ms(50));
            assert_eq!(actions(&mut rank)[0], "rail1 down (stall)");
        }
    }
}

#[test]
fn another_failure_during_an_agreement_restarts_it_with_both() {
    let mut rank = started();
    rank.handle_link_down(ms(1), A);
    actions(&mut rank);
    let first = report_of(&rank, [false; 4]);
    rank.handle_message(ms(2), RankId(1), B, &first);
    // Rank 2 has detected a failure of the other rail.
    let mut other = rank.report.clone();
    other.view = RailView::new(2).advanced(B, 1);
    rank.handle_message(
        ms(3),
        RankId(2),
        A,
        &RankMessage::Report { report: other, kind: ReportKind::Request },
    );
    let both = actions(&mut rank);
    assert_eq!(both[0], "rail1 down (published)");
    // No rail is up, so the report is sent over both.
    assert_eq!(both.len(), 1 + 2 * 2);
    // Rank 1's report on the previous view does not count.
    let second = report_of(&rank, [false; 4]);
    rank.handle_message(ms(4), RankId(2), A, &second);
    assert!(rank.is_agreeing());
    rank.handle_message(ms(5), RankId(1), A, &first);
    assert!(rank.is_agreeing());
    rank.handle_message(ms(6), RankId(1), A, &second);
    assert_eq!(actions(&mut rank), ["epoch 2: none"]);
}

#[test]
fn a_rank_that_missed_a_report_gets_it_again() {
    let mut rank = started();
    rank.handle_link_down(ms(1), B);
    let report = report_of(&rank, [false; 4]);
    rank.handle_message(ms(2), RankId(1), A, &report);
    rank.handle_timeout(ms(10));
    actions(&mut rank);
    rank.handle_timeout(ms(11));
    assert_eq!(actions(&mut rank), ["up rail0, done 0000 Request to rank2 over rail0"]);
    rank.handle_message(ms(12), RankId(2), A, &report);
    actions(&mut rank);
    // This rank has concluded, but rank 2 has not. It must receive the same report as the others,
    // without the chunks that this rank has completed since.
    assert_eq!(rank.handle_chunk(ms(20), &key(0, 0)), ChunkAdmission::Accepted);
    assert_eq!(rank.handle_chunk(ms(20), &key(2, 1)), ChunkAdmission::Accepted);
    rank.handle_message(ms(22), RankId(2), A, &report);
    assert_eq!(actions(&mut rank), ["up rail0, done 0000 Response to rank2 over rail0"]);
}

#[test]
fn chunks_that_all_ranks_have_are_not_repeated_because_of_an_older_report() {
    let mut rank = started();
    for chunk in 0..4 {
        rank.handle_chunk(ms(1), &key(chunk, 0));
    }
    let complete = vec![OperationId(1); 3];
    rank.handle_message(ms(2), RankId(2), A, &RankMessage::Heartbeat { complete });
    assert!(actions(&mut rank).contains(&"release 0".to_owned()));
    rank.handle_link_down(ms(3), B);
    actions(&mut rank);
    // The other ranks published this before they had the remaining chunks.
    let mut old = rank.report.clone();
    old.complete = OperationId(0);
    old.operations = started().table.progress();
    let report = RankMessage::Report { report: old, kind: ReportKind::Request };
    [1, 2].into_iter().for_each(|from| rank.handle_message(ms(4), RankId(from), A, &report));
    assert_eq!(actions(&mut rank), ["epoch 1: rail0"]);
    assert!(!rank.table.knows(OperationId(0)), "it would be released twice");
}

#[test]
fn a_rail_returns_after_three_good_rounds() {
    let mut rank = handler();
    rank.handle_link_down(ms(0), B);
    let report = RankMessage::Report { report: rank.report.clone(), kind: ReportKind::Request };
    rank.handle_message(ms(1), RankId(1), A, &report);
    rank.handle_message(ms(1), RankId(2), A, &report);
    assert!(actions(&mut rank).contains(&"epoch 1: rail0".to_owned()));
    let (mut states, mut changes) = (Vec::new(), Vec::new());
    for second in 1..=6 {
        let beat = RankMessage::Heartbeat { complete: Vec::new() };
        rank.handle_message(ms(second * 1_000), RankId(2), A, &beat);
        rank.handle_timeout(ms(second * 1_000));
        states.push(rank.state(B).to_string());
        changes.extend(actions(&mut rank).into_iter().filter(|it| it.starts_with("rail1 ")));
        // In the second round one rank does not answer.
        for from in if second == 2 { 1..=1 } else { 1..=2 } {
            let answer = RankMessage::Answer { round: second, started: None };
            rank.handle_message(ms(second * 1_000 + 1), RankId(from), B, &answer);
        }
    }
    assert_eq!(states, ["down", "probing", "down", "probing", "probing", "up"]);
    let expected = ["probing", "down", "probing", "up"].map(|it| format!("rail1 {it} (probes)"));
    assert_eq!(changes, expected);
    assert!(rank.is_agreeing() && rank.up() == RailSet::first(2));
}

#[test]
fn the_last_rail_stays_in_use_and_an_error_on_it_restarts_its_chunks() {
    let mut rank = started();
    rank.handle_link_down(ms(1), B);
    let report = report_of(&rank, [false; 4]);
    [1, 2].into_iter().for_each(|from| rank.handle_message(ms(2), RankId(from), A, &report));
    assert!(actions(&mut rank).contains(&"again 2@1 on rail0, 3@1 on rail0".to_owned()));
    rank.handle_timeout(ms(500));
    rank.handle_timeout(ms(900));
    assert_eq!(rank.up().to_string(), "rail0");
    rank.handle_link_down(ms(901), A);
    let report = report_of(&rank, [true, true, false, true]);
    actions(&mut rank);
    [1, 2].into_iter().for_each(|from| rank.handle_message(ms(902), RankId(from), A, &report));
    let all = "again 0@3 on rail0, 1@3 on rail0, 2@3 on rail0, 3@3 on rail0";
    assert_eq!(actions(&mut rank), ["epoch 3: rail0", all]);
}

#[test]
fn invalid_calls_are_errors_and_messages_of_unknown_ranks_are_ignored() {
    let mut rank = started();
    actions(&mut rank);
    let division = Division::new([8, 8].map(Bytes::new).to_vec());
    let start =
        |rank: &mut Handler, id| rank.handle_operation(ms(1), OperationId(id), &division, &[]);
    let order = start(&mut rank, 5).unwrap_err().to_string();
    assert_eq!(order, "operation 5 is out of order: expected operation 1");
    let beat = RankMessage::Probe { round: 1, awaited: None };
    rank.handle_message(ms(1), RankId(0), A, &beat);
    rank.handle_message(ms(1), RankId(3), A, &beat);
    rank.handle_message(ms(1), RankId(1), RailId(2), &beat);
    rank.handle_link_down(ms(1), RailId(9));
    assert_eq!(actions(&mut rank), [""; 0]);
    rank.handle_link_down(ms(1), A);
    assert_eq!(start(&mut rank, 1), Err(StartError::Agreeing));
    let report = report_of(&rank, [false; 4]);
    [1, 2].into_iter().for_each(|from| rank.handle_message(ms(2), RankId(from), B, &report));
    assert_eq!(start(&mut rank, 1), Err(StartError::RailDown { rail: A }));
    let config = Config::default();
    let error = |ranks, rails| {
        let member = Membership { rank: RankId(0), ranks, rails };
        Handler::new(Time::ZERO, &config, &member).unwrap_err().to_string()
    };
    let expected = "rank 0 of 1 is out of range: expected at least 2 ranks, numbered from 0";
    assert_eq!(error(1, 2), expected);
    assert_eq!(error(2, 65), "65 rails are out of range: expected 1 to 64");
}

/// There are two other ranks; a repeated answer of one of them does not count for both.
#[test]
fn a_rank_that_answers_twice_does_not_answer_for_another() {
    let config = Config { good_probes: 1, ..Config::default() };
    let after = |from: [u32; 2]| {
        let mut monitor = RailMonitor::new(Time::ZERO);
        monitor.take_down(Time::ZERO, &config);
        assert!(matches!(monitor.handle_timeout(ms(1_000), 2, &config), Due::Probe { round: 1 }));
        for rank in from {
            let answer = Answer { from: RankId(rank), round: 1, started: None };
            monitor.handle_answer(ms(1_001), &answer, &config);
        }
        monitor.handle_timeout(ms(2_000), 2, &config)
    };
    assert!(matches!(after([1, 1]), Due::Probe { round: 2 }));
    assert!(matches!(after([1, 2]), Due::Up));
}

#[test]
fn a_probe_is_answered_with_the_time_since_the_awaited_operation_was_started() {
    let mut rank = started();
    let answer = |rank: &mut Handler, awaited| {
        actions(rank);
        let awaited = Some(OperationId(awaited));
        rank.handle_message(ms(7), RankId(1), B, &RankMessage::Probe { round: 1, awaited });
        actions(rank)
    };
    let says = |started: Option<Span>| [format!("answer {started:?} to rank1 over rail1")];
    assert_eq!(answer(&mut rank, 0), says(Some(Span::from_ms(7))));
    assert_eq!(answer(&mut rank, 1), says(None), "it has not been started");
    for chunk in 0..4 {
        rank.handle_chunk(ms(5), &key(chunk, 0));
    }
    let complete = vec![OperationId(1); 3];
    rank.handle_message(ms(6), RankId(2), A, &RankMessage::Heartbeat { complete });
    assert_eq!(answer(&mut rank, 0), says(Some(Span::MAX)), "it has been released");
}

/// The first of three rails is suspect, and the third fails. No rank answers, so the report is
/// requested every 10 ms.
#[test]
fn reports_rotate_over_rails_with_suspect_ones_last() {
    let member = Membership { rank: RankId(0), ranks: 3, rails: 3 };
    let mut rank = Handler::new(Time::ZERO, &Config::default(), &member).unwrap();
    let beat = RankMessage::Heartbeat { complete: Vec::new() };
    (1..3).for_each(|it| rank.handle_message(ms(50), RankId(2), RailId(it), &beat));
    rank.handle_timeout(ms(55));
    assert_eq!([A, B].map(|rail| rank.state(rail)), [RailState::Suspect, RailState::Up]);
    rank.handle_link_down(ms(56), RailId(2));
    for (at, over) in [(56, "rail1"), (66, "rail0"), (76, "rail1")] {
        rank.handle_timeout(ms(at));
        let all = actions(&mut rank);
        let reports: Vec<&String> = all.iter().filter(|it| it.starts_with("up ")).collect();
        assert!(reports.len() == 2 && reports.iter().all(|it| it.ends_with(over)), "{all:?}");
    }
}

/// Three of four chunks on a failed rail go to the rail that is three times as fast.
#[test]
fn missing_chunks_are_divided_by_the_given_rates() {
    let member = Membership { rank: RankId(0), ranks: 3, rails: 3 };
    let config = Config { chunk: Bytes::new(4), ..Config::default() };
    let mut rank = Handler::new(Time::ZERO, &config, &member).unwrap();
    rank.handle_rates(&[1, 3, 1].map(BitRate::from_gbps));
    let division = Division::new([16, 0, 0].map(Bytes::new).to_vec());
    rank.handle_operation(Time::ZERO, OperationId(0), &division, &[]).unwrap();
    rank.handle_link_down(ms(1), A);
    actions(&mut rank);
    let report = report_of(&rank, [false; 4]);
    [1, 2].into_iter().for_each(|from| rank.handle_message(ms(2), RankId(from), B, &report));
    let again = "again 0@1 on rail1, 1@1 on rail1, 2@1 on rail1, 3@1 on rail2";
    assert_eq!(actions(&mut rank), ["epoch 1: rail1 rail2", again]);
}

/// The other ranks have started an operation, and repeat two of its chunks.
#[test]
fn before_an_operation_is_started_only_its_current_attempts_are_kept() {
    let mut rank = handler();
    rank.handle_link_down(ms(1), B);
    let operations = started().table.progress();
    let report = Report { operations, ..rank.report.clone() };
    let report = RankMessage::Report { report, kind: ReportKind::Request };
    [1, 2].into_iter().for_each(|from| rank.handle_message(ms(2), RankId(from), A, &report));
    assert!(!rank.is_agreeing());
    let admission = |chunk, epoch| rank.admission(&key(chunk, epoch));
    assert_eq!([admission(0, 0), admission(2, 1)], [ChunkAdmission::Early; 2]);
    assert_eq!(admission(2, 0), ChunkAdmission::Stale);
}
