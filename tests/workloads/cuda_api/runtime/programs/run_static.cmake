# SPDX-License-Identifier: Apache-2.0
# Runs `lockstep run` on a program and checks its exit status.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${LOCKSTEP} run --mode emulate ${ARGUMENTS} RESULT_VARIABLE status)
if(NOT status EQUAL STATUS)
    message(FATAL_ERROR "exit status ${status} instead of ${STATUS}")
endif()
