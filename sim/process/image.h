// SPDX-License-Identifier: Apache-2.0
// Images of a whole process in a file, from which it goes on where it was: its memory, stack and
// registers. Exact whatever the program does, for nothing of it is left out; in return the process
// has one thread, the same program and libraries at the same addresses (no randomisation), and no
// open files but the standard streams. x86-64 Linux.
#pragma once

#include <string>

namespace lockstep::process {

/// Where addresses of this process are random, starts it anew without: does not return then. Throws
/// InputError where the system does not let it.
void fix_addresses();

/// From now on writes an image to `path` after every `seconds` of this process's CPU time, whole or
/// not at all. `identity`: what is run, in lines; a resumed run must have the same. Call once.
void keep_images(const std::string& path, unsigned seconds, const std::string& identity);

/// This process becomes that of the image, which goes on with the option's and writes further ones.
/// Does not return. Throws InputError where the file is no such image, is damaged, is of something
/// else than `identity` (names the first line that differs), or of another build or layout.
[[noreturn]] void resume_image(const std::string& path, const std::string& identity);

}  // namespace lockstep::process
