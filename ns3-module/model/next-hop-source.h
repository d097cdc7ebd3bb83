// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef NEXT_HOP_SOURCE_H
#define NEXT_HOP_SOURCE_H

#include "ns3/ipv4-address.h"
#include "ns3/ipv4.h"
#include "ns3/ptr.h"

// ns-3.47 renamed this header. The new name is tried first, because an older ns-3 may be installed
// in addition to the tree.
#if __has_include("ns3/global-routing.h")
#include "ns3/global-routing.h"
#else
#include "ns3/ipv4-global-routing.h"
#endif

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief A next hop of a node towards a destination.
 */
struct NextHop
{
    uint32_t interface;  //!< interface to it
    Ipv4Address gateway; //!< its address; 0.0.0.0 for the destination itself

    /**
     * @param other another next hop
     * @return true if they are equal
     */
    bool operator==(const NextHop& other) const
    {
        return interface == other.interface && gateway == other.gateway;
    }
};

/**
 * @ingroup evenkeel
 * @brief Where the equal-cost next hops of a node come from.
 */
class NextHopSource
{
  public:
    /// Differs after almost every change of the routes, and takes constant time to obtain.
    using Signature = std::array<uintptr_t, 6>;

    virtual ~NextHopSource() = default;

    /**
     * @param destination an address
     * @return the equal-cost next hops to it; none without a route
     */
    virtual std::vector<NextHop> Find(Ipv4Address destination) = 0;
    /// @return the signature of the routes
    virtual Signature GetSignature() = 0;

    /**
     * @brief Makes the source of a node.
     * @param name "global", "static" or "shortest-paths"
     * @param ipv4 the IP of the node
     * @return the source; null if there is none of this name
     */
    static std::unique_ptr<NextHopSource> Make(const std::string& name, Ptr<Ipv4> ipv4);
};

} // namespace ns3

#endif /* NEXT_HOP_SOURCE_H */
