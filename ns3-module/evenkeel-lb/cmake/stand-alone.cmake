# SPDX-License-Identifier: GPL-2.0-only
#
# Mode 2: builds the libraries, their tests and their examples against an installed ns-3. Mode 3:
# builds each library with its tests as one archive, which cargo links.

if(_evenkeel_missing)
  message(FATAL_ERROR "evenkeel: cannot be built: it does not find ${_evenkeel_missing}")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
option(EVENKEEL_TESTS "Build the tests, half of what there is to compile" ON)
option(EVENKEEL_EXAMPLES "Build the examples" ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

# Sets the targets of modules.
function(evenkeel_targets result)
  set(_targets "")
  foreach(_need ${ARGN})
    if(TARGET ns3::${_need}-dependency)
      list(APPEND _targets ns3::${_need}-dependency)
    elseif(TARGET ${_need})
      list(APPEND _targets ${_need})
    else()
      message(FATAL_ERROR "evenkeel: this ns-3 has no module ${_need}: there is no library of it "
                          "beside ${_evenkeel_ns3_core}")
    endif()
  endforeach()
  set(${result} "${_targets}" PARENT_SCOPE)
endfunction()

# Writes a file of include/ns3, where scripts find headers in every mode.
function(evenkeel_stage name text)
  set(_staged "${CMAKE_BINARY_DIR}/include/ns3/${name}")
  file(WRITE "${_staged}.new" "${text}")
  configure_file("${_staged}.new" "${_staged}" COPYONLY)
endfunction()

# The second half of evenkeel_module, with its variables.
function(evenkeel_build_module)
  # What an ns-3 tree generates: one header with all others.
  string(TOUPPER "${name}_MODULE_H" _guard)
  string(REPLACE "-" "_" _guard "${_guard}")
  set(_all "// SPDX-License-Identifier: GPL-2.0-only\n\n#ifndef ${_guard}\n#define ${_guard}\n\n")
  foreach(_header ${_module_HEADERS})
    get_filename_component(_file "${_header}" NAME)
    evenkeel_stage("${_file}" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/${_header}\"\n")
    string(APPEND _all "#include \"ns3/${_file}\"\n")
  endforeach()
  evenkeel_stage("${name}-module.h" "${_all}\n#endif // ${_guard}\n")

  # Full optimisation doubles the time to compile the tests, which run for seconds.
  set_source_files_properties(
    ${_tests} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O1>"
  )
  set(_kind SHARED)
  if(EVENKEEL_FROM_CARGO)
    # A Rust test runs the suites, so they are in the same archive.
    set(_kind STATIC)
    list(APPEND _sources ${_tests})
  endif()
  add_library(${name} ${_kind} ${_sources})
  set_target_properties(
    ${name} PROPERTIES OUTPUT_NAME ns3-${name} POSITION_INDEPENDENT_CODE ON INSTALL_RPATH "\$ORIGIN"
  )
  target_compile_options(${name} PRIVATE -Wall)
  target_include_directories(
    ${name} BEFORE PUBLIC "$<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>"
                          $<INSTALL_INTERFACE:include>
  )
  evenkeel_targets(_libraries ${_module_NEEDS})
  target_link_libraries(${name} PUBLIC ${_libraries})
  install(TARGETS ${name} LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
  if(EVENKEEL_FROM_CARGO)
    return()
  endif()

  if(TARGET evenkeel-cargo)
    add_dependencies(${name} evenkeel-cargo)
  endif()
  find_package(Threads REQUIRED)
  target_link_libraries(${name} PRIVATE "${_evenkeel_archive}" Threads::Threads ${CMAKE_DL_LIBS})
  # Another library with Rust code may be loaded into the same process.
  target_link_options(${name} PRIVATE "LINKER:--exclude-libs,libevenkeel_bridge.a")
  install(FILES ${_module_HEADERS} "${CMAKE_BINARY_DIR}/include/ns3/${name}-module.h"
          DESTINATION include/ns3
  )
  # Like those of ns-3's own modules, by whose names it requires them: those of a script too.
  set(_requires ${_module_NEEDS} ${_module_TEST_NEEDS})
  list(TRANSFORM _requires PREPEND "ns3-")
  string(REPLACE ";" ", " _requires "${_requires}")
  configure_file("${_evenkeel_cmake}/ns3-module.pc.in" "ns3-${name}.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/ns3-${name}.pc" DESTINATION lib/pkgconfig)

  evenkeel_targets(EVENKEEL_EXAMPLE_LIBRARIES ${name} ${_module_NEEDS} ${_module_TEST_NEEDS})
  if(EVENKEEL_TESTS)
    evenkeel_tests()
  endif()
  if(EVENKEEL_EXAMPLES)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/examples")
    add_subdirectory(examples)
  endif()
endfunction()

# Adds the suites of a module.
function(evenkeel_tests)
  add_executable(${name}-test-runner "${_evenkeel_cmake}/test-runner.cc" ${_tests})
  target_link_libraries(${name}-test-runner PRIVATE ${EVENKEEL_EXAMPLE_LIBRARIES})
  # Newer test runners run one suite per process. The names of the suites are read from the sources.
  foreach(_test ${_tests})
    file(STRINGS "${_test}" _lines REGEX ": TestSuite\\(\"")
    foreach(_line ${_lines})
      string(REGEX MATCH "\"([^\"]*)\"" _match "${_line}")
      add_test(NAME "suite.${CMAKE_MATCH_1}"
               COMMAND ${name}-test-runner --verbose "--suite=${CMAKE_MATCH_1}"
      )
    endforeach()
  endforeach()
endfunction()

# Adds an example; examples/CMakeLists.txt calls this function, which an ns-3 tree provides.
function(build_lib_example)
  cmake_parse_arguments(_example "" "NAME" "SOURCE_FILES;LIBRARIES_TO_LINK" ${ARGN})
  add_executable(${_example_NAME} ${_example_SOURCE_FILES})
  target_link_libraries(${_example_NAME} PRIVATE ${_example_LIBRARIES_TO_LINK})
  # The arguments are those that examples-to-run.py has for an ns-3 tree.
  file(STRINGS "../test/examples-to-run.py" _lines REGEX "^    \\(\"${_example_NAME}[ \"]")
  foreach(_line ${_lines})
    string(REGEX MATCH "\"([^\"]*)\"" _match "${_line}")
    separate_arguments(_words UNIX_COMMAND "${CMAKE_MATCH_1}")
    string(REPLACE " --" "." _test "${CMAKE_MATCH_1}")
    add_test(NAME "${_test}" COMMAND ${_words})
  endforeach()
endfunction()
