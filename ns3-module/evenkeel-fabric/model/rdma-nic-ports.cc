// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge.h"
#include "fabric.h"
#include "rdma-nic.h"

#include "ns3/log.h"
#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/refuse.h"

#include <algorithm>
#include <array>

// RdmaNic's methods for several ports, each in its own plane, and what its ports leave to it.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaNicPorts");

Ptr<FabricPort>
RdmaNic::AddPort()
{
    NS_LOG_FUNCTION(this);
    EVENKEEL_REFUSE_IF(!GetNode(), "RdmaNic::AddPort", "the NIC has no node: add it to one first");
    EVENKEEL_REFUSE_IF(m_fabric,
                       "RdmaNic::AddPort",
                       "the fabric has been made: add ports before FabricHelper::Finish");
    Ptr<FabricPort> port = CreateObject<FabricPort>();
    port->m_nic = this;
    port->SetAddress(Mac48Address::Allocate());
    port->SetMtu(GetMtu());
    port->m_punctual = m_punctual;
    GetNode()->AddDevice(port);
    m_further.push_back(port);
    return port;
}

uint32_t
RdmaNic::GetNPorts() const
{
    return static_cast<uint32_t>(1 + m_further.size());
}

Ptr<FabricPort>
RdmaNic::GetPort(uint32_t plane) const
{
    EVENKEEL_REFUSE_IF(plane >= GetNPorts(),
                       "RdmaNic::GetPort",
                       "there is no plane " << plane << ": the NIC has " << GetNPorts()
                                            << " ports");
    return Ptr<FabricPort>(&const_cast<RdmaNic*>(this)->PortIn(plane));
}

FabricPort&
RdmaNic::PortIn(uint32_t plane)
{
    if (plane == 0)
    {
        return *this;
    }
    return *m_further[plane - 1];
}

uint32_t
RdmaNic::PlaneOf(const FabricPort& port) const
{
    for (uint32_t plane = 1; plane <= m_further.size(); ++plane)
    {
        if (PeekPointer(m_further[plane - 1]) == &port)
        {
            return plane;
        }
    }
    return 0;
}

Ptr<RdmaNic>
RdmaNic::Of(Ptr<NetDevice> device)
{
    const Ptr<FabricPort> port = DynamicCast<FabricPort>(device);
    return port ? port->m_nic : nullptr;
}

uint64_t
RdmaNic::GetFree() const
{
    uint64_t free = m_free;
    for (const auto& port : m_further)
    {
        free = std::min(free, port->m_free);
    }
    return free;
}

void
RdmaNic::SendDueOnPorts(uint64_t nowPs)
{
    std::array<uint64_t, FABRIC_MOST_PLANES> free;
    uint32_t paused = 0;
    for (uint32_t plane = 0; plane < GetNPorts(); ++plane)
    {
        const FabricPort& port = PortIn(plane);
        free[plane] = port.m_free;
        paused |= port.m_paused ? 1U << plane : 0;
    }
    // Keep the order of time: poll RDMA only up to the earliest time at which IP can start.
    while (true)
    {
        FabricPort* ip = FindPortForIp(nowPs);
        FabricPacket packet;
        uint64_t start = 0;
        uint32_t plane = 0;
        const rust::Slice<const uint64_t> wires(free.data(), GetNPorts());
        const uint64_t until = ip ? ip->m_free : nowPs;
        const bool isTurnOfIp = ip && ip->m_ipFirst;
        evenkeel::contract::Core& core = m_fabric->GetRust();
        if (!isTurnOfIp &&
            core.poll_transmit_on(m_host, until, wires, paused, start, plane, packet))
        {
            Inject(PortIn(plane), start, packet);
        }
        else if (ip)
        {
            plane = PlaneOf(*ip);
            StartIp(*ip, ip->PopQueue());
        }
        else
        {
            break;
        }
        free[plane] = PortIn(plane).m_free;
    }
    // Schedule the next event of each port.
    const bool waits = m_fabric->GetRust().has_packets(m_host);
    for (uint32_t plane = 0; plane < GetNPorts(); ++plane)
    {
        FabricPort& port = PortIn(plane);
        const bool busy = port.m_free > nowPs;
        if (port.m_punctual && busy)
        {
            port.ArmStart();
        }
        port.ArmFor(busy && (waits || port.HasWaiting()));
    }
}

void
FabricPort::Settle(uint64_t nowPs)
{
    m_nic->Settle(nowPs);
}

void
FabricPort::Receive(uint64_t nowPs, uint32_t slot)
{
    if (!ReceiveIp(slot))
    {
        m_nic->ReceiveRdma(nowPs, slot);
    }
}

void
FabricPort::ApplyPfcOrder(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass)
{
    m_nic->ApplyPfcOrderTo(*this, nowPs, order, trafficClass);
}

void
FabricPort::HandleStart(uint64_t nowPs)
{
    m_startArmed = false;
    m_nic->Settle(nowPs);
}

} // namespace ns3
