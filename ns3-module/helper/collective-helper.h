// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef COLLECTIVE_HELPER_H
#define COLLECTIVE_HELPER_H

#include "ns3/node-container.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * @ingroup evenkeel
 * @brief A collective operation, a trace or another workload over hosts of a fabric.
 *
 * Rank i is the i-th node of the container; the hosts of a workload have the lowest numbers. The
 * workload starts with the simulation, its messages start after those that they depend on, and the
 * trace source Finished of the fabric fires when all messages have completed.
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
     * @param bytes of each rank of a collective, of each flow otherwise
     */
    void SetBytes(uint64_t bytes);
    /**
     * @brief Sets the algorithm of a collective that has several.
     * @param algorithm such as ring or halving-doubling
     */
    void SetAlgorithm(const std::string& algorithm);
    /**
     * @brief Chooses the traffic class of its messages; the first one by default.
     * @param trafficClass a name of FabricHelper::AddClass
     */
    void SetClass(const std::string& trafficClass);
    /**
     * @brief Reads a trace or a list of flows from a file.
     * @param path of the file; for Chakra the part before ".RANK.et"
     */
    void SetFile(const std::string& path);
    /**
     * @brief Sets any other key of a scenario's section [workload]. Each key is set once.
     * @param key the key
     * @param value its value as written there, with the quotes of a string
     */
    void Set(const std::string& key, const std::string& value);
    /**
     * @brief Adds the workload to a fabric, before FabricHelper::Finish or a Create call.
     * @param fabric the helper that makes the fabric
     * @param ranks hosts, by rank; empty for all hosts of the fabric
     */
    void Install(FabricHelper& fabric, const NodeContainer& ranks = NodeContainer()) const;
    /// @return the section [workload] of a scenario
    std::string Describe() const;

  private:
    /**
     * @brief Sets a key, which must not have been set.
     * @param call the call of the script
     * @param key the key
     * @param value its value
     */
    void SetOnce(const std::string& call, const std::string& key, const std::string& value);

    std::map<std::string, std::string> m_keys; //!< keys of the section and their values
};

} // namespace ns3

#endif /* COLLECTIVE_HELPER_H */
