// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef DSCP_POLICIES_H
#define DSCP_POLICIES_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief The policy for a range of DSCPs.
 */
struct DscpPolicy
{
    uint8_t first;          //!< the lowest DSCP
    uint8_t last;           //!< the highest DSCP
    std::string policy;     //!< name of the policy
    std::string parameters; //!< its parameters
};

/**
 * @ingroup evenkeel
 * @brief Parses the attribute DscpPolicies.
 * @param text such as '46 = drill, 8-15 = flowlet(gap = "50us")'
 * @param[out] policies the policies in the text
 * @return an empty string, or an error message
 */
std::string ReadDscpPolicies(const std::string& text, std::vector<DscpPolicy>& policies);

} // namespace ns3

#endif /* DSCP_POLICIES_H */
