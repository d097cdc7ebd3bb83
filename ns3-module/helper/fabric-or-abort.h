// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_OR_ABORT_H
#define FABRIC_OR_ABORT_H

#include "ns3/fatal-error.h"

#include <exception>
#include <string>

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
    std::string reason;
    try
    {
        return make();
    }
    catch (const std::exception& error)
    {
        reason = error.what();
    }
    // Outside of the handler: std::terminate would print the exception again.
    NS_FATAL_ERROR("evenkeel: " << reason);
    return decltype(make())();
}

/**
 * @brief Ends the program because of a call that cannot take effect.
 * @param call the call, such as "FabricHelper::Install"
 * @param cure why, and what would be right
 */
inline void
Refuse(const std::string& call, const std::string& cure)
{
    NS_FATAL_ERROR("evenkeel: " << call << ": " << cure);
}

} // namespace fabrichelper

} // namespace ns3

#endif /* FABRIC_OR_ABORT_H */
