// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_CLASSES_H
#define FABRIC_CLASSES_H

#include "fabric-pool.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/// The most traffic classes of data: PFC has eight priorities, one of which control packets have.
constexpr uint32_t FABRIC_MOST_CLASSES = 7;

/**
 * @ingroup evenkeel
 * @brief A traffic class of data packets.
 */
struct FabricClass
{
    std::string name; //!< its name
    bool pfc{true};   //!< priority flow control protects it, where switches have that

    /**
     * @param classes of a fabric; none if data has one queue
     * @param name name of a class; empty for the first one
     * @return its number; 0 for the first one also if data has one queue; none if no class has the
     *         name
     */
    static std::optional<uint32_t> Find(const std::vector<FabricClass>& classes,
                                        const std::string& name);
    /**
     * @param classes of a fabric
     * @param name a name that none of them has
     * @return what is wrong, and what would be right
     */
    static std::string Explain(const std::vector<FabricClass>& classes, const std::string& name);
};

/**
 * @ingroup evenkeel
 * @brief The code points (DSCP) of traffic classes on the wire.
 *
 * Class i has the class selector code point i of RFC 2474 (section 4.2.2), DSCP 8 i, and priority i
 * of IEEE 802.1Qbb; control packets have class selector 7, DSCP 56, and priority 7. These are the
 * priorities that switches derive from the upper three bits of a DSCP. That classes have them in
 * the order in which they are added is a choice of evenkeel. So are two others: code points with
 * the same three bits and other lower ones are not those of the class, and IP with class selector
 * 6 or 7 has no preference over 0, which section 4.2.2.2 asks for.
 */
class FabricCodePoints
{
  public:
    /// The DSCP of all packets of RDMA where data has no classes: AF31.
    static constexpr uint8_t WITHOUT_CLASSES = 26;
    /// The DSCP of control packets beside classes.
    static constexpr uint8_t CONTROL = 7 << 3;

    /**
     * @param trafficClass number of a class
     * @return the DSCP of its packets
     */
    static constexpr uint8_t Of(uint32_t trafficClass)
    {
        return static_cast<uint8_t>(trafficClass << 3);
    }

    /**
     * @param dscp the DSCP of an IP packet
     * @param classes number of classes
     * @return its class: the first one if the code point is that of no class, as RFC 2474
     *         (section 3) gives a packet with a code point that is not recognized the default
     *         behaviour, whose code point is 0
     */
    static constexpr uint32_t ClassOf(uint8_t dscp, uint32_t classes)
    {
        return dscp % 8 == 0 && dscp / 8U < classes ? dscp / 8U : 0;
    }
};

/**
 * @ingroup evenkeel
 * @brief The queues of a port by traffic class, in place of its queue of packets without priority.
 */
struct FabricClassQueues
{
    std::array<FabricPool::List, FABRIC_MOST_CLASSES> lists;  //!< queued packets, by class
    std::array<uint32_t, FABRIC_MOST_CLASSES> waitingBytes{}; //!< their bytes, by class
    uint8_t waiting{0};                                       //!< classes with packets: a bit each
    uint8_t paused{0};                                        //!< classes that the far end pauses
    uint8_t ipFirst{0}; //!< of a NIC: classes in which RDMA had the wire last

    /**
     * @param trafficClass number of a class
     * @return its bit in a set of classes
     */
    static constexpr uint8_t BitOf(uint32_t trafficClass)
    {
        return static_cast<uint8_t>(1U << trafficClass);
    }

    /// @return the classes with a packet that may start: a bit each
    uint8_t GetReady() const
    {
        return static_cast<uint8_t>(waiting & ~paused);
    }
};

} // namespace ns3

#endif /* FABRIC_CLASSES_H */
