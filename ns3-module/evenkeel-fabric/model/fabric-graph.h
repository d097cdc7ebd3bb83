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
    std::vector<std::string> hosts;    //!< names, by number
    std::vector<std::string> switches; //!< names, by number
    std::vector<FabricLink> links;     //!< by number
    /// True if hosts have several ports to switches of one fabric (two ToRs). If false, a host with
    /// several links has one port per plane, in the order of its links, and planes share no switch.
    bool joinedPorts{false};

    /**
     * @param link number of a link
     * @return its name in scenarios: its ends, the lower one first, such as leaf0-spine0; parallel
     *         links have "#" and an index appended
     */
    std::string NameOf(uint32_t link) const;
};

} // namespace ns3

#endif /* FABRIC_GRAPH_H */
