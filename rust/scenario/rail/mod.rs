//! Scenarios of hosts with several rails: from a file with `[[rail]]` sections to a setup.

pub(super) mod file;

use std::path::{Path, PathBuf};

use crate::balance::SchemeError;
use crate::multirail::{
    ELEMENT, HostCosts, RailConfig, RailFailure, RailFailureKind, RailKind, Setup, Software,
    Transport, TreeConfig,
};
use crate::nic::congestion::{CongestionControl, line_rate, new_reno};
use crate::nic::recovery::sack;
use crate::nic::{AckConfig, NicConfig, Recovery};
use crate::rail::{self, AllocatorConfig, handler};
use crate::scenario::Overrides;
use crate::scenario::file::PolicySection;
use crate::scenario::file::SCHEMA_VERSION;
use crate::scenario::file::sections::SpanOrNever;
use crate::scenario::input::context::{AtLeast, Context, LONGEST_PACKET};
use crate::scenario::input::error::{Fault, Place, ScenarioError, nearest};
use crate::scenario::input::source::Source;
use crate::scenario::rail::file::{
    RailFailureName, RailFailureSection, RailFile, RailKindName, RailSection, Sizes,
};
use crate::scenario::resolve::limits;
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Most hosts: each has a processor, vectors and connections in every rail.
const MOST_HOSTS: u32 = 256;
/// Most bytes that all ranks' vectors of one operation may have together: they are in memory.
const MOST_BYTES: u64 = 8 << 30;
/// Most operations of a run.
const MOST_OPERATIONS: u32 = 1_000_000;
/// Most links of a host in one rail.
const MOST_LINKS: u32 = 16;
/// Most rails: as many as an allocator has bits for.
const MOST_RAILS: usize = 64;

/// A sound scenario of hosts with several rails.
#[derive(Debug, Clone)]
pub struct RailScenario {
    /// The stem of its file's name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The file as resolved: overrides and defaults filled in.
    pub file: RailFile,
    /// What a run is given.
    pub setup: Setup,
    /// Who divides operations among rails.
    pub allocator: AllocatorConfig,
}

impl RailScenario {
    /// Whether a file is one: whether it has `[[rail]]` sections. What cannot be read, or is not
    /// TOML, is none.
    pub fn is_in(path: &Path) -> bool {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("rail"))
    }

    /// Reads and resolves a file.
    ///
    /// # Errors
    /// Whatever is wrong with the file or with the overrides.
    pub fn load(path: &Path, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|reason| {
            let file = path.display().to_string();
            ScenarioError {
                place: Box::new(Place::File { file: file.clone() }),
                fault: Box::new(Fault::Unreadable { path: file, reason }),
            }
        })?;
        Self::parse(text, path, overrides)
    }

    /// Resolves a text as if it stood in the file `path`.
    ///
    /// # Errors
    /// As [`RailScenario::load`].
    pub fn parse(text: String, path: &Path, overrides: &Overrides) -> Result<Self, ScenarioError> {
        let source = Source::read(text, path.display().to_string())?;
        let mut file: RailFile = source.typed_as()?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let context = Context { source: &source, overrides, folder };
        file.seed = limits::seed(&context, overrides.seed.unwrap_or(file.seed))?;
        if let Some(policy) = overrides.policy.as_ref().filter(|name| **name != file.policy.name) {
            file.policy.name.clone_from(policy);
            file.policy.parameters.clear();
        }
        let setup = resolve(&context, &mut file)?;
        let allocator = allocator(&context, &file)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, path: path.to_owned(), file, setup, allocator })
    }

    /// The resolved scenario as TOML.
    pub fn render(&self) -> String {
        toml::to_string(&self.file).expect("a scenario is a TOML table")
    }
}

