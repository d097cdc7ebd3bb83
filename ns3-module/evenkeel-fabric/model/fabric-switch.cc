// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-switch.h"

#include "fabric-bridge.h"
#include "fabric-pool.h"
#include "fabric-switch-port.h"
#include "fabric.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/policy-parameters.h"
#include "ns3/refuse.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricSwitch");

NS_OBJECT_ENSURE_REGISTERED(FabricSwitch);

namespace
{

/// Cache value of a host that has not been looked up.
constexpr uint32_t UNKNOWN = FABRIC_NO_PORT - 1;

} // namespace

TypeId
FabricSwitch::GetTypeId()
{
    static TypeId tid = AddTo(
        TypeId("ns3::FabricSwitch")
            .SetParent<Object>()
            .SetGroupName("Evenkeel")
            .AddConstructor<FabricSwitch>(),
        {
            {"BufferBytes",
             "64000000",
             MakeUintegerChecker<uint64_t>(1),
             "Size of the packet buffer of the switch, or of each output port, in bytes."},
            {"SharedBuffer",
             "true",
             MakeBooleanChecker(),
             "True for one buffer that all ports share, false for one per output port."},
            {"Ecn",
             "true",
             MakeBooleanChecker(),
             "Mark data packets by the length of the queue of their output port."},
            {"EcnKmin",
             "800000",
             MakeUintegerChecker<uint64_t>(),
             "Queue length, in bytes, up to which no packet is marked."},
            {"EcnKmax",
             "800000",
             MakeUintegerChecker<uint64_t>(),
             "Queue length, in bytes, above which every packet is marked; equal to EcnKmin for a "
             "step."},
            {"EcnPmax",
             "0.2",
             MakeDoubleChecker<double>(0.0, 1.0),
             "The probability of marking just below EcnKmax; it rises linearly from EcnKmin. It is "
             "rounded to a millionth."},
            {"EcnAtDequeue",
             "false",
             MakeBooleanChecker(),
             "Mark by the queue length at dequeue, not at enqueue."},
            {"Pfc",
             "false",
             MakeBooleanChecker(),
             "Priority flow control (IEEE 802.1Qbb) with the rules of the HPCC simulator."},
            {"Trim",
             "false",
             MakeBooleanChecker(),
             "Trim a packet to its header instead of dropping it when the buffer is full."},
            {"Policy",
             "ecmp",
             MakeStringChecker(),
             "The load-balancing policy, a name that `evenkeel list policies` prints."},
            {"PolicyParameters",
             "",
             MakeStringChecker(),
             "Parameters of the policy, as keys of a scenario's section [policy], separated by "
             "semicolons or newlines: 'gap = \"50us\"; other = 3'."},
        });
    return tid;
}

FabricSwitch::FabricSwitch() = default;
FabricSwitch::~FabricSwitch() = default;

void
FabricSwitch::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_fabric = nullptr;
    m_ports.clear();
    Object::DoDispose();
}

void
FabricSwitch::AddPort(Ptr<FabricSwitchPort> port)
{
    NS_LOG_FUNCTION(this << port);
    port->SetSwitch(this);
    m_ports.push_back(port);
}

uint32_t
FabricSwitch::GetNPorts() const
{
    return static_cast<uint32_t>(m_ports.size());
}

Ptr<FabricSwitchPort>
FabricSwitch::GetPort(uint32_t number) const
{
    EVENKEEL_REFUSE_IF(number >= m_ports.size(),
                       "FabricSwitch::GetPort",
                       "there is no port " << number << ": the switch has " << m_ports.size()
                                           << " ports");
    return m_ports[number];
}

std::string
FabricSwitch::DescribeSettings() const
{
    std::ostringstream text;
    text << "[switch]\n"
         << (Read<BooleanValue>("SharedBuffer") ? "buffer" : "port_buffer") << " = "
         << ReadToml("BufferBytes", "B") << "\n";
    const std::string kmin = ReadToml("EcnKmin", "B");
    const std::string kmax = ReadToml("EcnKmax", "B");
    const char* at = Read<BooleanValue>("EcnAtDequeue") ? "dequeue" : "enqueue";
    if (!Read<BooleanValue>("Ecn"))
    {
        // No queue reaches this threshold, so packets are never marked.
        text << "ecn = { step = \"4GB\" }\n";
    }
    else if (kmin == kmax)
    {
        text << "ecn = { step = " << kmin << ", at = \"" << at << "\" }\n";
    }
    else
    {
        text << "ecn = { kmin = " << kmin << ", kmax = " << kmax << ", pmax = \""
             << std::llround(Read<DoubleValue>("EcnPmax") * 1e6) << "/1000000\", at = \"" << at
             << "\" }\n";
    }
    text << "pfc = " << ReadToml("Pfc") << "\ntrim = " << ReadToml("Trim")
         << "\n\n[policy]\nname = " << ReadToml("Policy") << "\n"
         << PolicyParameterLines(Read<StringValue>("PolicyParameters")) << "\n";
    return text.str();
}

void
FabricSwitch::Join(Fabric* fabric, uint32_t number, uint32_t hosts)
{
    NS_LOG_FUNCTION(this << number << hosts);
    m_fabric = fabric;
    m_number = number;
    m_onlyPort.assign(hosts, UNKNOWN);
    m_loads.assign(m_ports.size(), 0);
}

void
FabricSwitch::DiscardRoutes()
{
    m_onlyPort.assign(m_onlyPort.size(), UNKNOWN);
}

void
FabricSwitch::Settle(uint64_t nowPs)
{
    for (const auto& port : m_ports)
    {
        port->Settle(nowPs);
    }
}

void
FabricSwitch::Forward(uint64_t nowPs, uint32_t slot)
{
    const uint32_t port = Choose(nowPs, m_fabric->GetPool().Get(slot).packet);
    if (port >= m_ports.size())
    {
        m_fabric->Drop(*m_ports[0], slot);
        return;
    }
    m_ports[port]->Enqueue(nowPs, slot);
}

uint32_t
FabricSwitch::Choose(uint64_t nowPs, FabricPacket& packet)
{
    evenkeel::contract::Core& core = m_fabric->GetRust();
    uint32_t& only = m_onlyPort[packet.dst];
    if (only == UNKNOWN)
    {
        only = core.only_port(m_number, packet.dst);
    }
    if (only != FABRIC_NO_PORT)
    {
        return only;
    }
    if (!m_fabric->GetSettings().looksAtQueues)
    {
        return core.route(m_number, nowPs, packet, {});
    }
    for (std::size_t number = 0; number < m_ports.size(); ++number)
    {
        m_ports[number]->StartDue(nowPs);
        m_loads[number] = m_ports[number]->GetLoad(nowPs);
    }
    return core.route(m_number, nowPs, packet, {m_loads.data(), m_loads.size()});
}

} // namespace ns3
