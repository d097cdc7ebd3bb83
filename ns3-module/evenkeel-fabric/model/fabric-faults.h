// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_FAULTS_H
#define FABRIC_FAULTS_H

#include "fabric-core.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Decides which packets faulty links lose.
 *
 * A link that is down loses every packet that is on its wire at any time during the outage. A lossy
 * link loses each packet that starts during the fault with a given probability.
 */
class FabricFaults
{
  public:
    /**
     * @param faults of all links
     * @param switching draws whether a lossy link loses a packet
     */
    FabricFaults(const std::vector<FabricFault>& faults, FabricSwitching& switching);

    /// @return the numbers of all links with a fault at any time; a link may be repeated
    std::vector<uint32_t> GetLinks() const;
    /**
     * @brief Decides whether a packet was lost on a wire.
     * @param port the port that sent it
     * @param startPs when its first bit started
     * @param endPs when its last bit arrived
     * @return true if it was lost
     */
    bool Loses(uint32_t port, uint64_t startPs, uint64_t endPs);

  private:
    FabricSwitching& m_switching;       //!< draws random losses
    std::vector<FabricFault> m_outages; //!< by link and time, without overlaps
    std::vector<FabricFault> m_lossy;   //!< by link
};

} // namespace ns3

#endif /* FABRIC_FAULTS_H */
