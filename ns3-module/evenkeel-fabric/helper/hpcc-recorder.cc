// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "hpcc-recorder.h"

#include "ns3/callback.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric.h"
#include "ns3/rdma-nic.h"

#include <algorithm>

namespace ns3
{

namespace contract = evenkeel::contract;

HpccRecorder::HpccRecorder(const evenkeel::contract::Experiment& experiment,
                           evenkeel::contract::Core& core,
                           Ptr<Fabric> fabric)
    : m_core(core),
      m_fabric(fabric)
{
    const contract::RecordPlan plan = experiment.record_hpcc(core);
    for (const uint32_t port : plan.traced_ports)
    {
        m_traced.push_back(std::make_unique<TracedPort>(core, fabric->GetPort(port)));
    }
    for (const uint32_t port : plan.sampled_ports)
    {
        m_sampled.push_back(port);
    }
    if (plan.next_sample_ps != FABRIC_NEVER)
    {
        m_waiting.resize(fabric->GetNPorts());
        m_carried.resize(fabric->GetNPorts());
        fabric->SetSampler([this](uint64_t nowPs) { Sample(nowPs); });
        fabric->ScheduleSample(plan.next_sample_ps);
    }
}

HpccRecorder::~HpccRecorder()
{
    m_fabric->SetSampler(nullptr);
}

void
HpccRecorder::Sample(uint64_t nowPs)
{
    if (nowPs > 0)
    {
        for (const uint32_t port : m_sampled)
        {
            // Ports decide late which packets start. Start every packet due before now, but none
            // that starts now, because the sample must not include it.
            m_fabric->GetPort(port).Settle(nowPs - 1);
        }
    }
    for (uint32_t port = 0; port < m_waiting.size(); ++port)
    {
        m_waiting[port] = m_fabric->GetPort(port).GetWaitingBytesLike(0);
        m_carried[port] = m_fabric->GetPort(port).GetStartedBytes();
    }
    const uint64_t nextEvent =
        std::min(m_fabric->GetCalendar().GetNextTime(), m_fabric->GetSettings().timeLimitPs);
    const uint64_t next =
        m_core.sample(nowPs,
                      nextEvent,
                      rust::Slice<const uint32_t>(m_waiting.data(), m_waiting.size()),
                      rust::Slice<const uint64_t>(m_carried.data(), m_carried.size()));
    if (next != FABRIC_NEVER)
    {
        m_fabric->ScheduleSample(next);
    }
}

HpccRecorder::TracedPort::TracedPort(evenkeel::contract::Core& core, FabricPort& port)
    : m_core(core),
      m_port(&port),
      m_isNic(dynamic_cast<RdmaNic*>(&port) != nullptr)
{
    port.TraceConnectWithoutContext("PacketReceived", MakeCallback(&TracedPort::Receive, this));
    port.TraceConnectWithoutContext("Enqueue", MakeCallback(&TracedPort::Enqueue, this));
    port.TraceConnectWithoutContext("Dequeue", MakeCallback(&TracedPort::Dequeue, this));
    port.TraceConnectWithoutContext("PacketSent", MakeCallback(&TracedPort::Start, this));
    port.TraceConnectWithoutContext("Drop", MakeCallback(&TracedPort::Drop, this));
}

HpccRecorder::TracedPort::~TracedPort()
{
    m_port->TraceDisconnectWithoutContext("PacketReceived",
                                          MakeCallback(&TracedPort::Receive, this));
    m_port->TraceDisconnectWithoutContext("Enqueue", MakeCallback(&TracedPort::Enqueue, this));
    m_port->TraceDisconnectWithoutContext("Dequeue", MakeCallback(&TracedPort::Dequeue, this));
    m_port->TraceDisconnectWithoutContext("PacketSent", MakeCallback(&TracedPort::Start, this));
    m_port->TraceDisconnectWithoutContext("Drop", MakeCallback(&TracedPort::Drop, this));
}

void
HpccRecorder::TracedPort::Receive(const FabricPacket& packet, Time when)
{
    Record(Event::Received, packet, when, m_port->GetWaitingBytesLike(FabricPacket::PRIORITY));
}

void
HpccRecorder::TracedPort::Enqueue(const FabricPacket& packet, Time when)
{
    const uint32_t waiting = m_port->GetWaitingBytesLike(packet.flags) - packet.wireBytes;
    Record(Event::Enqueued, packet, when, waiting);
}

void
HpccRecorder::TracedPort::Dequeue(const FabricPacket&, Time)
{
    m_dequeued = true;
}

void
HpccRecorder::TracedPort::Start(const FabricPacket& packet, Time when)
{
    const uint32_t waiting = m_port->GetWaitingBytesLike(packet.flags);
    if (!m_isNic && !m_dequeued)
    {
        // The queue is empty, so the packet passes through without being stored; record both
        // events.
        Record(Event::Enqueued, packet, when, waiting);
    }
    m_dequeued = false;
    Record(Event::Dequeued, packet, when, waiting);
}

void
HpccRecorder::TracedPort::Drop(const FabricPacket& packet, Time when)
{
    Record(Event::Dropped, packet, when, m_port->GetWaitingBytesLike(packet.flags));
}

void
HpccRecorder::TracedPort::Record(Event event,
                                 const FabricPacket& packet,
                                 Time when,
                                 uint32_t waiting)
{
    if (packet.IsIp())
    {
        return;
    }
    m_core.trace_packet(static_cast<uint64_t>(when.GetPicoSeconds()),
                        m_port->GetPortNumber(),
                        event,
                        waiting,
                        packet);
}

} // namespace ns3
