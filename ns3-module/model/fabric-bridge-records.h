// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_BRIDGE_RECORDS_H
#define FABRIC_BRIDGE_RECORDS_H

// Private: no header that scripts include may include cxx or Rust.

#include "fabric-core.h"

// First: the generated header declares rust::Error only where a call of C++ may fail.
#include "rust/cxx.h"

#include "evenkeel/rust/bridge/world/contract.rs.h"

#include <stdexcept>
#include <vector>

namespace ns3
{

class Fabric;

/// What the bridge to Rust converts: graphs, descriptions, measurements and errors.
namespace bridgerecords
{

/**
 * @brief Makes something; an error of Rust becomes an exception of the standard library.
 * @tparam Make type of the function
 * @param make the function that makes it
 * @return what was made
 */
template <class Make>
auto
OrInvalid(Make make) -> decltype(make())
{
    try
    {
        return make();
    }
    catch (const rust::Error& error)
    {
        throw std::invalid_argument(error.what());
    }
}

/**
 * @tparam T type of the elements
 * @param elements a vector of Rust
 * @return the same elements
 */
template <class T>
std::vector<T>
ToVector(const rust::Vec<T>& elements)
{
    return std::vector<T>(elements.begin(), elements.end());
}

/**
 * @param graph a graph of the contract
 * @return the same for scripts
 */
FabricGraph ToGraph(const evenkeel::contract::Graph& graph);
/**
 * @param graph a graph of a script
 * @return the same for the contract
 */
evenkeel::contract::Graph FromGraph(const FabricGraph& graph);
/**
 * @param experiment an experiment
 * @param core its hosts and policies, at its start
 * @return its description
 */
FabricDescription Describe(const evenkeel::contract::Experiment& experiment,
                           const evenkeel::contract::Core& core);
/**
 * @param fabric a fabric whose run has ended
 * @return what it measured
 */
evenkeel::contract::Measured Measure(const Fabric& fabric);

} // namespace bridgerecords

} // namespace ns3

#endif /* FABRIC_BRIDGE_RECORDS_H */
