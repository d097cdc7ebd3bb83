// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-calendar.h"
#include "fabric-port.h"
#include "fabric-switch.h"
#include "fabric.h"

#include <algorithm>

// Ports decide late which packets start. These methods start everything that is due by a time.

namespace ns3
{

void
Fabric::SettleSwitches(uint64_t nowPs)
{
    for (const auto& each : m_switches)
    {
        each->Settle(nowPs);
    }
}

void
Fabric::SettleBeforeNow(FabricPort& port) const
{
    if (!m_started || m_calendar->IsRunning())
    {
        return;
    }
    // Stop one picosecond before now: an event at this time may still pause or fail the link.
    uint64_t end = std::max<uint64_t>(m_calendar->Now(), 1) - 1;
    if (m_verdict == TIME_LIMIT)
    {
        end = std::min(end, m_settings.timeLimitPs);
    }
    else if (m_verdict == COMPLETED && m_stopWhenDone)
    {
        end = std::min(end, m_finishPs);
    }
    port.Settle(end);
}

} // namespace ns3
