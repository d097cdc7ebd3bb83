// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-port.h"

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-channel.h"
#include "fabric-ip.h"
#include "fabric-pool.h"
#include "fabric.h"
#include "roce-bytes.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricPort");

NS_OBJECT_ENSURE_REGISTERED(FabricPort);

namespace
{

/// Picoseconds per second, times 8 bits per byte.
constexpr uint64_t PS_BITS = 8000000000000ULL;

} // namespace

FabricPort::FabricPort() = default;
FabricPort::~FabricPort() = default;

void
FabricPort::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_fabric = nullptr;
    m_nic = nullptr;
    m_pool = nullptr;
    m_end = nullptr;
    m_channel = nullptr;
    m_node = nullptr;
    m_receive.Nullify();
    m_receivePromisc.Nullify();
    NetDevice::DoDispose();
}

void
FabricPort::SetChannel(Ptr<FabricChannel> channel)
{
    NS_LOG_FUNCTION(this << channel);
    m_channel = channel;
}

uint64_t
FabricPort::GetCarriedBytes()
{
    if (m_fabric)
    {
        m_fabric->SettleBeforeNow(*this);
    }
    return m_carried;
}

DataRate
FabricPort::GetDataRate() const
{
    return m_rate == 0 && m_channel ? m_channel->GetDataRate() : DataRate(m_rate);
}

void
FabricPort::Join(Fabric& fabric, uint32_t id, FabricPort& end)
{
    NS_LOG_FUNCTION(this << id);
    const FabricSettings& settings = fabric.GetSettings();
    const FabricLink& link = fabric.GetCore().GetGraph().links[id / 2];
    m_fabric = &fabric;
    m_pool = &fabric.GetPool();
    m_end = &end;
    m_id = id;
    m_forwarding = (id % 2 == 0 ? link.b : link.a).isHost ? 0 : settings.forwardingDelayPs;
    m_delay = link.delayPs + m_forwarding;
    m_gapBytes = settings.gapBytes;
    m_rounding = settings.rounding;
    m_classes = static_cast<uint32_t>(fabric.GetClasses().size());
    const bool expires = settings.pfcPauseTimePs != FABRIC_NEVER;
    m_pauseEnds.assign(expires ? std::max<uint32_t>(1, m_classes) : 0, FABRIC_NEVER);
    SetRate(link.rateBps);
}

void
FabricPort::Open()
{
    m_traced = !m_sentTrace.IsEmpty() || !m_receivedTrace.IsEmpty() || !m_snifferTrace.IsEmpty();
    m_punctual |= m_traced || !m_dequeueTrace.IsEmpty();
    m_traced |= m_punctual;
}

void
FabricPort::SetRate(uint64_t rateBps)
{
    NS_LOG_FUNCTION(this << rateBps);
    m_rate = rateBps;
    const bool whole = PS_BITS % rateBps == 0 && m_rounding == FabricRounding::EXACT;
    const uint64_t perByte = PS_BITS / rateBps;
    m_psPerByte = whole && perByte <= 0xffffffffU ? static_cast<uint32_t>(perByte) : 0;
    m_gap = GetTimeFor(m_gapBytes);
}

uint64_t
FabricPort::GetTimeFor(uint64_t bytes) const
{
    if (m_psPerByte != 0)
    {
        return bytes * m_psPerByte;
    }
    // Packets have fewer than 2^17 bytes, so the product fits in 64 bits.
    const uint64_t product = bytes * PS_BITS;
    if (m_rounding == FabricRounding::TRUNCATE_NS)
    {
        return product / m_rate / 1000 * 1000;
    }
    return product / m_rate + (product % m_rate != 0 ? 1 : 0);
}

bool
FabricPort::HasWaiting() const
{
    return !m_queues[0].IsEmpty() || GetReady() != 0;
}

