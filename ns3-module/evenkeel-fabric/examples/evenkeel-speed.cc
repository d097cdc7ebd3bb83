// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Measures the cost of the calls into evenkeel: compares a fabric with evenkeel's policies and NICs
 * to the same fabric with plain ones in C++.
 *
 *     evenkeel-speed --hostsPerLeaf=16 --leaves=16 --spines=16 --bytes=2000000
 *
 * It prints the packet hops per second of CPU time, the best of several rounds, for three cores:
 * `policy` has evenkeel's policies and NICs, `c++ policy` has evenkeel's NICs and a plain policy in
 * C++, `c++ all` also has plain NICs.
 */

#include "example-options.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/plain-fabric-core.h"
#include "ns3/string.h"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>

using namespace ns3;

namespace
{

/**
 * @param evenkeel an evenkeel core
 * @return a core with the same NICs and a plain policy in C++
 */
std::unique_ptr<FabricCore>
WithPlainPolicy(std::unique_ptr<FabricCore> evenkeel)
{
    FabricDescription description = evenkeel->GetDescription();
    description.settings.looksAtQueues = false;
    auto switching = std::make_shared<PlainFabricSwitching>(description.graph);
    return std::make_unique<FabricCore>(std::move(description), evenkeel->GetHosts(), switching);
}

/// The options of this example.
struct Options
{
    std::string policy{"spray"};                         //!< name of the policy
    uint32_t rounds{2};                                  //!< rounds, of which the best counts
    LeafSpineOptions fabric{8, 8, 8, 262144, "400Gbps"}; //!< leaf-spine
};

/// The core of a fabric.
enum CoreKind
{
    EVENKEEL,   //!< evenkeel's policies and NICs
    CPP_POLICY, //!< evenkeel's NICs and a plain policy
    CPP_ALL,    //!< plain policies and NICs
};

/**
 * @param options of this example
 * @param kind the core of the fabric
 * @return packet hops per second of CPU time
 */
double
Measure(const Options& options, CoreKind kind)
{
    FabricHelper helper;
    helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
    helper.SetChannelAttribute("DataRate", StringValue(options.fabric.rate));
    helper.SetPolicy(options.policy);
    if (kind == CPP_ALL)
    {
        helper.SetCoreFactory([](const FabricGraph& graph, const std::string&) {
            return std::make_unique<PlainFabricCore>(graph,
                                                     FabricSettings(),
                                                     PlainFabricCore::Transport());
        });
    }
    else
    {
        CollectiveHelper collective("all-to-all");
        collective.SetBytes(options.fabric.bytes);
        collective.Install(helper);
    }
    if (kind == CPP_POLICY)
    {
        helper.SetCoreFactory([](const FabricGraph& graph, const std::string& settings) {
            return WithPlainPolicy(MakeFabricCore(graph, settings));
        });
    }
    Ptr<Fabric> fabric = helper.CreateLeafSpine(options.fabric.leaves,
                                                options.fabric.spines,
                                                options.fabric.hostsPerLeaf);
    if (kind == CPP_ALL)
    {
        const uint32_t hosts = fabric->GetNNics();
        for (uint32_t step = 1; step < hosts; ++step)
        {
            for (uint32_t src = 0; src < hosts; ++src)
            {
                fabric->GetNic(src)->PostMessage(fabric->GetNic((src + step) % hosts),
                                                 options.fabric.bytes / hosts);
            }
        }
    }
    const std::clock_t begin = std::clock();
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const double hops = static_cast<double>(fabric->GetCounters().hops);
    Simulator::Destroy();
    return hops / std::max(seconds, 1e-9);
}

} // namespace

int
main(int argc, char* argv[])
{
    Fabric::UsePicoseconds();
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("policy", "load-balancing policy", options.policy);
    cmd.AddValue("rounds", "rounds, of which the best counts", options.rounds);
    options.fabric.AddTo(cmd);
    cmd.Parse(argc, argv);

    double best[] = {0, 0, 0};
    for (uint32_t round = 0; round < options.rounds; ++round)
    {
        for (const CoreKind kind : {EVENKEEL, CPP_POLICY, CPP_ALL})
        {
            best[kind] = std::max(best[kind], Measure(options, kind));
        }
    }
    std::cout << "all-to-all, " << options.fabric.CountHosts() << " hosts, " << options.fabric.bytes
              << " B per rank; packet hops per second of CPU time" << std::endl
              << options.policy << ": " << best[EVENKEEL] << std::endl
              << "c++ policy: " << best[CPP_POLICY] << std::endl
              << "c++ all: " << best[CPP_ALL] << std::endl
              << "evenkeel's policy costs " << 100 * (1 - best[EVENKEEL] / best[CPP_POLICY])
              << " % of the packet rate; policy and NICs "
              << 100 * (1 - best[EVENKEEL] / best[CPP_ALL]) << " %" << std::endl;
    return 0;
}
