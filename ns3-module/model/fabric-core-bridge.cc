/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-core.h"

#include <stdexcept>

namespace ns3
{

std::unique_ptr<FabricCore>
MakeFabricCore(const std::string& scenario, const std::string& folder)
{
    throw std::invalid_argument("this build has no contract with evenkeel's NICs");
}

std::unique_ptr<FabricCore>
MakeFabricCore(const FabricGraph& graph, const std::string& settings)
{
    throw std::invalid_argument("this build has no contract with evenkeel's NICs");
}

FabricGraph
MakeFabricGraph(const std::string& topology, const std::string& folder)
{
    throw std::invalid_argument("this build has no contract with evenkeel's NICs");
}

} // namespace ns3
