// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef EVENKEEL_EXAMPLE_OPTIONS_H
#define EVENKEEL_EXAMPLE_OPTIONS_H

// Shared by the examples: the options of a leaf-spine fabric, and the end of a run.

#include "ns3/command-line.h"
#include "ns3/fabric.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <string>

namespace ns3
{

/// Options of an example on a leaf-spine fabric. Each example may set other defaults.
struct LeafSpineOptions
{
    uint32_t leaves{4};          //!< switches with hosts
    uint32_t spines{4};          //!< switches that connect to every leaf
    uint32_t hostsPerLeaf{4};    //!< hosts per leaf
    uint64_t bytes{1000000};     //!< payload that each host sends
    std::string rate{"400Gbps"}; //!< rate of every link

    /**
     * @brief Adds the options to a command line.
     * @param cmd the command line
     */
    void AddTo(CommandLine& cmd)
    {
        cmd.AddValue("leaves", "switches with hosts", leaves);
        cmd.AddValue("spines", "switches that every leaf is wired to", spines);
        cmd.AddValue("hostsPerLeaf", "hosts of each leaf", hostsPerLeaf);
        cmd.AddValue("bytes", "bytes that each host sends", bytes);
        cmd.AddValue("rate", "rate of every link", rate);
    }

    /// @return the number of hosts
    uint32_t CountHosts() const
    {
        return leaves * hostsPerLeaf;
    }
};

/**
 * @brief Ends the simulation of a fabric.
 * @param fabric the fabric
 * @return the exit status of the program: 0 if everything completed, 1 otherwise
 */
inline int
EndRun(Ptr<Fabric> fabric)
{
    const bool done = fabric->GetVerdict() == Fabric::COMPLETED;
    Simulator::Destroy();
    return done ? 0 : 1;
}

} // namespace ns3

#endif /* EVENKEEL_EXAMPLE_OPTIONS_H */
