// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-switch-port.h"

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-pool.h"
#include "fabric-switch.h"
#include "fabric.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

using evenkeel::contract::Enqueued;

NS_LOG_COMPONENT_DEFINE("FabricSwitchPort");

NS_OBJECT_ENSURE_REGISTERED(FabricSwitchPort);

namespace
{

/// The length of a pause frame on the wire: the smallest Ethernet frame.
constexpr uint16_t FRAME_BYTES = 64;

} // namespace

TypeId
FabricSwitchPort::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricSwitchPort")
                            .SetParent<FabricPort>()
                            .SetGroupName("Evenkeel")
                            .AddConstructor<FabricSwitchPort>();
    return tid;
}

void
FabricSwitchPort::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_switch = nullptr;
    FabricPort::DoDispose();
}

void
FabricSwitchPort::SetSwitch(FabricSwitch* owner)
{
    NS_LOG_FUNCTION(this << owner);
    m_switch = owner;
}

uint64_t
FabricSwitchPort::GetLoad(uint64_t nowPs) const
{
    uint64_t load = GetWaitingBytes();
    if (m_free > nowPs && !m_wire.IsEmpty())
    {
        // The last packet put on the wire is the one that occupies it.
        load += m_pool->Get(m_wire.tail).packet.wireBytes;
    }
    return load;
}

bool
FabricSwitchPort::IsClear(uint64_t nowPs, const FabricPacket& packet) const
{
    if (m_free > nowPs || HasWaiting())
    {
        return false;
    }
    return packet.Has(FabricPacket::PRIORITY) || !IsClassPaused(packet.GetTrafficClass());
}

void
FabricSwitchPort::Settle(uint64_t nowPs)
{
    StartDue(nowPs);
    Arm();
    if (m_punctual && HasWaiting())
    {
        ArmStart();
    }
}

void
FabricSwitchPort::StartDue(uint64_t nowPs)
{
    while (m_free <= nowPs && HasWaiting())
    {
        const uint32_t slot = PopQueue();
        const uint64_t start = m_free;
        FabricPool::Slot& entry = m_pool->Get(slot);
        if (entry.packet.kind == FabricPacketKind::PAUSE)
        {
            ++m_fabric->Count().pauses;
        }
        const uint32_t link = entry.ingress;
        const uint32_t trafficClass = entry.packet.GetTrafficClass();
        const uint8_t flags = entry.packet.flags;
        const FabricPfcOrder order =
            m_fabric->GetRust().dequeue(m_id, link, GetQueuedLike(slot), entry.packet);
        // Mark before tracing, so that sinks see the mark.
        TraceMark(slot, flags);
        Trace(m_dequeueTrace, m_pool->Get(slot).packet, start);
        Transmit(slot, start);
        if (order != FabricPfcOrder::NOTHING)
        {
            SendFrameBack(start, link, order, trafficClass);
        }
    }
}

void
FabricSwitchPort::Receive(uint64_t nowPs, uint32_t slot)
{
    m_switch->Forward(nowPs, slot);
}

void
FabricSwitchPort::Enqueue(uint64_t nowPs, uint32_t slot)
{
    StartDue(nowPs);
    const FabricPacket& packet = m_pool->Get(slot).packet;
    if (packet.IsData())
    {
        ++m_fabric->Count().arrivals;
        m_fabric->Count().waitingFound += m_dataBytes;
    }
    if (IsClear(nowPs, packet))
    {
        // Fast path: the queue is empty, so the packet is never stored.
        if (m_classes > 1 && !packet.Has(FabricPacket::PRIORITY))
        {
            // Make the scheduler state the same as if the packet had been queued.
            const uint32_t trafficClass = packet.GetTrafficClass();
            m_fabric->GetRust().choose_class(m_id, BitOf(trafficClass));
            m_fabric->GetRust().charge_class(m_id, trafficClass, packet.wireBytes, false);
        }
        // Bytes without priority are queued only if they are paused.
        if (const uint32_t queued = GetQueuedLike(slot))
        {
            const uint8_t flags = packet.flags;
            m_fabric->GetRust().bypass(m_id, queued, m_pool->Get(slot).packet);
            TraceMark(slot, flags);
        }
        Transmit(slot, nowPs);
        Arm();
        return;
    }
    const uint8_t flags = packet.flags;
    const auto admit = [&](bool isSettled) {
        FabricPool::Slot& entry = m_pool->Get(slot);
        return m_fabric->GetRust().enqueue(
            {m_id, entry.ingress, m_queueBytes[0], m_dataBytes, GetQueuedLike(slot), isSettled},
            entry.packet);
    };
    Enqueued enqueued = admit(false);
    if (enqueued == Enqueued::Unsettled)
    {
        // Ports decide late, so the switch may hold packets that could have started by now. Near
        // the limit of the buffer, start them first at every port.
        m_switch->Settle(nowPs);
        enqueued = admit(true);
    }
    if (enqueued == Enqueued::Dropped)
    {
        m_fabric->Drop(*this, slot);
        return;
    }
    if (enqueued == Enqueued::Trimmed)
    {
        ++m_fabric->Count().trimmed;
    }
    TraceMark(slot, flags);
    PushQueue(slot);
    Trace(m_enqueueTrace, m_pool->Get(slot).packet, nowPs);
    if (m_fabric->GetSettings().pfc)
    {
        if (enqueued == Enqueued::Paused)
        {
            const FabricPool::Slot& entry = m_pool->Get(slot);
            SendFrameBack(nowPs,
                          entry.ingress,
                          FabricPfcOrder::PAUSE,
                          entry.packet.GetTrafficClass());
        }
        StartWaiting(nowPs);
    }
    Settle(nowPs);
}

