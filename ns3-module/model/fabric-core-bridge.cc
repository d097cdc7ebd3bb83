// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-core-bridge.h"

#include "fabric-port.h"
#include "fabric.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace ns3
{

namespace contract = evenkeel::contract;

namespace
{

// A packet crosses the border as it lies in memory.
static_assert(sizeof(contract::WirePacket) == sizeof(FabricPacket), "one record, two names");
static_assert(offsetof(contract::WirePacket, sack) == offsetof(FabricPacket, sack), "");
static_assert(offsetof(contract::WirePacket, marked) == offsetof(FabricPacket, marked), "");
static_assert(offsetof(contract::WirePacket, stamp) == offsetof(FabricPacket, stamp), "");
static_assert(offsetof(contract::WirePacket, wire_bytes) == offsetof(FabricPacket, wireBytes), "");
static_assert(offsetof(contract::WirePacket, route) == offsetof(FabricPacket, route), "");
static_assert(offsetof(contract::WirePacket, kind) == offsetof(FabricPacket, kind), "");
static_assert(offsetof(contract::WirePacket, flags) == offsetof(FabricPacket, flags), "");

/**
 * @param wire a packet of evenkeel's
 * @param packet set to the same
 */
void
FromWire(const contract::WirePacket& wire, FabricPacket& packet)
{
    std::memcpy(static_cast<void*>(&packet), &wire, sizeof packet);
}

/**
 * @param node a number
 * @param isHost of a host, or of a switch
 * @return that end
 */
FabricEnd
ToEnd(uint32_t node, bool isHost)
{
    FabricEnd end;
    end.number = node;
    end.isHost = isHost;
    return end;
}

/**
 * @param graph evenkeel's
 * @return the same as scripts have it
 */
FabricGraph
ToGraph(const contract::Graph& graph)
{
    FabricGraph result;
    for (const rust::String& host : graph.hosts)
    {
        result.hosts.push_back(std::string(host));
    }
    for (const contract::SwitchNode& each : graph.switches)
    {
        FabricGraph::Switch node;
        node.name = std::string(each.name);
        node.tier = each.tier;
        result.switches.push_back(node);
    }
    for (const contract::WireLink& each : graph.links)
    {
        FabricLink link;
        link.a = ToEnd(each.a, each.a_is_host);
        link.b = ToEnd(each.b, each.b_is_host);
        link.rateBps = each.rate_bps;
        link.delayPs = each.delay_ps;
        result.links.push_back(link);
    }
    return result;
}

/**
 * @param graph a script's
 * @return the same for evenkeel
 */
contract::Graph
FromGraph(const FabricGraph& graph)
{
    contract::Graph result;
    for (const std::string& host : graph.hosts)
    {
        result.hosts.push_back(host);
    }
    for (const FabricGraph::Switch& each : graph.switches)
    {
        contract::SwitchNode node;
        node.name = each.name;
        node.tier = each.tier;
        result.switches.push_back(std::move(node));
    }
    for (const FabricLink& each : graph.links)
    {
        contract::WireLink link;
        link.a = each.a.number;
        link.b = each.b.number;
        link.a_is_host = each.a.isHost;
        link.b_is_host = each.b.isHost;
        link.rate_bps = each.rateBps;
        link.delay_ps = each.delayPs;
        result.links.push_back(link);
    }
    return result;
}

/**
 * @param settings evenkeel's
 * @return the same as the fabric has them
 */
FabricSettings
ToSettings(const contract::Settings& settings)
{
    FabricSettings result;
    result.sharedBuffer = settings.shared_buffer;
    result.bufferBytes = settings.buffer_bytes;
    result.ecnAtDequeue = settings.ecn_at_dequeue;
    result.pfc = settings.pfc;
    result.pfcResumeOffset = settings.pfc_resume_offset;
    result.trim = settings.trim;
    result.trimSize = settings.trim_size;
    result.trimLimit = settings.trim_limit;
    result.gapBytes = settings.gap_bytes;
    result.forwardingDelayPs = settings.forwarding_delay_ps;
    result.rounding = settings.truncate_ns ? FabricRounding::TRUNCATE_NS : FabricRounding::EXACT;
    result.ackPriority = settings.ack_priority;
    result.looksAtQueues = settings.looks_at_queues;
    result.timeLimitPs = settings.time_limit_ps;
    return result;
}

/**
 * @brief Makes what can be refused, whose reason becomes an exception of the standard library.
 * @param make what makes it
 * @return what was made
 */
template <class Make>
auto
OrInvalid(Make make) -> decltype(make())
{
    try
    {
        return make();
    }
    catch (const rust::Error& error)
    {
        throw std::invalid_argument(error.what());
    }
}

/**
 * @param experiment what there is
 * @return the core of a fabric
 */
std::unique_ptr<FabricCore>
CoreOf(const contract::Experiment& experiment)
{
    return std::make_unique<FabricCoreBridge>(experiment, experiment.core());
}

} // namespace

FabricCoreBridge::FabricCoreBridge(const contract::Experiment& experiment,
                                   rust::Box<contract::Core> core)
    : m_core(std::move(core)),
      m_verbs(*m_core),
      m_graph(ToGraph(experiment.graph())),
      m_settings(ToSettings(experiment.settings()))
{
    m_core->tell_all();
    const auto ports = static_cast<uint32_t>(2 * m_graph.links.size());
    for (uint32_t port = 0; port < ports; ++port)
    {
        const contract::EcnFacts ecn = experiment.ecn(port);
        m_ecn.push_back(
            FabricEcn{ecn.kmin, ecn.kmax, ecn.pmax_numerator, ecn.pmax_denominator});
        const contract::IngressFacts kept = experiment.ingress(port);
        m_ingress.push_back(FabricIngress{kept.reserve,
                                          kept.headroom,
                                          kept.alpha_numerator,
                                          kept.alpha_denominator});
    }
    for (uint32_t number = 0; number < m_graph.switches.size(); ++number)
    {
        m_pools.push_back(experiment.pool_size(number));
    }
    for (const contract::FaultFacts& each : experiment.faults())
    {
        FabricFault fault;
        fault.link = each.link;
        fault.kind = each.is_loss ? FabricFault::LOSS : FabricFault::DOWN;
        fault.fromPs = each.from_ps;
        fault.untilPs = each.until_ps;
        fault.numerator = each.numerator;
        fault.denominator = each.denominator;
        m_faults.push_back(fault);
    }
    for (const contract::StepFacts& each : experiment.steps())
    {
        FabricStep step;
        step.atPs = each.at_ps;
        step.witness = static_cast<FabricStep::Witness>(each.witness);
        step.link = each.link;
        step.rateBps = each.rate_bps;
        m_steps.push_back(step);
    }
}

contract::Measured
FabricCoreBridge::Measure(const Fabric& fabric)
{
    const Fabric::Counters& counters = fabric.GetCounters();
    contract::Measured measured{};
    switch (fabric.GetVerdict())
    {
    case Fabric::COMPLETED:
        measured.verdict = 0;
        measured.ended_ps = fabric.GetFinishPs();
        break;
    case Fabric::RUNNING:
        // Events have run out.
        measured.verdict = 1;
        measured.ended_ps = fabric.GetNowPs();
        break;
    case Fabric::TIME_LIMIT:
        measured.verdict = 2;
        measured.ended_ps = fabric.GetSettings().timeLimitPs;
        break;
    }
    measured.data_dropped = counters.dataDropped;
    measured.control_dropped = counters.controlDropped;
    measured.trimmed = counters.trimmed;
    measured.pfc_pauses = counters.pauses;
    measured.packet_hops = counters.hops;
    measured.events = fabric.GetEventCount();
    measured.in_flight = fabric.CountDataInFlight();
    measured.queue_bytes_mean = static_cast<double>(counters.waitingFound) /
                                static_cast<double>(std::max<uint64_t>(counters.arrivals, 1));
    for (uint32_t port = 0; port < fabric.GetNPorts(); ++port)
    {
        const FabricPort& each = fabric.GetPort(port);
        const FabricLink& link = fabric.GetCore().GetGraph().links[port / 2];
        const bool isHosts = (port % 2 == 0 ? link.a : link.b).isHost;
        measured.link_bytes.push_back(each.GetCarriedBytes());
        measured.queue_bytes_max.push_back(isHosts ? 0 : each.GetWaitingBytesMax());
    }
    for (const Fabric::Pause& each : fabric.GetPauses())
    {
        contract::PauseFacts pause;
        pause.at_ps = each.atPs;
        pause.port = each.port;
        pause.is_pause = each.order == FabricPfc::PAUSE;
        measured.pauses.push_back(pause);
    }
    return measured;
}

contract::WirePacket
FabricCoreBridge::ToWire(const FabricPacket& packet)
{
    contract::WirePacket wire;
    std::memcpy(static_cast<void*>(&wire), &packet, sizeof wire);
    return wire;
}

contract::Core&
FabricCoreBridge::Get()
{
    return *m_core;
}

rust::Box<contract::Core>
FabricCoreBridge::Take()
{
    return std::move(m_core);
}

const FabricGraph&
FabricCoreBridge::GetGraph() const
{
    return m_graph;
}

const FabricSettings&
FabricCoreBridge::GetSettings() const
{
    return m_settings;
}

FabricEcn
FabricCoreBridge::GetEcn(uint32_t port) const
{
    return m_ecn[port];
}

FabricIngress
FabricCoreBridge::GetIngress(uint32_t port) const
{
    return m_ingress[port];
}

uint64_t
FabricCoreBridge::GetPoolSize(uint32_t switchNumber) const
{
    return m_pools[switchNumber];
}

std::vector<FabricFault>
FabricCoreBridge::GetFaults() const
{
    return m_faults;
}

std::vector<FabricStep>
FabricCoreBridge::GetSteps() const
{
    return m_steps;
}

bool
FabricCoreBridge::PollTransmit(uint32_t host,
                               uint64_t nowPs,
                               uint64_t& freePs,
                               FabricPacket& packet)
{
    m_nowPs = nowPs;
    contract::WirePacket wire;
    if (!m_core->poll_transmit(host, nowPs, freePs, wire))
    {
        return false;
    }
    FromWire(wire, packet);
    return true;
}

bool
FabricCoreBridge::PollTransmitControl(uint32_t host, FabricPacket& packet)
{
    contract::WirePacket wire;
    if (!m_core->poll_transmit_control(host, wire))
    {
        return false;
    }
    FromWire(wire, packet);
    return true;
}

bool
FabricCoreBridge::HasPackets(uint32_t host)
{
    return m_core->has_packets(host);
}

bool
FabricCoreBridge::HandlePacket(uint32_t host, uint64_t nowPs, const FabricPacket& packet)
{
    m_nowPs = nowPs;
    return m_core->handle_packet(host, nowPs, ToWire(packet));
}

bool
FabricCoreBridge::HandleTimeout(uint32_t host, uint64_t nowPs)
{
    m_nowPs = nowPs;
    return m_core->handle_timeout(host, nowPs);
}

uint64_t
FabricCoreBridge::NextWake(uint32_t host, uint64_t nowPs, uint64_t freePs)
{
    return m_core->next_wake(host, nowPs, freePs);
}

uint32_t
FabricCoreBridge::PollTouched()
{
    return m_core->poll_touched();
}

bool
FabricCoreBridge::PollNews(FabricNews& news)
{
    contract::NewsFacts facts;
    if (!m_core->poll_news(facts))
    {
        return false;
    }
    news.kind = facts.kind == 0 ? FabricNews::DELIVERED : FabricNews::COMPLETED;
    news.message = facts.message;
    news.src = facts.src;
    news.dst = facts.dst;
    news.bytes = facts.bytes;
    news.startPs = facts.start_ps;
    news.atPs = facts.at_ps;
    return true;
}

bool
FabricCoreBridge::IsFinished() const
{
    return m_core->is_finished();
}

uint32_t
FabricCoreBridge::Post(uint32_t src,
                       uint32_t dst,
                       uint64_t bytes,
                       uint64_t startPs,
                       uint32_t stream)
{
    return OrInvalid(
        [&] { return m_core->post(src, dst, bytes, m_nowPs, std::max(startPs, m_nowPs), stream); });
}

FabricVerbs*
FabricCoreBridge::GetVerbs()
{
    return &m_verbs;
}

uint32_t
FabricCoreBridge::Route(uint32_t switchNumber,
                        uint64_t nowPs,
                        FabricPacket& packet,
                        const std::vector<uint64_t>* loads)
{
    rust::Slice<const uint64_t> seen;
    if (loads)
    {
        seen = rust::Slice<const uint64_t>(loads->data(), loads->size());
    }
    contract::WirePacket wire = ToWire(packet);
    const uint32_t port = m_core->route(switchNumber, nowPs, wire, seen);
    FromWire(wire, packet);
    return port;
}

uint32_t
FabricCoreBridge::OnlyPort(uint32_t switchNumber, uint32_t dst)
{
    return m_core->only_port(switchNumber, dst);
}

bool
FabricCoreBridge::Marks(uint32_t port, uint64_t waitingBytes)
{
    return m_core->marks(port, waitingBytes);
}

bool
FabricCoreBridge::Loses(uint32_t port, uint64_t numerator, uint64_t denominator)
{
    return m_core->loses(port,
                         static_cast<uint32_t>(numerator),
                         static_cast<uint32_t>(denominator));
}

void
FabricCoreBridge::ApplyStep(uint32_t step, uint64_t nowPs)
{
    m_core->apply_step(step, nowPs);
}

std::vector<FabricFlow>
FabricCoreBridge::GetFlows() const
{
    std::vector<FabricFlow> flows;
    for (const contract::FlowFacts& each : m_core->flows())
    {
        FabricFlow flow;
        flow.message = each.message;
        flow.piece = each.piece;
        flow.src = each.src;
        flow.dst = each.dst;
        flow.bytes = each.bytes;
        flow.startPs = each.start_ps;
        flow.deliveredPs = each.delivered_ps;
        flow.completedPs = each.completed_ps;
        flow.sourcePort = each.source_port;
        flows.push_back(flow);
    }
    return flows;
}

FabricNicCounters
FabricCoreBridge::GetCounters() const
{
    const contract::NicFacts facts = m_core->nic_counters();
    FabricNicCounters counters;
    counters.dataSent = facts.data_sent;
    counters.retransmitted = facts.retransmitted;
    counters.controlSent = facts.control_sent;
    counters.dataReceived = facts.data_received;
    counters.marked = facts.marked;
    counters.outOfOrder = facts.out_of_order;
    counters.controlReceived = facts.control_received;
    return counters;
}

FabricQpCounts
FabricCoreBridge::GetQpCounts() const
{
    const contract::QpFacts facts = m_core->qp_counts();
    FabricQpCounts counts;
    counts.perNicMax = facts.per_nic_max;
    counts.total = facts.total;
    counts.extraPerNicMax = facts.extra_per_nic_max;
    counts.extraTotal = facts.extra_total;
    return counts;
}

std::unique_ptr<FabricCore>
MakeFabricCore(const std::string& scenario, const std::string& folder)
{
    return OrInvalid([&] {
        return CoreOf(*contract::experiment_of_text(scenario, folder, contract::InPlace{}));
    });
}

std::unique_ptr<FabricCore>
MakeFabricCore(const FabricGraph& graph,
               const std::string& settings,
               const FabricQpSettings& queuePairs)
{
    return OrInvalid([&] {
        rust::Box<contract::Experiment> experiment =
            contract::experiment_on_graph(FromGraph(graph), settings, ".", contract::InPlace{});
        contract::QpSettings facts;
        facts.send_queue = queuePairs.sendQueue;
        facts.receive_queue = queuePairs.receiveQueue;
        facts.rnr_timer_ps = queuePairs.rnrTimerPs;
        facts.rnr_retries = queuePairs.rnrRetries;
        facts.retries = queuePairs.retries;
        experiment->set_queue_pairs(facts);
        return CoreOf(*experiment);
    });
}

FabricGraph
MakeFabricGraph(const std::string& topology, const std::string& folder)
{
    return OrInvalid([&] { return ToGraph(contract::graph_of(topology, folder)); });
}

} // namespace ns3
