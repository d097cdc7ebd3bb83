// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric.h"

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-channel.h"
#include "fabric-ip.h"
#include "fabric-pool.h"
#include "fabric-switch-port.h"
#include "fabric-switch.h"
#include "rdma-nic.h"
#include "roce-bytes.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/refuse.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Fabric");

NS_OBJECT_ENSURE_REGISTERED(Fabric);

TypeId
Fabric::GetTypeId()
{
    static TypeId tid = AddTo(
        TypeId("ns3::Fabric")
            .SetParent<Object>()
            .SetGroupName("Evenkeel")
            .AddConstructor<Fabric>()
            .AddAttribute("StopWhenDone",
                          "Stop the simulation when every message is delivered and completed.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Fabric::m_stopWhenDone),
                          MakeBooleanChecker())
            .AddTraceSource("Finished",
                            "Every message is delivered and completed.",
                            MakeTraceSourceAccessor(&Fabric::m_finishedTrace),
                            "ns3::Fabric::FinishedTracedCallback"),
        {
            {"Gap",
             "20",
             MakeUintegerChecker<uint32_t>(),
             "Preamble and inter-frame gap after each packet on a wire, in bytes."},
            {"ForwardingDelay",
             "0s",
             MakeTimeChecker(Time(0)),
             "Delay of a switch, from the last bit in to the first bit out."},
        });
    return tid;
}

Fabric::Fabric()
    : m_pool(std::make_unique<FabricPool>()),
      m_calendar(std::make_unique<FabricCalendar>(*this)),
      m_roceBytes(std::make_unique<RoceBytes>())
{
    NS_LOG_FUNCTION(this);
}

Fabric::~Fabric() = default;

void
Fabric::DoDispose()
{
    NS_LOG_FUNCTION(this);
    WarnIfIdle();
    m_calendar->Close();
    m_ports.clear();
    m_nics.clear();
    m_switches.clear();
    m_channels.clear();
    Object::DoDispose();
}

void
Fabric::Assemble(std::unique_ptr<FabricCore> core,
                 const std::vector<Ptr<RdmaNic>>& nics,
                 const std::vector<Ptr<FabricSwitch>>& switches,
                 const std::vector<Ptr<FabricChannel>>& channels)
{
    NS_LOG_FUNCTION(this << nics.size() << switches.size() << channels.size());
    EVENKEEL_REFUSE_IF(m_core,
                       "Fabric::Assemble",
                       "a fabric is assembled only once: use another FabricHelper");
    m_core = std::move(core);
    m_rust = &*m_core->GetImpl().core;
    m_nics = nics;
    m_ip = std::make_unique<FabricIp>(m_nics, static_cast<uint32_t>(GetClasses().size()));
    m_roceBytes->SetHasClasses(!GetClasses().empty());
    m_switches = switches;
    m_channels = channels;
    const auto hosts = static_cast<uint32_t>(nics.size());
    for (uint32_t number = 0; number < switches.size(); ++number)
    {
        switches[number]->Join(this, number, hosts);
    }
    m_ports.resize(2 * channels.size());
    for (uint32_t link = 0; link < channels.size(); ++link)
    {
        FabricPort& a = *DynamicCast<FabricPort>(channels[link]->GetDevice(0));
        FabricPort& b = *DynamicCast<FabricPort>(channels[link]->GetDevice(1));
        a.Join(*this, 2 * link, b);
        b.Join(*this, 2 * link + 1, a);
        m_ports[2 * link] = &a;
        m_ports[2 * link + 1] = &b;
    }
    for (uint32_t host = 0; host < hosts; ++host)
    {
        nics[host]->SetHost(host);
    }
    m_steps = bridge::ToVector(m_rust->steps());
    CloseAttributes();
    Simulator::ScheduleNow(&Fabric::Start, Ptr<Fabric>(this));
    // Ports have a raw pointer to the fabric, so keep it alive until Simulator::Destroy.
    Simulator::ScheduleDestroy(&Object::Dispose, Ptr<Fabric>(this));
}

void
Fabric::Start()
{
    NS_LOG_FUNCTION(this);
    if (m_ports.empty())
    {
        return;
    }
    WarnOfMtu();
    for (uint32_t port = 0; port < m_ports.size(); ++port)
    {
        m_ports[port]->Open();
        m_capturing |= !m_ports[port]->m_snifferTrace.IsEmpty();
    }
    MarkFaulty();
    for (const FabricStep& step : m_steps)
    {
        m_calendar->Push(step.atPs, FabricCalendar::CONTROL, STEP);
    }
    m_started = true;
    const uint64_t now = m_calendar->Now();
    for (const auto& nic : m_nics)
    {
        nic->FollowUp(now);
    }
    m_calendar->Open();
}

