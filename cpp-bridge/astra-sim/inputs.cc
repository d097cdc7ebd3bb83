// SPDX-License-Identifier: MIT
//
// Implements inputs.h.

#include "inputs.h"

#include <json/json.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace evenkeel::astra_sim
{

namespace
{

/// Suffix of the keys that name an algorithm for each dimension.
const std::string IMPLEMENTATION = "-implementation";

bool
EndsWith(const std::string& text, const std::string& end)
{
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

// ASTRA-sim's files have dimensions as text; numbers are accepted too.
std::vector<int>
LogicalDims(const std::string& path, std::uint32_t hosts)
{
    if (path.empty())
    {
        return {static_cast<int>(hosts)};
    }
    const auto wrong = [&path](const std::string& what) {
        return std::runtime_error("--logical-topology-configuration=" + path + ": " + what +
                                  R"(; expected {"logical-dims": ["8", "2"]})");
    };
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (!file.is_open() || json.is_discarded())
    {
        throw wrong(file.is_open() ? "not valid JSON" : "cannot read the file");
    }
    if (!json.is_object() || !json.contains("logical-dims") || !json["logical-dims"].is_array() ||
        json["logical-dims"].empty())
    {
        throw wrong("the list logical-dims is missing or empty");
    }
    std::vector<int> dims;
    std::uint64_t npus = 1;
    for (const auto& dim : json["logical-dims"])
    {
        const std::string text = dim.is_string() ? dim.get<std::string>() : dim.dump();
        const bool isNumber = !text.empty() && text.size() < 10 &&
                              text.find_first_not_of("0123456789") == std::string::npos;
        const int size = isNumber ? std::stoi(text) : 0;
        if (size < 1)
        {
            throw wrong("invalid dimension " + dim.dump());
        }
        dims.push_back(size);
        npus *= static_cast<std::uint64_t>(size);
        if (npus > hosts)
        {
            throw wrong("its dimensions have more NPUs than the network's " +
                        std::to_string(hosts) + " hosts");
        }
    }
    return dims;
}

void
CheckSystem(const std::string& path, std::size_t dims)
{
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    const std::string option = "--system-configuration=" + path + ": ";
    if (!file.is_open() || !json.is_object())
    {
        throw std::runtime_error(option + (file.is_open() ? "not a JSON object"
                                                          : "cannot read the file"));
    }
    for (const auto& [key, algorithms] : json.items())
    {
        if (!EndsWith(key, IMPLEMENTATION) || !algorithms.is_array() || algorithms.size() == dims)
        {
            continue;
        }
        const std::string counts = key + " has " + std::to_string(algorithms.size()) +
                                   " algorithms for " + std::to_string(dims) +
                                   " logical dimensions";
        if (algorithms.size() < dims)
        {
            throw std::runtime_error(option + counts +
                                     "; expected one per dimension, or collectives skip some");
        }
        std::cerr << "evenkeel: warning: " << option << counts << "; the last ones are ignored"
                  << std::endl;
    }
}

void
CheckTraces(const std::string& prefix, std::size_t ranks)
{
    const auto name = [&prefix](std::size_t rank) {
        return prefix + "." + std::to_string(rank) + ".et";
    };
    for (std::size_t rank = 0; rank < ranks; ++rank)
    {
        std::error_code missing;
        if (std::filesystem::file_size(name(rank), missing) == 0 && !missing)
        {
            throw std::runtime_error(name(rank) + " is empty; expected metadata and nodes");
        }
    }
    if (std::filesystem::exists(name(ranks)))
    {
        std::cerr << "evenkeel: warning: " << name(ranks) << " is not read: there are " << ranks
                  << " NPUs (the product of the logical dimensions)" << std::endl;
    }
}

} // namespace evenkeel::astra_sim
