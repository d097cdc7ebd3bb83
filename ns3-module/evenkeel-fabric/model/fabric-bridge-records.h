// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_BRIDGE_RECORDS_H
#define FABRIC_BRIDGE_RECORDS_H

// Private: public headers must not include headers of cxx or of the Rust library.

#include "fabric-core.h"

// rust/cxx.h comes first: the generated header declares rust::Error only if a call into C++ can
// fail.
#include "evenkeel-bridge/world/contract.rs.h"
#include "rust/cxx.h"

#include <stdexcept>
#include <vector>

namespace ns3
{

class Fabric;

/// Conversions between C++ and Rust: graphs, descriptions, measurements and errors.
namespace bridgerecords
{

/**
 * @brief Calls a function and converts an error from Rust to a standard exception.
 * @tparam Exception type of the exception
 * @tparam Function type of the function
 * @param function the function
 * @return its result
 */
template <class Exception, class Function>
auto
OrThrow(Function function) -> decltype(function())
{
    try
    {
        return function();
    }
    catch (const rust::Error& error)
    {
        throw Exception(error.what());
    }
}

/**
 * @tparam T type of the elements
 * @param elements a Rust vector
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
 * @return the graph for scripts
 */
FabricGraph ToGraph(const evenkeel::contract::Graph& graph);
/**
 * @param graph a graph of a script
 * @return the graph of the contract
 */
evenkeel::contract::Graph FromGraph(const FabricGraph& graph);
/**
 * @param nics NICs of a script
 * @return the NICs of the contract
 */
std::vector<evenkeel::contract::NicSettings> FromNics(const std::vector<FabricNicSettings>& nics);
/**
 * @param experiment an experiment
 * @param core its hosts and policies, at its start
 * @return its description
 */
FabricDescription Describe(const evenkeel::contract::Experiment& experiment,
                           const evenkeel::contract::Core& core);
/**
 * @param fabric a fabric whose run has ended
 * @return its measurements
 */
evenkeel::contract::Measured Measure(Fabric& fabric);

} // namespace bridgerecords

} // namespace ns3

#endif /* FABRIC_BRIDGE_RECORDS_H */
