// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_OR_ABORT_H
#define FABRIC_OR_ABORT_H

#include "ns3/refuse.h"

#include <exception>
#include <string>

namespace ns3
{

/// Functions that source files of evenkeel-fabric share.
namespace fabrichelper
{

/**
 * @brief Calls a function. Aborts with a message if it throws an exception.
 * @tparam Make type of the function
 * @param call name of the script's call, for the message
 * @param make the function
 * @return its result
 */
template <class Make>
auto
OrAbort(const std::string& call, Make make) -> decltype(make())
{
    std::string reason;
    try
    {
        return make();
    }
    catch (const std::exception& error)
    {
        reason = error.what();
    }
    // Abort outside of the exception handler: std::terminate would print the exception again.
    EVENKEEL_REFUSE(call, reason);
    return decltype(make())();
}

} // namespace fabrichelper

} // namespace ns3

#endif /* FABRIC_OR_ABORT_H */
