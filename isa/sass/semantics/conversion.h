// SPDX-License-Identifier: Apache-2.0
// The bind functions of the conversion family, which fills several files.
#pragma once

#include "isa/sass/binder.h"

namespace lockstep::sass {

// conversion_integer.cpp
bool bind_f2i(Binder& binder);
bool bind_i2f(Binder& binder);
bool bind_i2fp(Binder& binder);
bool bind_f2ip(Binder& binder);
// conversion_float.cpp
bool bind_f2f(Binder& binder);
bool bind_frnd(Binder& binder);
// conversion_pack.cpp
bool bind_f2fp(Binder& binder);

}  // namespace lockstep::sass
