# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a script without the module and with a policy, and compares:
#   cmake -DPROGRAM=FILE -DPOLICY=NAME -DEXPECT=same|warned|through|cheap|half -P compare.cmake
# Every packet must arrive, and no run may warn. `same`: both print the same, because no packet has a
# choice of paths. `warned`: so too, and the run with the policy says why it has no effect. `cheap`:
# the run with the policy takes at most 5 % more CPU, at the best of up to five runs; `half`: at most
# half as much, since global routing searches its table for each packet and the module does not.

function(run policy result)
  execute_process(
    COMMAND "${PROGRAM}" "--policy=${policy}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors
  )
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} --policy=${policy}: status ${status}\n${output}${errors}")
  endif()
  string(FIND "${errors}" "evenkeel: warning: policy ${policy} has no effect" _said)
  if(EXPECT STREQUAL "warned" AND NOT policy STREQUAL "none")
    if(_said EQUAL -1)
      message(FATAL_ERROR "${PROGRAM} --policy=${policy} has no effect, but says: ${errors}")
    endif()
  elseif(errors MATCHES "warning")
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
  if(EXPECT MATCHES "same|warned" AND NOT without_output STREQUAL with_output)
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
