// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef FABRIC_VERBS_H
#define FABRIC_VERBS_H

#include "fabric-verbs-records.h"

#include <ostream>

namespace ns3
{

/**
 * @brief Prints a state by its name in the specification.
 * @param os the stream
 * @param state the state
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricQpState state);
/**
 * @brief Prints the kind of work that completed.
 * @param os the stream
 * @param opcode the kind
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricOpcode opcode);
/**
 * @brief Prints a status by its name in rdma-core.
 * @param os the stream
 * @param status the status
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, FabricCompletionStatus status);
/**
 * @brief Prints a completion on one line.
 * @param os the stream
 * @param completion the completion
 * @return the stream
 */
std::ostream& operator<<(std::ostream& os, const FabricCompletion& completion);

} // namespace ns3

#endif /* FABRIC_VERBS_H */
