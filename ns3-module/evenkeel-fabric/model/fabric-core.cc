// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-core.h"

#include "fabric-bridge.h"
#include "fabric-port.h"
#include "fabric.h"
#include "rdma-nic.h"

#include <utility>

namespace ns3
{

namespace contract = evenkeel::contract;

namespace
{

/**
 * @param graph a graph of the contract
 * @return the graph for scripts
 */
FabricGraph
ToGraph(const contract::Graph& graph)
{
    FabricGraph result;
    for (const rust::String& host : graph.hosts)
    {
        result.hosts.push_back(std::string(host));
    }
    for (const rust::String& each : graph.switches)
    {
        result.switches.push_back(std::string(each));
    }
    result.links = bridge::ToVector(graph.links);
    result.joinedPorts = graph.joined_ports;
    return result;
}

/**
 * @param graph a graph of a script
 * @return the graph of the contract
 */
contract::Graph
FromGraph(const FabricGraph& graph)
{
    contract::Graph result;
    for (const std::string& host : graph.hosts)
    {
        result.hosts.push_back(host);
    }
    for (const std::string& each : graph.switches)
    {
        result.switches.push_back(each);
    }
    for (const FabricLink& link : graph.links)
    {
        result.links.push_back(link);
    }
    result.joined_ports = graph.joinedPorts;
    return result;
}

/**
 * @param nics NICs of a script
 * @return the NICs of the contract
 */
std::vector<contract::NicSettings>
FromNics(const std::vector<FabricNicSettings>& nics)
{
    std::vector<contract::NicSettings> result;
    for (const FabricNicSettings& each : nics)
    {
        contract::NicSettings settings;
        for (const uint32_t host : each.hosts)
        {
            settings.hosts.push_back(host);
        }
        settings.settings = each.settings;
        settings.queue_pairs = each.queuePairs;
        result.push_back(std::move(settings));
    }
    return result;
}

/**
 * @brief Makes a core.
 * @tparam Function type of the function
 * @param function a function that makes an experiment in Rust
 * @return its core; throws std::invalid_argument if there is no such experiment
 */
template <class Function>
std::unique_ptr<FabricCore>
MakeCore(Function function)
{
    return bridge::OrThrow<std::invalid_argument>(
        [&] { return std::make_unique<FabricCore>(FabricCore::Impl{function()->core()}); });
}

/**
 * @param fabric a fabric whose run has ended
 * @return how it ended
 */
contract::Verdict
VerdictOf(const Fabric& fabric)
{
    switch (fabric.GetVerdict())
    {
    case Fabric::COMPLETED:
        return contract::Verdict::Completed;
    case Fabric::TIME_LIMIT:
        return contract::Verdict::TimeLimit;
    case Fabric::RUNNING:
        break;
    }
    // The calendar is empty, but some messages have not completed.
    return contract::Verdict::Stalled;
}

/**
 * @param fabric a fabric whose run has ended
 * @return when it ended, in picoseconds
 */
uint64_t
EndOf(const Fabric& fabric)
{
    switch (fabric.GetVerdict())
    {
    case Fabric::COMPLETED:
        return fabric.GetFinishPs();
    case Fabric::TIME_LIMIT:
        return fabric.GetSettings().timeLimitPs;
    case Fabric::RUNNING:
        break;
    }
    return fabric.GetNowPs();
}

} // namespace

std::string
FabricGraph::NameOf(uint32_t link) const
{
    try
    {
        return std::string(contract::link_names(FromGraph(*this))[link]);
    }
    catch (const rust::Error&)
    {
        // The graph is invalid, which is an error of MakeFabricCore.
        return "";
    }
}

FabricCore::FabricCore(Impl impl)
    : m_impl(std::make_unique<Impl>(std::move(impl))),
      m_graph(ToGraph(m_impl->core->graph())),
      m_settings(m_impl->core->settings())
{
    for (const contract::TrafficClass& each : m_impl->core->classes())
    {
        m_classes.push_back(FabricClass{std::string(each.name), each.pfc});
    }
    m_impl->core->report_all_messages();
}

FabricCore::~FabricCore() = default;

const FabricGraph&
FabricCore::GetGraph() const
{
    return m_graph;
}

const FabricSettings&
FabricCore::GetSettings() const
{
    return m_settings;
}

const std::vector<FabricClass>&
FabricCore::GetClasses() const
{
    return m_classes;
}

std::vector<FabricFlow>
FabricCore::GetFlows() const
{
    return bridge::ToVector(m_impl->core->flows());
}

FabricNicCounters
FabricCore::GetCounters() const
{
    return m_impl->core->nic_counters();
}

FabricQpCounts
FabricCore::GetQpCounts() const
{
    return m_impl->core->qp_counts();
}

std::unique_ptr<FabricCore>
MakeFabricCore(const std::string& scenario, const std::string& folder)
{
    return MakeCore([&] { return contract::experiment_of_text(scenario, folder, {}); });
}

std::unique_ptr<FabricCore>
ReadFabricCore(const std::string& path)
{
    return MakeCore([&] { return contract::experiment_of_scenario(path, {}); });
}

std::unique_ptr<FabricCore>
MakeFabricCore(const FabricGraph& graph,
               const std::string& settings,
               const FabricQpSettings& queuePairs,
               const std::vector<FabricNicSettings>& nics)
{
    return MakeCore([&] {
        auto experiment = contract::experiment_on_graph(FromGraph(graph), settings, ".", {});
        experiment->set_queue_pairs(queuePairs);
        if (!nics.empty())
        {
            const std::vector<contract::NicSettings> own = FromNics(nics);
            experiment->set_host_nics({own.data(), own.size()});
        }
        return experiment;
    });
}

FabricGraph
MakeFabricGraph(const std::string& topology, const std::string& folder)
{
    return bridge::OrThrow<std::invalid_argument>(
        [&] { return ToGraph(contract::graph_of(topology, folder)); });
}

contract::Measured
bridge::Measure(Fabric& fabric)
{
    // NICs and ports decide late, so start everything that was due by the end.
    for (uint32_t host = 0; host < fabric.GetNNics(); ++host)
    {
        fabric.GetNic(host)->Settle(EndOf(fabric));
    }
    fabric.SettleSwitches(EndOf(fabric));
    contract::Measured measured{};
    measured.verdict = VerdictOf(fabric);
    measured.ended_ps = EndOf(fabric);
    measured.counters = fabric.GetCounters();
    measured.events = fabric.GetEventCount();
    measured.in_flight = fabric.CountDataInFlight();
    for (uint32_t port = 0; port < fabric.GetNPorts(); ++port)
    {
        const FabricPort& each = fabric.GetPort(port);
        const FabricLink& link = fabric.GetCore().GetGraph().links[port / 2];
        const bool isOfHost = (port % 2 == 0 ? link.a : link.b).isHost;
        measured.link_bytes.push_back(each.GetStartedBytes());
        measured.queue_bytes_max.push_back(isOfHost ? 0 : each.GetWaitingBytesMax());
    }
    for (const FabricPause& pause : fabric.GetPauses())
    {
        measured.pauses.push_back(pause);
    }
    for (uint32_t trafficClass = 0; trafficClass < fabric.GetClasses().size(); ++trafficClass)
    {
        measured.dropped_by_class.push_back(fabric.GetDataDroppedOf(trafficClass));
    }
    return measured;
}

} // namespace ns3
