// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-helper.h"

#include "fabric-or-abort.h"

#include "ns3/fabric-channel.h"
#include "ns3/fabric-switch-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/log.h"
#include "ns3/quoted.h"
#include "ns3/rdma-nic.h"
#include "ns3/refuse.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricHelper");

namespace
{

/// The rank of hosts that SetFirstHosts does not name; it sorts last.
constexpr uint32_t UNRANKED = std::numeric_limits<uint32_t>::max();

/// Maximum length of a traffic class's name in characters, as in a scenario.
constexpr std::ptrdiff_t LONGEST_CLASS_NAME = 24;

/// Maximum weight of a traffic class, as in a scenario.
constexpr uint32_t HIGHEST_WEIGHT = 64;

/**
 * @param text a text in UTF-8
 * @return its number of characters: all bytes that are not continuation bytes
 */
std::ptrdiff_t
CharactersIn(const std::string& text)
{
    return std::count_if(text.begin(), text.end(), [](char each) { return (each & 0xc0) != 0x80; });
}

} // namespace

FabricHelper::FabricHelper(Resolution resolution)
{
    if (resolution == PICOSECONDS)
    {
        Fabric::UsePicoseconds();
    }
    m_channelFactory.SetTypeId(FabricChannel::GetTypeId());
    m_fabricFactory.SetTypeId(Fabric::GetTypeId());
}

void
FabricHelper::SetNicAttribute(const std::string& name, const AttributeValue& value)
{
    ExpectOpen("FabricHelper::SetNicAttribute");
    m_nicHelper.SetAttribute(name, value);
}

void
FabricHelper::SetNicAttributeOf(uint32_t host, const std::string& name, const AttributeValue& value)
{
    ExpectOpen("FabricHelper::SetNicAttributeOf");
    m_ownAttributes.push_back({host, name, value.Copy()});
}

void
FabricHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    ExpectOpen("FabricHelper::SetSwitchAttribute");
    m_switchHelper.SetAttribute(name, value);
}

void
FabricHelper::SetChannelAttribute(const std::string& name, const AttributeValue& value)
{
    ExpectOpen("FabricHelper::SetChannelAttribute");
    m_channelFactory.Set(name, value);
}

void
FabricHelper::SetFabricAttribute(const std::string& name, const AttributeValue& value)
{
    ExpectOpen("FabricHelper::SetFabricAttribute");
    m_fabricFactory.Set(name, value);
}

void
FabricHelper::SetPolicy(const std::string& policy, const std::string& parameters)
{
    ExpectOpen("FabricHelper::SetPolicy");
    m_switchHelper.SetPolicy(policy, parameters);
}

void
FabricHelper::SetGap(uint32_t bytes)
{
    ExpectOpen("FabricHelper::SetGap");
    m_gapBytes = bytes;
}

void
FabricHelper::SetForwardingDelay(Time delay)
{
    ExpectOpen("FabricHelper::SetForwardingDelay");
    m_forwardingDelay = delay;
}

void
FabricHelper::AddSettings(const std::string& sections)
{
    ExpectOpen("FabricHelper::AddSettings");
    m_sections += sections + "\n";
}