fn resolve(context: &Context<'_>, file: &mut RailFile) -> Result<Setup, ScenarioError> {
    if file.schema_version != SCHEMA_VERSION {
        let available = SCHEMA_VERSION.to_string();
        return Err(context.unavailable("schema_version", file.schema_version, available));
    }
    let limit = context.span("time_limit", file.time_limit, AtLeast::OnePicosecond)?;
    let ranks = file.hosts.count;
    if !(2..=MOST_HOSTS).contains(&ranks) {
        let right = format!("it must be from 2 to {MOST_HOSTS}");
        return Err(context.senseless("hosts.count", ranks, right));
    }
    rate(context, "hosts.add_rate", file.hosts.add_rate)?;
    if file.rail.len() > MOST_RAILS {
        let right = format!("there are at most {MOST_RAILS} rails");
        return Err(context.senseless("rail", file.rail.len(), right));
    }
    let mut rails: Vec<RailConfig> = Vec::new();
    for (index, section) in file.rail.iter_mut().enumerate() {
        let rail = section_to_rail(context, index, section)?;
        if rails.iter().any(|other| other.name == rail.name) {
            let right = "another rail has that name".to_owned();
            return Err(context.senseless(&format!("rail[{index}].name"), &rail.name, right));
        }
        rails.push(rail);
    }
    let operations = operations(context, file)?;
    let window = context.positive("workload.window", file.workload.window)?;
    let handler = handler(context, file)?;
    let failures = file.failure.iter().enumerate();
    let failures = failures
        .map(|(index, section)| failure(context, index, section, (&rails, ranks)))
        .collect::<Result<Vec<RailFailure>, ScenarioError>>()?;
    Ok(Setup {
        ranks,
        rails,
        host: HostCosts { add_rate: Some(file.hosts.add_rate) },
        window,
        handler,
        operations,
        failures,
        seed: file.seed,
        time_limit: Time::ZERO.saturating_add(limit),
    })
}

/// The allocator of a file, with its parameters.
fn allocator(context: &Context<'_>, file: &RailFile) -> Result<AllocatorConfig, ScenarioError> {
    let PolicySection { name, parameters } = &file.policy;
    rail::allocator_config(name, parameters).map_err(|error| match error {
        SchemeError::Unknown { name, known } => {
            let key = "policy.name".to_owned();
            let nearest = nearest(&name, known.split(", "));
            let fault = Fault::UnknownName { key, what: "allocator", name, nearest, known };
            context.fault("policy.name", fault)
        }
        SchemeError::Parameter { name, reason } => {
            let key = format!("policy ({name})");
            context.fault("policy.name", Fault::BadValue { key, reason })
        }
    })
}

fn rate(context: &Context<'_>, key: &str, rate: BitRate) -> Result<BitRate, ScenarioError> {
    // Slower than this a chunk's time would leave 64 bits of picoseconds.
    let least = BitRate::from_bps(1_000_000);
    if rate < least {
        return Err(context.senseless(key, rate, format!("it must be at least {least}")));
    }
    Ok(rate)
}

/// Keys of `[[rail]]` that every kind has.
const COMMON: [&str; 4] = ["name", "rate", "delay", "header"];

fn section_to_rail(
    context: &Context<'_>,
    index: usize,
    section: &mut RailSection,
) -> Result<RailConfig, ScenarioError> {
    let key = |name: &str| format!("rail[{index}].{name}");
    let (kind, own): (&str, &[&str]) = match section.kind {
        RailKindName::Tcp => (
            "tcp",
            &[
                "payload",
                "buffer",
                "send_message",
                "receive_message",
                "send_rate",
                "receive_rate",
                "links",
                "checksum_rate",
                "slice",
                "retransmit_timeout",
            ],
        ),
        RailKindName::Rdma => (
            "rdma",
            &[
                "payload",
                "buffer",
                "send_message",
                "receive_message",
                "slice",
                "retransmit_timeout",
            ],
        ),
        RailKindName::InNetwork => {
            ("in-network", &["radix", "segment", "slots", "switch_latency", "chunk_overhead"])
        }
    };
    context.only(&format!("rail[{index}]"), kind, &[&COMMON, own].concat())?;
    let default = if section.kind == RailKindName::Tcp { 10 } else { 100 };
    let name = section.name.get_or_insert_with(|| format!("rail{index}")).clone();
    let rate =
        rate(context, &key("rate"), *section.rate.get_or_insert(BitRate::from_gbps(default)))?;
    let delay = *section.delay.get_or_insert(Span::from_ns(500));
    let delay = context.span(&key("delay"), delay, AtLeast::Zero)?;
    let kind = match section.kind {
        RailKindName::Tcp => RailKind::Tcp(transport(context, &key, section)?),
        RailKindName::Rdma => RailKind::Rdma(transport(context, &key, section)?),
        RailKindName::InNetwork => RailKind::InNetwork(tree(context, &key, section)?),
    };
    Ok(RailConfig { name, rate, delay, kind })
}

