//! Collectives, by full name or by operation and `algorithm`.

use super::choices::StreamingName;
use super::pattern::{DEFAULT_BYTES, delayed};
use super::{
    Bytes, Located, ORDER, Requirement, ResolvedWorkload, ScenarioError, Span, Work,
    WorkloadInputs, section,
};
use crate::collective::{self, Collective, CollectiveError, CollectiveKind, Plan};
use crate::ids::HostId;
use crate::input::context::{AtLeast, Lookup};
use crate::input::error::Fault;
use crate::input::located::Key;
use crate::workload::{Chains, StepAfter, Workload};

/// Default message size of a barrier: a counter.
const BARRIER_BYTES: Bytes = Bytes::new(8);

/// Number of messages above which they are generated during the run by default; all at once they
/// would take 0.8 GB. \[inferred\]
const MANY_MESSAGES: u64 = 1 << 22;

/// Number of messages above which a forecast sums them instead of building them.
const TALLIED_MESSAGES: u128 = 1 << 20;

/// Memory per message with its dependencies and its flow. The 2.1 million messages of a ring of
/// 1,024 take 546 MB.
const BYTES_OF_MESSAGE: u128 = 260;

/// Memory per queue pair, both ends. An all-to-all of 1,024 with a million queue pairs takes 1.37
/// GB including its messages, under a policy with little state. Other policies need more.
const BYTES_OF_QUEUE_PAIR: u128 = 1_400;

section! {
    /// Keys of a collective.
    pub struct CollectiveSection {
        /// Payload per rank.
        bytes?: Bytes = "16 MB; 8 B for a barrier",
        /// Algorithm, if `kind` does not name it.
        algorithm?: String = "the first of the kind",
        /// Number of ranks (the first of `hosts`).
        ranks?: u32 = "all",
        /// Channels that share the vector, each with its own queue pairs.
        channels: u32 = 1,
        /// Ranks per server whose order each channel rotates: channel c begins at rank c of each
        /// server, as NCCL's rings do, so that all NICs of a server carry traffic.
        rotation?: u32 = "1: all channels have the same order",
        /// Consecutive chunks per channel.
        chunks: u32 = 1,
        /// Hierarchical collectives: consecutive ranks per machine.
        group?: u32 = "topology.scale_up.gpus, or 8",
        /// Compute time between receiving a message and sending its dependent.
        gap: Span = Span::ZERO,
        /// Continues a waiting rank on `delivery`, or on the last `acknowledgement` at the sender.
        step_after: StepAfter = StepAfter::default(),
        /// Maximum random start delay per message.
        start_jitter: Span = Span::ZERO,
        /// All-to-all: maximum outstanding messages per rank, channel and chunk. Message `i +
        /// outstanding` starts when message `i` completes.
        outstanding?: u32 = "all",
        /// Generates messages during the run, as ranks reach them: rings, pipelines, all-to-alls
        /// with `outstanding`. `auto`: above 4,194,304 messages.
        streaming?: StreamingName = "auto",
    }
}

impl Work for CollectiveSection {
    const NAME: &'static str = "<collective>";
    const SUMMARY: &'static str = "A collective, by full name (`ring-all-reduce`), or by operation \
                                   (`all-reduce`) with an `algorithm` (`ring`)";
    const SOURCE: &'static str = "evenkeel list collectives";

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        resolve(inputs, self)
    }

    fn size(&self) -> Option<Located<String>> {
        self.bytes.given().map(|bytes| bytes.with(bytes.to_string()))
    }

    fn is_random(&self) -> bool {
        *self.start_jitter > Span::ZERO
    }

    fn requirements(&self, is_ordered: bool) -> Vec<Requirement<'_>> {
        let ordered = |key| Requirement { key, is_met: is_ordered, words: ORDER };
        vec![ordered(self.gap.key()), ordered(self.step_after.key())]
    }
}