void
FabricPort::Transmit(uint32_t slot, uint64_t startPs)
{
    FabricPool::Slot& entry = m_pool->Get(slot);
    const uint64_t bytes = entry.packet.wireBytes;
    const uint64_t sent = startPs + GetTimeFor(bytes);
    entry.arrives = sent + m_delay;
    if (m_faulty)
    {
        m_starts.push_back(startPs);
    }
    m_free = sent + m_gap;
    m_carried += bytes;
    m_pool->PushBack(m_wire, slot);
    if (m_traced)
    {
        m_sentTrace(entry.packet, PicoSeconds(startPs));
        Sniff(entry.packet, startPs);
    }
}

void
FabricPort::PushQueue(uint32_t slot)
{
    const FabricPacket& packet = m_pool->Get(slot).packet;
    const uint32_t queue = GetQueue(packet);
    m_queueBytes[queue] += packet.wireBytes;
    if (queue > 0)
    {
        m_dataBytes += packet.wireBytes;
        m_waiting |= BitOf(queue - 1);
    }
    m_pool->PushBack(m_queues[queue], slot);
    m_waitingMax = std::max(m_waitingMax, GetWaitingBytes());
}

uint32_t
FabricPort::PopQueue()
{
    if (!m_queues[0].IsEmpty())
    {
        const uint32_t slot = m_pool->PopFront(m_queues[0]);
        m_queueBytes[0] -= m_pool->Get(slot).packet.wireBytes;
        return slot;
    }
    const uint8_t ready = GetReady();
    if (ready == 0)
    {
        return FabricPool::NONE;
    }
    if (m_classes < 2)
    {
        return PopClass(0);
    }
    evenkeel::contract::Core& core = m_fabric->GetRust();
    const uint32_t trafficClass = core.choose_class(m_id, ready);
    const uint32_t slot = PopClass(trafficClass);
    const bool waits = !m_queues[1 + trafficClass].IsEmpty();
    core.charge_class(m_id, trafficClass, m_pool->Get(slot).packet.wireBytes, waits);
    return slot;
}

uint32_t
FabricPort::PopClass(uint32_t trafficClass)
{
    FabricPool::List& queue = m_queues[1 + trafficClass];
    const uint32_t slot = m_pool->PopFront(queue);
    const uint16_t bytes = m_pool->Get(slot).packet.wireBytes;
    m_queueBytes[1 + trafficClass] -= bytes;
    m_dataBytes -= bytes;
    if (queue.IsEmpty())
    {
        m_waiting &= static_cast<uint8_t>(~BitOf(trafficClass));
    }
    return slot;
}

void
FabricPort::Arm()
{
    ArmFor(HasWaiting());
}

void
FabricPort::ArmFor(bool more)
{
    if (m_armed)
    {
        return;
    }
    uint64_t due = m_free;
    if (!m_wire.IsEmpty())
    {
        // This event also settles the port, so a busy port needs no separate start event.
        due = m_pool->Get(m_wire.head).arrives;
    }
    else if (!more)
    {
        return;
    }
    m_armed = true;
    m_fabric->GetCalendar().Push(due, FabricCalendar::PORT, m_id);
}

void
FabricPort::ArmStart()
{
    if (!m_startArmed)
    {
        m_startArmed = true;
        m_fabric->GetCalendar().Push(m_free, FabricCalendar::START, 2 * m_id + 1);
    }
}

