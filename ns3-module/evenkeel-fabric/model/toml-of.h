// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef TOML_OF_H
#define TOML_OF_H

#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/quoted.h"
#include "ns3/refuse.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iomanip>
#include <sstream>
#include <string>

namespace ns3
{

/**
 * @ingroup evenkeel
 * @brief Writes an attribute's value as TOML, for a scenario. Aborts with a message if a scenario
 * has no such type of value.
 * @param key the key that gets the value, for the message
 * @param value the value: a text, a number, a truth value, a time or a rate
 * @param unit unit of a number without one, such as "B"
 * @return the value as TOML
 */
inline std::string
TomlOf(const std::string& key, const AttributeValue& value, const std::string& unit = "")
{
    std::ostringstream text;
    if (const auto* it = dynamic_cast<const StringValue*>(&value))
    {
        return Quoted(it->Get());
    }
    if (const auto* it = dynamic_cast<const UintegerValue*>(&value))
    {
        text << it->Get() << unit;
        return unit.empty() ? text.str() : Quoted(text.str());
    }
    if (const auto* it = dynamic_cast<const DoubleValue*>(&value))
    {
        text << std::showpoint << std::setprecision(17) << it->Get();
        return text.str();
    }
    if (const auto* it = dynamic_cast<const BooleanValue*>(&value))
    {
        return it->Get() ? "true" : "false";
    }
    if (const auto* it = dynamic_cast<const TimeValue*>(&value))
    {
        text << it->Get().GetPicoSeconds() << "ps";
        return Quoted(text.str());
    }
    const auto* rate = dynamic_cast<const DataRateValue*>(&value);
    EVENKEEL_REFUSE_IF(!rate,
                       key,
                       "a scenario has no value of this type: pass a StringValue, UintegerValue, "
                       "DoubleValue, BooleanValue, TimeValue or DataRateValue");
    text << rate->Get().GetBitRate() << "bps";
    return Quoted(text.str());
}

} // namespace ns3

#endif /* TOML_OF_H */
