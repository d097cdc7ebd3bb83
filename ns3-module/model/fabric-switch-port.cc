// SPDX-License-Identifier: GPL-2.0-only

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

/// A pause frame on the wire: the smallest Ethernet frame.
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
FabricSwitchPort::LookAtEnd()
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
    const uint32_t place = TakeWaiting();
    const uint64_t start = m_free;
    FabricPfc::Order order = FabricPfc::NOTHING;
    uint32_t link = 0;
    const uint16_t bytes = m_pool->Get(place).packet.wireBytes;
    if (FabricPfc* pfc = m_fabric->GetPfc())
    {
        const FabricPool::Slot& slot = m_pool->Get(place);
        if (slot.packet.kind == FabricPacketKind::PAUSE)
        {
            m_fabric->CountPause();
        }
        if (slot.aside != 0)
        {
            link = slot.aside - 1;
            order = pfc->Remove(link, bytes);
        }
    }
    // Before anybody sees it on its way.
    MarkIf(DEQUEUE, place);
    if (!m_dequeueTrace.IsEmpty())
    {
        m_dequeueTrace(m_pool->Get(place).packet, PicoSeconds(start));
    }
    Transmit(place, start);
    m_switch->Release(bytes);
    if (order != FabricPfc::NOTHING)
    {
        TellLink(start, link, order);
    }
}

void
FabricSwitchPort::Receive(uint64_t nowPs, uint32_t place)
{
    m_switch->Forward(nowPs, place);
}

void
FabricSwitchPort::Enqueue(uint64_t nowPs, uint32_t place)
{
    StartDue(nowPs);
    const FabricPacket& packet = m_pool->Get(place).packet;
    if (!packet.IsControl())
    {
        m_fabric->CountFound(m_waitingBytes[1]);
    }
    if (IsClear(nowPs, packet.flags))
    {
        // An empty queue: the packet passes through without being stored.
        MarkIf(ENQUEUE, place);
        MarkIf(DEQUEUE, place);
        Transmit(place, nowPs);
        Arm();
        return;
    }
    if (!Admits(nowPs, place) && !Trims(place))
    {
        m_fabric->Drop(*this, place);
        return;
    }
    MarkIf(ENQUEUE, place);
    m_switch->Take(m_pool->Get(place).packet.wireBytes);
    Wait(place);
    if (!m_enqueueTrace.IsEmpty())
    {
        m_enqueueTrace(m_pool->Get(place).packet, PicoSeconds(nowPs));
    }
    if (m_fabric->GetPfc())
    {
        Stay(nowPs, place);
    }
    Arm();
    if (m_punctual && HasWaiting())
    {
        ArmStart();
    }
}

bool
FabricSwitchPort::Admits(uint64_t nowPs, uint32_t place)
{
    const FabricPool::Slot& slot = m_pool->Get(place);
    const uint64_t bytes = slot.packet.wireBytes;
    const bool priority = slot.packet.Has(FabricPacket::PRIORITY);
    const FabricSettings& settings = m_fabric->GetSettings();
    if (priority && settings.trim)
    {
        return HasHeaderRoom(bytes);
    }
    if (const FabricPfc* pfc = m_fabric->GetPfc())
    {
        // What has no priority came over a link and is counted there.
        return priority || slot.aside == 0 || pfc->Admits(slot.aside - 1, bytes);
    }
    if (!settings.sharedBuffer)
    {
        return m_waitingBytes[GetClass(slot.packet.flags)] + bytes <= settings.bufferBytes;
    }
    // The count may lag behind packets that have left; only near the limit is it worth a look at
    // every port.
    if (m_switch->GetBufferedBytes() + bytes > settings.bufferBytes)
    {
        m_switch->Settle(nowPs);
    }
    return m_switch->GetBufferedBytes() + bytes <= settings.bufferBytes;
}

bool
FabricSwitchPort::Trims(uint32_t place)
{
    const FabricSettings& settings = m_fabric->GetSettings();
    FabricPacket& packet = m_pool->Get(place).packet;
    if (!settings.trim || packet.IsControl() || packet.Has(FabricPacket::TRIMMED))
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
FabricSwitchPort::MarkIf(MarkPoint point, uint32_t place)
{
    if (!m_ecn.IsOn() || m_fabric->GetSettings().ecnAtDequeue != (point == DEQUEUE))
    {
        return;
    }
    const uint64_t waiting = m_waitingBytes[1];
    FabricPacket& packet = m_pool->Get(place).packet;
    if (packet.IsControl() || waiting <= m_ecn.kmin)
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
FabricSwitchPort::Stay(uint64_t nowPs, uint32_t place)
{
    FabricPool::Slot& slot = m_pool->Get(place);
    if (slot.packet.Has(FabricPacket::PRIORITY))
    {
        slot.aside = 0;
    }
    if (slot.aside != 0)
    {
        const uint32_t link = slot.aside - 1;
        const FabricPfc::Order order = m_fabric->GetPfc()->Add(link, slot.packet.wireBytes);
        if (order != FabricPfc::NOTHING)
        {
            TellLink(nowPs, link, order);
        }
    }
    StartWaiting(nowPs);
}

void
FabricSwitchPort::TellLink(uint64_t nowPs, uint32_t link, FabricPfc::Order order)
{
    // The link ends at this switch, so its way back starts here.
    static_cast<FabricSwitchPort&>(m_fabric->GetPort(link ^ 1)).Tell(nowPs, order);
}

void
FabricSwitchPort::Tell(uint64_t nowPs, FabricPfc::Order order)
{
    const FabricPacketKind kind =
        order == FabricPfc::PAUSE ? FabricPacketKind::PAUSE : FabricPacketKind::RESUME;
    if (!m_waiting[0].IsEmpty())
    {
        FabricPacket& first = m_pool->Get(m_waiting[0].head).packet;
        if (first.IsFlowControl())
        {
            // What counts is the last word.
            first.kind = kind;
            first.sack = m_waitingBytes[1];
            return;
        }
    }
    FabricPacket frame;
    frame.wireBytes = FRAME_BYTES;
    frame.kind = kind;
    frame.flags = FabricPacket::PRIORITY;
    frame.sack = m_waitingBytes[1];
    const uint32_t place = m_pool->Insert(frame);
    if (m_free <= nowPs)
    {
        if (order == FabricPfc::PAUSE)
        {
            m_fabric->CountPause();
        }
        Transmit(place, nowPs);
        Arm();
        return;
    }
    WaitFirst(place);
    if (!m_enqueueTrace.IsEmpty())
    {
        m_enqueueTrace(frame, PicoSeconds(nowPs));
    }
    m_switch->Take(FRAME_BYTES);
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
    // A wire that was held, or had nothing to do, is free from now on, not from back then.
    m_free = std::max(m_free, nowPs);
    StartDue(nowPs);
    Arm();
    if (HasWaiting())
    {
        ArmStart();
    }
}

void
FabricSwitchPort::Obey(uint64_t nowPs, FabricPfc::Order order)
{
    m_fabric->RecordPause(nowPs, m_id, order);
    TracePause(order);
    m_paused = order == FabricPfc::PAUSE;
    StartWaiting(nowPs);
}

} // namespace ns3
