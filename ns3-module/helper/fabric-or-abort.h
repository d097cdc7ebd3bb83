// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_OR_ABORT_H
#define FABRIC_OR_ABORT_H

#include "ns3/fatal-error.h"

#include <exception>

namespace ns3
{

/// Functions that the source files of FabricHelper share.
namespace fabrichelper
{

/**
 * @brief Calls a function; ends the program with the reason if it throws an exception.
 * @tparam Make type of the function
 * @param make the function
 * @return its result
 */
template <class Make>
auto
OrAbort(Make make) -> decltype(make())
{
    try
    {
        return make();
    }
    catch (const std::exception& error)
    {
        NS_FATAL_ERROR("evenkeel: " << error.what());
    }
    return decltype(make())();
}

} // namespace fabrichelper

} // namespace ns3

#endif /* FABRIC_OR_ABORT_H */
