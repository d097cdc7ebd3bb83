// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FAULTS_H
#define FABRIC_FAULTS_H

#include "fabric-core.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief What links that fail do to packets: those that are down, and those that lose some.
 *
 * An outage loses what is on the wire at any moment of it, a lossy time what starts within it.
 */
class FabricFaults
{
  public:
    /**
     * @param faults of all links
     * @param switching what draws whether a lossy link loses a packet
     */
    FabricFaults(const std::vector<FabricFault>& faults, FabricSwitching& switching);

    /**
     * @param link a link
     * @return true if it ever goes down or loses anything
     */
    bool Concerns(uint32_t link) const;
    /**
     * @brief Whether a packet was lost on a wire.
     * @param port the port that it came by
     * @param startPs when its first bit started
     * @param endPs when its last bit arrived
     * @return true if it was
     */
    bool Loses(uint32_t port, uint64_t startPs, uint64_t endPs);

  private:
    FabricSwitching& m_switching;        //!< draws
    std::vector<FabricFault> m_outages;  //!< by link and time, none overlapping
    std::vector<FabricFault> m_lossy;    //!< by link
};

} // namespace ns3

#endif /* FABRIC_FAULTS_H */
