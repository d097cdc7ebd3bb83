// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-switch-port.h"

#include "fabric-switch.h"
#include "fabric.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

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

FabricSwitchPort::FabricSwitchPort()
{
    NS_LOG_FUNCTION(this);
}

FabricSwitchPort::~FabricSwitchPort()
{
    NS_LOG_FUNCTION(this);
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

void
FabricSwitchPort::InspectEnd()
{
    m_endIsHost = dynamic_cast<FabricSwitchPort*>(m_end) == nullptr;
}

uint64_t
FabricSwitchPort::GetLoadAt(uint64_t nowPs) const
{
    return GetLoad(nowPs);
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
        StartNext();
    }
}

void
FabricSwitchPort::StartNext()
{
    const uint32_t slot = PopQueue();
    const uint64_t start = m_free;
    FabricPfc::Order order = FabricPfc::NOTHING;
    uint32_t link = 0;
    const uint16_t bytes = m_pool->Get(slot).packet.wireBytes;
    const uint32_t trafficClass = m_pool->Get(slot).packet.GetTrafficClass();
    if (FabricPfc* pfc = m_fabric->GetPfc())
    {
        const FabricPool::Slot& entry = m_pool->Get(slot);
        if (entry.packet.kind == FabricPacketKind::PAUSE)
        {
            m_fabric->CountPause();
        }
        if (entry.aside.HasIngress())
        {
            link = entry.aside.GetIngress();
            order = pfc->Remove(link, bytes, trafficClass);
        }
    }
    // Mark before tracing, so that sinks see the mark.
    MarkIf(DEQUEUE, slot);
    if (!m_dequeueTrace.IsEmpty())
    {
        m_dequeueTrace(m_pool->Get(slot).packet, PicoSeconds(start));
    }
    Transmit(slot, start);
    m_switch->AccountDequeue(bytes);
    if (order != FabricPfc::NOTHING)
    {
        SendFrameBack(start, link, order, trafficClass);
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
        m_fabric->CountArrival(m_waitingBytes[1]);
    }
    if (IsClear(nowPs, packet))
    {
        // Fast path: the queue is empty, so the packet is never stored.
        if (m_classes && !packet.Has(FabricPacket::PRIORITY))
        {
            PassTurn(packet);
        }
        MarkIf(ENQUEUE, slot);
        MarkIf(DEQUEUE, slot);
        Transmit(slot, nowPs);
        Arm();
        return;
    }
    if (!Admits(nowPs, slot) && !Trims(slot))
    {
        m_fabric->Drop(*this, slot);
        return;
    }
    MarkIf(ENQUEUE, slot);
    m_switch->AccountEnqueue(m_pool->Get(slot).packet.wireBytes);
    PushQueue(slot);
    if (!m_enqueueTrace.IsEmpty())
    {
        m_enqueueTrace(m_pool->Get(slot).packet, PicoSeconds(nowPs));
    }
    if (m_fabric->GetPfc())
    {
        AccountEnqueue(nowPs, slot);
    }
    Arm();
    if (m_punctual && HasWaiting())
    {
        ArmStart();
    }
}

bool
FabricSwitchPort::Admits(uint64_t nowPs, uint32_t slot)
{
    const FabricPool::Slot& entry = m_pool->Get(slot);
    const uint64_t bytes = entry.packet.wireBytes;
    const bool priority = entry.packet.Has(FabricPacket::PRIORITY);
    const FabricSettings& settings = m_fabric->GetSettings();
    if (priority && settings.trim)
    {
        return HasHeaderRoom(bytes);
    }
    if (const FabricPfc* pfc = m_fabric->GetPfc())
    {
        // PFC counts a packet without priority at its ingress link.
        return priority || !entry.aside.HasIngress() ||
               pfc->Admits(entry.aside.GetIngress(), bytes, entry.packet.GetTrafficClass());
    }
    if (!settings.sharedBuffer)
    {
        return m_waitingBytes[GetQueue(entry.packet.flags)] + bytes <= settings.bufferBytes;
    }
    // Ports decide late, so the count may include packets that could have started by now. Near the
    // limit, start them first at every port.
    if (m_switch->GetBufferedBytes() + bytes > settings.bufferBytes)
    {
        m_switch->Settle(nowPs);
    }
    return m_switch->GetBufferedBytes() + bytes <= settings.bufferBytes;
}

