// SPDX-License-Identifier: Apache-2.0
// Opens the library that it is told to.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
    std::fputs("begun", stdout);
    return dlopen(arguments[1], RTLD_NOW) != nullptr ? 0 : 1;
}
