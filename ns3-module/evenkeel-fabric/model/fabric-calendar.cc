// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-calendar.h"

#include "fabric-bridge.h"
#include "fabric.h"

#include "ns3/log.h"
#include "ns3/make-event.h"
#include "ns3/nstime.h"
#include "ns3/refuse.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricCalendar");

namespace
{

/// Position of the kind in a rank; the bits below it hold a number or a position.
constexpr uint32_t KIND_SHIFT = 30;

} // namespace

FabricCalendar::FabricCalendar(Fabric& fabric)
    : m_fabric(fabric),
      // The fabric keeps the calendar alive until Simulator::Destroy; no event runs after it.
      m_tick(MakeEvent(&FabricCalendar::Run, this), false),
      m_armed(FABRIC_NEVER)
{
}

void
FabricCalendar::Open()
{
    NS_LOG_FUNCTION(this);
    const int64_t perTick = Time::FromInteger(1, Time::PS).GetTimeStep();
    if (perTick == 0)
    {
        m_psPerTick = static_cast<uint64_t>(TimeStep(1).GetPicoSeconds());
    }
    EVENKEEL_REFUSE_IF(
        perTick > 1,
        "Time::SetResolution",
        "the resolution of ns-3's time must not be finer than a picosecond for a fabric");
    m_open = true;
    m_now = Now();
    Arm();
}

void
FabricCalendar::Close()
{
    NS_LOG_FUNCTION(this);
    m_open = false;
    m_queue = {};
}

void
FabricCalendar::Push(uint64_t timePs, Kind kind, uint32_t number)
{
    EVENKEEL_REFUSE_IF(timePs < m_now,
                       "FabricCalendar::Push",
                       "an event of a fabric is in the past: " << timePs << " ps, before " << m_now
                                                               << " ps");
    const bool drawn = kind == PORT && m_open;
    const uint32_t place = drawn ? m_fabric.GetRust().place(timePs, number) : number;
    m_queue.push(Entry{timePs, static_cast<uint32_t>(kind) << KIND_SHIFT | place, number});
    // While events run, Run arms the calendar once at the end.
    if (!m_running)
    {
        Arm();
    }
}

uint64_t
FabricCalendar::Now() const
{
    // ns-3's clock may be coarser than the event that runs.
    if (m_running)
    {
        return m_now;
    }
    return std::max(m_now, static_cast<uint64_t>(Simulator::Now().GetPicoSeconds()));
}

void
FabricCalendar::Run()
{
    const uint64_t tick = static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    if (tick == m_armed)
    {
        m_armed = FABRIC_NEVER;
    }
    // Run all events within this tick, in picosecond order.
    const uint64_t end = (tick + 1) * m_psPerTick;
    m_running = true;
    while (m_open && !m_queue.empty() && m_queue.top().time < end)
    {
        const Entry entry = m_queue.top();
        m_queue.pop();
        m_now = entry.time;
        ++m_count;
        if (!m_fabric.HandleEvent(m_now, entry.rank >> KIND_SHIFT, entry.number))
        {
            Close();
        }
    }
    m_running = false;
    Arm();
}

void
FabricCalendar::Arm()
{
    if (!m_open || m_queue.empty())
    {
        return;
    }
    const uint64_t now = static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    const uint64_t tick = std::max(m_queue.top().time / m_psPerTick, now);
    // An earlier or equal tick is scheduled already. It is never cancelled.
    if (tick >= m_armed)
    {
        return;
    }
    // ns-3 cannot represent this time; the event would never run.
    if (tick > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    {
        return;
    }
    m_armed = tick;
    Simulator::Schedule(TimeStep(tick - now), m_tick);
}

} // namespace ns3
