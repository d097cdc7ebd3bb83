# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the modules in one of three modes:
#   1. in an ns-3 tree, as contrib/evenkeel-lb and contrib/evenkeel-fabric: with build_lib, as ns-3's
#      own modules;
#   2. stand-alone, against an installed ns-3, which is found by its headers (Debian's) or in
#      EVENKEEL_NS3_PREFIX (a Python wheel, an installed source build);
#   3. from cargo (EVENKEEL_FROM_CARGO): as static libraries without the Rust code, which cargo links.

# The version in Cargo.toml; a test of the Rust package compares the two.
set(_evenkeel_version "0.1.0")

set(_evenkeel_cmake "${CMAKE_CURRENT_LIST_DIR}")
# The modules of this build. An ns-3 tree lists its own, and the CMakeLists.txt of both sets them.
if(COMMAND build_lib)
  set(_evenkeel_modules ${contrib_libs_to_build})
elseif(NOT DEFINED _evenkeel_modules)
  set(_evenkeel_modules evenkeel-lb)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/rust-library.cmake")
if(COMMAND build_lib)
  include("${CMAKE_CURRENT_LIST_DIR}/in-tree.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/find-ns3.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/stand-alone.cmake")
endif()

# Builds a module: evenkeel_module(NAME HEADERS... NEEDS... TEST_NEEDS... [WITHOUT REGEX]).
# Its sources are all .cc files of model/ and helper/, and its tests those of test/, WITHOUT the files
# whose names match.
function(evenkeel_module name)
  cmake_parse_arguments(PARSE_ARGV 1 _module "" "WITHOUT" "HEADERS;NEEDS;TEST_NEEDS")
  file(GLOB _sources RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS model/*.cc helper/*.cc)
  file(GLOB _tests RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS test/*.cc)
  if(_module_WITHOUT)
    list(FILTER _sources EXCLUDE REGEX "${_module_WITHOUT}")
    list(FILTER _tests EXCLUDE REGEX "${_module_WITHOUT}")
  endif()
  # Neither include_directories nor target_include_directories reaches every target that the various
  # versions of build_lib make; properties of the files do, and order the build too.
  set(_includes "${CMAKE_CURRENT_SOURCE_DIR}/model" ${_evenkeel_includes})
  set_source_files_properties(
    ${_sources} PROPERTIES INCLUDE_DIRECTORIES "${_includes}"
                                  OBJECT_DEPENDS "${_evenkeel_generated}"
  )
  evenkeel_build_module()
endfunction()
