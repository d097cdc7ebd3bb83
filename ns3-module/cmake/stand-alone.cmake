# SPDX-License-Identifier: GPL-2.0-only
#
# Mode 2: builds the library, its tests and its examples against an installed ns-3. Mode 3: builds
# the library and its tests as one archive, which cargo links.

if(NOT _evenkeel_crate)
  message(FATAL_ERROR "evenkeel: cannot be built without ${_evenkeel_missing}")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Scripts include "ns3/NAME.h" in every mode.
set(_staged "${CMAKE_CURRENT_BINARY_DIR}/include")
foreach(_header ${_evenkeel_headers})
  get_filename_component(_name "${_header}" NAME)
  file(WRITE "${_staged}/ns3/${_name}.new"
       "#include \"${CMAKE_CURRENT_LIST_DIR}/../${_header}\"\n"
  )
  configure_file("${_staged}/ns3/${_name}.new" "${_staged}/ns3/${_name}" COPYONLY)
endforeach()

# What an ns-3 tree generates: one header with all others.
set(_all "// SPDX-License-Identifier: GPL-2.0-only\n\n")
string(APPEND _all "#ifndef EVENKEEL_MODULE_H\n#define EVENKEEL_MODULE_H\n\n")
foreach(_header ${_evenkeel_headers})
  get_filename_component(_name "${_header}" NAME)
  string(APPEND _all "#include \"ns3/${_name}\"\n")
endforeach()
file(WRITE "${_staged}/ns3/evenkeel-module.h.new" "${_all}\n#endif // EVENKEEL_MODULE_H\n")
configure_file(
  "${_staged}/ns3/evenkeel-module.h.new" "${_staged}/ns3/evenkeel-module.h" COPYONLY
)

set(_dependencies ${_evenkeel_needs})
list(TRANSFORM _dependencies PREPEND "ns3::")
list(TRANSFORM _dependencies APPEND "-dependency")

if(EVENKEEL_FROM_CARGO)
  add_library(evenkeel-ns3 STATIC ${_evenkeel_sources} cargo/cargo.cc cargo/twin.cc)
  list(APPEND _evenkeel_bridge_sources cargo/cargo.cc cargo/twin.cc)
  set_target_properties(evenkeel-ns3 PROPERTIES POSITION_INDEPENDENT_CODE ON)
else()
  add_library(evenkeel-ns3 SHARED ${_evenkeel_sources})
  set_target_properties(evenkeel-ns3 PROPERTIES OUTPUT_NAME ns3-evenkeel)
endif()
target_compile_options(evenkeel-ns3 PRIVATE -Wall)
target_include_directories(
  evenkeel-ns3 BEFORE PUBLIC $<BUILD_INTERFACE:${_staged}> $<INSTALL_INTERFACE:include>
)
target_link_libraries(evenkeel-ns3 PUBLIC ${_dependencies})
set_source_files_properties(
  ${_evenkeel_bridge_sources}
  PROPERTIES INCLUDE_DIRECTORIES "${_evenkeel_includes}" OBJECT_DEPENDS "${_evenkeel_generated}"
)

if(EVENKEEL_FROM_CARGO)
  # A Rust test runs the suites, so they are in the same archive.
  target_sources(evenkeel-ns3 PRIVATE ${_evenkeel_tests})
  install(TARGETS evenkeel-ns3 ARCHIVE DESTINATION lib)
  return()
endif()

add_dependencies(evenkeel-ns3 evenkeel-cargo)
find_package(Threads REQUIRED)
target_link_libraries(
  evenkeel-ns3 PRIVATE "${_evenkeel_archive}" Threads::Threads ${CMAKE_DL_LIBS}
)
# Another library with Rust code may be loaded into the same process.
target_link_options(evenkeel-ns3 PRIVATE "LINKER:--exclude-libs,libevenkeel_bridge.a")

