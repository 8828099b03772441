# SPDX-License-Identifier: Apache-2.0
# A library that cannot work is refused by name where a program opens it, and output is not lost.
cmake_minimum_required(VERSION 3.25)
set(ENV{LD_AUDIT} ${LOADER}/liblockstep_loader.so)
set(ENV{LD_PRELOAD} ${LOADER}/libcudart.so.13)
execute_process(COMMAND ${PROGRAM} libcublas.so.13
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT status EQUAL 3 OR NOT output STREQUAL "begun" OR NOT errors MATCHES "needs libcublas.so.13 .cuBLAS.")
    message(FATAL_ERROR "status ${status}\n${output}${errors}")
endif()
