// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#include "load-balanced-routing.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LoadBalancedRouting);

TypeId
LoadBalancedRouting::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::LoadBalancedRouting").AddConstructor<LoadBalancedRouting>(),
                      "global");
    return tid;
}

} // namespace ns3
