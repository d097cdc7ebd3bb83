// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "dscp-policies.h"

#include <bitset>
#include <cstdlib>

namespace ns3
{

namespace
{

/// DSCPs have six bits.
constexpr uint32_t DSCPS = 64;

/**
 * @param text any text
 * @return the text without leading and trailing spaces
 */
std::string
Trimmed(const std::string& text)
{
    const char* const spaces = " \t\r\n";
    const std::size_t first = text.find_first_not_of(spaces);
    return first == std::string::npos
               ? ""
               : text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/**
 * @param text entries separated by commas
 * @return the entries; commas in parentheses do not separate
 */
std::vector<std::string>
Entries(const std::string& text)
{
    std::vector<std::string> entries(1);
    int32_t depth = 0;
    for (const char each : text)
    {
        depth += each == '(' ? 1 : each == ')' ? -1 : 0;
        if (each == ',' && depth == 0)
        {
            entries.emplace_back();
        }
        else
        {
            entries.back() += each;
        }
    }
    return entries;
}

/**
 * @param text a number
 * @param[out] dscp the number
 * @return false if it is not a DSCP
 */
bool
ReadDscp(const std::string& text, uint8_t& dscp)
{
    if (text.empty() || text.size() > 2 || text.find_first_not_of("0123456789") != text.npos)
    {
        return false;
    }
    const uint32_t number = std::strtoul(text.c_str(), nullptr, 10);
    dscp = static_cast<uint8_t>(number);
    return number < DSCPS;
}

/**
 * @param text one entry
 * @param[out] policy the parsed entry
 * @return false if it is not a valid entry
 */
bool
ReadEntry(const std::string& text, DscpPolicy& policy)
{
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
    {
        return false;
    }
    const std::string range = Trimmed(text.substr(0, equals));
    const std::size_t dash = range.find('-');
    const std::string last = dash == std::string::npos ? range : range.substr(dash + 1);
    if (!ReadDscp(Trimmed(range.substr(0, dash)), policy.first) ||
        !ReadDscp(Trimmed(last), policy.last) || policy.first > policy.last)
    {
        return false;
    }
    policy.policy = Trimmed(text.substr(equals + 1));
    policy.parameters.clear();
    const std::size_t open = policy.policy.find('(');
    if (open != std::string::npos)
    {
        if (policy.policy.back() != ')')
        {
            return false;
        }
        policy.parameters = policy.policy.substr(open + 1, policy.policy.size() - open - 2);
        policy.policy = Trimmed(policy.policy.substr(0, open));
    }
    return !policy.policy.empty();
}

} // namespace

std::string
ReadDscpPolicies(const std::string& text, std::vector<DscpPolicy>& policies)
{
    policies.clear();
    if (Trimmed(text).empty())
    {
        return "";
    }
    std::bitset<DSCPS> taken;
    for (const std::string& entry : Entries(text))
    {
        DscpPolicy policy;
        if (!ReadEntry(entry, policy))
        {
            return "DscpPolicies has '" + Trimmed(entry) +
                   "': expected DSCP = POLICY, FIRST-LAST = POLICY or "
                   "DSCP = POLICY(PARAMETERS), with DSCPs from 0 to 63; commas separate entries";
        }
        for (uint32_t dscp = policy.first; dscp <= policy.last; dscp++)
        {
            if (taken[dscp])
            {
                return "DscpPolicies has DSCP " + std::to_string(dscp) +
                       " twice: expected one policy";
            }
            taken.set(dscp);
        }
        policies.push_back(policy);
    }
    return "";
}

} // namespace ns3
