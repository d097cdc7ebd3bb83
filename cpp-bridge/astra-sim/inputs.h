// SPDX-License-Identifier: MIT
//
// Checks of files that ASTRA-sim reads without a word about what is wrong in them.

#ifndef EVENKEEL_ASTRA_SIM_INPUTS_H
#define EVENKEEL_ASTRA_SIM_INPUTS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel::astra_sim
{

/// The sizes of the logical dimensions of a file; one of all hosts if `path` is empty. An invalid
/// file is an exception with the reason, here and below.
std::vector<int> LogicalDims(const std::string& path, std::uint32_t hosts);

/// Refuses a system that lacks the algorithm of a dimension, whose collectives would skip it, and
/// warns of algorithms beyond the last dimension.
void CheckSystem(const std::string& path, std::size_t dims);

/// Refuses traces of ranks that are empty, and warns of one that no rank reads.
void CheckTraces(const std::string& prefix, std::size_t ranks);

} // namespace evenkeel::astra_sim

#endif
