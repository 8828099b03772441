# What lockstep_measure is built from, where nothing but a compiler and CMake is installed: headers in
# LOCKSTEP_DEPENDENCIES/include and archives in LOCKSTEP_DEPENDENCIES/lib, as pack.sh gathers them; by
# default those of the system. The program runs on any x86-64 machine with AVX2 and needs of its
# system only glibc.
set(LOCKSTEP_DEPENDENCIES "" CACHE PATH "folder that pack.sh made; empty: the system's own packages")
set(LOCKSTEP_MARCH "")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    set(LOCKSTEP_MARCH -march=x86-64-v3)
endif()

function(lockstep_headers target file)
    find_path(LOCKSTEP_${file} ${file} HINTS ${LOCKSTEP_DEPENDENCIES}/include REQUIRED)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE ${LOCKSTEP_${file}})
endfunction()
function(lockstep_archive target file archive)
    lockstep_headers(${target} ${file})
    find_library(LOCKSTEP_${archive} ${archive} HINTS ${LOCKSTEP_DEPENDENCIES}/lib REQUIRED)
    target_link_libraries(${target} INTERFACE ${LOCKSTEP_${archive}})
endfunction()

lockstep_headers(fmt::fmt fmt/format.h)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
lockstep_headers(nlohmann_json::nlohmann_json nlohmann/json.hpp)
lockstep_headers(CLI11::CLI11 CLI/CLI.hpp)
lockstep_archive(yaml-cpp yaml-cpp/yaml.h libyaml-cpp.a)
lockstep_archive(PkgConfig::zstd zstd.h libzstd.a)
lockstep_archive(PkgConfig::lz4 lz4.h liblz4.a)

add_link_options(-static-libstdc++ -static-libgcc)
