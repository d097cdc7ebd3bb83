# SPDX-License-Identifier: GPL-2.0-only
#
# Mode 1: builds the module as contrib/evenkeel of an ns-3 tree.

if(NOT _evenkeel_crate)
  # The rest of ns-3 must build without this module.
  message(STATUS "Skipping evenkeel: it does not find ${_evenkeel_missing}")
  return()
endif()

# Neither include_directories nor target_include_directories reaches every target that the various
# versions of build_lib make; properties of the files do, and order the build too.
set_source_files_properties(
  ${_evenkeel_bridge_sources}
  PROPERTIES INCLUDE_DIRECTORIES "${_evenkeel_includes}" OBJECT_DEPENDS "${_evenkeel_generated}"
)

# ns-3 up to 3.37 stores the targets of its modules in variables.
set(_libraries "")
foreach(_need ${_evenkeel_needs})
  if(DEFINED lib${_need})
    list(APPEND _libraries ${lib${_need}})
  else()
    list(APPEND _libraries ${_need})
  endif()
endforeach()
set(_test_libraries "")
foreach(_need ${_evenkeel_test_needs})
  if(DEFINED lib${_need})
    list(APPEND _test_libraries ${lib${_need}})
  else()
    list(APPEND _test_libraries ${_need})
  endif()
endforeach()

# The archive is a path, not a target: install(EXPORT) requires every linked target to be exported.
build_lib(
  LIBNAME evenkeel
  SOURCE_FILES ${_evenkeel_sources}
  HEADER_FILES ${_evenkeel_headers}
  LIBRARIES_TO_LINK ${_libraries} "${_evenkeel_archive}" ${CMAKE_DL_LIBS}
  TEST_SOURCES ${_evenkeel_tests}
)

# Versions before 3.48 take no TEST_LIBRARIES_TO_LINK; all of them make the target of the tests here.
foreach(_target evenkeel-test libevenkeel-test)
  if(TARGET ${_target})
    target_link_libraries(${_target} ${_test_libraries})
  endif()
endforeach()

foreach(_target evenkeel libevenkeel libevenkeel-obj)
  if(TARGET ${_target})
    add_dependencies(${_target} evenkeel-cargo)
    # For `evenkeel-obj`, which has the include directories of `evenkeel`.
    target_include_directories(${_target} PRIVATE ${_evenkeel_includes})
    get_target_property(_type ${_target} TYPE)
    if(_type STREQUAL "SHARED_LIBRARY")
      # Another library with Rust code may be loaded into the same process.
      target_link_options(${_target} PRIVATE "LINKER:--exclude-libs,libevenkeel_bridge.a")
    endif()
  endif()
endforeach()

# Later trees compile all sources once more for --enable-static and --enable-monolib, in a target
# that src/CMakeLists.txt makes after this file has been read; properties of the files do not reach
# it, since they are of this folder.
function(evenkeel_order_objects)
  if(TARGET evenkeel-obj)
    add_dependencies(evenkeel-obj evenkeel-cargo)
  endif()
endfunction()
if(NOT CMAKE_VERSION VERSION_LESS 3.19 AND (NS3_STATIC OR NS3_MONOLIB))
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL evenkeel_order_objects)
endif()
