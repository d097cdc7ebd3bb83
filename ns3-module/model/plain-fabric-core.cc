// SPDX-License-Identifier: GPL-2.0-only

#include "plain-fabric-core.h"

#include <algorithm>
#include <limits>

namespace ns3
{

namespace
{

/**
 * @param value anything
 * @return a well-mixed hash of it (the finaliser of splitmix64)
 */
uint64_t
Mix(uint64_t value)
{
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

} // namespace

PlainFabricCore::PlainFabricCore(FabricGraph graph, FabricSettings settings, Transport transport)
    : m_graph(std::move(graph)),
      m_settings(settings),
      m_transport(transport),
      m_hosts(m_graph.hosts.size())
{
    FillRoutes();
}

void
PlainFabricCore::FillRoutes()
{
    const std::size_t switches = m_graph.switches.size();
    // By switch: its ports in order of links, as the far end and whether that is a host.
    std::vector<std::vector<FabricEnd>> ends(switches);
    for (const FabricLink& link : m_graph.links)
    {
        if (!link.a.isHost)
        {
            ends[link.a.number].push_back(link.b);
        }
        if (!link.b.isHost)
        {
            ends[link.b.number].push_back(link.a);
        }
    }
    constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max() - 1;
    m_routes.assign(switches, std::vector<std::vector<uint32_t>>(m_hosts.size()));
    for (uint32_t host = 0; host < m_hosts.size(); ++host)
    {
        std::vector<uint32_t> distance(switches, FAR);
        std::deque<uint32_t> next;
        for (uint32_t at = 0; at < switches; ++at)
        {
            const auto isHost = [host](const FabricEnd& end) {
                return end.isHost && end.number == host;
            };
            if (std::any_of(ends[at].begin(), ends[at].end(), isHost))
            {
                distance[at] = 0;
                next.push_back(at);
            }
        }
        while (!next.empty())
        {
            const uint32_t at = next.front();
            next.pop_front();
            for (const FabricEnd& end : ends[at])
            {
                if (!end.isHost && distance[end.number] == FAR)
                {
                    distance[end.number] = distance[at] + 1;
                    next.push_back(end.number);
                }
            }
        }
        for (uint32_t at = 0; at < switches; ++at)
        {
            for (uint32_t port = 0; port < ends[at].size(); ++port)
            {
                const FabricEnd& end = ends[at][port];
                const bool leads = end.isHost ? end.number == host
                                              : distance[end.number] + 1 == distance[at];
                if (leads)
                {
                    m_routes[at][host].push_back(port);
                }
            }
        }
    }
}

const FabricGraph&
PlainFabricCore::GetGraph() const
{
    return m_graph;
}

const FabricSettings&
PlainFabricCore::GetSettings() const
{
    return m_settings;
}

FabricEcn
PlainFabricCore::GetEcn(uint32_t port) const
{
    return ecn;
}

FabricIngress
PlainFabricCore::GetIngress(uint32_t port) const
{
    return ingress;
}

uint64_t
PlainFabricCore::GetPoolSize(uint32_t switchNumber) const
{
    return poolSize;
}

std::vector<FabricFault>
PlainFabricCore::GetFaults() const
{
    return faults;
}

std::vector<FabricStep>
PlainFabricCore::GetSteps() const
{
    return steps;
}

bool
PlainFabricCore::PollTransmit(uint32_t host,
                              uint64_t nowPs,
                              uint64_t& freePs,
                              FabricPacket& packet)
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
    packet.label = static_cast<uint32_t>(Mix(number));
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
    ++at.counters.dataSent;
    return true;
}

bool
PlainFabricCore::PollTransmitControl(uint32_t host, FabricPacket& packet)
{
    Host& at = m_hosts[host];
    if (at.answers.empty())
    {
        return false;
    }
    packet = at.answers.front();
    at.answers.pop_front();
    ++at.counters.controlSent;
    return true;
}

bool
PlainFabricCore::HasPackets(uint32_t host)
{
    return !m_hosts[host].answers.empty() || !m_hosts[host].open.empty();
}

bool
PlainFabricCore::HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet)
{
    Host& at = m_hosts[host];
    Message& message = m_messages[packet.qp];
    if (packet.IsControl())
    {
        ++at.counters.controlReceived;
        ++message.answered;
        const bool sent = message.sent == message.flow.bytes;
        if (!sent || message.answered != message.packets)
        {
            return false;
        }
        message.flow.completedPs = nowPs;
        ++m_completed;
        AddNews(FabricNews::COMPLETED, packet.qp, nowPs);
        return true;
    }
    ++at.counters.dataReceived;
    at.counters.marked += packet.Has(FabricPacket::MARKED) ? 1 : 0;
    FabricPacket answer = packet;
    std::swap(answer.src, answer.dst);
    answer.kind = FabricPacketKind::ACK;
    answer.ack = packet.psn + 1;
    answer.flags = m_settings.ackPriority ? FabricPacket::PRIORITY : 0;
    answer.wireBytes = static_cast<uint16_t>(m_transport.ackBytes);
    at.answers.push_back(answer);
    if (packet.Has(FabricPacket::TRIMMED))
    {
        return false;
    }
    message.received += packet.wireBytes - m_transport.header;
    if (message.received < message.flow.bytes)
    {
        return false;
    }
    message.flow.deliveredPs = nowPs;
    AddNews(FabricNews::DELIVERED, packet.qp, nowPs);
    return true;
}

