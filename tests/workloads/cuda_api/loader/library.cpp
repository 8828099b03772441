// SPDX-License-Identifier: Apache-2.0
// A shared library that does nothing.
namespace {
[[maybe_unused]] int nothing = 0;
}
