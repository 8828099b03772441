// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's management library says about a card while it is measured. It is only asked.
#pragma once

#include <map>
#include <string>

namespace lockstep::validation {

/// Name and value of what the library knows of the card at a PCI address: version of the driver,
/// clocks now and at most (MHz), power limit (W), temperature (C), ECC, MIG, persistence, why its
/// clocks are low, how many processes compute on it. Empty where there is no library or no such
/// card; a value that the card or an older library does not give is left out.
std::map<std::string, std::string> card_state(const std::string& library,
                                              const std::string& pci_address);

}  // namespace lockstep::validation
