# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a script without the module and with a policy, and compares:
#   cmake -DPROGRAM=FILE -DPOLICY=NAME -DEXPECT=WORD -P compare.cmake
# Every packet must arrive, and no run may warn, unless WORD says so:
#   through     nothing else
#   same        both print the same, because no packet has a choice of paths
#   warned      so too, and the run with the policy says once why it has no effect
#   unbalanced  so too, and it says once why it does not balance packets
#   overruled   the run with the policy says once that it overrules the protocol below
#   cheap       it takes at most 5 % more CPU, at the best of up to five runs
#   half        at most half as much, since global routing searches its table for each packet and the
#               module does not

set(says_warned "policy ${POLICY} has no effect")
set(says_unbalanced "policy ${POLICY} does not balance packets")
set(says_overruled "policy ${POLICY}, as at node [0-9]+, overrules")

function(run policy result)
  execute_process(
    COMMAND "${PROGRAM}" "--policy=${policy}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors
  )
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} --policy=${policy}: status ${status}\n${output}${errors}")
  endif()
  string(REGEX MATCHALL "warning" _said "${errors}")
  list(LENGTH _said _count)
  if(DEFINED says_${EXPECT} AND NOT policy STREQUAL "none")
    if(NOT _count EQUAL 1 OR NOT errors MATCHES "warning: ${says_${EXPECT}}")
      message(FATAL_ERROR "${PROGRAM} --policy=${policy} says: ${errors}")
    endif()
  elseif(_count GREATER 0)
    message(FATAL_ERROR "${PROGRAM} --policy=${policy} warns: ${errors}")
  endif()
  string(REGEX MATCH "CPU of the run: ([0-9]+) us" _match "${errors}")
  set(${result}_output "${output}" PARENT_SCOPE)
  set(${result}_us "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

set(percent 105)
if(EXPECT STREQUAL "half")
  set(percent 50)
endif()
set(best_without "")
set(best_with "")
foreach(round RANGE 1 5)
  run(none without)
  run("${POLICY}" with)
  if(EXPECT MATCHES "same|warned|unbalanced" AND NOT without_output STREQUAL with_output)
    message(FATAL_ERROR "without:\n${without_output}\nwith ${POLICY}:\n${with_output}")
  endif()
  foreach(side without with)
    if(best_${side} STREQUAL "" OR ${side}_us LESS best_${side})
      set(best_${side} "${${side}_us}")
    endif()
  endforeach()
  math(EXPR limit "${best_without} * ${percent} / 100")
  if(NOT EXPECT MATCHES "cheap|half" OR NOT best_with GREATER limit)
    message(STATUS "${POLICY}: ${best_with} us of CPU, without the module ${best_without} us")
    return()
  endif()
endforeach()
message(FATAL_ERROR "${POLICY}: ${best_with} us of CPU, more than ${percent} % of ${best_without} us")
