// SPDX-License-Identifier: MIT
//
// Checks of input files whose errors ASTRA-sim does not report.

#ifndef EVENKEEL_ASTRA_SIM_INPUTS_H
#define EVENKEEL_ASTRA_SIM_INPUTS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::astra_sim
{

/// Reads the sizes of the logical dimensions from a file; one dimension with all hosts if `path` is
/// empty. The functions of this header throw an exception that says why an input is invalid.
std::vector<int> LogicalDims(const std::string& path, std::uint32_t hosts);

/// Rejects a system that lacks the algorithm of a dimension, because collectives would skip it.
/// Warns of algorithms beyond the last dimension.
void CheckSystem(const std::string& path, std::size_t dims);

/// Rejects empty traces of ranks, and warns of a trace that no rank reads.
void CheckTraces(const std::string& prefix, std::size_t ranks);

} // namespace evenkeel::astra_sim

#endif
