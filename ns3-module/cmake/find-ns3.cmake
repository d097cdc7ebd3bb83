# SPDX-License-Identifier: GPL-2.0-only
#
# Way 2 and 3: an installed ns-3. Sets _evenkeel_ns3_version (such as 3.37), the C++ standard that
# its headers need, and an interface target ns3::MODULE-dependency for each module.

# EVENKEEL_NS3_PREFIX is for installations whose own CMake files name folders of the machine that
# built them: the folder that has include/ns3 and lib or lib64.
set(EVENKEEL_NS3_PREFIX "$ENV{EVENKEEL_NS3_PREFIX}" CACHE PATH "Where ns-3 is installed")
# For where nothing says it (a source build that was installed without a version in its names).
set(EVENKEEL_NS3_VERSION "" CACHE STRING "The version of ns-3, if it cannot be found out")

set(_modules ${_evenkeel_needs} ${_evenkeel_test_needs})

function(_evenkeel_use_prefix)
  set(_include "${EVENKEEL_NS3_PREFIX}/include")
  if(NOT EXISTS "${_include}/ns3/core-module.h")
    message(FATAL_ERROR "evenkeel: there is no ns-3 in EVENKEEL_NS3_PREFIX=${EVENKEEL_NS3_PREFIX}: "
                        "include/ns3/core-module.h is missing. For the wheel, it is the folder "
                        "`ns3` that `pip show -f ns3` names")
  endif()
  file(GLOB _cores "${EVENKEEL_NS3_PREFIX}/lib*/libns3*-core*.so"
       "${EVENKEEL_NS3_PREFIX}/lib/*/libns3*-core*.so"
  )
  list(LENGTH _cores _count)
  if(_count EQUAL 0)
    message(FATAL_ERROR "evenkeel: ${EVENKEEL_NS3_PREFIX} has the headers of ns-3 and no library "
                        "libns3*-core*.so in lib or lib64")
  endif()
  list(GET _cores 0 _core)
  get_filename_component(_folder "${_core}" DIRECTORY)
  get_filename_component(_name "${_core}" NAME)
  # libns3.44-core.so, libns3.44-core-default.so, libns3-core.so
  string(REGEX MATCH "^libns3\\.?([0-9.]*)(-dev)?-core(.*)\\.so$" _ "${_name}")
  set(_version "${CMAKE_MATCH_1}")
  set(_prefix "ns3")
  if(_version)
    set(_prefix "ns${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    if(NOT _version MATCHES "^3")
      set(_version "3.${_version}")
      set(_prefix "ns${_version}${CMAKE_MATCH_2}")
    endif()
  endif()
  set(_suffix "${CMAKE_MATCH_3}")
  # What an ns-3 was built with is a part of its headers: its own CMake files name it.
  set(_definitions "")
  file(GLOB _exports "${_folder}/cmake/ns3/ns3Targets.cmake")
  foreach(_export ${_exports})
    file(STRINGS "${_export}" _lines REGEX "INTERFACE_COMPILE_DEFINITIONS")
    foreach(_definition NS3_LOG_ENABLE NS3_ASSERT_ENABLE)
      if("${_lines}" MATCHES "${_definition}")
        list(APPEND _definitions ${_definition})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES _definitions)
  foreach(_module ${_modules})
    add_library(ns3::${_module}-dependency INTERFACE IMPORTED)
    set(_library "${_folder}/lib${_prefix}-${_module}${_suffix}.so")
    if(NOT EXISTS "${_library}" AND NOT EVENKEEL_FROM_CARGO)
      message(FATAL_ERROR "evenkeel: this ns-3 has no module ${_module}: there is no ${_library}")
    endif()
    set_target_properties(
      ns3::${_module}-dependency
      PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_include}"
                 INTERFACE_COMPILE_DEFINITIONS "${_definitions}"
                 INTERFACE_LINK_LIBRARIES "${_library}"
    )
  endforeach()
  set(_evenkeel_ns3_version "${_version}" PARENT_SCOPE)
endfunction()

function(_evenkeel_use_package)
  find_package(ns3 QUIET)
  if(NOT ns3_FOUND)
    message(FATAL_ERROR "evenkeel: there is no ns-3. On Debian: apt-get install libns3-dev "
                        "libgsl-dev libsqlite3-dev libxml2-dev. For a wheel or a build of your own "
                        "give -DEVENKEEL_NS3_PREFIX=FOLDER, which has include/ns3 and lib")
  endif()
  foreach(_module ${_modules})
    add_library(ns3::${_module}-dependency INTERFACE IMPORTED)
    set(_target ns3::${_module})
    if(TARGET ns3::lib${_module})
      set(_target ns3::lib${_module})
    endif()
    if(NOT TARGET ${_target})
      message(FATAL_ERROR "evenkeel: this ns-3 has no module ${_module}")
    endif()
    set_target_properties(
      ns3::${_module}-dependency PROPERTIES INTERFACE_LINK_LIBRARIES ${_target}
    )
  endforeach()
  # Debian's names the files of packages that it does not depend on.
  get_target_property(_links ${_target} INTERFACE_LINK_LIBRARIES)
  foreach(_file /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libgsl.so
                /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libsqlite3.so
  )
    if(ns3_DIR MATCHES "^/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}" AND NOT EXISTS "${_file}")
      message(FATAL_ERROR "evenkeel: Debian's libns3-dev does not link without ${_file}: "
                          "apt-get install libgsl-dev libsqlite3-dev libxml2-dev")
    endif()
  endforeach()
  set(_evenkeel_ns3_version "${ns3_VERSION}" PARENT_SCOPE)
endfunction()

if(EVENKEEL_NS3_PREFIX)
  _evenkeel_use_prefix()
else()
  _evenkeel_use_package()
endif()
if(EVENKEEL_NS3_VERSION)
  set(_evenkeel_ns3_version "${EVENKEEL_NS3_VERSION}")
endif()
if(NOT _evenkeel_ns3_version)
  message(FATAL_ERROR "evenkeel: which ns-3 this is cannot be found out; give "
                      "-DEVENKEEL_NS3_VERSION=3.NN")
endif()

# Headers of 3.37 are no C++20; those from 3.46 on are nothing less than C++23.
if(_evenkeel_ns3_version VERSION_LESS 3.41)
  set(CMAKE_CXX_STANDARD 17)
elseif(_evenkeel_ns3_version VERSION_LESS 3.46)
  set(CMAKE_CXX_STANDARD 20)
else()
  set(CMAKE_CXX_STANDARD 23)
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
message(STATUS "evenkeel: ns-3 ${_evenkeel_ns3_version}, C++${CMAKE_CXX_STANDARD}")
