# SPDX-License-Identifier: GPL-2.0-only
#
# Mode 1: builds a module in an ns-3 tree.

# ns-3 up to 3.37 stores the targets of its modules in variables.
function(evenkeel_targets result)
  set(_targets "")
  foreach(_need ${ARGN})
    if(DEFINED lib${_need})
      list(APPEND _targets ${lib${_need}})
    else()
      list(APPEND _targets ${_need})
    endif()
  endforeach()
  set(${result} "${_targets}" PARENT_SCOPE)
endfunction()

# The second half of evenkeel_module, with its variables.
function(evenkeel_build_module)
  if(_evenkeel_missing)
    # The rest of ns-3 must build without this module.
    message(STATUS "Skipping ${name}: it does not find ${_evenkeel_missing}")
    return()
  endif()
  evenkeel_targets(_libraries ${_module_NEEDS})
  evenkeel_targets(_test_libraries ${_module_TEST_NEEDS})
  # For examples/CMakeLists.txt, which build_lib reads.
  evenkeel_targets(EVENKEEL_EXAMPLE_LIBRARIES ${name} ${_module_NEEDS} ${_module_TEST_NEEDS})

  # The archive is a path, not a target: install(EXPORT) requires every linked target to be exported.
  build_lib(
    LIBNAME ${name}
    SOURCE_FILES ${_sources}
    HEADER_FILES ${_module_HEADERS}
    LIBRARIES_TO_LINK ${_libraries} "${_evenkeel_archive}" ${CMAKE_DL_LIBS}
    TEST_SOURCES ${_tests}
  )

  # Versions before 3.48 take no TEST_LIBRARIES_TO_LINK. In a tree with one library, it has them.
  foreach(_target ${name}-test lib${name}-test)
    if(TARGET ${_target} AND NOT NS3_MONOLIB AND NOT NS3_STATIC)
      target_link_libraries(${_target} ${_test_libraries})
    endif()
  endforeach()

  foreach(_target ${name} lib${name} lib${name}-obj)
    if(TARGET ${_target})
      evenkeel_order(${_target})
      # For the objects of a static build, which have the include directories of the library.
      target_include_directories(${_target} PRIVATE ${_includes})
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
  if(NOT CMAKE_VERSION VERSION_LESS 3.19 AND (NS3_STATIC OR NS3_MONOLIB))
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL evenkeel_order ${name}-obj)
  endif()
endfunction()

# Builds the Rust library before a target, if cargo builds it.
function(evenkeel_order target)
  if(TARGET ${target} AND TARGET evenkeel-cargo)
    add_dependencies(${target} evenkeel-cargo)
  endif()
endfunction()
