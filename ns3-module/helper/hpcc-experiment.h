// SPDX-License-Identifier: GPL-2.0-only

#ifndef HPCC_EXPERIMENT_H
#define HPCC_EXPERIMENT_H

#include "ns3/fabric-core.h"
#include "fabric-helper.h"
#include "ns3/fabric.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief An experiment of the HPCC family of simulators, from its own files.
 *
 * It reads the configuration, topology and flow files of HPCC, ConWeave and their relatives
 * unchanged, with one additional key, LB_POLICY; its results are files in the columns that the
 * family's scripts read. It must live until the simulation ends for its files to be complete; if it
 * ends before, the simulation continues without being recorded.
 */
class HpccExperiment
{
  public:
    /**
     * Throws std::invalid_argument with file, line and reason if a file is invalid.
     *
     * @param config path of the configuration; paths in it are tried relative to the working
     *        directory, then to the configuration, then by their names beside it
     * @param policy overrides LB_POLICY of the configuration unless it is empty
     * @param rounding of transmission times; the simulators of the family truncate
     */
    explicit HpccExperiment(const std::string& config,
                            const std::string& policy = "",
                            FabricRounding rounding = FabricRounding::EXACT);
    ~HpccExperiment();

    // Not to be copied.
    HpccExperiment(const HpccExperiment&) = delete;
    HpccExperiment& operator=(const HpccExperiment&) = delete;

    /// @return the load-balancing policy
    std::string GetPolicy() const;
    /// @return keys of the files that are ignored or have another effect here, a sentence each
    std::vector<std::string> GetWarnings() const;
    /**
     * @brief Makes nodes and links, once; everything starts with the simulation.
     * @param helper a helper that has made nothing yet
     * @return the fabric
     */
    Ptr<Fabric> Build(FabricHelper& helper);
    /**
     * @brief Writes the results, after the simulation and before Simulator::Destroy.
     *
     * fct.txt: source, destination, their ports, bytes, start, completion time and that on an idle
     * path in ns, a line a flow in order of completion. pfc.txt: time in ns, node, 0 for a host or
     * 1 for a switch, interface, 1 for a pause or 0 for a resume. Both once more by the names of
     * FCT_OUTPUT_FILE and PFC_OUTPUT_FILE, if those are others. And by the file names that the
     * configuration gives, while it asks for them: what happened to packets, the family's binary
     * trace (TRACE_OUTPUT_FILE); for each interface of a switch how often 0, 1, 2, ... KB waited
     * (QLEN_MON_FILE, HPCC); ConWeave's monitors (UPLINK_MON_FILE, CONN_MON_FILE,
     * CNP_OUTPUT_FILE). Those are kept in temporary files until then.
     *
     * @param folder the folder, which must exist
     */
    void Write(const std::string& folder);

  private:
    /// The experiment in Rust.
    struct Impl;
    std::unique_ptr<Impl> m_impl; //!< the experiment in Rust

    Ptr<Fabric> m_fabric;         //!< the fabric that Build made
};

} // namespace ns3

#endif /* HPCC_EXPERIMENT_H */
