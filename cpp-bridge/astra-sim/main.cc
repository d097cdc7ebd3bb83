// SPDX-License-Identifier: MIT
//
// ASTRA-sim with the network of evenkeel: the options of ASTRA-sim's other networks under their
// names, and a scenario of evenkeel as network configuration.

#include "rank-network.h"

#include "astra-sim/common/Logging.hh"
#include "astra-sim/system/Sys.hh"

#include <cxxopts/cxxopts.hpp>
#include <json/json.hpp>
#include <remote_memory_backend/analytical/AnalyticalRemoteMemory.hh>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

using evenkeel::astra_sim::NetworkOptions;
using evenkeel::astra_sim::RankNetwork;
using evenkeel::astra_sim::Simulation;

/// The status of invalid input.
constexpr int INVALID = 2;

/// True once the status of the process is known.
bool g_ended = false;

/// Called at every exit, also those of ASTRA-sim: its log is complete, and its own exits, which are
/// for invalid input, have the status of that.
void
AtExit()
{
    AstraSim::LoggerFactory::shutdown();
    if (!g_ended)
    {
        std::cerr << "evenkeel: error: ASTRA-sim ended the process; its last lines say why"
                  << std::endl;
        std::fflush(nullptr);
        std::_Exit(INVALID);
    }
}

cxxopts::Options
Options()
{
    using cxxopts::value;
    cxxopts::Options options("evenkeel-astra-sim", "ASTRA-sim with the network of evenkeel");
    const auto text = [] { return value<std::string>(); };
    const auto none = [] { return value<std::string>()->default_value(""); };
    const auto empty = [] { return value<std::string>()->default_value("empty"); };
    const auto scale = [] { return value<double>()->default_value("1"); };
    options.set_width(100).add_options()
        ("workload-configuration", "traces, as the prefix of PREFIX.RANK.et", text())
        ("comm-group-configuration", "communicator groups (JSON), or empty", empty())
        ("system-configuration", "system (JSON)", text())
        ("remote-memory-configuration", "remote memory (JSON)", text())
        ("network-configuration", "a scenario of evenkeel (TOML); its workload is not used", text())
        ("logical-topology-configuration",
         "logical dimensions (JSON): {\"logical-dims\": [\"8\", \"2\"]}; without it there is one, "
         "of all hosts", none())
        ("logging-configuration", "loggers (TOML), or empty", empty())
        ("logging-folder", "folder of log files", value<std::string>()->default_value("log"))
        ("num-queues-per-dim", "queues per dimension", value<int>()->default_value("1"))
        ("compute-scale", "read and not used, as by ASTRA-sim", scale())
        ("comm-scale", "factor of the sizes of communication", scale())
        ("injection-scale", "factor of the injection of chunks", scale())
        ("rendezvous-protocol", "receives ask for their sends: messages below 2 GiB",
         value<bool>()->default_value("false"))
        ("policy", "policy in place of the scenario's", none())
        ("seed", "seed in place of the scenario's", none())
        ("results-folder", "folder for evenkeel's results: flows.csv, links.csv, summary.json", none())
        ("help", "print this text");
    return options;
}

/// The sizes of the logical dimensions. They are text in the files of ASTRA-sim.
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
        throw wrong(file.is_open() ? "this is not JSON" : "the file cannot be read");
    }
    if (!json.is_object() || !json.contains("logical-dims") || !json["logical-dims"].is_array() ||
        json["logical-dims"].empty())
    {
        throw wrong("there is no list logical-dims");
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
            throw wrong("a dimension is " + dim.dump());
        }
        dims.push_back(size);
        npus *= static_cast<std::uint64_t>(size);
        if (npus > hosts)
        {
            throw wrong("its dimensions have more NPUs than the network has hosts, which are " +
                        std::to_string(hosts));
        }
    }
    return dims;
}

/// Warns of traces that no rank reads.
void
WarnOfTraces(const std::string& prefix, std::size_t ranks)
{
    const std::string next = prefix + "." + std::to_string(ranks) + ".et";
    if (std::filesystem::exists(next))
    {
        std::cerr << "evenkeel: warning: " << next << " is not read: there are " << ranks
                  << " NPUs, which is the product of the logical dimensions" << std::endl;
    }
}

/// The options that only the network reads.
NetworkOptions
OfNetwork(const cxxopts::ParseResult& parsed)
{
    NetworkOptions options;
    options.scenario = parsed["network-configuration"].as<std::string>();
    options.policy = parsed["policy"].as<std::string>();
    options.seed = parsed["seed"].as<std::string>();
    options.results_folder = parsed["results-folder"].as<std::string>();
    return options;
}

int
Simulate(const cxxopts::ParseResult& parsed)
{
    const auto text = [&parsed](const char* name) { return parsed[name].as<std::string>(); };
    const auto number = [&parsed](const char* name) { return parsed[name].as<double>(); };
    for (const char* name : {"workload-configuration", "system-configuration",
                             "remote-memory-configuration", "network-configuration"})
    {
        if (parsed.count(name) == 0)
        {
            throw std::runtime_error(std::string("--") + name + " is missing; --help lists all");
        }
    }
    AstraSim::LoggerFactory::init(text("logging-configuration"), text("logging-folder"));
    std::atexit(AtExit);
    Simulation simulation(OfNetwork(parsed));
    const auto dims = LogicalDims(text("logical-topology-configuration"), simulation.Hosts());
    std::size_t ranks = 1;
    for (const int dim : dims)
    {
        ranks *= static_cast<std::size_t>(dim);
    }
    WarnOfTraces(text("workload-configuration"), ranks);
    Analytical::AnalyticalRemoteMemory memory(text("remote-memory-configuration"));
    const std::vector<int> queues(dims.size(), parsed["num-queues-per-dim"].as<int>());
    std::vector<std::unique_ptr<RankNetwork>> networks;
    std::vector<std::unique_ptr<AstraSim::Sys>> systems;
    for (std::size_t rank = 0; rank < ranks; ++rank)
    {
        const int id = static_cast<int>(rank);
        networks.push_back(std::make_unique<RankNetwork>(id, simulation));
        systems.push_back(std::make_unique<AstraSim::Sys>(
            id, text("workload-configuration"), text("comm-group-configuration"),
            text("system-configuration"), &memory, networks.back().get(), dims, queues,
            number("injection-scale"), number("comm-scale"),
            parsed["rendezvous-protocol"].as<bool>()));
    }
    return simulation.Run(static_cast<std::uint32_t>(ranks), [&systems] {
        for (const auto& system : systems)
        {
            system->workload->fire();
        }
    });
}

} // namespace

int
main(int argc, char* argv[])
{
    int status = INVALID;
    try
    {
        auto options = Options();
        const auto parsed = options.parse(argc, argv);
        if (parsed.count("help") > 0)
        {
            std::cout << options.help() << std::endl;
            return 0;
        }
        status = Simulate(parsed);
    }
    catch (const std::exception& error)
    {
        std::cerr << "evenkeel: error: " << error.what() << std::endl;
    }
    g_ended = true;
    return status;
}