/// What `tcp` and `rdma` differ in.
struct Defaults {
    payload: u64,
    header: u64,
    send_message: Span,
    receive_message: Span,
    slice: u64,
    timeout: Span,
}

/// `tcp`: 9000 B of IP with 52 B of IP and TCP (timestamps) and 18 B of Ethernet; a message costs
/// what a system call and a wake-up do, in the order of Linux's \[inferred\]; slices are Linux's
/// largest segments to be cut by the adapter (`GSO_MAX_SIZE`); 200 ms is its least timeout
/// (`TCP_RTO_MIN`).
const TCP: Defaults = Defaults {
    payload: 8_948,
    header: 70,
    send_message: Span::from_us(6),
    receive_message: Span::from_us(12),
    slice: 64 << 10,
    timeout: Span::from_ms(200),
};

/// `rdma`: as `[transport]` has it; a message costs a doorbell and a poll \[inferred\].
const RDMA: Defaults = Defaults {
    payload: 4_096,
    header: 62,
    send_message: Span::from_us(1),
    receive_message: Span::from_us(1),
    slice: 1 << 20,
    timeout: Span::from_ms(1),
};

/// What a core sends and receives through Linux's TCP with every offload on: Cai, Chaudhary,
/// Vuppalapati, Hwang, Agarwal, "Understanding Host Network Stack Overheads" (SIGCOMM 2021),
/// section 3: 42 Gbps into one core, 89 Gbps out of one. The two figures are quoted from memory and
/// were not checked against the paper.
const CORE_SENDS: BitRate = BitRate::from_gbps(89);
const CORE_RECEIVES: BitRate = BitRate::from_gbps(42);
/// One pass over memory \[inferred\].
const CORE_CHECKS: BitRate = BitRate::from_gbps(64);

fn transport(
    context: &Context<'_>,
    key: &dyn Fn(&str) -> String,
    section: &mut RailSection,
) -> Result<Transport, ScenarioError> {
    let is_tcp = section.kind == RailKindName::Tcp;
    let default = if is_tcp { TCP } else { RDMA };
    let packet = |name: &str, bytes: Bytes, least: u64| {
        context.wire_bytes(&key(name), bytes, Bytes::new(least))
    };
    let span = |name: &str, span: Span, least: AtLeast| context.span(&key(name), span, least);
    let payload = *section.payload.get_or_insert(Bytes::new(default.payload));
    let payload = packet("payload", payload, 1)?;
    let header = *section.header.get_or_insert(Bytes::new(default.header));
    let header = packet("header", header, 0)?;
    if payload + header > LONGEST_PACKET {
        let right = format!("with its header a packet is at most {}B", LONGEST_PACKET.get());
        return Err(context.senseless(&key("payload"), payload, right));
    }
    let sent = *section.send_message.get_or_insert(default.send_message);
    let received = *section.receive_message.get_or_insert(default.receive_message);
    let slice = *section.slice.get_or_insert(Bytes::new(default.slice));
    if slice < ELEMENT {
        return Err(context.senseless(
            &key("slice"),
            slice,
            format!("it must be at least {ELEMENT}"),
        ));
    }
    let (mut send_rate, mut receive_rate, mut checksum_rate) = (None, None, None);
    let mut links = 1;
    if is_tcp {
        links = context.positive(&key("links"), *section.links.get_or_insert(1))?;
        if links > MOST_LINKS {
            let right = format!("it must be at most {MOST_LINKS}");
            return Err(context.senseless(&key("links"), links, right));
        }
        if links == 1 && section.checksum_rate.is_some() {
            let because = "with one link the adapter checks sums".to_owned();
            let place = key("checksum_rate");
            let fault = Fault::Misplaced { key: place.clone(), because };
            return Err(context.fault(&place, fault));
        }
        if links > 1 {
            let checks = *section.checksum_rate.get_or_insert(CORE_CHECKS);
            checksum_rate = Some(rate(context, &key("checksum_rate"), checks)?);
        }
        let sends = *section.send_rate.get_or_insert(CORE_SENDS);
        let receives = *section.receive_rate.get_or_insert(CORE_RECEIVES);
        send_rate = Some(rate(context, &key("send_rate"), sends)?);
        receive_rate = Some(rate(context, &key("receive_rate"), receives)?);
    }
    let timeout = *section.retransmit_timeout.get_or_insert(default.timeout);
    let retransmit_timeout = span("retransmit_timeout", timeout, AtLeast::OnePicosecond)?;
    let common = NicConfig { payload, header, retransmit_timeout, ..NicConfig::default() };
    Ok(Transport {
        links,
        nic: if is_tcp { tcp(common) } else { rdma(common) },
        software: Software {
            send_message: span("send_message", sent, AtLeast::Zero)?,
            receive_message: span("receive_message", received, AtLeast::Zero)?,
            send_rate,
            receive_rate,
            checksum_rate,
            slice,
        },
        buffer: *section.buffer.get_or_insert(Bytes::new(16_000_000)),
        gap: Bytes::new(20),
    })
}

