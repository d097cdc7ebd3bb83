// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef HPCC_EXPERIMENT_H
#define HPCC_EXPERIMENT_H

#include "fabric-helper.h"

#include "ns3/fabric-core.h"
#include "ns3/fabric.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Runs an experiment of the HPCC family of simulators from its own files.
 *
 * It reads the configuration, topology and flow files of HPCC, ConWeave and their relatives
 * unchanged, with one additional key, LB_POLICY, and writes results in that family's formats. The
 * results are complete only if this object lives until the simulation ends. If it is destroyed
 * earlier, the simulation continues without recording.
 */
class HpccExperiment
{
  public:
    /**
     * Throws std::invalid_argument with file, line and explanation if a file is invalid.
     *
     * @param config path of the configuration; paths in it are looked up relative to the working
     *        directory, then relative to the configuration, then by their names in its folder
     * @param policy overrides LB_POLICY of the configuration unless it is empty
     * @param rounding of transmission times; the simulators of the family truncate
     */
    explicit HpccExperiment(const std::string& config,
                            const std::string& policy = "",
                            FabricRounding rounding = FabricRounding::EXACT);
    ~HpccExperiment();

    // Not copyable.
    HpccExperiment(const HpccExperiment&) = delete;
    HpccExperiment& operator=(const HpccExperiment&) = delete;

    /// @return the load-balancing policy
    std::string GetPolicy() const;
    /// @return a sentence for each key that is ignored or has another effect than in the family
    std::vector<std::string> GetWarnings() const;
    /**
     * @brief Makes nodes and links. Can be called once; everything starts with the simulation.
     * @param helper a helper that has made nothing yet
     * @return the fabric
     */
    Ptr<Fabric> Build(FabricHelper& helper);
    /**
     * @brief Writes the results, after the simulation and before Simulator::Destroy.
     *
     * fct.txt has one line per flow, in order of completion: source, destination, their ports,
     * bytes, start, completion time, and completion time on an idle path, in ns. pfc.txt has one
     * line per frame: time in ns, node, 0 for a host or 1 for a switch, interface, 1 for a pause or
     * 0 for a resume. FCT_OUTPUT_FILE and PFC_OUTPUT_FILE name copies of both.
     *
     * The configuration may request more files: the family's binary trace of packet events
     * (TRACE_OUTPUT_FILE); histograms of the queue length of each switch interface, in KB
     * (QLEN_MON_FILE, HPCC); ConWeave's monitors (UPLINK_MON_FILE, CONN_MON_FILE, CNP_OUTPUT_FILE).
     * They are kept in temporary files during the run.
     *
     * Throws std::runtime_error with an explanation if a file cannot be written.
     *
     * @param folder the folder, which must exist
     */
    void Write(const std::string& folder);

  private:
    /// The experiment in Rust.
    struct Impl;
    std::unique_ptr<Impl> m_impl; //!< the experiment in Rust

    Ptr<Fabric> m_fabric; //!< the fabric that Build made
};

} // namespace ns3

#endif /* HPCC_EXPERIMENT_H */
