// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The evenkeel authors

#ifndef REFUSE_H
#define REFUSE_H

#include "ns3/fatal-error.h"

/**
 * @ingroup evenkeel
 * @brief Ends the program because of a call that cannot take effect: the one means of this module.
 * @param call the call, such as "FabricHelper::Install"
 * @param cure why, and what would be right
 */
#define EVENKEEL_REFUSE(call, cure) NS_FATAL_ERROR("evenkeel: " << call << ": " << cure)

/**
 * @ingroup evenkeel
 * @brief The same, if a condition holds.
 * @param condition the condition
 * @param call the call
 * @param cure why, and what would be right
 */
#define EVENKEEL_REFUSE_IF(condition, call, cure)                                                  \
    do                                                                                             \
    {                                                                                              \
        if (condition)                                                                             \
        {                                                                                          \
            EVENKEEL_REFUSE(call, cure);                                                           \
        }                                                                                          \
    } while (false)

#endif /* REFUSE_H */
