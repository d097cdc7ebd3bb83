// SPDX-License-Identifier: GPL-2.0-only

#ifndef COLLECTIVE_HELPER_H
#define COLLECTIVE_HELPER_H

#include "ns3/node-container.h"

#include <cstdint>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * @ingroup evenkeel
 * @brief A collective operation, a trace or another workload over hosts of a fabric.
 *
 * Rank i is the i-th node of the container; the hosts of a workload have the lowest numbers. What
 * waits for what is in the workload: it starts when the simulation does, and the fabric's trace
 * source Finished tells when all of it is complete.
 */
class CollectiveHelper
{
  public:
    /**
     * @param kind a collective's name (`evenkeel list collectives`), or permutation, shift,
     *        incast, flows, chakra, goal, ...
     */
    explicit CollectiveHelper(const std::string& kind);

    /**
     * @brief Sets the size.
     * @param bytes for each rank of a collective, for each flow otherwise
     */
    void SetBytes(uint64_t bytes);
    /**
     * @brief Sets the algorithm, where a collective has several.
     * @param algorithm such as ring or halving-doubling
     */
    void SetAlgorithm(const std::string& algorithm);
    /**
     * @brief Takes a trace or a list of flows from a file.
     * @param path of the file; for Chakra what comes before ".RANK.et"
     */
    void SetFile(const std::string& path);
    /**
     * @brief Sets any other key of a scenario's section [workload].
     * @param key the key
     * @param value its value as it is written there, with the quotes of a text
     */
    void Set(const std::string& key, const std::string& value);
    /**
     * @brief Plans the workload, before FabricHelper::Finish or a Create call.
     * @param fabric what builds the fabric
     * @param ranks hosts, by rank; none for all hosts of the fabric
     */
    void Install(FabricHelper& fabric, const NodeContainer& ranks = NodeContainer()) const;
    /// @return the section [workload] of a scenario
    std::string Describe() const;

  private:
    std::string m_keys; //!< lines of the section
};

} // namespace ns3

#endif /* COLLECTIVE_HELPER_H */
