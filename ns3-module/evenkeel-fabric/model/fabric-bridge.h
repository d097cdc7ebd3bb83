// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_BRIDGE_H
#define FABRIC_BRIDGE_H

// Private: public headers must not include headers of cxx or of the Rust library.

#include "fabric-core.h"

// rust/cxx.h comes first: the generated header declares rust::Error only if a call into C++ can
// fail.
#include "evenkeel-bridge/world/contract.rs.h"
#include "rust/cxx.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{

/// The object of a core in Rust.
struct FabricCore::Impl
{
    rust::Box<evenkeel::contract::Core> core; //!< NICs and switches
};

/// Conversions between C++ and Rust.
namespace bridge
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
 * @brief Calls a verb. An error becomes std::runtime_error if a queue is full or no numbers are
 * left, and std::invalid_argument otherwise.
 * @tparam Verb type of the function
 * @param verb the function that calls the verb
 * @return its result
 */
template <class Verb>
auto
CallVerb(Verb verb) -> decltype(verb())
{
    // Messages of calls that may succeed later end with this.
    static const std::string full = "(ENOMEM)";
    try
    {
        return verb();
    }
    catch (const rust::Error& error)
    {
        const std::string reason = error.what();
        if (reason.size() >= full.size() &&
            reason.compare(reason.size() - full.size(), full.size(), full) == 0)
        {
            throw std::runtime_error(reason);
        }
        throw std::invalid_argument(reason);
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

} // namespace bridge

} // namespace ns3

#endif /* FABRIC_BRIDGE_H */
