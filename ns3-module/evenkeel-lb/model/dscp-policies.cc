// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "dscp-policies.h"

#include <bitset>
#include <regex>

namespace ns3
{

namespace
{

/// DSCPs have six bits.
constexpr uint32_t DSCPS = 64;

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

} // namespace

std::string
ReadDscpPolicies(const std::string& text, std::vector<DscpPolicy>& policies)
{
    policies.clear();
    if (text.find_first_not_of(" \t\r\n") == text.npos)
    {
        return "";
    }
    // FIRST-LAST = POLICY(PARAMETERS), in which -LAST and (PARAMETERS) are optional.
    static const std::regex format(
        R"(\s*(\d\d?)\s*(?:-\s*(\d\d?)\s*)?=\s*([^\s(][^(]*?)\s*(?:\(([\s\S]*)\)\s*)?)");
    std::bitset<DSCPS> taken;
    for (const std::string& entry : Entries(text))
    {
        std::smatch found;
        const bool isEntry = std::regex_match(entry, found, format);
        const uint32_t first = isEntry ? std::stoul(found[1]) : DSCPS;
        const uint32_t last = isEntry && found[2].matched ? std::stoul(found[2]) : first;
        if (first > last || last >= DSCPS)
        {
            return "DscpPolicies has '" + entry +
                   "': expected DSCP = POLICY, FIRST-LAST = POLICY or "
                   "DSCP = POLICY(PARAMETERS), with DSCPs from 0 to 63; commas separate entries";
        }
        for (uint32_t dscp = first; dscp <= last; dscp++)
        {
            if (taken[dscp])
            {
                return "DscpPolicies has DSCP " + std::to_string(dscp) +
                       " twice: expected one policy";
            }
            taken.set(dscp);
        }
        policies.push_back(
            {static_cast<uint8_t>(first), static_cast<uint8_t>(last), found[3], found[4]});
    }
    return "";
}

} // namespace ns3
