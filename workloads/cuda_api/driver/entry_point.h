// SPDX-License-Identifier: Apache-2.0
// The driver's functions by name and version of CUDA (functions.txt).
#pragma once

namespace lockstep::cuda::driver {

/// CUdriverProcAddressQueryResult
enum class Query : int { kSuccess = 0, kNotFound = 1, kVersionNotSufficient = 2 };

/// CU_GET_PROC_ADDRESS_...
inline constexpr unsigned long long kLegacyStream = 1, kPerThreadStream = 2;

/// The newest form of a function that a version of CUDA has (12050: 12.5), the one for per-thread
/// default streams where that is asked for and there is one. Nullptr: `query` says why.
void* find_entry_point(const char* name, int version, unsigned long long flags, Query& query);

}  // namespace lockstep::cuda::driver
