// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef COLLECTIVE_HELPER_H
#define COLLECTIVE_HELPER_H

#include "ns3/attribute.h"
#include "ns3/node-container.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3
{

class FabricHelper;

/**
 * @ingroup evenkeel
 * @brief Installs a collective operation, a trace or another workload on hosts of a fabric.
 *
 * Rank i is the i-th node of the container; a node with several NICs may be named once for each.
 * The workload starts with the simulation, and each message starts after those that it depends on.
 * Several workloads of a fabric are jobs that run side by side. The fabric's trace source Finished
 * fires when all messages have completed.
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
     * @brief Sets the size in bytes.
     * @param bytes per rank of a collective, otherwise per flow
     */
    void SetBytes(uint64_t bytes);
    /**
     * @brief Sets the traffic class of the messages; the default is the first class.
     * @param trafficClass a name of FabricHelper::AddClass
     */
    void SetClass(const std::string& trafficClass);
    /**
     * @brief Sets any other key of a scenario's section [workload], such as algorithm or file. Each
     * key can be set once.
     * @param key the key
     * @param value its value; a size is a StringValue, such as "64KiB"
     */
    void Set(const std::string& key, const AttributeValue& value);
    /**
     * @brief Adds the workload to a fabric, before FabricHelper::Finish or a Create call.
     * @param fabric the helper that makes the fabric
     * @param ranks hosts, by rank; empty for all hosts of the fabric
     */
    void Install(FabricHelper& fabric, const NodeContainer& ranks = NodeContainer()) const;

  private:
    /**
     * @brief Sets a key. Aborts with a message if it has been set before.
     * @param call name of the script's call, for the message
     * @param key the key
     * @param value its value
     */
    void SetOnce(const std::string& call, const std::string& key, const std::string& value);

    std::map<std::string, std::string> m_keys; //!< keys of the section and their values
};

} // namespace ns3

#endif /* COLLECTIVE_HELPER_H */
