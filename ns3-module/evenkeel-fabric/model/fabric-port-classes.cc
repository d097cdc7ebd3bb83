// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-pool.h"
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
    return trafficClass < FABRIC_MOST_CLASSES ? m_queueBytes[1 + trafficClass] : 0;
}

bool
FabricPort::IsPaused() const
{
    return m_paused != 0;
}

bool
FabricPort::IsClassPaused(uint32_t trafficClass) const
{
    return trafficClass < FABRIC_MOST_CLASSES && (m_paused & BitOf(trafficClass)) != 0;
}

void
FabricPort::PassTurn(const FabricPacket& packet)
{
    // Make the scheduler state the same as if the packet had been queued.
    evenkeel::contract::Core& core = m_fabric->GetRust();
    const uint32_t trafficClass = packet.GetTrafficClass();
    core.choose_class(m_id, BitOf(trafficClass));
    core.charge_class(m_id, trafficClass, packet.wireBytes, false);
}

void
FabricPort::SetPaused(uint64_t nowPs, FabricPfcOrder order, uint32_t trafficClass)
{
    m_fabric->RecordPause(nowPs, m_id, order, trafficClass);
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
