// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup evenkeel
 * What it costs to ask evenkeel: the packet rate of one fabric with evenkeel's policies and NICs
 * against the same fabric with trivial ones in C++.
 *
 *     evenkeel-speed --hostsPerLeaf=16 --leaves=16 --spines=16 --bytes=2000000
 *
 * prints for each of three cores the packets a second of CPU time that cross a link, best of so
 * many rounds: `policy` asks evenkeel for everything, `c++ policy` has evenkeel's NICs and a
 * trivial policy in C++, `c++ all` has trivial NICs too.
 */

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/command-line.h"
#include "ns3/fabric-helper.h"
#include "ns3/plain-fabric-core.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <memory>

using namespace ns3;

namespace
{

/**
 * @param evenkeel a core of evenkeel
 * @return its NICs, with a policy of a few lines of C++
 */
std::unique_ptr<FabricCore>
WithPlainPolicy(std::unique_ptr<FabricCore> evenkeel)
{
    FabricDescription description = evenkeel->GetDescription();
    description.settings.looksAtQueues = false;
    auto switching = std::make_shared<PlainFabricSwitching>(description.graph);
    return std::make_unique<FabricCore>(std::move(description), evenkeel->GetHosts(), switching);
}

/// What is asked for.
struct Options
{
    std::string policy{"spray"}; //!< name
    uint32_t leaves{8};          //!< switches with hosts
    uint32_t spines{8};          //!< switches without
    uint32_t hostsPerLeaf{8};    //!< hosts of each leaf
    uint64_t bytes{262144};      //!< for each rank
    uint32_t rounds{2};          //!< of which the best counts
};

/// Which core.
enum Which
{
    EVENKEEL,   //!< everything asks evenkeel
    CPP_POLICY, //!< all but the policy
    CPP_ALL,    //!< nothing does
};

/**
 * @param options what is asked for
 * @param which core
 * @return packets a second of CPU time that cross a link
 */
double
Measure(const Options& options, Which which)
{
    FabricHelper helper;
    helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
    helper.SetPolicy(options.policy);
    if (which == CPP_ALL)
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
        collective.SetBytes(options.bytes);
        collective.Install(helper);
    }
    if (which == CPP_POLICY)
    {
        helper.SetCoreFactory([](const FabricGraph& graph, const std::string& settings) {
            return WithPlainPolicy(MakeFabricCore(graph, settings));
        });
    }
    Ptr<Fabric> fabric =
        helper.CreateLeafSpine(options.leaves, options.spines, options.hostsPerLeaf);
    if (which == CPP_ALL)
    {
        const uint32_t hosts = fabric->GetNNics();
        for (uint32_t step = 1; step < hosts; ++step)
        {
            for (uint32_t src = 0; src < hosts; ++src)
            {
                fabric->GetNic(src)->PostMessage(fabric->GetNic((src + step) % hosts),
                                                 options.bytes / hosts);
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
    cmd.AddValue("policy", "a load-balancing policy", options.policy);
    cmd.AddValue("leaves", "switches with hosts", options.leaves);
    cmd.AddValue("spines", "switches that every leaf is wired to", options.spines);
    cmd.AddValue("hostsPerLeaf", "hosts of each leaf", options.hostsPerLeaf);
    cmd.AddValue("bytes", "of each rank", options.bytes);
    cmd.AddValue("rounds", "of which the best counts", options.rounds);
    cmd.Parse(argc, argv);

    double best[] = {0, 0, 0};
    for (uint32_t round = 0; round < options.rounds; ++round)
    {
        for (const Which which : {EVENKEEL, CPP_POLICY, CPP_ALL})
        {
            best[which] = std::max(best[which], Measure(options, which));
        }
    }
    std::cout << "all-to-all, " << options.leaves * options.hostsPerLeaf << " hosts, "
              << options.bytes << " B a rank; packets over links a second of CPU time"
              << std::endl
              << options.policy << ": " << best[EVENKEEL] << std::endl
              << "c++ policy: " << best[CPP_POLICY] << std::endl
              << "c++ all: " << best[CPP_ALL] << std::endl
              << "evenkeel's policy costs " << 100 * (1 - best[EVENKEEL] / best[CPP_POLICY])
              << " % of the packet rate; policy and NICs "
              << 100 * (1 - best[EVENKEEL] / best[CPP_ALL]) << " %" << std::endl;
    return 0;
}
