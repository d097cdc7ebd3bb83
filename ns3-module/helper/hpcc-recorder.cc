// SPDX-License-Identifier: GPL-2.0-only

#include "hpcc-recorder.h"

#include "ns3/callback.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric.h"
#include "ns3/rdma-nic.h"

#include <algorithm>

namespace ns3
{

namespace contract = evenkeel::contract;

HpccRecorder::HpccRecorder(const contract::Experiment& experiment,
                           contract::Core& core,
                           Ptr<Fabric> fabric)
    : m_core(core),
      m_fabric(fabric)
{
    const contract::RecordFacts facts = experiment.record_hpcc(core);
    for (const uint32_t port : facts.noted)
    {
        m_noted.push_back(std::make_unique<Noted>(core, fabric->GetPort(port)));
    }
    for (const uint32_t port : facts.looked_at)
    {
        m_lookedAt.push_back(port);
    }
    if (facts.next_look_ps != FABRIC_NEVER)
    {
        m_waiting.resize(fabric->GetNPorts());
        m_carried.resize(fabric->GetNPorts());
        fabric->SetLook([this](uint64_t nowPs) { Look(nowPs); });
        fabric->LookAt(facts.next_look_ps);
    }
}

HpccRecorder::~HpccRecorder()
{
    m_fabric->SetLook(nullptr);
}

void
HpccRecorder::Look(uint64_t nowPs)
{
    if (nowPs > 0)
    {
        for (const uint32_t port : m_lookedAt)
        {
            // Ports decide late; what starts now is not to be seen yet.
            m_fabric->GetPort(port).Settle(nowPs - 1);
        }
    }
    for (uint32_t port = 0; port < m_waiting.size(); ++port)
    {
        m_waiting[port] = m_fabric->GetPort(port).GetWaitingBytesLike(0);
        m_carried[port] = m_fabric->GetPort(port).GetCarriedBytes();
    }
    const uint64_t nextEvent = std::min(m_fabric->GetCalendar().GetNextTime(),
                                        m_fabric->GetSettings().timeLimitPs);
    const uint64_t next =
        m_core.look(nowPs,
                    nextEvent,
                    rust::Slice<const uint32_t>(m_waiting.data(), m_waiting.size()),
                    rust::Slice<const uint64_t>(m_carried.data(), m_carried.size()));
    if (next != FABRIC_NEVER)
    {
        m_fabric->LookAt(next);
    }
}

HpccRecorder::Noted::Noted(contract::Core& core, FabricPort& port)
    : m_core(core),
      m_port(&port),
      m_isHosts(dynamic_cast<RdmaNic*>(&port) != nullptr)
{
    port.TraceConnectWithoutContext("PacketReceived", MakeCallback(&Noted::Receive, this));
    port.TraceConnectWithoutContext("Enqueue", MakeCallback(&Noted::Enqueue, this));
    port.TraceConnectWithoutContext("Dequeue", MakeCallback(&Noted::Dequeue, this));
    port.TraceConnectWithoutContext("PacketSent", MakeCallback(&Noted::Start, this));
    port.TraceConnectWithoutContext("Drop", MakeCallback(&Noted::Drop, this));
}

HpccRecorder::Noted::~Noted()
{
    m_port->TraceDisconnectWithoutContext("PacketReceived", MakeCallback(&Noted::Receive, this));
    m_port->TraceDisconnectWithoutContext("Enqueue", MakeCallback(&Noted::Enqueue, this));
    m_port->TraceDisconnectWithoutContext("Dequeue", MakeCallback(&Noted::Dequeue, this));
    m_port->TraceDisconnectWithoutContext("PacketSent", MakeCallback(&Noted::Start, this));
    m_port->TraceDisconnectWithoutContext("Drop", MakeCallback(&Noted::Drop, this));
}

void
HpccRecorder::Noted::Receive(const FabricPacket& packet, Time when)
{
    Tell(RECEIVED, packet, when, m_port->GetWaitingBytesLike(FabricPacket::PRIORITY));
}

void
HpccRecorder::Noted::Enqueue(const FabricPacket& packet, Time when)
{
    Tell(ENQUEUED, packet, when, m_port->GetWaitingBytesLike(packet.flags) - packet.wireBytes);
}

void
HpccRecorder::Noted::Dequeue(const FabricPacket&, Time)
{
    m_left = true;
}

void
HpccRecorder::Noted::Start(const FabricPacket& packet, Time when)
{
    const uint32_t waiting = m_port->GetWaitingBytesLike(packet.flags);
    if (!m_isHosts && !m_left)
    {
        // It goes through without waiting.
        Tell(ENQUEUED, packet, when, waiting);
    }
    m_left = false;
    Tell(DEQUEUED, packet, when, waiting);
}

void
HpccRecorder::Noted::Drop(const FabricPacket& packet, Time when)
{
    Tell(DROPPED, packet, when, m_port->GetWaitingBytesLike(packet.flags));
}

void
HpccRecorder::Noted::Tell(Event event, const FabricPacket& packet, Time when, uint32_t waiting)
{
    m_core.note(static_cast<uint64_t>(when.GetPicoSeconds()),
                m_port->GetPortNumber(),
                event,
                waiting,
                FabricCoreBridge::ToWire(packet));
}

} // namespace ns3
