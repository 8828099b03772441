# SPDX-License-Identifier: Apache-2.0
# Writes vendor_libraries.inc from vendor_libraries.txt.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE}/vendor_libraries.txt lines REGEX "^[^#]")
set(rows "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "^([^ ]+) (.+)$" "{\"\\1\", \"\\2\"},\n" row "${line}")
    string(APPEND rows "${row}")
endforeach()
file(WRITE ${OUTPUT}/vendor_libraries.inc "${rows}")