/// Resolves the messages of a collective.
fn resolve(
    inputs: &WorkloadInputs<'_>,
    section: &mut CollectiveSection,
) -> Result<ResolvedWorkload, ScenarioError> {
    let context = &inputs.context;
    let collective = algorithm(inputs, section)?;
    let ranks = ranks(inputs, section)?;
    let bytes = section.bytes.fill(match collective.operation {
        CollectiveKind::Barrier => BARRIER_BYTES,
        _ => DEFAULT_BYTES,
    });
    let hierarchical = collective.is_hierarchical();
    if section.group.is_some() && !hierarchical {
        let because = format!("{} has no groups", collective.name);
        return Err(context.misplaced(section.group.key(), because));
    }
    if section.rotation.is_some() {
        check_rotation(inputs, section, collective)?;
    }
    if section.outstanding.is_some() && !collective.limits_outstanding() {
        let because = format!("the messages of {} wait for each other", collective.name);
        return Err(context.misplaced(section.outstanding.key(), because));
    }
    let plan = Plan::new((0..ranks).map(HostId).collect(), *bytes);
    let group = match hierarchical {
        true => {
            *section.group.fill(inputs.shared.topology.scale_up().map_or(plan.group, |it| it.gpus))
        }
        false => plan.group,
    };
    let plan = Plan {
        channels: *section.channels,
        rotation: section.rotation.unwrap_or(1),
        chunks: *section.chunks,
        group,
        gap: context.span(&section.gap, AtLeast::Zero)?,
        outstanding: *section.outstanding,
        ..plan
    };
    let mut resolved = messages(inputs, section, collective, &plan)?;
    resolved.workload.operation = collective.rated(&plan);
    Ok(resolved)
}

/// Rejects a rotation without effect, or one that would move the root of an operation.
fn check_rotation(
    inputs: &WorkloadInputs<'_>,
    section: &CollectiveSection,
    collective: &Collective,
) -> Result<(), ScenarioError> {
    let because = match collective.operation {
        CollectiveKind::Broadcast | CollectiveKind::Reduce | CollectiveKind::Pipeline => {
            format!("{} begins or ends at one rank", collective.name)
        }
        _ if *section.channels == 1 => "a single channel has a single order of ranks".to_owned(),
        _ => return Ok(()),
    };
    Err(inputs.context.misplaced(section.rotation.key(), because))
}

/// Returns the messages of a plan: generated during the run, summed, or all of them.
fn messages(
    inputs: &WorkloadInputs<'_>,
    section: &mut CollectiveSection,
    collective: &Collective,
    plan: &Plan,
) -> Result<ResolvedWorkload, ScenarioError> {
    if let Some(chains) = generated(inputs, section, collective, plan)? {
        section.streaming.fill(StreamingName::Yes);
        return Ok(chains.into_workload().into());
    }
    check_memory(inputs, section, collective, plan)?;
    if inputs.shared.may_tally
        && is_undelayed(inputs, section)
        && collective.messages(plan) > TALLIED_MESSAGES
    {
        let totals = collective.tally(plan).map_err(|error| fault_of(inputs, section, error));
        let (load, tally) = totals?;
        let workload = Workload::independent(load);
        return Ok(ResolvedWorkload { tally: Some(tally), ..workload.into() });
    }
    let workload = collective.build(plan).map_err(|error| fault_of(inputs, section, error))?;
    let workload = section.step_after.apply(workload);
    delayed(inputs, workload, &section.start_jitter)
}

/// Rejects messages and queue pairs that would not fit into memory, before they are created.
fn check_memory(
    inputs: &WorkloadInputs<'_>,
    section: &CollectiveSection,
    collective: &Collective,
    plan: &Plan,
) -> Result<(), ScenarioError> {
    let (messages, queue_pairs) = (collective.messages(plan), collective.queue_pairs(plan));
    // Saturates, because extreme counts would overflow.
    let bytes = messages.saturating_mul(BYTES_OF_MESSAGE);
    let bytes = bytes.saturating_add(queue_pairs.saturating_mul(BYTES_OF_QUEUE_PAIR));
    let Some(most) = inputs.shared.most_memory.filter(|most| bytes > most.get().into()) else {
        return Ok(());
    };
    let (key, value) = rank_count(inputs, section);
    let with_pairs = match queue_pairs {
        0 => String::new(),
        count => format!(" with {count} queue pairs"),
    };
    let gigabytes = bytes.div_ceil(1_000_000_000);
    let amount = format!("{messages} messages{with_pairs} take {gigabytes} GB of memory");
    let hint = streaming_hint(inputs, section, collective, plan).map(|key| {
        format!(
            "; with {key} under [workload] they are generated during the run and need little \
             memory"
        )
    });
    let limit = format!(
        "{} GB, the available memory; use --force to run anyway{}",
        most.get() / 1_000_000_000,
        hint.unwrap_or_default()
    );
    Err(inputs.context.fault(&key, Fault::TooLarge { key: key.to_string(), value, amount, limit }))
}

