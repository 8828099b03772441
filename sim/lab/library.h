// SPDX-License-Identifier: Apache-2.0
// The labs that there are: those of the program, or of a folder of one's own.
#pragma once

#include <string>
#include <vector>

#include "sim/lab/lab.h"

namespace lockstep::lab {

class Library {
  public:
    /// Those of the program.
    Library();
    /// labs/*.yaml and key/*.yaml of a folder. Throws InputError with file and line.
    explicit Library(const std::string& folder);

    /// In the order of kOrder, then by name.
    const std::vector<KeyedLab>& labs() const { return labs_; }
    /// Throws InputError with the nearest name.
    const KeyedLab& find(const std::string& name) const;

  private:
    void add(const std::string& lab_file, const std::string& lab_text, const std::string& key_file,
             const std::string& key_text);
    void sort();

    std::vector<KeyedLab> labs_;
};

}  // namespace lockstep::lab
