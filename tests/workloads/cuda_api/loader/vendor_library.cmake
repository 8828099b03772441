# SPDX-License-Identifier: Apache-2.0
# A library that cannot work is refused by name: before the program begins where it is linked to it,
# and where it opens it, without losing what it printed until then.
cmake_minimum_required(VERSION 3.25)
set(ENV{LD_AUDIT} ${LOADER}/liblockstep_loader.so)
set(ENV{LD_PRELOAD} ${LOADER}/libcudart.so.13)
set(ENV{LOCKSTEP_MODE} emulate)
execute_process(COMMAND ${PROGRAM} libcublas.so.13
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status EQUAL STATUS OR NOT output STREQUAL "${OUTPUT}" OR
        NOT errors MATCHES "needs libcublas.so.13 .cuBLAS.")
    message(FATAL_ERROR "status ${status}\n${output}${errors}")
endif()