uint32_t
FabricSwitchPort::GetQueuedLike(uint32_t slot) const
{
    return m_queueBytes[1 + m_pool->Get(slot).packet.GetTrafficClass()];
}

void
FabricSwitchPort::TraceMark(uint32_t slot, uint8_t before)
{
    const FabricPacket& packet = m_pool->Get(slot).packet;
    if (packet.Has(FabricPacket::MARKED) && !(before & FabricPacket::MARKED))
    {
        Trace(m_markTrace, packet, m_fabric->GetCalendar().Now());
    }
}

void
FabricSwitchPort::SendFrameBack(uint64_t nowPs,
                                uint32_t link,
                                FabricPfcOrder order,
                                uint32_t trafficClass)
{
    // The link ends at this switch, so the port of its other direction is here too.
    auto& back = static_cast<FabricSwitchPort&>(m_fabric->GetPort(link ^ 1));
    back.SendFrame(nowPs, order, trafficClass);
}

void
FabricSwitchPort::SendFrame(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass)
{
    const FabricPacketKind kind =
        order == FabricPfcOrder::PAUSE ? FabricPacketKind::PAUSE : FabricPacketKind::RESUME;
    uint32_t before = FabricPool::NONE;
    for (uint32_t each = m_queues[0].head; each != FabricPool::NONE; each = m_pool->Get(each).next)
    {
        FabricPacket& packet = m_pool->Get(each).packet;
        if (!packet.IsFlowControl())
        {
            break;
        }
        if (packet.GetTrafficClass() == trafficClass)
        {
            // The newest frame of a class replaces a queued one.
            packet.kind = kind;
            packet.sack = m_dataBytes;
            return;
        }
        before = each;
    }
    FabricPacket frame;
    frame.wireBytes = FRAME_BYTES;
    frame.kind = kind;
    frame.flags = FabricPacket::PRIORITY;
    frame.sack = m_dataBytes;
    frame.SetTrafficClass(trafficClass);
    const uint32_t slot = m_pool->Insert(frame);
    // Queued frames of other classes go first, even if their start event is still to come.
    if (m_free <= nowPs && before == FabricPool::NONE)
    {
        if (order == FabricPfcOrder::PAUSE)
        {
            ++m_fabric->Count().pauses;
        }
        Transmit(slot, nowPs);
        Arm();
        return;
    }
    // Frames go behind earlier frames and before all other packets.
    m_queueBytes[0] += FRAME_BYTES;
    m_pool->Insert(m_queues[0], before, slot);
    Trace(m_enqueueTrace, frame, nowPs);
    m_fabric->GetRust().count_frame(m_id, FRAME_BYTES);
    StartWaiting(nowPs);
}

void
FabricSwitchPort::HandleStart(uint64_t nowPs)
{
    m_startArmed = false;
    if (m_fabric->GetSettings().pfc)
    {
        StartWaiting(nowPs);
    }
    else
    {
        Settle(nowPs);
    }
}

void
FabricSwitchPort::StartWaiting(uint64_t nowPs)
{
    if (!HasWaiting())
    {
        return;
    }
    // After a pause or an idle time, the next packet starts now, not at a time in the past.
    m_free = std::max(m_free, nowPs);
    StartDue(nowPs);
    Arm();
    if (HasWaiting())
    {
        ArmStart();
    }
}

void
FabricSwitchPort::ApplyPfcOrder(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass)
{
    SetPaused(nowPs, order, trafficClass);
    StartWaiting(nowPs);
}

} // namespace ns3
