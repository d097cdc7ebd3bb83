// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

/**
 * @file
 * @ingroup evenkeel
 * Measures the speed of a fabric in an all-to-all.
 *
 *     evenkeel-speed --hostsPerLeaf=16 --leaves=16 --spines=16 --bytes=2000000
 *
 * It prints the CPU time per packet hop, the best of several rounds.
 */

#include "example-options.h"

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/string.h"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <limits>

using namespace ns3;

namespace
{

/// The options of this example.
struct Options
{
    std::string policy{"spray"};                         //!< name of the policy
    bool pfc{false};                                     //!< priority flow control (PFC)
    uint32_t rounds{2};                                  //!< rounds, of which the best counts
    LeafSpineOptions fabric{8, 8, 8, 262144, "400Gbps"}; //!< leaf-spine
};

/**
 * @param options of this example
 * @return nanoseconds of CPU time per packet hop
 */
double
Measure(const Options& options)
{
    FabricHelper helper;
    helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
    helper.SetSwitchAttribute("Pfc", BooleanValue(options.pfc));
    helper.SetChannelAttribute("DataRate", StringValue(options.fabric.rate));
    helper.SetPolicy(options.policy);
    CollectiveHelper collective("all-to-all");
    collective.SetBytes(options.fabric.bytes);
    collective.Install(helper);
    Ptr<Fabric> fabric = helper.CreateLeafSpine(options.fabric.leaves,
                                                options.fabric.spines,
                                                options.fabric.hostsPerLeaf);
    const std::clock_t begin = std::clock();
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const double hops = static_cast<double>(fabric->GetCounters().hops);
    Simulator::Destroy();
    return 1e9 * seconds / hops;
}

} // namespace

int
main(int argc, char* argv[])
{
    Time::SetResolution(Time::PS);
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("policy", "load-balancing policy", options.policy);
    cmd.AddValue("pfc", "priority flow control", options.pfc);
    cmd.AddValue("rounds", "rounds, of which the best counts", options.rounds);
    options.fabric.AddTo(cmd);
    cmd.Parse(argc, argv);

    double best = std::numeric_limits<double>::max();
    for (uint32_t round = 0; round < options.rounds; ++round)
    {
        best = std::min(best, Measure(options));
    }
    std::cout << "all-to-all, " << options.fabric.CountHosts() << " hosts, " << options.fabric.bytes
              << " B per rank, " << options.policy << ": " << best << " ns of CPU time per hop"
              << std::endl;
    return 0;
}
