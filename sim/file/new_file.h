// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name when it is whole: a process that is killed before leaves
// nothing behind, and an older file of the name as it was.
#pragma once

#include <cstdio>
#include <string>

namespace lockstep::file {

/// Written without a name where the file system of `path` knows such files, else elsewhere; what
/// exists and is no ordinary file (/dev/stdout, a pipe) is written directly.
class NewFile {
  public:
    enum class Scratch { kBeside, kElsewhere };

    /// Throws InputError where the file can be made neither now nor later. `scratch`: kElsewhere
    /// for a file system that knows no files without a name, which is found out otherwise.
    explicit NewFile(const std::string& path, Scratch scratch = Scratch::kBeside);
    /// Unless it has been published nothing is left.
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    /// To write to; another one after publish(), maybe.
    std::FILE* stream() { return stream_; }
    /// Takes its name, in place of an older file; a link to that stays one. What is written later
    /// goes on in it. The moment in which it has a name of its own is safe from signals.
    void publish();
    /// Throws the InputError that errno says.
    [[noreturn]] void fail() const;

  private:
    void copy_to(const std::string& temporary);

    const std::string path_;    ///< as given, for messages
    const std::string target_;  ///< absolute: a simulated program may change the directory
    std::FILE* stream_ = nullptr;
    bool is_published_ = false;  ///< or written directly
    bool is_beside_ = false;     ///< on the file system of its place
};

/// A file without a name, beside `path` where its file system knows such, that goes with the
/// process; null: none could be made.
std::FILE* open_scratch(const std::string& path);

}  // namespace lockstep::file
