# SPDX-License-Identifier: GPL-2.0-only
#
# The Rust library: EVENKEEL_ARCHIVE, the one in prebuilt/, or the rule by which cargo builds it. Sets
#   _evenkeel_missing   what is not found; empty if the module can be built
#   _evenkeel_archive   the static library; empty if cargo is the caller, which links it itself
#   _evenkeel_includes  the folders of its headers
#   _evenkeel_generated one of its headers, if cargo makes them in this build

set(EVENKEEL_ARCHIVE "" CACHE FILEPATH "A built libevenkeel_bridge.a with its headers in include/")
set(EVENKEEL_CRATE_DIR "" CACHE PATH "The folder of evenkeel's Cargo.toml")
set(EVENKEEL_CARGO_TARGET_DIR "" CACHE PATH "cargo's target directory; in the build by default")
set(EVENKEEL_CARGO_PROFILE "release" CACHE STRING "The profile that cargo builds with")
set(_evenkeel_missing "")
set(_evenkeel_archive "")
set(_evenkeel_generated "")

if(EVENKEEL_FROM_CARGO)
  set(_evenkeel_includes "${EVENKEEL_CRATE_DIR}/cpp-bridge" "${EVENKEEL_CRATE_DIR}/ns3-module/cargo"
                         ${EVENKEEL_CXXBRIDGE_DIR}
  )
  return()
endif()

# The module may be a symbolic link in contrib/: its real path is in the package.
get_filename_component(_real "${CMAKE_CURRENT_LIST_DIR}/.." REALPATH)
set(_feature chooser)
set(_header evenkeel-bridge/chooser.rs.h)
if("evenkeel-fabric" IN_LIST _evenkeel_modules)
  set(_feature bridge)
  set(_header evenkeel-bridge/world/contract.rs.h)
endif()
set(_given "${EVENKEEL_ARCHIVE}")
if(NOT _given AND EXISTS "${_real}/prebuilt/libevenkeel_bridge.a")
  set(_given "${_real}/prebuilt/libevenkeel_bridge.a")
endif()
if(_given)
  get_filename_component(_evenkeel_archive "${_given}" ABSOLUTE)
  get_filename_component(_evenkeel_includes "${_evenkeel_archive}" DIRECTORY)
  string(APPEND _evenkeel_includes "/include")
  foreach(_file "${_evenkeel_archive}" "${_evenkeel_includes}/${_header}")
    if(NOT EXISTS "${_file}")
      set(_evenkeel_missing "${_file}, of -DEVENKEEL_ARCHIVE=FILE with the feature ${_feature}")
      break()
    endif()
  endforeach()
  return()
endif()

set(_crate "")
# ns-3 trees warn about undefined variables.
foreach(_variable EVENKEEL_CRATE_DIR CARGO_HOME HOME)
  set(_env_${_variable} "")
  if(DEFINED ENV{${_variable}})
    set(_env_${_variable} "$ENV{${_variable}}")
  endif()
endforeach()
foreach(_dir "${EVENKEEL_CRATE_DIR}" "${_env_EVENKEEL_CRATE_DIR}" "${_real}/../.." "${_real}/crate")
  if(_dir AND EXISTS "${_dir}/rust/bridge/Cargo.toml")
    get_filename_component(_crate "${_dir}" ABSOLUTE)
    break()
  endif()
endforeach()
find_program(
  EVENKEEL_CARGO cargo HINTS "${_env_CARGO_HOME}/bin" "${_env_HOME}/.cargo/bin"
  DOC "cargo, of Rust 1.88 or later"
)
if(NOT _crate)
  set(_evenkeel_missing "the folder of its Cargo.toml (-DEVENKEEL_CRATE_DIR=FOLDER)")
elseif(NOT EVENKEEL_CARGO)
  set(_evenkeel_missing "cargo (https://rustup.rs; -DEVENKEEL_CARGO=PROGRAM or -DEVENKEEL_ARCHIVE=FILE)")
endif()
if(_evenkeel_missing)
  return()
endif()

set(_target "${EVENKEEL_CARGO_TARGET_DIR}")
if(NOT _target)
  set(_target "${CMAKE_BINARY_DIR}/evenkeel-cargo")
endif()
# cargo builds the profile `dev` in the folder `debug`, and every other profile in a folder of its
# name.
set(_folder "${EVENKEEL_CARGO_PROFILE}")
if(_folder STREQUAL "dev")
  set(_folder "debug")
endif()
set(_evenkeel_archive "${_target}/${_folder}/libevenkeel_bridge.a")
set(_evenkeel_generated "${_target}/cxxbridge/${_header}")
set(_evenkeel_includes "${_crate}/cpp-bridge" "${_target}/cxxbridge")
if(TARGET evenkeel-cargo)
  # The other module has the rule.
  return()
endif()

file(GLOB_RECURSE _files CONFIGURE_DEPENDS "${_crate}/rust/*.rs" "${_crate}/cpp-bridge/*"
     "${_crate}/ns3-module/evenkeel-fabric/model/*records.h"
     "${_crate}/ns3-module/evenkeel-fabric/model/fabric-packet.h"
)
# The CXXFLAGS of an ns-3 build must not apply to the bridge. cxx puts its headers into the folder of
# CARGO_TARGET_DIR, if a user has set it, whatever --target-dir says.
add_custom_command(
  OUTPUT "${_evenkeel_archive}" "${_evenkeel_generated}"
  COMMAND
    "${CMAKE_COMMAND}" -E env --unset=CXXFLAGS --unset=CFLAGS --unset=CARGO_TARGET_DIR
    "${EVENKEEL_CARGO}" rustc --locked --package evenkeel-bridge --lib --crate-type staticlib
    --no-default-features --features ${_feature} --profile "${EVENKEEL_CARGO_PROFILE}"
    --manifest-path "${_crate}/Cargo.toml" --target-dir "${_target}"
  COMMAND "${CMAKE_COMMAND}" -E touch_nocreate "${_evenkeel_archive}" "${_evenkeel_generated}"
  DEPENDS ${_files} "${_crate}/Cargo.toml" "${_crate}/Cargo.lock" "${_crate}/rust/bridge/Cargo.toml"
  # cargo reads .cargo/config.toml, which an archive has for its copies of crates, from here.
  WORKING_DIRECTORY "${_crate}"
  USES_TERMINAL VERBATIM
  COMMENT "evenkeel: cargo builds the Rust library (${_feature}, ${EVENKEEL_CARGO_PROFILE})"
)
add_custom_target(evenkeel-cargo DEPENDS "${_evenkeel_archive}" "${_evenkeel_generated}")
