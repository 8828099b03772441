// SPDX-License-Identifier: Apache-2.0
// The site as a server on loopback answers it.
#pragma once

#include "sim/docs/site.h"
#include "sim/http/message.h"

namespace lockstep::docs {

/// A file of the site, by its path; of a folder its index.html. Requests that name another host or
/// change anything are refused.
http::Response answer(const Site& site, const http::Request& request, unsigned short port);

}  // namespace lockstep::docs