bool
FabricSwitchPort::Trims(uint32_t slot)
{
    const FabricSettings& settings = m_fabric->GetSettings();
    FabricPacket& packet = m_pool->Get(slot).packet;
    if (!settings.trim || !packet.IsData() || packet.Has(FabricPacket::TRIMMED))
    {
        return false;
    }
    const uint64_t size = std::min<uint64_t>(settings.trimSize, packet.wireBytes);
    if (!HasHeaderRoom(size))
    {
        return false;
    }
    packet.wireBytes = static_cast<uint16_t>(size);
    packet.flags |= FabricPacket::TRIMMED | FabricPacket::PRIORITY;
    if (m_endIsHost)
    {
        packet.flags |= FabricPacket::LAST_HOP;
    }
    m_fabric->CountTrimmed();
    return true;
}

bool
FabricSwitchPort::HasHeaderRoom(uint64_t bytes) const
{
    const FabricSettings& settings = m_fabric->GetSettings();
    return settings.trim && m_waitingBytes[0] + bytes <= settings.trimLimit;
}

void
FabricSwitchPort::MarkIf(MarkPoint point, uint32_t slot)
{
    if (!m_ecn.IsOn() || m_fabric->GetSettings().ecnAtDequeue != (point == DEQUEUE))
    {
        return;
    }
    FabricPacket& packet = m_pool->Get(slot).packet;
    if (!packet.IsMarkable())
    {
        return;
    }
    const uint64_t waiting =
        m_classes ? m_classes->waitingBytes[packet.GetTrafficClass()] : m_waitingBytes[1];
    // No random draw outside the ramp: below kmin nothing is marked, above kmax everything.
    if (waiting <= m_ecn.kmin)
    {
        return;
    }
    if (waiting > m_ecn.kmax || m_fabric->GetSwitching().Marks(m_id, waiting))
    {
        packet.flags |= FabricPacket::MARKED;
        if (!m_markTrace.IsEmpty())
        {
            m_markTrace(packet, PicoSeconds(m_fabric->GetCalendar().Now()));
        }
    }
}

void
FabricSwitchPort::AccountEnqueue(uint64_t nowPs, uint32_t slot)
{
    FabricPool::Slot& entry = m_pool->Get(slot);
    if (entry.packet.Has(FabricPacket::PRIORITY))
    {
        // PFC counts only packets without priority.
        entry.aside.ClearIngress();
    }
    if (entry.aside.HasIngress())
    {
        const uint32_t link = entry.aside.GetIngress();
        const uint32_t trafficClass = entry.packet.GetTrafficClass();
        const FabricPfc::Order order =
            m_fabric->GetPfc()->Add(link, entry.packet.wireBytes, trafficClass);
        if (order != FabricPfc::NOTHING)
        {
            SendFrameBack(nowPs, link, order, trafficClass);
        }
    }
    StartWaiting(nowPs);
}

void
FabricSwitchPort::SendFrameBack(uint64_t nowPs,
                                uint32_t link,
                                FabricPfc::Order order,
                                uint32_t trafficClass)
{
    // The link ends at this switch, so the port of its other direction is here too.
    auto& back = static_cast<FabricSwitchPort&>(m_fabric->GetPort(link ^ 1));
    back.SendFrame(nowPs, order, trafficClass);
}

void
FabricSwitchPort::SendFrame(uint64_t nowPs, FabricPfc::Order order, uint32_t trafficClass)
{
    const FabricPacketKind kind =
        order == FabricPfc::PAUSE ? FabricPacketKind::PAUSE : FabricPacketKind::RESUME;
    uint32_t before = FabricPool::NONE;
    for (uint32_t each = m_waiting[0].head; each != FabricPool::NONE; each = m_pool->Get(each).next)
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
            packet.sack = m_waitingBytes[1];
            return;
        }
        before = each;
    }
    FabricPacket frame;
    frame.wireBytes = FRAME_BYTES;
    frame.kind = kind;
    frame.flags = FabricPacket::PRIORITY;
    frame.sack = m_waitingBytes[1];
    frame.SetTrafficClass(trafficClass);
    const uint32_t slot = m_pool->Insert(frame);
    // Queued frames of other classes go first, even if their start event is still to come.
    if (m_free <= nowPs && before == FabricPool::NONE)
    {
        if (order == FabricPfc::PAUSE)
        {
            m_fabric->CountPause();
        }
        Transmit(slot, nowPs);
        Arm();
        return;
    }
    PushFrame(slot, before);
    if (!m_enqueueTrace.IsEmpty())
    {
        m_enqueueTrace(frame, PicoSeconds(nowPs));
    }
    m_switch->AccountEnqueue(FRAME_BYTES);
    StartWaiting(nowPs);
}

void
FabricSwitchPort::HandleStart(uint64_t nowPs)
{
    m_startArmed = false;
    if (m_fabric->GetPfc())
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
FabricSwitchPort::ApplyPfcOrder(uint64_t nowPs, FabricPfc::Order order, uint32_t trafficClass)
{
    SetPaused(nowPs, order, trafficClass);
    StartWaiting(nowPs);
}

} // namespace ns3
