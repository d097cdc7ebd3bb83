// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_GRAPH_H
#define FABRIC_GRAPH_H

#include "fabric-records.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Hosts, switches and the links between them.
 */
struct FabricGraph
{
    /// A switch.
    struct Switch
    {
        std::string name; //!< name in [[failure]] sections
        uint32_t tier{0}; //!< switch tiers between it and the hosts; 0 at the edge
    };

    std::vector<std::string> hosts; //!< names, by number
    std::vector<Switch> switches;   //!< by number
    std::vector<FabricLink> links;  //!< by number
    /// True if hosts have several ports to switches of one fabric (two ToRs). If false, a host with
    /// several links has one port per plane, in the order of its links, and planes share no switch.
    bool joinedPorts{false};

    /// Computes the tier of every switch from the links; 0 for switches without a path to a host.
    void FillTiers();
    /**
     * @param link number of a link
     * @return its name in scenarios: its ends, the lower one first, such as leaf0-spine0; parallel
     *         links have "#" and an index appended
     */
    std::string NameOf(uint32_t link) const;

    /// The size of a leaf-spine.
    struct LeafSpine
    {
        uint32_t leaves{0};       //!< switches with hosts
        uint32_t spines{0};       //!< switches that every leaf is wired to
        uint32_t hostsPerLeaf{0}; //!< hosts per leaf
    };

    /**
     * @param size of the leaf-spine
     * @param link a link with the rate and the delay of all links
     * @return the graph, with unnamed hosts
     */
    static FabricGraph MakeLeafSpine(const LeafSpine& size, const FabricLink& link);
};

} // namespace ns3

#endif /* FABRIC_GRAPH_H */