void
FabricHelper::AddClass(const std::string& name,
                       Scheduling scheduling,
                       uint32_t weight,
                       Protection protection)
{
    const char* call = "FabricHelper::AddClass";
    ExpectOpen(call);
    EVENKEEL_REFUSE_IF(name.empty(), call, "a traffic class must have a name");
    EVENKEEL_REFUSE_IF(CharactersIn(name) > LONGEST_CLASS_NAME,
                       call,
                       "the name '" << name << "' is too long: a name has at most "
                                    << LONGEST_CLASS_NAME << " characters");
    EVENKEEL_REFUSE_IF(FabricClass::Find(m_classes, name),
                       call,
                       "traffic class '" << name << "' exists already: use another name");
    EVENKEEL_REFUSE_IF(m_classes.size() == FABRIC_MOST_CLASSES,
                       call,
                       "a fabric has at most " << FABRIC_MOST_CLASSES << " traffic classes");
    EVENKEEL_REFUSE_IF(scheduling == STRICT && weight != 1,
                       call,
                       "a strict class has priority over weighted ones and has no weight: leave it "
                       "at 1");
    EVENKEEL_REFUSE_IF(weight == 0 || weight > HIGHEST_WEIGHT,
                       call,
                       "a weight must be 1 to " << HIGHEST_WEIGHT << ", not " << weight);
    m_classes.push_back(FabricClass{name, protection == PROTECTED});
    std::ostringstream text;
    text << "[[class]]\nname = " << Quoted(name) << "\n";
    if (scheduling == STRICT)
    {
        text << "scheduling = \"strict\"\n";
    }
    else
    {
        text << "weight = " << weight << "\n";
    }
    if (protection == UNPROTECTED)
    {
        text << "pfc = false\n";
    }
    m_classSections += text.str() + "\n";
}

void
FabricHelper::AddFailure(Ptr<FabricChannel> link, const std::string& keys)
{
    ExpectOpen("FabricHelper::AddFailure");
    m_failures.emplace_back(link, keys);
}

void
FabricHelper::SetFirstHosts(const NodeContainer& hosts)
{
    ExpectOpen("FabricHelper::SetFirstHosts");
    m_firstHosts = hosts;
}

void
FabricHelper::SetNicsPerNode(uint32_t nics)
{
    ExpectOpen("FabricHelper::SetNicsPerNode");
    EVENKEEL_REFUSE_IF(nics == 0,
                       "FabricHelper::SetNicsPerNode",
                       "a node must have at least one NIC, not 0");
    m_nicsPerNode = nics;
}

void
FabricHelper::SetPortsPerNic(uint32_t ports)
{
    ExpectOpen("FabricHelper::SetPortsPerNic");
    EVENKEEL_REFUSE_IF(ports == 0 || ports > FABRIC_MOST_PLANES,
                       "FabricHelper::SetPortsPerNic",
                       "a NIC must have 1 to " << FABRIC_MOST_PLANES << " ports, not " << ports);
    m_portsPerNic = ports;
}

int64_t
FabricHelper::AssignStreams(int64_t stream)
{
    ExpectOpen("FabricHelper::AssignStreams");
    m_stream = stream;
    return 1;
}

Ptr<FabricPort>
FabricHelper::MakePort(Ptr<Node> node)
{
    if (Ptr<FabricSwitch> owner = node->GetObject<FabricSwitch>())
    {
        if (std::find(m_switches.begin(), m_switches.end(), owner) == m_switches.end())
        {
            m_switches.push_back(owner);
            m_switchNodes.push_back(node);
            m_switchNames.emplace_back();
        }
        Ptr<FabricSwitchPort> port = CreateObject<FabricSwitchPort>();
        port->SetAddress(Mac48Address::Allocate());
        node->AddDevice(port);
        owner->AddPort(port);
        return port;
    }
    for (uint32_t index = 0; index < node->GetNDevices(); ++index)
    {
        Ptr<RdmaNic> nic = DynamicCast<RdmaNic>(node->GetDevice(index));
        if (nic && !nic->GetChannel())
        {
            m_nics.push_back(nic);
            return nic;
        }
        if (nic && nic->GetNPorts() < m_portsPerNic)
        {
            return nic->AddPort();
        }
    }
    Ptr<NetDevice> nic = m_nicHelper.Install(NodeContainer(node)).Get(0);
    m_nics.push_back(DynamicCast<RdmaNic>(nic));
    return m_nics.back();
}

NetDeviceContainer
FabricHelper::Install(Ptr<Node> a, Ptr<Node> b)
{
    NS_LOG_FUNCTION(this << a << b);
    ExpectOpen("FabricHelper::Install");
    Ptr<FabricPort> portA = MakePort(a);
    Ptr<FabricPort> portB = MakePort(b);
    Ptr<FabricChannel> channel = m_channelFactory.Create<FabricChannel>();
    channel->Attach(portA);
    channel->Attach(portB);
    m_channels.push_back(channel);
    NetDeviceContainer ends;
    ends.Add(portA);
    ends.Add(portB);
    return ends;
}

