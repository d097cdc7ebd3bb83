// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "plain-fabric-hosts.h"

#include "plain-fabric-mix.h"

#include <algorithm>

namespace ns3
{

PlainFabricHosts::PlainFabricHosts(uint32_t hosts, bool ackPriority, const Transport& transport)
    : m_ackPriority(ackPriority),
      m_transport(transport),
      m_hosts(hosts)
{
}

bool
PlainFabricHosts::PollTransmit(uint32_t host, uint64_t, uint64_t&, FabricPacket& packet)
{
    if (PollTransmitControl(host, packet))
    {
        return true;
    }
    Host& at = m_hosts[host];
    if (at.open.empty())
    {
        return false;
    }
    const uint32_t number = at.open.front();
    at.open.pop_front();
    Message& message = m_messages[number];
    const uint64_t left = message.flow.bytes - message.sent;
    const uint64_t payload = std::min<uint64_t>(left, m_transport.payload);
    packet = FabricPacket();
    packet.src = host;
    packet.dst = message.flow.dst;
    packet.qp = number;
    packet.label = static_cast<uint32_t>(PlainFabricMix(number));
    packet.entropy = static_cast<uint16_t>(packet.label);
    packet.psn = message.packets++;
    packet.wireBytes = static_cast<uint16_t>(payload + m_transport.header);
    message.sent += payload;
    if (message.sent == message.flow.bytes)
    {
        packet.flags = FabricPacket::LAST;
    }
    else
    {
        at.open.push_back(number);
    }
    ++m_counters.dataSent;
    return true;
}

bool
PlainFabricHosts::PollTransmitControl(uint32_t host, FabricPacket& packet)
{
    Host& at = m_hosts[host];
    if (at.answers.empty())
    {
        return false;
    }
    packet = at.answers.front();
    at.answers.pop_front();
    ++m_counters.controlSent;
    return true;
}

bool
PlainFabricHosts::HasPackets(uint32_t host)
{
    return !m_hosts[host].answers.empty() || !m_hosts[host].open.empty();
}

bool
PlainFabricHosts::HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet)
{
    if (packet.IsControl())
    {
        return HandleAck(nowPs, packet);
    }
    ++m_counters.dataReceived;
    m_counters.marked += packet.Has(FabricPacket::MARKED) ? 1 : 0;
    FabricPacket answer = packet;
    std::swap(answer.src, answer.dst);
    answer.kind = FabricPacketKind::ACK;
    answer.ack = packet.psn + 1;
    answer.flags = m_ackPriority ? FabricPacket::PRIORITY : 0;
    answer.wireBytes = static_cast<uint16_t>(m_transport.ackBytes);
    m_hosts[host].answers.push_back(answer);
    if (packet.Has(FabricPacket::TRIMMED))
    {
        return false;
    }
    Message& message = m_messages[packet.qp];
    message.received += packet.wireBytes - m_transport.header;
    if (message.received < message.flow.bytes)
    {
        return false;
    }
    message.flow.deliveredPs = nowPs;
    AddEvent(FabricMessageEventKind::DELIVERED, packet.qp, nowPs);
    return true;
}

bool
PlainFabricHosts::HandleAck(uint64_t nowPs, const FabricPacket& packet)
{
    ++m_counters.controlReceived;
    Message& message = m_messages[packet.qp];
    ++message.acknowledged;
    const bool sent = message.sent == message.flow.bytes;
    if (!sent || message.acknowledged != message.packets)
    {
        return false;
    }
    message.flow.completedPs = nowPs;
    ++m_completed;
    AddEvent(FabricMessageEventKind::COMPLETED, packet.qp, nowPs);
    return true;
}

bool
PlainFabricHosts::HandleTimeout(uint32_t host, uint64_t nowPs)
{
    Host& at = m_hosts[host];
    while (!at.toStart.empty() && at.toStart.front().first <= nowPs)
    {
        at.open.push_back(at.toStart.front().second);
        at.toStart.erase(at.toStart.begin());
    }
    return false;
}

uint64_t
PlainFabricHosts::NextWake(uint32_t host, uint64_t, uint64_t)
{
    const Host& at = m_hosts[host];
    return at.toStart.empty() ? FABRIC_NEVER : at.toStart.front().first;
}

uint32_t
PlainFabricHosts::PollTouched()
{
    return FABRIC_NO_PORT;
}

bool
PlainFabricHosts::PollMessageEvent(FabricMessageEvent& event)
{
    if (m_events.empty())
    {
        return false;
    }
    event = m_events.front();
    m_events.pop_front();
    return true;
}

void
PlainFabricHosts::AddEvent(FabricMessageEventKind kind, uint32_t message, uint64_t nowPs)
{
    const FabricFlow& flow = m_messages[message].flow;
    FabricMessageEvent event;
    event.kind = kind;
    event.message = message;
    event.src = flow.src;
    event.dst = flow.dst;
    event.bytes = flow.bytes;
    event.startPs = flow.startPs;
    event.atPs = nowPs;
    m_events.push_back(event);
}

bool
PlainFabricHosts::IsFinished() const
{
    return m_completed == m_messages.size();
}

uint32_t
PlainFabricHosts::Post(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t startPs, uint32_t)
{
    const auto number = static_cast<uint32_t>(m_messages.size());
    Message message;
    message.flow.message = number;
    message.flow.src = src;
    message.flow.dst = dst;
    message.flow.bytes = bytes;
    message.flow.startPs = startPs;
    m_messages.push_back(message);
    auto& starts = m_hosts[src].toStart;
    const auto entry = std::make_pair(startPs, number);
    starts.insert(std::upper_bound(starts.begin(), starts.end(), entry), entry);
    return number;
}

std::vector<FabricFlow>
PlainFabricHosts::GetFlows() const
{
    std::vector<FabricFlow> flows;
    for (const Message& message : m_messages)
    {
        flows.push_back(message.flow);
    }
    return flows;
}

FabricNicCounters
PlainFabricHosts::GetCounters() const
{
    return m_counters;
}

FabricQpCounts
PlainFabricHosts::GetQpCounts() const
{
    FabricQpCounts counts;
    counts.total = m_messages.size();
    return counts;
}

} // namespace ns3
