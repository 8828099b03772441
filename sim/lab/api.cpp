// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/api.h"

#include <fmt/format.h>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/lab/answer.h"
#include "sim/lab/embedded.h"
#include "sim/lab/lab_json.h"
#include "sim/lab/widgets/roofline.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kBadRequest = 400, kForbidden = 403, kNotFound = 404, kMethodNotAllowed = 405,
              kUnsupportedType = 415, kUnprocessable = 422, kServerError = 500, kBusy = 503;

/// What a program printed may be no UTF-8.
std::string dump(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response refused(int status, const std::string& message) {
    return {status, "application/json", dump({{"error", message}})};
}

Response json(const Json& value) {
    return {200, "application/json", dump(value)};
}

Json machines_json() {
    Json machines = Json::array();
    for (const std::string& name : config::Machine::names()) {
        const auto machine = config::Machine::load(name);
        machines.push_back(
            {{"name", name}, {"kind", machine->kind()}, {"description", machine->description()}});
    }
    return machines;
}

std::string text_at(const nlohmann::json& object, const char* name) {
    if (!object.contains(name) || !object[name].is_string())
        throw InputError(fmt::format("{}: wanted a text", name));
    return object[name].get<std::string>();
}

std::size_t index_at(const nlohmann::json& object, const char* name, std::size_t count) {
    if (!object.contains(name) || !object[name].is_number_unsigned() ||
        object[name].get<std::size_t>() >= count)
        throw InputError(fmt::format("{}: wanted a number below {}", name, count));
    return object[name].get<std::size_t>();
}

/// What stands between `prefix` and `suffix`, "" where it is not so.
std::string between(const std::string& text, const std::string& prefix, const std::string& suffix) {
    if (!text.starts_with(prefix) || !text.ends_with(suffix) ||
        text.size() <= prefix.size() + suffix.size())
        return "";
    return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
}

}  // namespace

Response Api::answer(const Request& request, unsigned short port) const {
    if (!http::is_own_host(request, port))
        return refused(kForbidden, fmt::format("this server answers to 127.0.0.1:{} only", port));
    // A link on another page may lead to the first page, and to nothing else.
    if (!http::is_own_page(request) && !(request.is_get() && request.target == "/"))
        return refused(kForbidden, "this server answers to its own pages only");
    try {
        if (request.is_get()) {
            if (request.target == "/api/labs") return json(list_json(library_));
            if (request.target == "/api/machines") return json(machines_json());
            if (const std::string name = between(request.target, "/api/labs/", ""); !name.empty()) {
                for (const KeyedLab& keyed : library_.labs())
                    if (keyed.lab.name == name) return json(lab_json(keyed.lab));
                return refused(kNotFound, fmt::format("no lab '{}'", name));
            }
            return file(request.target);
        }
        if (request.method != "POST")
            return refused(kMethodNotAllowed, "only GET, HEAD and POST are answered");
        if (!request.content_type.starts_with("application/json"))
            return refused(kUnsupportedType, "Content-Type: wanted application/json");
        return post(request.target, request.body);
    } catch (const nlohmann::json::exception& error) {
        return refused(kBadRequest, error.what());
    } catch (const Busy& error) {
        return refused(kBusy, error.what());
    } catch (const Error& error) {
        return refused(kUnprocessable, error.what());
    } catch (const std::exception& error) {
        return refused(kServerError, error.what());
    }
}

Response Api::file(std::string_view target) const {
    const std::string path =
        "web/" + std::string(target == "/" ? "index.html" : target.substr(target.empty() ? 0 : 1));
    for (const EmbeddedFile& file : embedded_files())
        if (file.path == path) return {200, http::type_of(path), std::string(file.bytes)};
    return refused(kNotFound, fmt::format("no page {}", target));
}

Response Api::post(const std::string& target, const std::string& body) const {
    const auto request = nlohmann::json::parse(body);
    if (!request.is_object()) return refused(kBadRequest, "wanted an object");
    if (target == "/api/run") {
        const RunAnswer run = service_.run(RunRequest::from_json(request));
        return {
            200, "application/json",
            fmt::format("{{\"screen\":{},\"statistics\":{}}}", dump(run.screen), run.statistics)};
    }
    if (target == "/api/point")
        return json(roofline_point(service_.run(RunRequest::from_json(request)).statistics));
    if (const std::string name = between(target, "/api/widget/", ""); !name.empty())
        return {200, "application/json", service_.widget(name, request.dump())};
    if (const std::string name = between(target, "/api/labs/", "/check"); !name.empty())
        return check_answer(library_.find(name), request);
    if (const std::string name = between(target, "/api/labs/", "/command"); !name.empty())
        return run_command(library_.find(name), request);
    return refused(kNotFound, fmt::format("no page {}", target));
}

Response Api::check_answer(const KeyedLab& lab, const nlohmann::json& request) const {
    const std::string id = text_at(request, "question");
    const Question* question = lab.lab.question(id);
    if (question == nullptr) return refused(kNotFound, fmt::format("no question '{}'", id));
    if (!request.contains("answer")) throw InputError("answer: is missing");
    const Verdict verdict = check(*question, lab.key.at(id), request["answer"],
                                  [this](const std::string& run) { return service_.metrics(run); });
    return json({{"right", verdict.is_right}, {"text", verdict.text}});
}

Response Api::run_command(const KeyedLab& lab, const nlohmann::json& request) const {
    const std::size_t step = index_at(request, "step", lab.lab.steps.size());
    const auto& commands = lab.lab.steps[step].commands;
    const ChildResult result =
        service_.command(commands[index_at(request, "command", commands.size())]);
    return json({{"status", result.status}, {"output", result.output + result.errors}});
}

}  // namespace lockstep::lab
