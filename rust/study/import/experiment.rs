//! Import of an experiment of the HPCC family.

use toml::{Table, Value};

use super::{Draft, Import, ImportError};
use crate::balance::switch::SwitchConfig;
use crate::fabric::{Ecn, Failure, FailureKind, Headroom, Setup, TieOrder};
use crate::hpcc::{Experiment, HpccError, Overrides, config};
use crate::nic::congestion::CongestionControl;
use crate::switching::{Buffer, EcnPoint, PfcAdmission, PfcConfig};
use crate::text_file::read_text;
use crate::units::{Span, Time};

/// Reads the experiment of a configuration; `None` for a flow file, which begins with a number.
pub(super) fn read(import: &Import<'_>) -> Result<Option<Experiment>, ImportError> {
    let file = import.file.display().to_string();
    let text = read_text(import.file)
        .map_err(|reason| ImportError::Unreadable { file: file.clone(), reason })?;
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.parse::<u64>().is_ok() {
        return Ok(None);
    }
    if import.topology.is_some() {
        // Validate the format first: a file of another kind has its own error.
        config::read(&text, &file).map_err(HpccError::from)?;
        return Err(ImportError::TopologyGiven(file));
    }
    let policy = import.settings.iter().find(|setting| setting.key == "policy.name");
    let lb = policy.map(|setting| setting.value.trim_matches('"').to_owned());
    Ok(Some(Experiment::load(import.file, &Overrides { lb, ..Overrides::default() })?))
}

/// Writes the sections of an experiment.
pub(super) fn draft(import: &Import<'_>, experiment: &Experiment) -> Result<Draft, ImportError> {
    let setup = &experiment.setup;
    if let SwitchConfig::Murmur(_) = setup.scheme.switch {
        let reason = "LB_MODE 0 hashes the ports of flows in a way that scenarios do not \
                      support (--set policy.name=ecmp imports it with another hash)";
        return Err(ImportError::Unsupported(reason.to_owned()));
    }
    let mut draft = Draft::default();
    draft.warnings.clone_from(&experiment.warnings);
    draft.warnings.extend(experiment.recorded().into_iter().map(|(_, name)| {
        format!("{name}: a scenario does not write the family's files; [record] writes time series")
    }));
    let file = import.file.display();
    draft.comments.push(format!("Imported from {file} by `evenkeel import`."));
    draft.table.insert("seed".to_owned(), integer(setup.seed));
    let limit = setup.time_limit.since(Time::ZERO);
    draft.table.insert("time_limit".to_owned(), limit.to_string().into());
    let path = import.path(&experiment.topology_file);
    let gap = setup.fabric.gap.to_string();
    draft.add("topology", [("kind", "file".into()), ("path", path), ("gap", gap.into())]);
    draft.table.insert("switch".to_owned(), switch(setup)?.into());
    draft.table.insert("transport".to_owned(), transport(setup)?.into());
    draft.add("policy", [("name", setup.scheme.name.into())]);
    let flows = import.path(&experiment.flow_file);
    draft.add("workload", [("kind", "flows".into()), ("file", flows)]);
    let failures = setup.fabric.failures.iter();
    let failures: Vec<Value> = failures.map(|it| failure(setup, it).into()).collect();
    if !failures.is_empty() {
        draft.table.insert("failure".to_owned(), failures.into());
    }
    Ok(draft)
}

