# SPDX-License-Identifier: GPL-2.0-only
#
# Modes 2 and 3: finds an installed ns-3. Sets _evenkeel_ns3_version (such as 3.37) and the C++
# standard that its headers need, and adds an interface target ns3::MODULE-dependency for each of its modules.
#
# The files that ns-3 installs for find_package are read, but not executed: Debian's require
# programs of another package, and a wheel's refer to folders of the machine that built it.

set(EVENKEEL_NS3_PREFIX "$ENV{EVENKEEL_NS3_PREFIX}"
    CACHE PATH "The folder that has ns-3's include/ns3 and lib or lib64; found by default"
)
set(EVENKEEL_NS3_VERSION "" CACHE STRING "The version of ns-3, if it cannot be detected")

if(EVENKEEL_NS3_PREFIX)
  set(_include "${EVENKEEL_NS3_PREFIX}/include")
  if(NOT EXISTS "${_include}/ns3/core-module.h")
    message(FATAL_ERROR "evenkeel: EVENKEEL_NS3_PREFIX=${EVENKEEL_NS3_PREFIX} is not an installed "
                        "ns-3: include/ns3/core-module.h is missing. For the wheel, set it to the "
                        "folder ns3 in site-packages")
  endif()
else()
  find_path(EVENKEEL_NS3_INCLUDE ns3/core-module.h DOC "Where ns-3's headers are")
  if(NOT EVENKEEL_NS3_INCLUDE)
    message(FATAL_ERROR "evenkeel: ns-3 is not found. On Debian: apt-get install libns3-dev "
                        "libgsl-dev libsqlite3-dev libxml2-dev. For a wheel or another build, set "
                        "-DEVENKEEL_NS3_PREFIX=FOLDER to the folder with include/ns3 and lib")
  endif()
  set(_include "${EVENKEEL_NS3_INCLUDE}")
endif()

# libns3-core.so (Debian), libns3.44-core.so, libns3.48-core-default.so
get_filename_component(_root "${_include}/.." ABSOLUTE)
set(_core "")
foreach(_folder "${_root}/lib/${CMAKE_LIBRARY_ARCHITECTURE}" "${_root}/lib64" "${_root}/lib")
  file(GLOB _cores "${_folder}/libns3*-core*.so")
  if(_cores AND NOT _core)
    list(SORT _cores)
    list(GET _cores 0 _core)
  endif()
endforeach()
if(NOT _core)
  message(FATAL_ERROR "evenkeel: ${_include} has the headers of ns-3, but there is no library "
                      "libns3*-core*.so in lib or lib64 of ${_root}")
endif()
get_filename_component(_folder "${_core}" DIRECTORY)
set(_evenkeel_ns3_core "${_core}")
get_filename_component(_name "${_core}" NAME)
string(REGEX MATCH "^(libns(3[0-9.]*)(-dev)?)-core(.*)\\.so$" _match "${_name}")
set(_before "${CMAKE_MATCH_1}")
set(_evenkeel_ns3_version "${CMAKE_MATCH_2}")
set(_after "${CMAKE_MATCH_4}")
if(NOT _evenkeel_ns3_version MATCHES "^3\\.[0-9]+")
  set(_evenkeel_ns3_version "")
  if(EXISTS "${_folder}/cmake/ns3/ns3ConfigVersion.cmake")
    file(STRINGS "${_folder}/cmake/ns3/ns3ConfigVersion.cmake" _line
         REGEX "^set\\(PACKAGE_VERSION \"[0-9.]+\"\\)" LIMIT_COUNT 1
    )
    string(REGEX MATCH "[0-9]+\\.[0-9]+" _evenkeel_ns3_version "${_line}")
  endif()
endif()
if(EVENKEEL_NS3_VERSION)
  set(_evenkeel_ns3_version "${EVENKEEL_NS3_VERSION}")
endif()
if(NOT _evenkeel_ns3_version)
  message(FATAL_ERROR "evenkeel: the version of ns-3 in ${_folder} cannot be detected; set "
                      "-DEVENKEEL_NS3_VERSION=3.NN")
endif()

# Whether the libraries have logging and assertions. Newer versions declare it; Debian's does not,
# and has logging.
set(_definitions NS3_LOG_ENABLE)
if(EXISTS "${_folder}/cmake/ns3/ns3Targets.cmake")
  file(STRINGS "${_folder}/cmake/ns3/ns3Targets.cmake" _lines
       REGEX "INTERFACE_COMPILE_DEFINITIONS"
  )
  if(_lines)
    set(_definitions "")
    foreach(_definition NS3_LOG_ENABLE NS3_ASSERT_ENABLE)
      if("${_lines}" MATCHES "${_definition}")
        list(APPEND _definitions ${_definition})
      endif()
    endforeach()
  endif()
endif()

file(GLOB _libraries "${_folder}/${_before}-*${_after}.so")
foreach(_library ${_libraries})
  get_filename_component(_name "${_library}" NAME)
  string(REGEX REPLACE "^${_before}-(.*)${_after}\\.so$" "\\1" _module "${_name}")
  if(TARGET ns3::${_module}-dependency)
    continue()
  endif()
  add_library(ns3::${_module}-dependency INTERFACE IMPORTED GLOBAL)
  set_target_properties(
    ns3::${_module}-dependency PROPERTIES INTERFACE_COMPILE_DEFINITIONS "${_definitions}"
                                          INTERFACE_LINK_LIBRARIES "${_library}"
  )
  # An explicit /usr/include would precede the headers of the C++ library, which find those of the C
  # library only in folders after their own.
  if(NOT _include STREQUAL "/usr/include")
    set_target_properties(
      ns3::${_module}-dependency PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_include}"
    )
  endif()
endforeach()

# The headers of 3.37 do not compile as C++20; those from 3.46 on require C++23.
if(_evenkeel_ns3_version VERSION_LESS 3.41)
  set(CMAKE_CXX_STANDARD 17)
elseif(_evenkeel_ns3_version VERSION_LESS 3.46)
  set(CMAKE_CXX_STANDARD 20)
else()
  set(CMAKE_CXX_STANDARD 23)
endif()
set(CMAKE_CXX_STANDARD_REQUIRED ON)
message(STATUS "evenkeel: ns-3 ${_evenkeel_ns3_version}, C++${CMAKE_CXX_STANDARD}")
