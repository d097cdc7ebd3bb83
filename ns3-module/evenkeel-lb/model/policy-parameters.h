// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef POLICY_PARAMETERS_H
#define POLICY_PARAMETERS_H

#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Converts policy parameters to lines of TOML.
 *
 * The attributes Parameters of LoadBalancedRouting and PolicyParameters of FabricSwitch have one
 * format: keys of a scenario's section [policy], separated by semicolons or newlines.
 *
 * @param parameters such as 'gap = "50us"; other = 3'
 * @return the parameters, one key per line; semicolons in quotes are kept
 */
inline std::string
PolicyParameterLines(const std::string& parameters)
{
    std::string lines = parameters;
    char quote = 0;
    for (char& each : lines)
    {
        if (quote == 0 && each == ';')
        {
            each = '\n';
        }
        else if (quote == 0 && (each == '"' || each == '\''))
        {
            quote = each;
        }
        else if (each == quote || each == '\n')
        {
            quote = 0;
        }
    }
    return lines;
}

} // namespace ns3

#endif /* POLICY_PARAMETERS_H */
