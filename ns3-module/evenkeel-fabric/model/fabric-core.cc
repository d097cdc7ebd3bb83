// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-core.h"

#include "fabric-bridge.h"

#include <algorithm>
#include <iterator>
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
    result.hosts = std::vector<std::string>(graph.hosts.begin(), graph.hosts.end());
    result.switches = std::vector<std::string>(graph.switches.begin(), graph.switches.end());
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
    std::copy(graph.hosts.begin(), graph.hosts.end(), std::back_inserter(result.hosts));
    std::copy(graph.switches.begin(), graph.switches.end(), std::back_inserter(result.switches));
    std::copy(graph.links.begin(), graph.links.end(), std::back_inserter(result.links));
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
        std::copy(each.hosts.begin(), each.hosts.end(), std::back_inserter(settings.hosts));
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

} // namespace ns3
