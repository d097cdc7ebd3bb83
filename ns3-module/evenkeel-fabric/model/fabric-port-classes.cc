// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge.h"
#include "fabric-port.h"
#include "fabric.h"

#include "ns3/log.h"

#include <algorithm>

// FabricPort's methods for traffic classes, and for pauses, which apply to a class.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricPortClasses");

uint32_t
FabricPort::GetWaitingBytesOf(uint32_t trafficClass) const
{
    if (m_classes)
    {
        return trafficClass < FABRIC_MOST_CLASSES ? m_classes->waitingBytes[trafficClass] : 0;
    }
    return trafficClass == 0 ? m_waitingBytes[1] : 0;
}

bool
FabricPort::IsPaused() const
{
    return m_paused || (m_classes && m_classes->paused != 0);
}

bool
FabricPort::IsClassPaused(uint32_t trafficClass) const
{
    if (m_classes)
    {
        return trafficClass < FABRIC_MOST_CLASSES &&
               (m_classes->paused & FabricClassQueues::BitOf(trafficClass)) != 0;
    }
    return trafficClass == 0 && m_paused;
}

void
FabricPort::PushClass(uint32_t slot)
{
    const FabricPacket& packet = m_pool->Get(slot).packet;
    const uint32_t trafficClass = packet.GetTrafficClass();
    m_pool->PushBack(m_classes->lists[trafficClass], slot);
    m_classes->waitingBytes[trafficClass] += packet.wireBytes;
    m_classes->waiting |= FabricClassQueues::BitOf(trafficClass);
    m_classWaits = m_classes->GetReady() != 0;
}

uint32_t
FabricPort::PopClass(uint32_t trafficClass)
{
    FabricPool::List& list = m_classes->lists[trafficClass];
    const uint32_t slot = m_pool->PopFront(list);
    const uint16_t bytes = m_pool->Get(slot).packet.wireBytes;
    m_waitingBytes[1] -= bytes;
    m_classes->waitingBytes[trafficClass] -= bytes;
    if (list.IsEmpty())
    {
        m_classes->waiting &= static_cast<uint8_t>(~FabricClassQueues::BitOf(trafficClass));
    }
    m_classWaits = m_classes->GetReady() != 0;
    return slot;
}

uint32_t
FabricPort::PopNextClass()
{
    evenkeel::contract::Core& core = m_fabric->GetRust();
    const uint32_t trafficClass = core.choose_class(m_id, m_classes->GetReady());
    const uint32_t slot = PopClass(trafficClass);
    const bool waits = !m_classes->lists[trafficClass].IsEmpty();
    core.charge_class(m_id, trafficClass, m_pool->Get(slot).packet.wireBytes, waits);
    return slot;
}

void
FabricPort::PassTurn(const FabricPacket& packet)
{
    // Make the scheduler state the same as if the packet had been queued.
    evenkeel::contract::Core& core = m_fabric->GetRust();
    const uint32_t trafficClass = packet.GetTrafficClass();
    core.choose_class(m_id, FabricClassQueues::BitOf(trafficClass));
    core.charge_class(m_id, trafficClass, packet.wireBytes, false);
}

void
FabricPort::SetPaused(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass)
{
    m_fabric->RecordPause(nowPs, m_id, order, trafficClass);
    const bool paused = order == FabricPfcOrder::PAUSE;
    NS_LOG_LOGIC("class " << trafficClass << " of port " << m_id
                          << (paused ? " paused" : " resumed"));
    const uint8_t bit = FabricClassQueues::BitOf(trafficClass);
    const uint8_t others = m_classes ? m_classes->paused & static_cast<uint8_t>(~bit) : 0;
    const bool isAnyPaused = paused || others != 0;
    // With classes, Pause reports only the first pause and the last resume.
    if (!m_classes || isAnyPaused != IsPaused())
    {
        m_pauseTrace(isAnyPaused);
    }
    m_classPauseTrace(trafficClass, paused);
    if (m_classes)
    {
        m_classes->paused = paused ? others | bit : others;
        m_classWaits = m_classes->GetReady() != 0;
    }
    else
    {
        m_paused = paused;
    }
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