/// Returns the key that determines the number of ranks, and its value for messages.
fn rank_count(inputs: &WorkloadInputs<'_>, section: &CollectiveSection) -> (Key, String) {
    let (ranks, hosts) = (section.ranks.key(), inputs.common.hosts.key());
    let count = section.ranks.unwrap_or_else(|| inputs.count());
    if inputs.context.as_written(ranks).is_some() {
        return (ranks.clone(), count.to_string());
    }
    match inputs.common.hosts.is_some() {
        true => (hosts.clone(), format!("{count} of them")),
        false => (Key::ROOT.child("topology"), format!("{count} hosts")),
    }
}

/// Returns a line that would let the messages be generated during the run, if there is one.
fn streaming_hint(
    inputs: &WorkloadInputs<'_>,
    section: &CollectiveSection,
    collective: &Collective,
    plan: &Plan,
) -> Option<&'static str> {
    let step_after = *section.step_after;
    let generates = |plan: &Plan| matches!(collective.chains(plan, step_after), Ok(Some(_)));
    match can_generate(inputs, section) {
        false => None,
        true if generates(plan) => Some("streaming = true"),
        true => {
            let limited = Plan { outstanding: Some(8), ..plan.clone() };
            let is_limited = collective.limits_outstanding() && section.outstanding.is_none();
            (is_limited && generates(&limited)).then_some("outstanding = 8")
        }
    }
}

/// True if the messages may be generated during the run.
fn can_generate(inputs: &WorkloadInputs<'_>, section: &CollectiveSection) -> bool {
    inputs.shared.may_generate && is_undelayed(inputs, section)
}

/// True if messages start at time zero or when others end.
fn is_undelayed(inputs: &WorkloadInputs<'_>, section: &CollectiveSection) -> bool {
    inputs.common.start.is_none() && *section.start_jitter == Span::ZERO
}

/// Returns the chains of a collective whose messages are generated during the run.
fn generated(
    inputs: &WorkloadInputs<'_>,
    section: &CollectiveSection,
    collective: &Collective,
    plan: &Plan,
) -> Result<Option<Chains>, ScenarioError> {
    let given = section.streaming.given();
    let wanted = given.as_deref().copied().unwrap_or_default();
    if wanted == StreamingName::No {
        return Ok(None);
    }
    let chains = match can_generate(inputs, section) {
        true => collective.chains(plan, *section.step_after),
        false => Ok(None),
    };
    let chains = chains.map_err(|error| fault_of(inputs, section, error))?;
    match (wanted, chains, given) {
        (StreamingName::Yes, None, Some(given)) => {
            let expected = "messages are generated only for one ring, pipeline, or all-to-all with \
                            outstanding and one chunk, in packets on its own fabric, without \
                            rotation, start, start_jitter and empty blocks; use false";
            Err(inputs.context.invalid_as(given.key(), "true", expected))
        }
        (StreamingName::Auto, chains, _) => {
            Ok(chains.filter(|chains| chains.messages() > MANY_MESSAGES))
        }
        (_, chains, _) => Ok(chains),
    }
}

