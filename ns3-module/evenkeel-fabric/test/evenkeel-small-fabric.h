// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_TEST_SMALL_FABRIC_H
#define EVENKEEL_TEST_SMALL_FABRIC_H

#include "ns3/fabric-helper.h"
#include "ns3/fabric.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <cstdio>
#include <string>
#include <vector>

namespace ns3
{

namespace tests
{

/// The parameters of a small fabric.
struct Plan
{
    uint32_t leaves{1};          //!< switches with hosts
    uint32_t spines{1};          //!< switches that connect to every leaf
    uint32_t hostsPerLeaf{2};    //!< hosts per leaf
    std::string rate{"400Gbps"}; //!< rate of each link
    std::string gap{"20B"};      //!< gap after each packet
    std::string sections{};      //!< sections [switch] and [[failure]] of a scenario
};

/// A leaf-spine whose NICs send at line rate, whatever is marked.
struct SmallFabric
{
    FabricHelper helper; //!< makes the fabric
    Ptr<Fabric> fabric;  //!< the fabric

    /**
     * @param plan the parameters
     */
    explicit SmallFabric(const Plan& plan)
    {
        const FabricGraph graph = MakeFabricGraph(
            "leaves = " + std::to_string(plan.leaves) +
                "\nspines = " + std::to_string(plan.spines) +
                "\nhosts_per_leaf = " + std::to_string(plan.hostsPerLeaf) + "\nhost_rate = \"" +
                plan.rate + "\"\nfabric_rate = \"" + plan.rate + "\"\ndelay = \"500ns\"\n",
            ".");
        fabric = helper.CreateFromCore(
            MakeFabricCore(graph,
                           "[topology]\ngap = \"" + plan.gap +
                               "\"\n[policy]\nname = \"spray\"\n"
                               "[transport]\ncongestion_control = \"line-rate\"\n" +
                               plan.sections));
    }

    ~SmallFabric()
    {
        Simulator::Destroy();
    }

    /**
     * @brief Posts a message.
     * @param src sending host
     * @param dst receiving host
     * @param bytes payload
     * @param delay time until it starts
     */
    void Post(uint32_t src, uint32_t dst, uint64_t bytes, Time delay = Time(0))
    {
        fabric->GetNic(src)->PostMessage(fabric->GetNic(dst), bytes, delay);
    }

    /**
     * @brief Posts a message from every host to every other host.
     * @param bytes payload of each message
     */
    void PostAllToAll(uint64_t bytes)
    {
        const uint32_t hosts = fabric->GetNNics();
        for (uint32_t step = 1; step < hosts; ++step)
        {
            for (uint32_t src = 0; src < hosts; ++src)
            {
                Post(src, (src + step) % hosts, bytes);
            }
        }
    }

    /**
     * @brief Runs the simulation.
     * @return completion times in picoseconds, by message
     */
    std::vector<uint64_t> Run()
    {
        Simulator::Run();
        std::vector<uint64_t> times;
        for (const FabricFlow& flow : fabric->GetCore().GetFlows())
        {
            times.push_back(flow.completedPs);
        }
        return times;
    }
};

/// Bytes of a full data packet on the wire.
constexpr uint64_t DATA = 4158;

/// Bytes of an acknowledgement on the wire.
constexpr uint64_t ACK = 64;

/**
 * @param command a shell command
 * @return its output; empty if it fails
 */
inline std::string
OutputOf(const std::string& command)
{
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe)
    {
        return text;
    }
    char line[256];
    while (std::fgets(line, sizeof line, pipe))
    {
        text += line;
    }
    return pclose(pipe) == 0 ? text : "";
}

} // namespace tests

} // namespace ns3

#endif /* EVENKEEL_TEST_SMALL_FABRIC_H */
