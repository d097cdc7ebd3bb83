// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "cargo.h"

#include "ns3/test.h"
#include "ns3/type-id.h"

#include <string>
#include <vector>

namespace evenkeel
{
namespace ns3way
{

std::int32_t
run_test_suite(rust::Str suite)
{
    // TestRunner::Run has the parameters of main().
    std::vector<std::string> words = {"evenkeel", "--verbose", "--suite=" + std::string(suite)};
    std::vector<char*> arguments;
    for (std::string& word : words)
    {
        arguments.push_back(&word[0]);
    }
    arguments.push_back(nullptr);
    return ns3::TestRunner::Run(static_cast<int>(words.size()), arguments.data());
}

rust::String
type_names(rust::Str group)
{
    std::string names;
    for (std::uint16_t i = 0; i < ns3::TypeId::GetRegisteredN(); i++)
    {
        const ns3::TypeId type = ns3::TypeId::GetRegistered(i);
        if (type.GetGroupName() == std::string(group))
        {
            names += type.GetName() + "\n";
        }
    }
    return names;
}

} // namespace ns3way
} // namespace evenkeel
