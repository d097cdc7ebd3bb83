// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-channel.h"
#include "fabric-port.h"
#include "fabric-switch.h"
#include "fabric.h"
#include "rdma-nic.h"

#include "ns3/log.h"
#include "ns3/refuse.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

// Fabric's failure steps: changes of links, of routing, and of the state that link ends detect.
// Ports decide late which packets start, so a step first starts everything that is due before it.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricSteps");

uint64_t
Fabric::ExpectAhead(const std::string& call, Time at) const
{
    EVENKEEL_REFUSE_IF(!m_calendar->IsOpen() && (m_started || m_ports.empty()),
                       call,
                       "the run of the fabric has ended, too late: it would have no effect; call "
                       "it before or during the run");
    EVENKEEL_REFUSE_IF(at < Simulator::Now(),
                       call,
                       at.As(Time::US) << " is in the past (now " << Simulator::Now().As(Time::US)
                                       << "): pass Simulator::Now () or later");
    return std::max(static_cast<uint64_t>(at.GetPicoSeconds()), m_calendar->Now());
}

std::string
Fabric::NameOf(const std::string& call, Ptr<FabricChannel> link) const
{
    const auto found = std::find(m_channels.begin(), m_channels.end(), link);
    EVENKEEL_REFUSE_IF(found == m_channels.end(),
                       call,
                       "the link is not in this fabric: take it from "
                       "FabricHelper::GetChannels of the helper that made the fabric");
    return m_core->GetGraph().NameOf(static_cast<uint32_t>(found - m_channels.begin()));
}

void
Fabric::AddFailures(const std::string& sections)
{
    NS_LOG_FUNCTION(this << sections);
    bridge::OrThrow<std::invalid_argument>(
        [&] { m_rust->add_failures(sections, m_applied, m_calendar->Now()); });
    ScheduleSteps();
}

void
Fabric::EndFailures(const std::string& target, uint64_t atPs)
{
    NS_LOG_FUNCTION(this << target << atPs);
    bridge::OrThrow<std::invalid_argument>(
        [&] { m_rust->end_failures(target, atPs, m_applied, m_calendar->Now()); });
    ScheduleSteps();
}

void
Fabric::ScheduleSteps()
{
    std::vector<FabricStep> steps = bridge::ToVector(m_rust->steps());
    if (m_started)
    {
        // Steps that existed before have events already.
        std::vector<FabricStep> added;
        std::set_difference(
            steps.begin() + m_applied,
            steps.end(),
            m_steps.begin() + m_applied,
            m_steps.end(),
            std::back_inserter(added),
            [](const FabricStep& a, const FabricStep& b) { return a.atPs < b.atPs; });
        for (const FabricStep& step : added)
        {
            m_calendar->Push(step.atPs, FabricCalendar::CONTROL, STEP);
        }
        MarkFaulty();
    }
    m_steps = std::move(steps);
}

void
Fabric::MarkFaulty()
{
    for (const uint32_t link : m_rust->failing_links())
    {
        m_ports[2 * link]->SetFaulty();
        m_ports[2 * link + 1]->SetFaulty();
    }
}

void
Fabric::ApplyStep(uint64_t nowPs, uint32_t step)
{
    NS_LOG_FUNCTION(this << nowPs << step);
    const FabricStep what = m_steps[step];
    if (what.witness == FabricWitness::WIRE)
    {
        for (const uint32_t port : {2 * what.link, 2 * what.link + 1})
        {
            if (nowPs > 0)
            {
                // Ports decide late: packets due before now still start at the old rate.
                m_ports[port]->Settle(nowPs - 1);
            }
            m_ports[port]->SetRate(what.rateBps);
        }
        // Buffers and thresholds may shrink with the rate.
        m_rust->apply_step(step, nowPs);
        return;
    }
    // The NICs that detect a dead or restored port.
    std::vector<Ptr<RdmaNic>> nics;
    const FabricLink& link = m_core->GetGraph().links[what.link];
    for (const FabricEnd& end : {link.a, link.b})
    {
        // A NIC with one port has no other port to use.
        if (what.witness != FabricWitness::ENDS || !end.isHost ||
            m_nics[end.number]->GetNPorts() == 1)
        {
            continue;
        }
        const Ptr<RdmaNic> nic = m_nics[end.number];
        nics.push_back(nic);
        if (nowPs > 0)
        {
            // Packets due before now are sent before the NIC learns of the change.
            nic->Settle(nowPs - 1);
        }
    }
    m_rust->apply_step(step, nowPs);
    for (const auto& each : m_switches)
    {
        each->DiscardRoutes();
    }
    for (const auto& nic : nics)
    {
        nic->FollowUp(nowPs);
    }
}

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
        end = std::min(end, GetSettings().timeLimitPs);
    }
    else if (m_verdict == COMPLETED && m_stopWhenDone)
    {
        end = std::min(end, m_finishPs);
    }
    port.Settle(end);
}

} // namespace ns3
