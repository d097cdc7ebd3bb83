// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "rdma-nic.h"

#include "fabric-bridge.h"
#include "fabric-calendar.h"
#include "fabric-or-abort.h"
#include "fabric-pool.h"
#include "fabric.h"
#include "rdma-qp.h"

#include "ns3/log.h"
#include "ns3/refuse.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaNic");

NS_OBJECT_ENSURE_REGISTERED(RdmaNic);

/// Marks a NIC as handling an event for the lifetime of this object. The NIC polls packets and the
/// wake-up at the end of the event, so a verb called during the event does not.
class RdmaNic::Handling
{
  public:
    /**
     * @param nic the NIC
     */
    explicit Handling(RdmaNic& nic)
        : m_nic(nic),
          m_before(nic.m_handling)
    {
        nic.m_handling = true;
    }

    ~Handling()
    {
        m_nic.m_handling = m_before;
    }

    Handling(const Handling&) = delete;
    Handling& operator=(const Handling&) = delete;

  private:
    RdmaNic& m_nic; //!< the NIC
    bool m_before;  //!< true within another event's handling
};

RdmaNic::RdmaNic()
{
    m_nic = this;
}

RdmaNic::~RdmaNic() = default;

void
RdmaNic::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_onCompletion.clear();
    m_onDelivery.clear();
    for (const auto& each : m_qps)
    {
        each.second->Dispose();
    }
    m_qps.clear();
    for (const auto& port : m_further)
    {
        port->m_nic = nullptr;
    }
    m_further.clear();
    FabricPort::DoDispose();
}

uint32_t
RdmaNic::PostMessage(Ptr<RdmaNic> to, uint64_t bytes, Time delay, uint32_t stream)
{
    NS_LOG_FUNCTION(this << to << bytes << delay << stream);
    EVENKEEL_REFUSE_IF(!m_fabric || !to || to->m_fabric != m_fabric,
                       "RdmaNic::PostMessage",
                       "both NICs of a message must be in one finished fabric: call "
                       "FabricHelper::Finish first");
    EVENKEEL_REFUSE_IF(delay.IsStrictlyNegative(),
                       "RdmaNic::PostMessage",
                       "the delay of " << delay.As(Time::NS) << " must not be negative");
    const uint64_t now = m_fabric->GetCalendar().Now();
    const uint64_t start = now + static_cast<uint64_t>(delay.GetPicoSeconds());
    const uint32_t message = fabrichelper::OrAbort("RdmaNic::PostMessage", [&] {
        return m_fabric->GetRust().post(m_host, to->m_host, bytes, now, start, stream);
    });
    m_fabric->Reopen();
    ScheduleWake();
    return message;
}

void
RdmaNic::SetCallback(const char* call,
                     MessageCallbacks& callbacks,
                     uint32_t message,
                     MessageCallback callback)
{
    NS_LOG_FUNCTION(call << message);
    EVENKEEL_REFUSE_IF(callback.IsNull(),
                       call,
                       "the callback of message " << message
                                                  << " is null: pass MakeCallback of a function");
    callbacks[message] = callback;
}

void
RdmaNic::NotifyCompletion(uint32_t message, MessageCallback callback)
{
    SetCallback("RdmaNic::NotifyCompletion", m_onCompletion, message, callback);
}

void
RdmaNic::NotifyDelivery(uint32_t message, MessageCallback callback)
{
    SetCallback("RdmaNic::NotifyDelivery", m_onDelivery, message, callback);
}

uint32_t
RdmaNic::GetHostNumber() const
{
    return m_host;
}

uint64_t
RdmaNic::GetDataSent() const
{
    return m_dataSent;
}

void
RdmaNic::SetHost(uint32_t host)
{
    m_host = host;
}

void
RdmaNic::Settle(uint64_t nowPs)
{
    SendDue(nowPs);
    ScheduleWake();
}

void
RdmaNic::ReceiveRdma(uint64_t nowPs, uint32_t slot)
{
    const Handling handling(*this);
    const FabricPacket packet = m_pool->Remove(slot);
    SendDue(nowPs);
    if (packet.kind == FabricPacketKind::CNP && !m_cnpTrace.IsEmpty())
    {
        m_cnpTrace(packet, PicoSeconds(nowPs));
    }
    if (m_fabric->GetRust().handle_packet(m_host, nowPs, packet))
    {
        m_fabric->ReportEvents(nowPs);
    }
    FollowUp(nowPs);
}

void
RdmaNic::ApplyPfcOrderTo(FabricPort& port,
                         uint64_t nowPs,
                         FabricPfcOrder order,
                         uint32_t trafficClass)
{
    // Packets that are due before the order are sent first.
    const Handling handling(*this);
    SendDue(nowPs);
    port.SetPaused(nowPs, order, trafficClass);
    if (port.m_classes > 0)
    {
        m_fabric->GetRust().pause_class(m_host, trafficClass, order == FabricPfcOrder::PAUSE);
    }
    if (port.HasWaiting())
    {
        // IP that was queued during a pause starts now at the earliest.
        port.m_free = std::max(port.m_free, nowPs);
    }
    FollowUp(nowPs);
    SendDue(nowPs);
}