bool
PlainFabricCore::HandleTimeout(uint32_t host, uint64_t nowPs)
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
PlainFabricCore::NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs)
{
    const Host& at = m_hosts[host];
    return at.toStart.empty() ? FABRIC_NEVER : at.toStart.front().first;
}

uint32_t
PlainFabricCore::PollTouched()
{
    return FABRIC_NO_PORT;
}

bool
PlainFabricCore::PollNews(FabricNews& news)
{
    if (m_news.empty())
    {
        return false;
    }
    news = m_news.front();
    m_news.pop_front();
    return true;
}

void
PlainFabricCore::AddNews(FabricNews::Kind kind, uint32_t message, uint64_t nowPs)
{
    const FabricFlow& flow = m_messages[message].flow;
    FabricNews news;
    news.kind = kind;
    news.message = message;
    news.src = flow.src;
    news.dst = flow.dst;
    news.bytes = flow.bytes;
    news.startPs = flow.startPs;
    news.atPs = nowPs;
    m_news.push_back(news);
}

bool
PlainFabricCore::IsFinished() const
{
    return m_completed == m_messages.size();
}

uint32_t
PlainFabricCore::Post(uint32_t src,
                      uint32_t dst,
                      uint64_t bytes,
                      uint64_t startPs,
                      uint32_t stream)
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

uint32_t
PlainFabricCore::Route(uint32_t switchNumber,
                       uint64_t nowPs,
                       FabricPacket& packet,
                       const std::vector<uint64_t>* loads)
{
    const std::vector<uint32_t>& ports = m_routes[switchNumber][packet.dst];
    if (ports.empty())
    {
        return FABRIC_NO_PORT;
    }
    if (loads)
    {
        const auto shorter = [loads](uint32_t a, uint32_t b) { return (*loads)[a] < (*loads)[b]; };
        return *std::min_element(ports.begin(), ports.end(), shorter);
    }
    const uint64_t key = static_cast<uint64_t>(packet.label) << 16 | packet.entropy;
    return ports[Mix(key ^ static_cast<uint64_t>(switchNumber) << 48) % ports.size()];
}

uint32_t
PlainFabricCore::OnlyPort(uint32_t switchNumber, uint32_t dst)
{
    const std::vector<uint32_t>& ports = m_routes[switchNumber][dst];
    return cacheRoutes && ports.size() == 1 ? ports[0] : FABRIC_NO_PORT;
}

bool
PlainFabricCore::Marks(uint32_t port, uint64_t waitingBytes)
{
    return Loses(port, ecn.pmaxNumerator * (waitingBytes - ecn.kmin),
                 ecn.pmaxDenominator * (ecn.kmax - ecn.kmin));
}

bool
PlainFabricCore::Loses(uint32_t port, uint64_t numerator, uint64_t denominator)
{
    m_draw = Mix(m_draw);
    return m_draw % denominator < numerator;
}

void
PlainFabricCore::ApplyStep(uint32_t step, uint64_t nowPs)
{
}

std::vector<FabricFlow>
PlainFabricCore::GetFlows() const
{
    std::vector<FabricFlow> flows;
    for (const Message& message : m_messages)
    {
        flows.push_back(message.flow);
    }
    return flows;
}

FabricNicCounters
PlainFabricCore::GetCounters() const
{
    FabricNicCounters sum;
    for (const Host& host : m_hosts)
    {
        sum.dataSent += host.counters.dataSent;
        sum.controlSent += host.counters.controlSent;
        sum.dataReceived += host.counters.dataReceived;
        sum.marked += host.counters.marked;
        sum.controlReceived += host.counters.controlReceived;
    }
    return sum;
}

FabricQpCounts
PlainFabricCore::GetQpCounts() const
{
    FabricQpCounts counts;
    counts.total = m_messages.size();
    return counts;
}

} // namespace ns3
