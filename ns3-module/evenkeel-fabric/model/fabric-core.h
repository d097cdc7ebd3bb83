// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_CORE_H
#define FABRIC_CORE_H

#include "fabric-classes.h"
#include "fabric-records.h"
#include "fabric-verbs.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace evenkeel
{
namespace contract
{

struct Core;

} // namespace contract
} // namespace evenkeel

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

/**
 * @ingroup evenkeel
 * @brief NIC settings of some hosts that differ from the common ones.
 */
struct FabricNicSettings
{
    std::vector<uint32_t> hosts; //!< numbers of the hosts
    std::string settings;        //!< text of a scenario file, whose [transport] applies to them
    FabricQpSettings queuePairs; //!< settings of their queue pairs for scripts
};

/**
 * @ingroup evenkeel
 * @brief The core of a fabric: evenkeel's NICs and switches in Rust, which make every decision and
 * random draw, and the description of the fabric.
 */
class FabricCore
{
  public:
    /// The object in Rust. Public headers must not include headers of cxx.
    struct Impl;

    /**
     * @param impl NICs and switches at their start
     */
    explicit FabricCore(Impl impl);
    ~FabricCore();

    /// @return hosts, switches and links
    const FabricGraph& GetGraph() const
    {
        return m_graph;
    }

    /// @return the settings of switches and links
    const FabricSettings& GetSettings() const
    {
        return m_settings;
    }

    /// @return the traffic classes of data; empty if data has one queue
    const std::vector<FabricClass>& GetClasses() const
    {
        return m_classes;
    }

    /// @return every flow so far, by message and piece
    std::vector<FabricFlow> GetFlows() const;
    /// @return the sums of the counters of all NICs
    FabricNicCounters GetCounters() const;
    /// @return counts of queue pairs
    FabricQpCounts GetQpCounts() const;

    /// @return the object in Rust
    Impl& GetImpl() const
    {
        return *m_impl;
    }

  private:
    std::unique_ptr<Impl> m_impl;       //!< the object in Rust
    FabricGraph m_graph;                //!< hosts, switches and links
    FabricSettings m_settings;          //!< settings of switches and links
    std::vector<FabricClass> m_classes; //!< traffic classes
};

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a scenario.
 *
 * Throws std::invalid_argument with an explanation if the scenario is invalid.
 *
 * @param scenario the text of a scenario file
 * @param folder the folder to which paths in it are relative
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const std::string& scenario, const std::string& folder);

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a scenario file.
 *
 * Throws std::invalid_argument with an explanation if the scenario is invalid.
 *
 * @param path of the file
 * @return the core
 */
std::unique_ptr<FabricCore> ReadFabricCore(const std::string& path);

/**
 * @ingroup evenkeel
 * @brief Makes evenkeel's NICs and policies for a graph.
 *
 * Throws std::invalid_argument with an explanation if the graph or the settings are invalid.
 *
 * @param graph hosts, switches and links
 * @param settings the text of a scenario file. Its section [topology] may have only gap and
 *        forwarding_delay. Without [workload] and [[job]] there are no messages until some are
 *        posted
 * @param queuePairs the settings of the queue pairs of scripts
 * @param nics NICs with other settings
 * @return the core
 */
std::unique_ptr<FabricCore> MakeFabricCore(const FabricGraph& graph,
                                           const std::string& settings,
                                           const FabricQpSettings& queuePairs = {},
                                           const std::vector<FabricNicSettings>& nics = {});

/**
 * @ingroup evenkeel
 * @brief Makes one of evenkeel's topologies.
 *
 * Throws std::invalid_argument with an explanation if the section is invalid.
 *
 * @param topology the text of a scenario's section [topology], without its heading
 * @param folder the folder to which paths in it are relative
 * @return the graph
 */
FabricGraph MakeFabricGraph(const std::string& topology, const std::string& folder);

} // namespace ns3

#endif /* FABRIC_CORE_H */