void
FabricPort::HandleArrival(uint64_t nowPs)
{
    m_armed = false;
    uint32_t arrived = FabricPool::NONE;
    if (!m_wire.IsEmpty() && m_pool->Get(m_wire.head).arrives <= nowPs)
    {
        arrived = m_pool->PopFront(m_wire);
        ++m_fabric->Count().hops;
    }
    Settle(nowPs);
    if (arrived == FabricPool::NONE)
    {
        return;
    }
    const bool isFrame = m_pool->Get(arrived).packet.IsFlowControl();
    if (m_faulty)
    {
        const uint64_t start = m_starts.front();
        m_starts.pop_front();
        // The packet spends the far switch's forwarding delay inside the switch, not on the wire.
        // Frames are never lost: hardware repeats them, which is not modelled.
        if (!isFrame && m_fabric->GetRust().loses(m_id, start, nowPs - m_forwarding))
        {
            m_fabric->Drop(*m_end, arrived);
            return;
        }
    }
    if (m_end->m_traced)
    {
        // A copy, because a trace sink may post a message, which may reallocate the pool.
        const FabricPacket packet = m_pool->Get(arrived).packet;
        m_end->m_receivedTrace(packet, PicoSeconds(nowPs));
        m_end->Sniff(packet, nowPs);
    }
    if (isFrame)
    {
        const FabricPacket frame = m_pool->Remove(arrived);
        const bool pause = frame.kind == FabricPacketKind::PAUSE;
        m_end->ApplyPfcOrder(nowPs,
                             pause ? FabricPfcOrder::PAUSE : FabricPfcOrder::RESUME,
                             frame.GetTrafficClass());
        return;
    }
    m_pool->Get(arrived).ingress = m_id;
    m_end->Receive(nowPs, arrived);
}

void
FabricPort::SetFaulty()
{
    if (m_faulty)
    {
        return;
    }
    m_faulty = true;
    // A script may add a failure while packets are on the wire. All of them have the current rate.
    for (uint32_t slot = m_wire.head; slot != FabricPool::NONE; slot = m_pool->Get(slot).next)
    {
        const FabricPool::Slot& entry = m_pool->Get(slot);
        m_starts.push_back(entry.arrives - m_delay - GetTimeFor(entry.packet.wireBytes));
    }
}

void
FabricPort::Sniff(const FabricPacket& packet, uint64_t startPs)
{
    if (!m_snifferTrace.IsEmpty())
    {
        m_snifferTrace(packet.IsIp() ? m_fabric->GetIp().MakeFrame(packet)
                                     : m_fabric->GetRoceBytes().MakePacket(packet));
    }
}

uint32_t
FabricPort::GetWaitingBytesOf(uint32_t trafficClass) const
{
    return trafficClass < FABRIC_MOST_CLASSES ? m_queueBytes[1 + trafficClass] : 0;
}

bool
FabricPort::IsClassPaused(uint32_t trafficClass) const
{
    return trafficClass < FABRIC_MOST_CLASSES && (m_paused & BitOf(trafficClass)) != 0;
}

void
FabricPort::SetPaused(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass)
{
    m_fabric->RecordPause({nowPs, m_id, trafficClass, order});
    const bool paused = order == FabricPfcOrder::PAUSE;
    NS_LOG_LOGIC("class " << trafficClass << " of port " << m_id
                          << (paused ? " paused" : " resumed"));
    const uint8_t others = m_paused & static_cast<uint8_t>(~BitOf(trafficClass));
    const bool isAnyPaused = paused || others != 0;
    // With classes, Pause reports only the first pause and the last resume.
    if (m_classes == 0 || isAnyPaused != IsPaused())
    {
        m_pauseTrace(isAnyPaused);
    }
    m_classPauseTrace(trafficClass, paused);
    m_paused = paused ? others | BitOf(trafficClass) : others;
    if (m_pauseEnds.empty())
    {
        return;
    }
    // A later frame extends the pause; the event of the earlier end then does nothing.
    const uint64_t time = m_fabric->GetSettings().pfcPauseTimePs;
    const uint64_t end = time < FABRIC_NEVER - nowPs ? nowPs + time : FABRIC_NEVER;
    m_pauseEnds[trafficClass] = paused ? end : FABRIC_NEVER;
    if (paused && end != FABRIC_NEVER)
    {
        m_fabric->GetCalendar().Push(end, FabricCalendar::START, 2 * m_id);
    }
}

void
FabricPort::HandlePauseEnd(uint64_t nowPs)
{
    for (uint32_t trafficClass = 0; trafficClass < m_pauseEnds.size(); ++trafficClass)
    {
        if (m_pauseEnds[trafficClass] == nowPs)
        {
            ApplyPfcOrder(nowPs, FabricPfcOrder::RESUME, trafficClass);
        }
    }
}

} // namespace ns3
