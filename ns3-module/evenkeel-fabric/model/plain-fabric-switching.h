// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef PLAIN_FABRIC_SWITCHING_H
#define PLAIN_FABRIC_SWITCHING_H

#include "fabric-core.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Small switches in C++. Among the ports on shortest paths they choose by hash, or, with
 * FabricSettings::looksAtQueues, the port with the shortest queue.
 */
class PlainFabricSwitching : public FabricSwitching
{
  public:
    /**
     * @param graph hosts, switches and links
     */
    explicit PlainFabricSwitching(const FabricGraph& graph);

    /**
     * @param ecn marking at every port
     */
    void SetEcn(const FabricEcn& ecn);
    /// Makes OnlyPort return FABRIC_NO_PORT, so that switches call Route for every packet.
    void DisableOnlyPorts();

    // Inherited from FabricSwitching.
    uint32_t Route(uint32_t switchNumber,
                   uint64_t nowPs,
                   FabricPacket& packet,
                   const std::vector<uint64_t>* loads) override;
    uint32_t OnlyPort(uint32_t switchNumber, uint32_t dst) override;
    bool Marks(uint32_t port, uint64_t waitingBytes) override;
    bool Loses(uint32_t port, uint32_t numerator, uint32_t denominator) override;
    void ApplyStep(uint32_t step, uint64_t nowPs) override;

  private:
    /**
     * @param numerator of a probability
     * @param denominator of the probability
     * @return true with that probability
     */
    bool Draw(uint64_t numerator, uint64_t denominator);

    FabricEcn m_ecn;        //!< marking at every port
    bool m_onlyPorts{true}; //!< OnlyPort may return a port
    uint64_t m_draw{1};     //!< state of the random generator
    /// Ports on shortest paths, by switch, then host.
    std::vector<std::vector<std::vector<uint32_t>>> m_routes;
};

} // namespace ns3

#endif /* PLAIN_FABRIC_SWITCHING_H */