bool
Fabric::HandleEvent(uint64_t nowPs, uint32_t kind, uint32_t number)
{
    // The time limit applies to messages; it ends a run without messages only if no host uses IP.
    if (nowPs > GetSettings().timeLimitPs && m_verdict == RUNNING &&
        !(m_rust->is_finished() && (m_ip->GetCounters().sent > 0 || m_ip->IsInstalled())))
    {
        m_verdict = TIME_LIMIT;
        Simulator::Stop();
        return false;
    }
    switch (kind)
    {
    case FabricCalendar::PORT:
        m_ports[number]->HandleArrival(nowPs);
        break;
    case FabricCalendar::START:
        if (number % 2 == 0)
        {
            m_ports[number / 2]->HandlePauseEnd(nowPs);
            break;
        }
        m_ports[number / 2]->HandleStart(nowPs);
        break;
    case FabricCalendar::HOST:
        m_nics[number]->HandleWake(nowPs);
        break;
    case FabricCalendar::CONTROL:
        while (m_applied < m_steps.size() && m_steps[m_applied].atPs <= nowPs)
        {
            ApplyStep(nowPs, m_applied++);
        }
        break;
    }
    return m_verdict != COMPLETED || !m_stopWhenDone;
}

void
Fabric::ReportEvents(uint64_t nowPs)
{
    for (uint32_t host = m_rust->poll_touched(); host != FABRIC_NO_PORT;
         host = m_rust->poll_touched())
    {
        m_nics[host]->ScheduleWake();
    }
    FabricMessageEvent event;
    while (m_rust->poll_message_event(event))
    {
        const bool delivered = event.kind == FabricMessageEventKind::DELIVERED;
        m_nics[delivered ? event.dst : event.src]->ReportMessage(event);
    }
    ReportCompletions();
    if (m_verdict == RUNNING && m_rust->is_finished())
    {
        NS_LOG_INFO("all messages and work requests completed at " << nowPs << " ps");
        m_verdict = COMPLETED;
        m_finishPs = nowPs;
        // Ports decide late: settle the switches so that the carried bytes of links are exact from
        // here on.
        SettleSwitches(nowPs);
        m_finishedTrace(PicoSeconds(nowPs));
        // A sink may have destroyed a queue pair and thereby flushed its work.
        ReportCompletions();
        if (m_verdict == COMPLETED && m_stopWhenDone)
        {
            Simulator::Stop();
        }
    }
}

void
Fabric::ReportCompletions()
{
    FabricCompletion completion;
    while (m_rust->poll_completion(completion))
    {
        m_nics[completion.host]->ReportCompletion(completion);
    }
}

void
Fabric::Drop(FabricPort& port, uint32_t slot)
{
    const FabricPacket packet = m_pool->Remove(slot);
    if (packet.IsIp())
    {
        port.m_ipDropTrace(m_ip->Drop(packet).packet);
    }
    else
    {
        ++(packet.IsControl() ? m_counters.controlDropped : m_counters.dataDropped);
        if (packet.IsData())
        {
            ++m_droppedOf[packet.GetTrafficClass()];
        }
    }
    port.Trace(port.m_dropTrace, packet, m_calendar->Now());
}

void
Fabric::RecordSent(const FabricPacket& packet)
{
    if (m_capturing)
    {
        m_roceBytes->RecordSent(packet);
    }
}

Ptr<RdmaNic>
Fabric::GetNic(uint32_t host) const
{
    EVENKEEL_REFUSE_IF(host >= m_nics.size(),
                       "Fabric::GetNic",
                       "there is no host " << host << ": the fabric has " << m_nics.size()
                                           << " hosts");
    return m_nics[host];
}

uint32_t
Fabric::GetQueueBytesMax() const
{
    uint32_t most = 0;
    for (const auto& each : m_switches)
    {
        for (uint32_t number = 0; number < each->GetNPorts(); ++number)
        {
            most = std::max(most, each->GetPort(number)->GetWaitingBytesMax());
        }
    }
    return most;
}

uint64_t
Fabric::GetEventCount() const
{
    return m_calendar->GetEventCount();
}

uint64_t
Fabric::GetNowPs() const
{
    return m_calendar->Now();
}

const FabricIpCounters&
Fabric::GetIpCounters() const
{
    return m_ip->GetCounters();
}

uint64_t
Fabric::CountDataInFlight() const
{
    uint64_t count = 0;
    const auto add = [&](const FabricPool::List& list) {
        for (uint32_t slot = list.head; slot != FabricPool::NONE; slot = m_pool->Get(slot).next)
        {
            count += m_pool->Get(slot).packet.IsData() ? 1 : 0;
        }
    };
    for (const FabricPort* port : m_ports)
    {
        add(port->m_wire);
        std::for_each(port->m_queues.begin(), port->m_queues.end(), add);
    }
    return count;
}

uint64_t
Fabric::CountIpInFlight() const
{
    return m_ip ? m_ip->GetKept() : 0;
}

} // namespace ns3
