// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef QUOTED_H
#define QUOTED_H

#include <cstdio>
#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Quotes a text as a basic string of TOML 1.0, for sections of a scenario.
 * @param text any text in UTF-8
 * @return the text in quotes, with escapes for quotes, backslashes and control characters
 */
inline std::string
Quoted(const std::string& text)
{
    std::string quoted = "\"";
    for (const char each : text)
    {
        const auto code = static_cast<unsigned char>(each);
        if (code < 0x20 || code == 0x7f)
        {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(code));
            quoted += escape;
            continue;
        }
        if (each == '"' || each == '\\')
        {
            quoted += '\\';
        }
        quoted += each;
    }
    return quoted + "\"";
}

} // namespace ns3

#endif /* QUOTED_H */