fn integer(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Returns the ECN marking of all switch ports. Fails if ports differ, or if no port marks.
fn ecn(setup: &Setup) -> Result<Ecn, ImportError> {
    let unsupported = |what: &str| Err(ImportError::Unsupported(what.to_owned()));
    match setup.fabric.ecn_by_rate.as_slice() {
        [] => unsupported("switches do not mark packets (ENABLE_QCN 0)"),
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => Ok(*first),
        _ => unsupported("marking thresholds depend on the rate of the port (KMIN_MAP, KMAX_MAP)"),
    }
}

fn table<const N: usize>(keys: [(&str, Value); N]) -> Table {
    keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn switch(setup: &Setup) -> Result<Table, ImportError> {
    let switch = &setup.fabric.switch;
    let mut ecn = match ecn(setup)? {
        Ecn::Ramp { kmin, kmax, pmax } => table([
            ("kmin", kmin.to_string().into()),
            ("kmax", kmax.to_string().into()),
            ("pmax", pmax.to_string().into()),
        ]),
        Ecn::Step(step) => table([("step", step.to_string().into())]),
        Ecn::Off => table([]),
    };
    if switch.ecn_point != EcnPoint::default() {
        ecn.insert("at".to_owned(), Value::try_from(switch.ecn_point)?);
    }
    let mut section = table([]);
    if let Buffer::Shared(bytes) = switch.buffer {
        section.insert("buffer".to_owned(), bytes.to_string().into());
    }
    section.insert("ecn".to_owned(), ecn.into());
    if setup.fabric.ties != TieOrder::default() {
        section.insert("ties".to_owned(), Value::try_from(setup.fabric.ties)?);
    }
    if let Some(config) = &switch.pfc {
        section.insert("pfc".to_owned(), pfc(config).into());
    }
    Ok(section)
}

fn pfc(config: &PfcConfig) -> Table {
    let headroom = match config.headroom {
        Headroom::Hpcc => "hpcc".to_owned(),
        Headroom::ConWeave { .. } => "conweave".to_owned(),
        Headroom::WorstCase { .. } => "worst-case".to_owned(),
        Headroom::Fixed(bytes) => bytes.to_string(),
    };
    let mut section = table([
        ("headroom", headroom.into()),
        ("reserve", config.reserve.to_string().into()),
        ("alpha", config.alpha.to_string().into()),
        ("resume_offset", config.resume_offset.to_string().into()),
    ]);
    if let PfcAdmission::ConWeave { .. } = config.admission {
        section.insert("admission".to_owned(), "conweave".into());
    }
    if let Some(time) = config.pause_time {
        section.insert("pause_time".to_owned(), time.to_string().into());
    }
    section
}

fn transport(setup: &Setup) -> Result<Table, ImportError> {
    let nic = &setup.nic;
    let parameters = match &nic.congestion {
        CongestionControl::DcqcnMlx(config) => Table::try_from(config)?,
        CongestionControl::DctcpRate(config) => Table::try_from(config)?,
        other => {
            return Err(ImportError::Unsupported(format!("congestion control {}", other.name())));
        }
    };
    let mut section = table([
        ("payload", nic.payload.to_string().into()),
        ("header", nic.header.to_string().into()),
        ("ack", nic.ack.bytes.to_string().into()),
        ("ack_every", Value::Integer(nic.ack.every.into())),
        ("ack_priority", nic.ack.priority.into()),
        ("nack_signal", Value::try_from(nic.ack.nacks)?),
        ("congestion_control", nic.congestion.name().into()),
        ("retransmit_timeout", nic.retransmit_timeout.to_string().into()),
        ("nack_interval", nic.nack_interval.to_string().into()),
        ("cnp_interval", nic.cnp_interval.to_string().into()),
    ]);
    section.insert("parameters".to_owned(), parameters.into());
    if nic.recovery != setup.scheme.recovery {
        let own = nic.recovery.configured(&Table::new());
        let own = own.map_err(|error| ImportError::Unsupported(error.to_string()))?;
        section.insert("recovery".to_owned(), nic.recovery.name().into());
        section.insert("recovery_parameters".to_owned(), own.parameters.into());
    }
    Ok(section)
}

fn failure(setup: &Setup, failure: &Failure) -> Table {
    let never = |time: Time| match time {
        Time::NEVER => "never".to_owned(),
        time => time.since(Time::ZERO).to_string(),
    };
    let span = |span: Span| Value::from(span.to_string());
    let mut section = table([
        ("link", setup.topology.link_name(failure.link).into()),
        ("at", failure.at.since(Time::ZERO).to_string().into()),
        ("until", never(failure.until).into()),
        ("detection", span(failure.detection)),
        ("convergence", span(failure.convergence)),
    ]);
    if let FailureKind::Loss { rate } = failure.kind {
        section.insert("kind".to_owned(), "loss".into());
        section.insert("rate".to_owned(), rate.to_string().into());
    }
    section
}

/// Fails if the setups of the scenario and the experiment differ.
pub(super) fn expect_same(experiment: &Setup, scenario: &Setup) -> Result<(), ImportError> {
    let ecn = ecn(experiment)?;
    let mut fabric = experiment.fabric.clone();
    (fabric.switch.ecn, fabric.ecn_by_rate) = (ecn, Vec::new());
    let (a, b) = (experiment, scenario);
    let parts = [
        ("the topology", a.topology == b.topology),
        ("the flows", a.workload == b.workload),
        ("the seed", a.seed == b.seed),
        ("the time limit", a.time_limit == b.time_limit),
        ("the policy", a.scheme == b.scheme),
        ("the congestion control", a.nic.congestion == b.nic.congestion),
        ("the settings of NICs", a.nic == b.nic),
        ("failures and losses", fabric.failures == b.fabric.failures),
        ("the settings of switches", fabric == b.fabric),
    ];
    match parts.iter().find(|(_, same)| !same) {
        None => Ok(()),
        Some((what, _)) => Err(ImportError::Unsupported(format!("{what} would be different"))),
    }
}
