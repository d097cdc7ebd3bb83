// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "fabric-bridge-records.h"

#include "fabric-core-bridge.h"
#include "fabric-port.h"
#include "fabric.h"
#include "rdma-nic.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ns3
{

namespace contract = evenkeel::contract;

namespace bridgerecords
{

namespace
{

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
    result.links = ToVector(graph.links);
    result.joinedPorts = graph.joined_ports;
    return result;
}

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
    for (const FabricLink& link : graph.links)
    {
        result.links.push_back(link);
    }
    result.joined_ports = graph.joinedPorts;
    return result;
}

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

FabricDescription
Describe(const contract::Experiment& experiment, const contract::Core& core)
{
    FabricDescription description;
    description.graph = ToGraph(experiment.graph());
    description.settings = experiment.settings();
    for (const contract::TrafficClass& each : experiment.classes())
    {
        description.classes.push_back(FabricClass{std::string(each.name), each.pfc});
    }
    const auto classes = std::max<uint32_t>(1, static_cast<uint32_t>(description.classes.size()));
    const auto ports = static_cast<uint32_t>(2 * description.graph.links.size());
    for (uint32_t port = 0; port < ports; ++port)
    {
        description.ecn.push_back(experiment.ecn(port));
        for (uint32_t trafficClass = 0; trafficClass < classes; ++trafficClass)
        {
            description.ingress.push_back(core.ingress(port, trafficClass));
        }
    }
    for (uint32_t number = 0; number < description.graph.switches.size(); ++number)
    {
        description.poolSizes.push_back(core.pool_size(number));
    }
    description.faults = ToVector(core.faults());
    description.steps = ToVector(core.steps());
    return description;
}

contract::Measured
Measure(Fabric& fabric)
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

} // namespace bridgerecords

std::unique_ptr<FabricCore>
MakeFabricCore(const std::string& scenario, const std::string& folder)
{
    return bridgerecords::OrThrow<std::invalid_argument>([&] {
        const rust::Box<contract::Experiment> experiment =
            contract::experiment_of_text(scenario, folder, contract::Overrides{});
        return FabricCoreBridge::MakeCore(*experiment,
                                          std::make_shared<FabricCoreBridge>(experiment->core()));
    });
}

std::unique_ptr<FabricCore>
ReadFabricCore(const std::string& path)
{
    return bridgerecords::OrThrow<std::invalid_argument>([&] {
        const rust::Box<contract::Experiment> experiment =
            contract::experiment_of_scenario(path, contract::Overrides{});
        return FabricCoreBridge::MakeCore(*experiment,
                                          std::make_shared<FabricCoreBridge>(experiment->core()));
    });
}

std::unique_ptr<FabricCore>
MakeFabricCore(const FabricGraph& graph,
               const std::string& settings,
               const FabricQpSettings& queuePairs,
               const std::vector<FabricNicSettings>& nics)
{
    return bridgerecords::OrThrow<std::invalid_argument>([&] {
        rust::Box<contract::Experiment> experiment =
            contract::experiment_on_graph(bridgerecords::FromGraph(graph),
                                          settings,
                                          ".",
                                          contract::Overrides{});
        experiment->set_queue_pairs(queuePairs);
        if (!nics.empty())
        {
            const std::vector<contract::NicSettings> own = bridgerecords::FromNics(nics);
            experiment->set_host_nics({own.data(), own.size()});
        }
        return FabricCoreBridge::MakeCore(*experiment,
                                          std::make_shared<FabricCoreBridge>(experiment->core()));
    });
}

FabricGraph
MakeFabricGraph(const std::string& topology, const std::string& folder)
{
    return bridgerecords::OrThrow<std::invalid_argument>(
        [&] { return bridgerecords::ToGraph(contract::graph_of(topology, folder)); });
}

} // namespace ns3