/// A kernel's transport: three later arrivals show a loss, two segments an acknowledgement.
fn tcp(common: NicConfig) -> NicConfig {
    NicConfig {
        ack: AckConfig {
            bytes: Bytes::new(70),
            every: 2,
            within: Span::from_ms(40),
            priority: false,
            ..AckConfig::default()
        },
        congestion: CongestionControl::NewReno(new_reno::Config::default()),
        recovery: Recovery::Sack(sack::Config {
            reordering: 3,
            flow_control: sack::FlowControl::Off,
            rto_low: common.retransmit_timeout,
            ..sack::Config::default()
        }),
        ..common
    }
}

/// A ring alone has no congestion: line rate.
fn rdma(common: NicConfig) -> NicConfig {
    NicConfig {
        congestion: CongestionControl::LineRate(line_rate::Config::default()),
        recovery: Recovery::GoBackN,
        ..common
    }
}

fn tree(
    context: &Context<'_>,
    key: &dyn Fn(&str) -> String,
    section: &mut RailSection,
) -> Result<TreeConfig, ScenarioError> {
    let radix = *section.radix.get_or_insert(8);
    if radix < 2 {
        return Err(context.senseless(&key("radix"), radix, "it must be at least 2"));
    }
    let segment = *section.segment.get_or_insert(Bytes::new(4_096));
    let segment = context.wire_bytes(&key("segment"), segment, ELEMENT)?;
    if !segment.get().is_multiple_of(ELEMENT.get()) {
        let right = format!("it must be a multiple of {ELEMENT}");
        return Err(context.senseless(&key("segment"), segment, right));
    }
    let header = *section.header.get_or_insert(Bytes::new(64));
    let slots = context.positive(&key("slots"), *section.slots.get_or_insert(64))?;
    let latency = *section.switch_latency.get_or_insert(Span::from_ns(300));
    let overhead = *section.chunk_overhead.get_or_insert(Span::from_us(2));
    Ok(TreeConfig {
        radix,
        segment,
        header: context.wire_bytes(&key("header"), header, Bytes::ZERO)?,
        slots,
        switch_latency: context.span(&key("switch_latency"), latency, AtLeast::Zero)?,
        chunk_overhead: context.span(&key("chunk_overhead"), overhead, AtLeast::Zero)?,
    })
}

fn operations(context: &Context<'_>, file: &RailFile) -> Result<Vec<Bytes>, ScenarioError> {
    let workload = &file.workload;
    if workload.kind != "all-reduce" {
        let known = "all-reduce".to_owned();
        return Err(context.unavailable("workload.kind", &workload.kind, known));
    }
    let key = "workload.operations";
    if !(1..=MOST_OPERATIONS).contains(&workload.operations) {
        let right = format!("it must be from 1 to {MOST_OPERATIONS}");
        return Err(context.senseless(key, workload.operations, right));
    }
    let sizes = match &workload.bytes {
        Sizes::One(bytes) => std::slice::from_ref(bytes),
        Sizes::Several(sizes) => sizes,
    };
    for (index, &bytes) in sizes.iter().enumerate() {
        let key = match &workload.bytes {
            Sizes::One(_) => "workload.bytes".to_owned(),
            Sizes::Several(_) => format!("workload.bytes[{index}]"),
        };
        let most = MOST_BYTES / u64::from(file.hosts.count);
        if bytes == Bytes::ZERO || !bytes.get().is_multiple_of(ELEMENT.get()) {
            let right = format!("it must be a multiple of {ELEMENT}, the length of an element");
            return Err(context.senseless(&key, bytes, right));
        }
        if bytes.get() > most {
            let right = format!("with {} hosts it is at most {most}B", file.hosts.count);
            return Err(context.senseless(&key, bytes, right));
        }
    }
    if sizes.is_empty() {
        return Err(context.senseless("workload.bytes", "[]", "it must have a size"));
    }
    Ok(sizes.iter().copied().cycle().take(workload.operations as usize).collect())
}