/// Returns the error of a collective at the key that causes it.
fn fault_of(
    inputs: &WorkloadInputs<'_>,
    section: &CollectiveSection,
    error: CollectiveError,
) -> ScenarioError {
    let of_ranks = rank_count(inputs, section).0;
    let key = match error {
        CollectiveError::NoBytes | CollectiveError::TooManyBytes { .. } => section.bytes.key(),
        CollectiveError::TooManyMessages { .. } => match largest_factor(section).0 {
            ranks if ranks == section.ranks.key() => &of_ranks,
            other => other,
        },
        CollectiveError::TooFewRanks { .. } => section.ranks.key(),
        CollectiveError::ZeroCount { what: "ranks per server" }
        | CollectiveError::InvalidRotation { .. } => section.rotation.key(),
        CollectiveError::ZeroCount { what: "chunks" } => section.chunks.key(),
        CollectiveError::ZeroCount { what: "outstanding messages" } => section.outstanding.key(),
        CollectiveError::ZeroCount { .. } => section.channels.key(),
        CollectiveError::InvalidGroup { .. } => section.group.key(),
        _ => inputs.kind.key(),
    };
    inputs.context.fault(key, Fault::Collective { key: key.to_string(), error })
}

/// Returns the key that multiplies messages the most, and its value.
fn largest_factor(section: &CollectiveSection) -> (&Key, u32) {
    let ranks = (section.ranks.key(), section.ranks.unwrap_or(u32::MAX));
    let all = [
        ranks,
        (section.channels.key(), *section.channels),
        (section.chunks.key(), *section.chunks),
    ];
    all.into_iter().max_by_key(|&(_, count)| count).expect("there are three")
}

/// Returns the number of ranks, which are the first of the section's hosts.
fn ranks(
    inputs: &WorkloadInputs<'_>,
    section: &mut CollectiveSection,
) -> Result<u32, ScenarioError> {
    let hosts = inputs.count();
    let is_set = section.ranks.is_some();
    let ranks = section.ranks.fill(hosts);
    if (2..=hosts).contains(&*ranks) {
        return Ok(*ranks);
    }
    if hosts < 2 && !is_set && inputs.common.hosts.is_none() {
        let expected = "a collective needs 2 hosts or more";
        return Err(inputs.context.invalid_as(&Key::ROOT.child("topology"), "1 host", expected));
    }
    let named = &inputs.common.hosts;
    if named.is_some() && !is_set {
        let (value, expected) = (format!("{ranks} of them"), "a collective needs 2 hosts or more");
        return Err(inputs.context.invalid_as(named.key(), value, expected));
    }
    let expected = format!("it must be from 2 to the number of hosts, {hosts}");
    Err(inputs.context.invalid(&ranks, expected))
}

/// An algorithm of a collective operation.
struct Choice {
    name: &'static str,
    collective: &'static Collective,
}

/// Returns the collective of a kind. The kind is a full name (`ring-all-reduce`), or an operation
/// (`all-reduce`) with an `algorithm` (`ring`). The default is the operation's first algorithm in
/// the registry.
fn algorithm(
    inputs: &WorkloadInputs<'_>,
    section: &mut CollectiveSection,
) -> Result<&'static Collective, ScenarioError> {
    let (context, kind) = (&inputs.context, inputs.kind.as_str());
    let given = section.algorithm.given();
    let named = given.as_ref().and_then(|name| collective::find(&format!("{name}-{kind}")).ok());
    let named = named.filter(|it| it.operation.name() == kind);
    if let (None, Ok(collective)) = (named, collective::find(kind)) {
        if let Some(given) = given {
            let because = format!("{} = {kind} already names the algorithm", inputs.kind.key());
            return Err(context.misplaced(given.key(), because));
        }
        return Ok(collective);
    }
    let suffix = format!("-{kind}");
    // By operation: the name of an all-reduce ends like that of a reduce.
    let choices: Vec<Choice> = collective::ALL
        .iter()
        .filter(|it| it.operation.name() == kind)
        .filter_map(|it| Some(Choice { name: it.name.strip_suffix(&suffix)?, collective: it }))
        .collect();
    let first = choices.first().expect("the file's reader knows the kind");
    let wanted = section.algorithm.fill(first.name.to_owned());
    let found = choices.iter().find(|choice| choice.name == *wanted);
    if *wanted == "auto" {
        let because = format!(
            "NCCL's choice is a kind of its own: kind = \"nccl\" with operation = \"{kind}\""
        );
        return Err(context.misplaced(wanted.key(), because));
    }
    found.map(|choice| choice.collective).ok_or_else(|| {
        let known: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
        let lookup = Lookup { what: "algorithm", name: &wanted, known: &known };
        context.unknown(wanted.key(), lookup)
    })
}
