# SPDX-License-Identifier: Apache-2.0
# find_package(lockstep): the target lockstep::lockstep.
include(${CMAKE_CURRENT_LIST_DIR}/lockstepTargets.cmake)