/// The handler of a file: no timer stands still, chunks are whole elements and not too many.
fn handler(context: &Context<'_>, file: &RailFile) -> Result<handler::Config, ScenarioError> {
    let config = file.handler;
    config.check().map_err(|error| {
        let (key, reason) = ("handler".to_owned(), error.to_string());
        context.fault("handler", Fault::BadValue { key, reason })
    })?;
    let least = Bytes::new(4_096);
    if config.chunk < least || !config.chunk.get().is_multiple_of(ELEMENT.get()) {
        let right = format!("it must be at least {least} and a multiple of {ELEMENT}");
        return Err(context.senseless("handler.chunk", config.chunk, right));
    }
    let spans = [
        ("heartbeat", config.heartbeat),
        ("grace", config.grace),
        ("stall_least", config.stall_least),
        ("confirm", config.confirm),
        ("retry", config.retry),
        ("probe", config.probe),
    ];
    for (name, span) in spans {
        context.span(&format!("handler.{name}"), span, AtLeast::Zero)?;
    }
    Ok(config)
}

fn failure(
    context: &Context<'_>,
    index: usize,
    section: &RailFailureSection,
    (rails, ranks): (&[RailConfig], u32),
) -> Result<RailFailure, ScenarioError> {
    let key = |name: &str| format!("failure[{index}].{name}");
    let names = || rails.iter().map(|rail| rail.name.as_str());
    let Some(rail) = names().position(|name| name == section.rail) else {
        let known = names().collect::<Vec<_>>().join(", ");
        let nearest = nearest(&section.rail, names());
        let (place, name) = (key("rail"), section.rail.clone());
        let fault = Fault::UnknownName { key: place.clone(), what: "rail", name, nearest, known };
        return Err(context.fault(&place, fault));
    };
    let host = section.host.unwrap_or(0);
    if host >= ranks {
        let right = format!("hosts are numbered from 0 to {}", ranks - 1);
        return Err(context.senseless(&key("host"), host, right));
    }
    let misplaced = |name: &str, because: &str| {
        let fault = Fault::Misplaced { key: key(name), because: because.to_owned() };
        context.fault(&key(name), fault)
    };
    if section.kind == RailFailureName::Switch && section.host.is_some() {
        return Err(misplaced("host", "a switch is every host's"));
    }
    if section.kind != RailFailureName::Crawl && section.left.is_some() {
        return Err(misplaced("left", "it is for kind = \"crawl\""));
    }
    let kind = match section.kind {
        RailFailureName::Link => RailFailureKind::Link { host },
        RailFailureName::Error => RailFailureKind::Error { host },
        RailFailureName::Switch => RailFailureKind::Switch,
        RailFailureName::Crawl => {
            let left = section.left.or(Fraction::new(1, 1_000)).unwrap_or(Fraction::ONE);
            let parts = left.of(1 << 16);
            if !(1..1 << 16).contains(&parts) {
                let right = "it must be more than 1/65536 and less than 1";
                return Err(context.senseless(&key("left"), left, right));
            }
            RailFailureKind::Crawl { host, left: parts as u16 }
        }
    };
    let at = Time::ZERO.saturating_add(context.span(&key("at"), section.at, AtLeast::Zero)?);
    let until = match section.until {
        SpanOrNever::Never => Time::NEVER,
        SpanOrNever::Span(span) => {
            Time::ZERO.saturating_add(context.span(&key("until"), span, AtLeast::Zero)?)
        }
    };
    if until <= at {
        return Err(context.senseless(&key("until"), "", "it must be after failure.at"));
    }
    Ok(RailFailure { rail: rail as u32, kind, at, until })
}