install(TARGETS evenkeel-ns3 LIBRARY DESTINATION lib)
install(FILES ${_evenkeel_headers} "${_staged}/ns3/evenkeel-module.h" DESTINATION include/ns3)
# Like those of ns-3's own modules, by whose names it requires them.
set(_evenkeel_pc_requires "${_evenkeel_needs}")
list(TRANSFORM _evenkeel_pc_requires PREPEND "ns3-")
string(REPLACE ";" ", " _evenkeel_pc_requires "${_evenkeel_pc_requires}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/ns3-evenkeel.pc.in" ns3-evenkeel.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ns3-evenkeel.pc" DESTINATION lib/pkgconfig)

set(_test_dependencies ${_evenkeel_test_needs})
list(TRANSFORM _test_dependencies PREPEND "ns3::")
list(TRANSFORM _test_dependencies APPEND "-dependency")

enable_testing()
add_executable(evenkeel-test-runner cmake/test-runner.cc ${_evenkeel_tests})
target_link_libraries(evenkeel-test-runner PRIVATE evenkeel-ns3 ${_test_dependencies})
# Newer test runners run one suite per process. The names of the suites are read from the sources.
foreach(_source ${_evenkeel_tests})
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../${_source}" _lines REGEX ": TestSuite\\(\"")
  foreach(_line ${_lines})
    string(REGEX MATCH "\"([^\"]*)\"" _match "${_line}")
    add_test(NAME "suite.${CMAKE_MATCH_1}"
             COMMAND evenkeel-test-runner --verbose "--suite=${CMAKE_MATCH_1}"
    )
  endforeach()
endforeach()

# examples/CMakeLists.txt calls this function, which an ns-3 tree provides.
set(EVENKEEL_EXAMPLES_TO_RUN "${CMAKE_CURRENT_LIST_DIR}/../evenkeel-fabric/test/examples-to-run.py")
function(build_lib_example)
  cmake_parse_arguments(_example "" "NAME" "SOURCE_FILES;LIBRARIES_TO_LINK" ${ARGN})
  add_executable(${_example_NAME} ${_example_SOURCE_FILES})
  target_link_libraries(${_example_NAME} PRIVATE evenkeel-ns3 ${_test_dependencies})
  # The arguments are those that examples-to-run.py has for an ns-3 tree.
  file(STRINGS "${EVENKEEL_EXAMPLES_TO_RUN}" _lines REGEX "^    \\(\"${_example_NAME}[ \"]")
  foreach(_line ${_lines})
    string(REGEX MATCH "\"([^\"]*)\"" _match "${_line}")
    separate_arguments(_words UNIX_COMMAND "${CMAKE_MATCH_1}")
    string(REPLACE " --" "." _test "${CMAKE_MATCH_1}")
    add_test(NAME "${_test}" COMMAND ${_words})
  endforeach()
endfunction()
add_subdirectory(evenkeel-fabric/examples examples)

# Scripts in the style of what people write, run without the module and with a policy: see
# test/scripts/compare.cmake.
function(evenkeel_script name)
  set(_folder "${CMAKE_CURRENT_LIST_DIR}/../evenkeel-lb/test/scripts")
  add_executable(script-${name} "${_folder}/${name}.cc")
  target_link_libraries(script-${name} PRIVATE evenkeel-ns3 ${_test_dependencies})
  foreach(_case ${ARGN})
    string(REPLACE "=" ";" _case "${_case}")
    list(GET _case 0 _policy)
    list(GET _case 1 _expect)
    add_test(NAME "script.${name}.${_policy}"
             COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:script-${name}>"
                     "-DPOLICY=${_policy}" "-DEXPECT=${_expect}" -P "${_folder}/compare.cmake"
    )
  endforeach()
endfunction()
evenkeel_script(static-pins spray=same drill=same)
evenkeel_script(random-traffic spray=same flowlet=same)
evenkeel_script(rack-subnet spray=through ecmp=through)
evenkeel_script(failures spray=through jsq=through ecmp=through flowlet=through)
evenkeel_script(rip spray=warned flowlet=warned)
evenkeel_script(equal-routes spray=through ecmp=through drill=through)
evenkeel_script(ipv6-pins spray=same drill=same)
evenkeel_script(ipv6-equal-routes spray=through ecmp=through drill=through)
evenkeel_script(fat-tree-432 ecmp=cheap)
evenkeel_script(fat-tree-432-seconds ecmp=cheap)
evenkeel_script(fat-tree-432-static ecmp=through)
foreach(_module ${_evenkeel_script_needs})
  string(REPLACE "-routing" "" _script "${_module}")
  if(TARGET ns3::${_module}-dependency)
    evenkeel_script(${_script} spray=through ecmp=through)
    target_link_libraries(script-${_script} PRIVATE ns3::${_module}-dependency)
  else()
    message(STATUS "evenkeel: without the test script ${_script}: this ns-3 has no module ${_module}")
  endif()
endforeach()