NetDeviceContainer
FabricHelper::Install(const NodeContainer& nodes, Ptr<Node> to)
{
    NetDeviceContainer ends;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        ends.Add(Install(*node, to).Get(0));
    }
    return ends;
}

void
FabricHelper::ExpectOpen(const std::string& call) const
{
    if (!m_madeBy.empty())
    {
        EVENKEEL_REFUSE(call,
                        "the fabric has been made by " + m_madeBy +
                            ", too late: it would have no effect; call it before, or use "
                            "another FabricHelper for another fabric");
    }
}

Ptr<Fabric>
FabricHelper::Finish()
{
    return FinishFor("FabricHelper::Finish");
}

Ptr<Fabric>
FabricHelper::FinishFor(const std::string& call)
{
    NS_LOG_FUNCTION(this << call);
    ExpectOpen(call);
    OrderHosts();
    SetOwnAttributes();
    const FabricGraph graph = DescribeGraph();
    const std::string settings = DescribeSettings();
    const std::vector<FabricNicSettings> nics = DescribeOwnNics();
    NS_LOG_LOGIC("settings:\n" << settings);
    std::unique_ptr<FabricCore> core = fabrichelper::OrAbort(call, [&] {
        return MakeFabricCore(graph, settings, DescribeQueuePairs(), nics);
    });
    return Assemble(std::move(core), call);
}

Ptr<Fabric>
FabricHelper::Assemble(std::unique_ptr<FabricCore> core, const std::string& call)
{
    m_madeBy = call;
    Ptr<Fabric> fabric = m_fabricFactory.Create<Fabric>();
    fabric->Assemble(std::move(core), m_nics, m_switches, m_channels);
    m_fabric = fabric;
    return fabric;
}

void
FabricHelper::OrderHosts()
{
    const auto rank = [this](const Ptr<RdmaNic>& nic) {
        for (uint32_t index = 0; index < m_firstHosts.GetN(); ++index)
        {
            if (m_firstHosts.Get(index) == nic->GetNode())
            {
                return index;
            }
        }
        return UNRANKED;
    };
    std::stable_sort(m_nics.begin(), m_nics.end(), [&rank](const auto& a, const auto& b) {
        return rank(a) < rank(b);
    });
}

Ptr<Fabric>
FabricHelper::GetFabric() const
{
    return m_fabric;
}

void
FabricHelper::SetOwnAttributes()
{
    for (const OwnAttribute& each : m_ownAttributes)
    {
        EVENKEEL_REFUSE_IF(each.host >= m_nics.size(),
                           "FabricHelper::SetNicAttributeOf",
                           "there is no host " << each.host << ": the fabric has " << m_nics.size()
                                               << " hosts");
        EVENKEEL_REFUSE_IF(!m_nics[each.host]->SetAttributeFailSafe(each.name, *each.value),
                           "FabricHelper::SetNicAttributeOf",
                           "RdmaNic has no attribute " << each.name << " with this type of value");
    }
}

NodeContainer
FabricHelper::GetHosts() const
{
    NodeContainer nodes;
    for (const auto& nic : m_nics)
    {
        nodes.Add(nic->GetNode());
    }
    return nodes;
}

NodeContainer
FabricHelper::GetSwitches() const
{
    NodeContainer nodes;
    for (const auto& node : m_switchNodes)
    {
        nodes.Add(node);
    }
    return nodes;
}

NetDeviceContainer
FabricHelper::GetNics() const
{
    NetDeviceContainer devices;
    for (const auto& nic : m_nics)
    {
        devices.Add(nic);
    }
    return devices;
}

const std::vector<Ptr<FabricChannel>>&
FabricHelper::GetChannels() const
{
    return m_channels;
}

} // namespace ns3
