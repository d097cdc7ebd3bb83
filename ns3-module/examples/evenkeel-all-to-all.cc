// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * @ingroup evenkeel
 * A collective over a leaf-spine, under one load-balancing policy or several.
 *
 *     evenkeel-all-to-all --policies=ecmp,spray,ethereal
 *
 * prints for each policy when the collective is complete, how long flows take, and what the fabric
 * did. Each policy has a simulation of its own, in one process.
 */

#include "ns3/boolean.h"
#include "ns3/collective-helper.h"
#include "ns3/command-line.h"
#include "ns3/fabric-helper.h"
#include "ns3/failure-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

using namespace ns3;

namespace
{

/// What is asked for.
struct Options
{
    std::string policies{"ecmp,spray,ethereal"}; //!< names, with commas
    std::string collective{"all-to-all"};        //!< name
    uint32_t leaves{4};                          //!< switches with hosts
    uint32_t spines{4};                          //!< switches without
    uint32_t hostsPerLeaf{4};                    //!< hosts of each leaf
    uint64_t bytes{1000000};                     //!< for each rank
    std::string rate{"400Gbps"};                 //!< of each link
    bool failure{false};                         //!< a link goes down
};

/**
 * @brief Runs one policy and prints a line.
 * @param options what is asked for
 * @param policy its name
 * @return true if everything was complete
 */
bool
RunPolicy(const Options& options, const std::string& policy)
{
    FabricHelper helper;
    helper.SetChannelAttribute("DataRate", StringValue(options.rate));
    helper.SetFabricAttribute("StopWhenDone", BooleanValue(true));
    helper.SetPolicy(policy);
    CollectiveHelper collective(options.collective);
    collective.SetBytes(options.bytes);
    collective.Install(helper);
    if (options.failure)
    {
        FailureHelper failures(helper);
        failures.SetConvergence(MilliSeconds(1));
        failures.Down("leaf0-spine0", MicroSeconds(5));
    }
    Ptr<Fabric> fabric =
        helper.CreateLeafSpine(options.leaves, options.spines, options.hostsPerLeaf);
    Simulator::Run();

    uint64_t longest = 0;
    for (const FabricFlow& flow : fabric->GetCore().GetFlows())
    {
        if (flow.completedPs != FABRIC_NEVER)
        {
            longest = std::max(longest, flow.completedPs - flow.startPs);
        }
    }
    const bool done = fabric->GetVerdict() == Fabric::COMPLETED;
    const FabricNicCounters counters = fabric->GetCore().GetCounters();
    std::cout << std::left << std::setw(16) << policy << std::right << std::fixed
              << std::setprecision(3) << std::setw(12)
              << static_cast<double>(fabric->GetFinishPs()) / 1e6 << std::setw(12)
              << static_cast<double>(longest) / 1e6 << std::setw(10) << counters.dataSent
              << std::setw(8) << counters.retransmitted << std::setw(8) << counters.marked
              << std::setw(8) << fabric->GetCounters().dataDropped << std::setw(10)
              << fabric->GetQueueBytesMax() / 1000 << (done ? "" : "  did not complete")
              << std::endl;
    Simulator::Destroy();
    return done;
}

} // namespace

int
main(int argc, char* argv[])
{
    Fabric::UsePicoseconds();
    Options options;
    CommandLine cmd(__FILE__);
    cmd.AddValue("policies", "load-balancing policies, with commas", options.policies);
    cmd.AddValue("collective", "what is sent", options.collective);
    cmd.AddValue("leaves", "switches with hosts", options.leaves);
    cmd.AddValue("spines", "switches that every leaf is wired to", options.spines);
    cmd.AddValue("hostsPerLeaf", "hosts of each leaf", options.hostsPerLeaf);
    cmd.AddValue("bytes", "of each rank", options.bytes);
    cmd.AddValue("rate", "of each link", options.rate);
    cmd.AddValue("failure", "take the link leaf0-spine0 down after 5 us", options.failure);
    cmd.Parse(argc, argv);

    std::cout << options.collective << " of " << options.bytes << " B a rank, "
              << options.leaves * options.hostsPerLeaf << " hosts" << std::endl
              << "policy            complete_us  longest_us   packets  resent  marked dropped"
                 "  queue_kB"
              << std::endl;
    bool done = true;
    std::istringstream names(options.policies);
    for (std::string policy; std::getline(names, policy, ',');)
    {
        done &= RunPolicy(options, policy);
    }
    return done ? 0 : 1;
}
