// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-or-abort.h"
#include "fabric.h"
#include "rdma-nic.h"
#include "rdma-qp.h"

#include "ns3/log.h"

#include <stdexcept>
#include <vector>

// RdmaNic's methods for the queue pairs of scripts.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaNicQueuePairs");

Ptr<RdmaQp>
RdmaNic::CreateQp(Ptr<RdmaNic> peer, const std::string& trafficClass)
{
    NS_LOG_FUNCTION(this << peer << trafficClass);
    if (!peer || peer->m_fabric != m_fabric)
    {
        throw std::invalid_argument("both NICs of a queue pair must be in one finished fabric: "
                                    "call FabricHelper::Finish first");
    }
    evenkeel::contract::Core& verbs = GetVerbs();
    const uint32_t number = bridge::CallVerb([&] {
        const uint32_t stream = verbs.stream_in(trafficClass, m_streams, true);
        ++m_streams;
        return verbs.create_qp(m_host, peer->m_host, stream);
    });
    Ptr<RdmaQp> qp = CreateObject<RdmaQp>();
    qp->Attach(this, peer, number);
    m_qps[number] = qp;
    return qp;
}

evenkeel::contract::Core&
RdmaNic::GetVerbs() const
{
    if (!m_fabric)
    {
        throw std::invalid_argument(
            "the fabric of this NIC is not finished: call FabricHelper::Finish first");
    }
    return m_fabric->GetRust();
}

void
RdmaNic::UseVerbs(const VerbCall& call)
{
    evenkeel::contract::Core& verbs = GetVerbs();
    const uint64_t now = m_fabric->GetCalendar().Now();
    const bool idle = m_fabric->HasStarted() && !m_handling;
    if (idle)
    {
        // Packets that are due by now are sent before the call changes anything.
        Settle(now);
    }
    const bool wasOpen = !m_fabric->GetRust().is_finished();
    bridge::CallVerb([&] { call(verbs, m_host, now); });
    const bool isOpen = !m_fabric->GetRust().is_finished();
    if (isOpen)
    {
        m_fabric->Reopen();
    }
    if (idle)
    {
        FollowUp(now);
    }
    if (wasOpen && !isOpen)
    {
        // The fabric may have no other event at which it detects the completion.
        WakeHost();
    }
}

void
RdmaNic::WakeHost()
{
    m_wakesHost = true;
    ScheduleWakeAt(m_fabric->GetCalendar().Now());
}

void
RdmaNic::DestroyQp(uint32_t qp)
{
    NS_LOG_FUNCTION(this << qp);
    UseVerbs([qp](evenkeel::contract::Core& verbs, uint32_t host, uint64_t nowPs) {
        verbs.destroy_qp(host, qp, nowPs);
    });
    // A wake-up reports the flushed work, because this NIC may have no other event.
    m_destroyed.push_back(qp);
    WakeHost();
}

void
RdmaNic::ReleaseDestroyed()
{
    // A callback may destroy more queue pairs, which the next wake-up releases.
    std::vector<uint32_t> ended;
    ended.swap(m_destroyed);
    for (const uint32_t number : ended)
    {
        const auto found = m_qps.find(number);
        if (found != m_qps.end())
        {
            const Ptr<RdmaQp> qp = found->second;
            m_qps.erase(found);
            qp->ReleaseCallback();
        }
    }
}

void
RdmaNic::ReportCompletion(const FabricCompletion& completion)
{
    m_completionTrace(completion);
    const auto found = m_qps.find(completion.qp);
    if (found != m_qps.end())
    {
        // The callback may destroy the queue pair, so this reference keeps it.
        const Ptr<RdmaQp> qp = found->second;
        qp->ReportCompletion(completion);
    }
}

uint32_t
Fabric::GetStreamIn(const std::string& trafficClass, uint32_t stream) const
{
    return fabrichelper::OrAbort("Fabric::GetStreamIn",
                                 [&] { return m_rust->stream_in(trafficClass, stream, false); });
}

} // namespace ns3
