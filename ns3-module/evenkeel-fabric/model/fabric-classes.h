// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_CLASSES_H
#define FABRIC_CLASSES_H

#include <cstdint>
#include <string>

namespace ns3
{

/// Maximum number of data traffic classes: PFC has eight priorities, and control packets use one.
constexpr uint32_t FABRIC_MOST_CLASSES = 7;

/**
 * @ingroup evenkeel
 * @brief A traffic class of data packets.
 */
struct FabricClass
{
    std::string name; //!< its name
    bool pfc{true};   //!< protected by priority flow control, if switches have it
};

/**
 * @ingroup evenkeel
 * @brief The code points (DSCP) of traffic classes on the wire.
 *
 * Class i has the class selector code point i of RFC 2474 (section 4.2.2), DSCP 8 i, and priority i
 * of IEEE 802.1Qbb. Control packets have class selector 7, DSCP 56, and priority 7. These are the
 * priorities that switches derive from the upper three bits of a DSCP.
 *
 * Three points are choices of evenkeel. Classes get their code points in the order in which they
 * are added. A code point that matches only the upper three bits does not belong to the class. IP
 * with class selector 6 or 7 is not preferred over 0, although section 4.2.2.2 asks for it.
 */
class FabricCodePoints
{
  public:
    /// The DSCP of all RDMA packets without traffic classes: AF31.
    static constexpr uint8_t WITHOUT_CLASSES = 26;
    /// The DSCP of control packets with traffic classes.
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
     * @return its class, or the first class if no class has this code point: RFC 2474 (section 3)
     *         gives unrecognized code points the default behaviour, which is code point 0
     */
    static constexpr uint32_t ClassOf(uint8_t dscp, uint32_t classes)
    {
        return dscp % 8 == 0 && dscp / 8U < classes ? dscp / 8U : 0;
    }
};

} // namespace ns3

#endif /* FABRIC_CLASSES_H */
