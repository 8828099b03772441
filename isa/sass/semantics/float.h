// SPDX-License-Identifier: Apache-2.0
// The bind functions of the fp32 family, which fills several files.
#pragma once

#include "isa/sass/binder.h"

namespace lockstep::sass {

// float.cpp
bool bind_fadd(Binder& binder);
bool bind_fmul(Binder& binder);
bool bind_ffma(Binder& binder);
// float_compare.cpp
bool bind_fsel(Binder& binder);
bool bind_fmnmx(Binder& binder);
bool bind_fset(Binder& binder);
bool bind_fsetp(Binder& binder);
// float_check.cpp
bool bind_fchk(Binder& binder);

}  // namespace lockstep::sass
