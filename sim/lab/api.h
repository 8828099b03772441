// SPDX-License-Identifier: Apache-2.0
// What the server answers: pages and JSON. README.md documents it. No network here.
#pragma once

#include <string>
#include <string_view>

#include "sim/http/message.h"
#include "sim/lab/library.h"
#include "sim/lab/service.h"

namespace lockstep::lab {

using http::Request;
using http::Response;

class Api {
  public:
    Api(const Library& library, Service& service) : library_(library), service_(service) {}

    /// `port`: the server's own; requests that name another host or come from another site's page
    /// are refused. Any thread.
    Response answer(const Request& request, unsigned short port) const;

  private:
    Response file(std::string_view target) const;
    Response post(const std::string& target, const std::string& body) const;
    Response check_answer(const KeyedLab& lab, const nlohmann::json& request) const;
    Response run_command(const KeyedLab& lab, const nlohmann::json& request) const;

    const Library& library_;
    Service& service_;
};

}  // namespace lockstep::lab