void
RdmaNic::HandleWake(uint64_t nowPs)
{
    if (m_wake != nowPs)
    {
        return;
    }
    m_wake = FABRIC_NEVER;
    const Handling handling(*this);
    // Swapped out, because a trace sink may send another packet, which gets its own event.
    std::vector<EnteringIp> entering;
    entering.swap(m_entering);
    SendDue(nowPs);
    // If the NIC is awake only because IP packets were sent, the host has no event.
    const bool isOfHost = entering.empty() || m_wakesHost ||
                          m_fabric->GetRust().next_wake(m_host, nowPs, GetFree()) <= nowPs;
    m_wakesHost = false;
    if (isOfHost && m_fabric->GetRust().handle_timeout(m_host, nowPs))
    {
        m_fabric->ReportEvents(nowPs);
    }
    // By now all completions of destroyed queue pairs have been reported.
    ReleaseDestroyed();
    Enqueue(nowPs, entering);
    FollowUp(nowPs);
}

void
RdmaNic::SendDue(uint64_t nowPs)
{
    const Handling handling(*this);
    if (!m_further.empty())
    {
        SendDueOnPorts(nowPs);
        return;
    }
    FabricPacket packet;
    if (m_paused && m_classes == 0)
    {
        // Only control packets with priority are sent.
        while (m_fabric->GetSettings().ackPriority && m_free <= nowPs &&
               m_fabric->GetRust().poll_transmit_control(m_host, packet))
        {
            Inject(*this, m_free, packet);
        }
        // Data that the pacer permits during the pause must start at the resume, not before.
        m_free = std::max(m_free, nowPs);
        ArmBusy(nowPs);
        return;
    }
    while (m_free <= nowPs)
    {
        if (HasWaiting())
        {
            SendBesideIp();
            continue;
        }
        uint64_t start = m_free;
        if (!m_fabric->GetRust().poll_transmit(m_host, nowPs, start, packet))
        {
            m_free = start;
            break;
        }
        Inject(*this, start, packet);
    }
    // If the wire is free, the remaining packets wait for the pacer, which has requested a wake-up.
    ArmBusy(nowPs);
}

void
RdmaNic::FollowUp(uint64_t nowPs)
{
    if (!m_further.empty())
    {
        m_fabric->GetRust().poll_anew(m_host, nowPs);
        SendDue(nowPs);
    }
    else if (m_free <= nowPs)
    {
        // The wire was idle for lack of packets, so the next one starts now.
        m_free = nowPs;
        SendDue(nowPs);
    }
    else if (!m_armed)
    {
        // In the gap after a packet that has already arrived, no event is scheduled that would
        // poll.
        ArmFor(m_wire.IsEmpty() && HasPacketsFor(*this));
    }
    ScheduleWake();
}

void
RdmaNic::ArmBusy(uint64_t nowPs)
{
    if (m_punctual && m_free > nowPs)
    {
        ArmStart();
    }
    if (!m_armed)
    {
        const bool busy = m_wire.IsEmpty() && m_free > nowPs;
        ArmFor(busy && HasPacketsFor(*this));
    }
}

void
RdmaNic::ScheduleWake()
{
    const uint64_t now = m_fabric->GetCalendar().Now();
    const uint64_t next = m_fabric->GetRust().next_wake(m_host, now, GetFree());
    if (next == FABRIC_NEVER)
    {
        return;
    }
    // A timer may expire while a packet occupies the wire, before the host is polled; it fires now.
    ScheduleWakeAt(std::max(next, now));
}

void
RdmaNic::ScheduleWakeAt(uint64_t timePs)
{
    if (timePs < m_wake)
    {
        m_wake = timePs;
        m_fabric->GetCalendar().Push(timePs, FabricCalendar::HOST, m_host);
    }
}

void
RdmaNic::Inject(FabricPort& port, uint64_t startPs, const FabricPacket& packet)
{
    m_dataSent += packet.IsData() ? 1 : 0;
    m_fabric->RecordSent(packet);
    // IP and RDMA alternate; packets with priority do not count.
    if (!packet.Has(FabricPacket::PRIORITY))
    {
        port.m_ipFirst |= BitOf(packet.GetTrafficClass());
    }
    port.Transmit(m_pool->Insert(packet), startPs);
}

void
RdmaNic::ReportMessage(const FabricMessageEvent& event)
{
    const bool delivered = event.kind == FabricMessageEventKind::DELIVERED;
    (delivered ? m_deliveredTrace : m_completedTrace)(event);
    auto& waiting = delivered ? m_onDelivery : m_onCompletion;
    const auto found = waiting.find(event.message);
    if (found != waiting.end())
    {
        // The callback may set another callback.
        const MessageCallback callback = found->second;
        waiting.erase(found);
        callback(event);
    }
}

std::ostream&
operator<<(std::ostream& os, const FabricMessageEvent& event)
{
    const bool delivered = event.kind == FabricMessageEventKind::DELIVERED;
    return os << "message " << event.message << " " << event.src << ">" << event.dst << " "
              << event.bytes << "B " << (delivered ? "delivered" : "completed") << " after "
              << (event.atPs - event.startPs) / 1000 << " ns";
}

} // namespace ns3
