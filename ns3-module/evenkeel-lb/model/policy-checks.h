// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef POLICY_CHECKS_H
#define POLICY_CHECKS_H

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Warns on the standard error, since most builds and scripts do not enable logs, and in the
 * log.
 * @param text the warning
 */
void WarnOfPolicy(const std::string& text);

/**
 * @ingroup evenkeel
 * @brief What the policies of a simulation have checked and warned of.
 * @tparam F IPv4 or IPv6
 */
template <class F>
struct PolicyChecks
{
    /// Warns at the end of the simulation at the latest.
    ~PolicyChecks()
    {
        WarnOfNoChoice();
    }

    /// Warns that no packet has a choice, unless one has or the warning was given.
    void WarnOfNoChoice()
    {
        if (!isChoiceDone && !noChoice.empty())
        {
            WarnOfPolicy(noChoice);
        }
        isChoiceDone = true;
    }

    std::string accepted;      //!< the policies and parameters that were last accepted
    bool isNetworkDone{false}; //!< the warning of links that share a network was given
    bool isGapDone{false};     //!< the warning of a flowlet gap was given
    bool isChoiceDone{false};  //!< a packet had a choice, or the warning of none was given
    uint32_t packets{0};       //!< packets without a choice since noChoice was set
    std::string noChoice;      //!< why no packet has a choice; empty if there is nothing to choose
};

} // namespace ns3

#endif /* POLICY_CHECKS_H */
