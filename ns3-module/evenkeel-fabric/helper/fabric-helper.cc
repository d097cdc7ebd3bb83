// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-helper.h"

#include "../model/fabric-or-abort.h"
#include "../model/toml-of.h"

#include "ns3/fabric-switch-port.h"
#include "ns3/log.h"
#include "ns3/mac48-address.h"
#include "ns3/refuse.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricHelper");

FabricHelper::FabricHelper()
{
    NS_LOG_FUNCTION(this);
    m_channelFactory.SetTypeId(FabricChannel::GetTypeId());
    m_switchFactory.SetTypeId(FabricSwitch::GetTypeId());
    m_fabricFactory.SetTypeId(Fabric::GetTypeId());
}

FabricHelper::~FabricHelper()
{
    NS_LOG_FUNCTION(this);
    if (m_madeBy.empty() && !m_start.IsExpired())
    {
        m_start.Cancel();
        FinishFor("FabricHelper::~FabricHelper");
    }
}

void
FabricHelper::Change(const std::string& call)
{
    NS_LOG_FUNCTION(this << call);
    ExpectOpen(call);
    if (m_start.IsExpired())
    {
        m_start = Simulator::ScheduleNow([this] {
            if (m_madeBy.empty())
            {
                FinishFor("Simulator::Run");
            }
        });
    }
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
    m_switchFactory.Set(name, value);
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
    m_switchFactory.Set("Policy", StringValue(policy));
    m_switchFactory.Set("PolicyParameters", StringValue(parameters));
}

void
FabricHelper::AddClass(const std::string& name,
                       Scheduling scheduling,
                       uint32_t weight,
                       Protection protection)
{
    const char* call = "FabricHelper::AddClass";
    Change(call);
    EVENKEEL_REFUSE_IF(scheduling == STRICT && weight != 1,
                       call,
                       "a strict class has priority over weighted ones and has no weight: leave it "
                       "at 1");
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
    text << (protection == UNPROTECTED ? "pfc = false\n\n" : "\n");
    m_classes += text.str();
}

void
FabricHelper::AddWorkload(const std::string& keys, const NodeContainer& ranks)
{
    Change("CollectiveHelper::Install");
    m_workloads.emplace_back(keys, ranks);
}

void
FabricHelper::AddFailure(Ptr<FabricChannel> link, const std::string& keys)
{
    Change("FailureHelper");
    m_failures.emplace_back(link, keys);
}

void
FabricHelper::AddKey(std::string& keys, const std::string& name, const AttributeValue& value)
{
    keys += name + " = " + TomlOf("FabricHelper::CreateTopology: " + name, value) + "\n";
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

void
FabricHelper::InstallSwitches(const NodeContainer& nodes)
{
    NS_LOG_FUNCTION(this << nodes.GetN());
    ExpectOpen("FabricHelper::InstallSwitches");
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        if (!(*node)->GetObject<FabricSwitch>())
        {
            (*node)->AggregateObject(m_switchFactory.Create<FabricSwitch>());
        }
    }
}

Ptr<FabricPort>
FabricHelper::MakePort(Ptr<Node> node)
{
    if (Ptr<FabricSwitch> owner = node->GetObject<FabricSwitch>())
    {
        if (std::find(m_switches.begin(), m_switches.end(), owner) == m_switches.end())
        {
            m_switches.push_back(owner);
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
    m_nics.push_back(DynamicCast<RdmaNic>(m_nicHelper.Install(NodeContainer(node)).Get(0)));
    return m_nics.back();
}

NetDeviceContainer
FabricHelper::Install(Ptr<Node> a, Ptr<Node> b)
{
    NS_LOG_FUNCTION(this << a << b);
    Change("FabricHelper::Install");
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
    EVENKEEL_REFUSE_IF(!m_madeBy.empty(),
                       call,
                       "the fabric has been made by " + m_madeBy +
                           ", too late: it would have no effect; call it before, or use another "
                           "FabricHelper for another fabric");
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
    EVENKEEL_REFUSE_IF(m_nics.empty(),
                       call,
                       "a fabric must have at least one host: call FabricHelper::Install with one, "
                       "or a Create call");
    SetOwnAttributes();
    const Ptr<Fabric> fabric = m_fabricFactory.Create<Fabric>();
    const FabricGraph graph = DescribeGraph();
    const std::string settings = DescribeSettings(*m_nics[0], graph, fabric);
    const std::vector<FabricNicSettings> nics = DescribeOwnNics(graph, fabric);
    NS_LOG_LOGIC("settings:\n" << settings);
    std::unique_ptr<FabricCore> core = fabrichelper::OrAbort(call, [&] {
        return MakeFabricCore(graph, settings, m_nics[0]->DescribeQueuePairs(), nics);
    });
    return Assemble(fabric, std::move(core), call);
}

Ptr<Fabric>
FabricHelper::Assemble(Ptr<Fabric> fabric,
                       std::unique_ptr<FabricCore> core,
                       const std::string& call)
{
    m_madeBy = call;
    fabric->Assemble(std::move(core), m_nics, m_switches, m_channels);
    m_fabric = fabric;
    return fabric;
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
    for (const auto& each : m_switches)
    {
        nodes.Add(each->GetObject<Node>());
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
