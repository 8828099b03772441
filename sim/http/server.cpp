// SPDX-License-Identifier: Apache-2.0
// One thread reads and writes; requests are answered by others, a few more than there are cores,
// because most wait for a process.
#include "sim/http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

#include "sim/error/error.h"

namespace lockstep::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
using Tcp = asio::ip::tcp;

constexpr std::uint64_t kMostBody = 64 << 10;
constexpr std::uint32_t kMostHeader = 8 << 10;
constexpr int kMostConnections = 64;
constexpr std::chrono::seconds kPatience{60};

/// Nothing comes from elsewhere, and nothing is embedded elsewhere.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Shared {
    const Answer& answer;
    asio::thread_pool& workers;
    unsigned short port;
    int connections = 0;
};

class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(Tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {
        ++shared_.connections;
    }
    ~Session() { --shared_.connections; }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void read() {
        parser_.emplace();
        parser_->body_limit(kMostBody);
        parser_->header_limit(kMostHeader);
        stream_.expires_after(kPatience);
        beast_http::async_read(stream_, buffer_, *parser_,
                               [self = shared_from_this()](beast::error_code error, std::size_t) {
                                   self->on_read(error);
                               });
    }

  private:
    void on_read(beast::error_code error) {
        if (error == beast_http::error::body_limit || error == beast_http::error::header_limit) {
            write({413, "application/json", R"({"error":"the request is too large"})"}, false);
            return;
        }
        if (error) return close();
        stream_.expires_never();
        const auto& message = parser_->get();
        const auto header = [&](auto name) { return std::string(message[name]); };
        Request request{std::string(message.method_string()),
                        std::string(message.target()),
                        header(beast_http::field::host),
                        header(beast_http::field::origin),
                        header("Sec-Fetch-Site"),
                        header(beast_http::field::content_type),
                        message.body()};
        keeps_alive_ = message.keep_alive();
        is_head_ = message.method() == beast_http::verb::head;
        asio::post(shared_.workers, [self = shared_from_this(), request = std::move(request)] {
            Response response = self->shared_.answer(request, self->shared_.port);
            asio::post(self->stream_.get_executor(), [self, response = std::move(response)] {
                self->write(response, self->keeps_alive_);
            });
        });
    }

    void write(const Response& response, bool keeps_alive) {
        reply_ = {};
        reply_.version(11);
        reply_.result(static_cast<unsigned>(response.status));
        reply_.set(beast_http::field::server, "lockstep");
        reply_.set(beast_http::field::content_type, response.type);
        reply_.set(beast_http::field::cache_control, "no-store");
        reply_.set("Content-Security-Policy", kContentPolicy);
        reply_.set("Cross-Origin-Opener-Policy", "same-origin");
        reply_.set("Cross-Origin-Resource-Policy", "same-origin");
        reply_.set("Referrer-Policy", "no-referrer");
        reply_.set("X-Content-Type-Options", "nosniff");
        reply_.set("X-Frame-Options", "DENY");
        reply_.keep_alive(keeps_alive);
        reply_.body() = is_head_ ? "" : response.body;
        reply_.content_length(response.body.size());
        stream_.expires_after(kPatience);
        beast_http::async_write(
            stream_, reply_,
            [self = shared_from_this(), keeps_alive](beast::error_code error, std::size_t) {
                if (!error && keeps_alive)
                    self->read();
                else
                    self->close();
            });
    }

    void close() {
        beast::error_code ignored;
        stream_.socket().shutdown(Tcp::socket::shutdown_both, ignored);
        stream_.close();
    }

    beast::tcp_stream stream_;
    Shared& shared_;
    beast::flat_buffer buffer_;
    std::optional<beast_http::request_parser<beast_http::string_body>> parser_;
    beast_http::response<beast_http::string_body> reply_;
    bool keeps_alive_ = false, is_head_ = false;
};

void accept(Tcp::acceptor& acceptor, Shared& shared) {
    acceptor.async_accept([&](beast::error_code error, Tcp::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (!error && shared.connections < kMostConnections)
            std::make_shared<Session>(std::move(socket), shared)->read();
        accept(acceptor, shared);
    });
}

}  // namespace

void serve(const Answer& answer, unsigned short port,
           const std::function<void(unsigned short)>& begun, const std::function<void()>& stop) {
    asio::io_context context(1);
    Tcp::acceptor acceptor(context);
    try {
        const Tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
        acceptor.open(endpoint.protocol());
        acceptor.set_option(Tcp::acceptor::reuse_address(true));
        acceptor.bind(endpoint);
        acceptor.listen();
    } catch (const boost::system::system_error& error) {
        throw InputError(
            fmt::format("--port {}: {} (0: any that is free)", port, error.code().message()));
    }
    asio::thread_pool workers(std::max(2u * std::thread::hardware_concurrency(), 4u));
    Shared shared{answer, workers, acceptor.local_endpoint().port()};
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](beast::error_code, int) {
        acceptor.close();
        stop();
        context.stop();
    });
    accept(acceptor, shared);
    begun(shared.port);
    context.run();
    stop();
    workers.join();
}

}  // namespace lockstep::http
