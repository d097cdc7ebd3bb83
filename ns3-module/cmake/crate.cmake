# SPDX-License-Identifier: GPL-2.0-only
#
# The Rust side: finds the crate and adds the rule that builds its static library. Sets
#   _evenkeel_crate     the folder of the crate; empty if the crate or cargo is missing
#   _evenkeel_archive   the static library; empty if cargo is the caller, which links it itself
#   _evenkeel_includes  the include directories of _evenkeel_bridge_sources
#   _evenkeel_generated a generated header on which _evenkeel_bridge_sources depend

set(_evenkeel_archive "")
set(_evenkeel_generated "")

if(EVENKEEL_FROM_CARGO)
  set(_evenkeel_crate "${EVENKEEL_CRATE_DIR}")
  set(_evenkeel_includes "${EVENKEEL_CRATE_DIR}/cpp-bridge" "${EVENKEEL_CRATE_DIR}/ns3-module/cargo"
                         "${EVENKEEL_CRATE_DIR}/ns3-module/evenkeel-fabric/model" ${EVENKEEL_CXXBRIDGE_DIR}
  )
  return()
endif()

# The module may be a symbolic link in contrib/: its real path is in the crate.
get_filename_component(_evenkeel_real "${CMAKE_CURRENT_LIST_DIR}/.." REALPATH)
set(_evenkeel_crate "")
# ns-3 trees warn about undefined variables.
foreach(_variable EVENKEEL_CRATE_DIR CARGO_HOME HOME)
  set(_evenkeel_${_variable} "")
  if(DEFINED ENV{${_variable}})
    set(_evenkeel_${_variable} "$ENV{${_variable}}")
  endif()
endforeach()
foreach(_dir "${EVENKEEL_CRATE_DIR}" "${_evenkeel_EVENKEEL_CRATE_DIR}" "${_evenkeel_real}/.."
        "${_evenkeel_real}/crate"
)
  if(_dir AND EXISTS "${_dir}/Cargo.toml")
    get_filename_component(_evenkeel_crate "${_dir}" ABSOLUTE)
    break()
  endif()
endforeach()
find_program(
  EVENKEEL_CARGO cargo HINTS "${_evenkeel_CARGO_HOME}/bin" "${_evenkeel_HOME}/.cargo/bin"
  DOC "cargo, of Rust 1.88 or later"
)
if(NOT _evenkeel_crate)
  set(_evenkeel_missing "the folder of its Cargo.toml (-DEVENKEEL_CRATE_DIR=FOLDER)")
elseif(NOT EVENKEEL_CARGO)
  set(_evenkeel_missing "cargo (https://rustup.rs, or -DEVENKEEL_CARGO=PROGRAM)")
  set(_evenkeel_crate "")
endif()
if(NOT _evenkeel_crate)
  return()
endif()

set(_target "${EVENKEEL_CARGO_TARGET_DIR}")
if(NOT _target)
  set(_target "${CMAKE_CURRENT_BINARY_DIR}/cargo")
endif()
# cargo builds the profile `dev` in the folder `debug`, and every other profile in a folder of its
# name.
set(_folder "${EVENKEEL_CARGO_PROFILE}")
if(_folder STREQUAL "dev")
  set(_folder "debug")
endif()
set(_evenkeel_archive "${_target}/${_folder}/libevenkeel_bridge.a")
set(_evenkeel_generated "${_target}/cxxbridge/evenkeel-bridge/chooser.rs.h")
set(_evenkeel_includes "${_evenkeel_crate}/cpp-bridge" "${_evenkeel_crate}/ns3-module/evenkeel-fabric/model"
                       "${_target}/cxxbridge"
)

file(GLOB_RECURSE _evenkeel_crate_files CONFIGURE_DEPENDS "${_evenkeel_crate}/rust/*.rs"
     "${_evenkeel_crate}/cpp-bridge/*" "${_evenkeel_crate}/ns3-module/evenkeel-fabric/model/*records.h"
     "${_evenkeel_crate}/ns3-module/evenkeel-fabric/model/fabric-packet.h"
)
# The CXXFLAGS of an ns-3 build must not apply to the bridge. cxx puts its headers into the folder of
# CARGO_TARGET_DIR, if a user has set it, whatever --target-dir says.
add_custom_command(
  OUTPUT "${_evenkeel_archive}" "${_evenkeel_generated}"
  COMMAND
    "${CMAKE_COMMAND}" -E env --unset=CXXFLAGS --unset=CFLAGS --unset=CARGO_TARGET_DIR
    "${EVENKEEL_CARGO}" rustc --locked --package evenkeel-bridge --lib --crate-type staticlib
    --no-default-features
    --features bridge --profile "${EVENKEEL_CARGO_PROFILE}"
    --manifest-path "${_evenkeel_crate}/Cargo.toml" --target-dir "${_target}"
  COMMAND "${CMAKE_COMMAND}" -E touch_nocreate "${_evenkeel_archive}" "${_evenkeel_generated}"
  DEPENDS ${_evenkeel_crate_files} "${_evenkeel_crate}/Cargo.toml" "${_evenkeel_crate}/Cargo.lock"
          "${_evenkeel_crate}/rust/bridge/Cargo.toml"
  # cargo reads .cargo/config.toml, which an archive has for its copies of crates, from here.
  WORKING_DIRECTORY "${_evenkeel_crate}"
  USES_TERMINAL VERBATIM
  COMMENT "evenkeel: cargo builds the Rust library (${EVENKEEL_CARGO_PROFILE})"
)
add_custom_target(evenkeel-cargo DEPENDS "${_evenkeel_archive}" "${_evenkeel_generated}")
