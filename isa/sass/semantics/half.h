// SPDX-License-Identifier: Apache-2.0
// The bind functions of the packed half-precision family, which fills several files.
#pragma once

#include "isa/sass/binder.h"

namespace lockstep::sass {

// half.cpp
bool bind_hadd2(Binder& binder);
bool bind_hmul2(Binder& binder);
bool bind_hfma2(Binder& binder);
bool bind_hfma2_mma(Binder& binder);
// half_compare.cpp
bool bind_hmnmx2(Binder& binder);
bool bind_vhmnmx(Binder& binder);
bool bind_hset2(Binder& binder);
bool bind_hsetp2(Binder& binder);

}  // namespace lockstep::sass
