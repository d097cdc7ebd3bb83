// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "rdma-nic-port.h"

#include "rdma-nic.h"

#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaNicPort");

NS_OBJECT_ENSURE_REGISTERED(RdmaNicPort);

TypeId
RdmaNicPort::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RdmaNicPort")
                            .SetParent<FabricPort>()
                            .SetGroupName("Evenkeel")
                            .AddConstructor<RdmaNicPort>();
    return tid;
}

RdmaNicPort::RdmaNicPort() = default;
RdmaNicPort::~RdmaNicPort() = default;

void
RdmaNicPort::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_nic = nullptr;
    FabricPort::DoDispose();
}

Ptr<RdmaNic>
RdmaNicPort::GetNic() const
{
    return m_nic;
}

void
RdmaNicPort::SetNic(RdmaNic* nic)
{
    NS_LOG_FUNCTION(this << nic);
    m_nic = nic;
}

bool
RdmaNicPort::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << dest << protocolNumber);
    // A port has no NIC before AddPort and after the end of the simulation; it then drops packets.
    return m_nic ? m_nic->SendIpBy(m_nic->PlaneOf(*this), packet, protocolNumber)
                 : DropUnsent(packet);
}

void
RdmaNicPort::Settle(uint64_t nowPs)
{
    m_nic->Settle(nowPs);
}

void
RdmaNicPort::Receive(uint64_t nowPs, uint32_t slot)
{
    if (!ReceiveIp(slot))
    {
        m_nic->ReceiveRdma(nowPs, slot);
    }
}

void
RdmaNicPort::ApplyPfcOrder(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass)
{
    m_nic->ApplyPfcOrderTo(*this, nowPs, order, trafficClass);
}

void
RdmaNicPort::HandleStart(uint64_t nowPs)
{
    m_startArmed = false;
    m_nic->Settle(nowPs);
}

} // namespace ns3
