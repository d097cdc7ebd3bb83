//! Expands the endpoints of an edge: slices of instances and of their components.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::error::InfragraphFault;
use crate::topology::MAX_LINKS;

#[derive(Debug, Deserialize)]
pub(super) struct Device {
    name: String,
    #[serde(default)]
    components: Vec<Component>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Component {
    name: String,
    count: u32,
    choice: String,
}

impl Component {
    pub(super) fn is_nic(&self) -> bool {
        self.choice == "nic"
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Instance {
    pub name: String,
    device: String,
    count: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Endpoint {
    instance: String,
    component: String,
}

/// A component of an instance, or an instance that is a switch. Ordered as in the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    /// The instance and then its components, outermost first: position in the list, and index.
    pub path: Vec<(u32, u32)>,
    /// True for a component of a server.
    pub is_server: bool,
}

impl End {
    /// Returns the host or the switch that this end belongs to.
    pub(super) fn node(&self) -> Self {
        let length = if self.is_server { self.path.len() } else { 1 };
        Self { path: self.path[..length].to_vec(), is_server: self.is_server }
    }
}

/// The devices and instances that endpoints refer to.
#[derive(Debug)]
pub(super) struct Ends<'a> {
    devices: &'a [Device],
    instances: &'a [Instance],
    /// Devices with an accelerator, directly or in a nested device.
    servers: BTreeSet<&'a str>,
}

impl<'a> Ends<'a> {
    pub(super) fn of(devices: &'a [Device], instances: &'a [Instance]) -> Self {
        let mut servers = BTreeSet::new();
        loop {
            let before = servers.len();
            for device in devices {
                let has_xpu = |component: &Component| match component.choice.as_str() {
                    "xpu" => component.count > 0,
                    "device" => component.count > 0 && servers.contains(component.name.as_str()),
                    _ => false,
                };
                if device.components.iter().any(has_xpu) {
                    servers.insert(device.name.as_str());
                }
            }
            if servers.len() == before {
                return Self { devices, instances, servers };
            }
        }
    }

    /// Returns all ends of an endpoint; instances vary slowest.
    pub(super) fn expand(&self, endpoint: &Endpoint) -> Result<Vec<End>, InfragraphFault> {
        let name = name_of(&endpoint.instance);
        let found = (0..).zip(self.instances).find(|(_, instance)| instance.name == name);
        let (place, instance) = found.ok_or_else(|| unknown("instance", name))?;
        let mut device = self.device(&instance.device)?;
        let is_server = self.servers.contains(device.name.as_str());
        let indices = slice(&endpoint.instance, instance.count)?;
        let mut ends: Vec<End> = indices
            .into_iter()
            .map(|index| End { path: vec![(place, index)], is_server })
            .collect();
        let mut parts = endpoint.component.split('.').peekable();
        while let Some(part) = parts.next() {
            let name = name_of(part);
            let found = (0..).zip(&device.components).find(|(_, it)| it.name == name);
            let (place, component) = found.ok_or_else(|| unknown("component", name))?;
            let indices = slice(part, component.count)?;
            if ends.len() as u64 * indices.len() as u64 > MAX_LINKS {
                return Err(InfragraphFault::TooMany("ends of an edge", MAX_LINKS));
            }
            let within = |end: &End, index: u32| {
                let path = end.path.iter().copied().chain([(place, index)]).collect();
                End { path, is_server }
            };
            ends = ends
                .iter()
                .flat_map(|end| indices.iter().map(move |&index| within(end, index)))
                .collect();
            if parts.peek().is_some() {
                if component.choice != "device" {
                    return Err(InfragraphFault::NoDevice(name.to_owned()));
                }
                device = self.device(name)?;
            }
        }
        Ok(ends)
    }

    fn device(&self, name: &str) -> Result<&'a Device, InfragraphFault> {
        self.devices
            .iter()
            .find(|device| device.name == name)
            .ok_or_else(|| unknown("device", name))
    }

    /// Returns the innermost component of an end; `None` for a switch.
    pub(super) fn component(&self, end: &End) -> Option<&'a Component> {
        self.components(end).last()
    }

    /// Returns the components of an end, outermost first.
    fn components(&self, end: &End) -> impl Iterator<Item = &'a Component> {
        let instance = &self.instances[end.path[0].0 as usize];
        let mut device = self.device(&instance.device).ok();
        end.path[1..].iter().map_while(move |&(place, _)| {
            let component = device?.components.get(place as usize)?;
            device = self.device(&component.name).ok();
            Some(component)
        })
    }

    /// Returns a name such as `host.0.nic.1`, or `leaf.0` for a switch.
    pub(super) fn name(&self, end: &End) -> String {
        let (place, index) = end.path[0];
        let mut name = format!("{}.{index}", self.instances[place as usize].name);
        for (component, (_, index)) in self.components(end).zip(&end.path[1..]) {
            name.push_str(&format!(".{}.{index}", component.name));
        }
        name
    }

    /// Warns about each kind of instance that has instances without an edge.
    pub(super) fn unconnected_warnings(&self, nodes: &BTreeSet<End>) -> Vec<String> {
        let wired: BTreeSet<(u32, u32)> = nodes.iter().map(|node| node.path[0]).collect();
        let warning = |(place, instance): (u32, &Instance)| {
            let wired = wired.range((place, 0)..=(place, u32::MAX)).count();
            (wired < instance.count as usize).then(|| {
                let out = instance.count as usize - wired;
                format!(
                    "{out} of {} '{}' have no edge and are ignored",
                    instance.count, instance.name
                )
            })
        };
        (0..).zip(self.instances).filter_map(warning).collect()
    }
}

fn unknown(what: &'static str, name: &str) -> InfragraphFault {
    InfragraphFault::Unknown { what, name: name.to_owned() }
}

/// Returns the name before the brackets.
fn name_of(text: &str) -> &str {
    text.split('[').next().unwrap_or(text).trim()
}

/// Parses the indices of `NAME`, `NAME[i]`, `NAME[a:b]` or `NAME[a:b:c]`, where `count` exist.
fn slice(text: &str, count: u32) -> Result<Vec<u32>, InfragraphFault> {
    let fault = || InfragraphFault::Slice { text: text.to_owned(), count };
    if u64::from(count) > MAX_LINKS {
        return Err(InfragraphFault::TooMany("components or instances", MAX_LINKS));
    }
    let Some((_, inside)) = text.split_once('[') else { return Ok((0..count).collect()) };
    let inside = inside.trim().strip_suffix(']').ok_or_else(fault)?;
    let number = |text: &str, default: u32| match text.trim() {
        "" => Ok(default),
        text => text.parse::<u32>().ok().filter(|&it| it <= count).ok_or_else(fault),
    };
    let bounds: Vec<&str> = inside.split(':').collect();
    let (start, end, step) = match bounds.as_slice() {
        [one] if !one.trim().is_empty() => {
            let one = number(one, 0)?;
            (one, one + 1, 1)
        }
        [start, end] => (number(start, 0)?, number(end, count)?, 1),
        [start, end, step] => (number(start, 0)?, number(end, count)?, number(step, 1)?),
        _ => return Err(fault()),
    };
    if step == 0 || end > count || start >= end {
        return Err(fault());
    }
    Ok((start..end).step_by(step as usize).collect())
}
