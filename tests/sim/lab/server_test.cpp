// SPDX-License-Identifier: Apache-2.0
// The program itself on a free port of loopback, as browsers and others talk to it; and the labs on
// the command line.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

/// What comes back for these bytes, until the server closes.
std::string talk(int port, const std::string& request) {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string reply;
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
        for (std::size_t sent = 0; sent < request.size();) {
            const ssize_t count =
                send(connection, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
            if (count <= 0) break;
            sent += static_cast<std::size_t>(count);
        }
        std::array<char, 65536> buffer;
        for (ssize_t count; (count = recv(connection, buffer.data(), buffer.size(), 0)) > 0;)
            reply.append(buffer.data(), static_cast<std::size_t>(count));
    }
    close(connection);
    return reply;
}

class ServerTest : public testing::Test {
  protected:
    ServerTest() {
        const std::string command = binary_path("bin/lockstep") + " lab --port 0";
        pipe_ = popen(("exec " + command).c_str(), "r");
        std::array<char, 256> line{};
        const char* read = std::fgets(line.data(), line.size(), pipe_);
        const std::string text = read == nullptr ? "" : read;
        const std::size_t at = text.find("127.0.0.1:");
        if (at != std::string::npos) port_ = std::stoi(text.substr(at + 10));
        pid_ = pid_of(command);
    }
    ~ServerTest() override {
        if (pipe_ != nullptr) stop(SIGTERM);
    }

    /// The exit status.
    int stop(int signal) {
        kill(pid_, signal);
        const int status = pclose(pipe_);
        pipe_ = nullptr;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    std::string post(const std::string& target, const std::string& body) const {
        return talk(port_, "POST " + target +
                               " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                               "\r\nContent-Type: application/json\r\nConnection: close\r\n"
                               "Content-Length: " +
                               std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    std::string get(const std::string& target, const std::string& host) const {
        return talk(port_, "GET " + target + " HTTP/1.1\r\nHost: " + host +
                               "\r\nConnection: close\r\n\r\n");
    }
    std::string own_host() const { return "127.0.0.1:" + std::to_string(port_); }

    static nlohmann::json body_of(const std::string& reply) {
        return nlohmann::json::parse(reply.substr(reply.find("\r\n\r\n") + 4));
    }

    int port_ = 0;
    pid_t pid_ = 0;

  private:
    /// popen's child, which has become the program.
    static pid_t pid_of(const std::string&) {
        std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
        pid_t pid = 0, last = 0;
        while (children >> pid) last = pid;
        return last;
    }

    std::FILE* pipe_ = nullptr;
};

TEST_F(ServerTest, AnswersItsOwnPagesWithAStrictPolicy) {
    const std::string page = get("/", own_host());
    EXPECT_EQ(page.substr(0, 15), "HTTP/1.1 200 OK");
    EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'; script-src 'self'"),
              std::string::npos);
    EXPECT_EQ(page.find("Access-Control-"), std::string::npos);
    EXPECT_NE(page.find("lab.js"), std::string::npos);
    EXPECT_EQ(get("/", "example.com").substr(0, 22), "HTTP/1.1 403 Forbidden");
}

TEST_F(ServerTest, RunsAndChecksOnTheModel) {
    const auto run = body_of(post(
        "/api/run",
        R"({"command": "run gemm:m=3,n=2,k=2 --on systolic --set array.rows=2 --set array.columns=2"})"));
    EXPECT_EQ(run["statistics"]["totals"]["cycles"], 7);
    EXPECT_NE(run["screen"].get<std::string>().find("cycles 7"), std::string::npos);
    const auto verdict = body_of(
        post("/api/labs/systolic/check", R"({"question": "utilization", "answer": "42.86"})"));
    EXPECT_TRUE(verdict["right"].get<bool>());
    const auto wires = body_of(post("/api/widget/systolic", R"({"m": 3, "n": 2, "k": 2})"));
    EXPECT_EQ(wires["frames"].size(), 8u);
    EXPECT_EQ(body_of(post("/api/widget/systolc", "{}"))["error"],
              "no widget 'systolc'; did you mean systolic?");
    EXPECT_EQ(body_of(post("/api/run", R"({"x": "gemm:z=1", "on": "systolic"})")).contains("error"),
              true);
}

TEST_F(ServerTest, RefusesLargeAndBrokenRequestsAndGoesOn) {
    EXPECT_EQ(post("/api/run", std::string(100'000, ' ')).substr(0, 12), "HTTP/1.1 413");
    talk(port_, "nonsense\r\n\r\n");
    talk(port_, "GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
    EXPECT_EQ(get("/", own_host()).substr(0, 12), "HTTP/1.1 200");
}

TEST_F(ServerTest, EndsWellWhenInterrupted) {
    EXPECT_EQ(get("/", own_host()).substr(0, 12), "HTTP/1.1 200");
    EXPECT_EQ(stop(SIGINT), 0);
}

TEST_F(ServerTest, PortsThatAreTakenAreTold) {
    const Result result = lockstep("lab --port " + std::to_string(port_));
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.output.find("Address already in use"), std::string::npos) << result.output;
}

TEST(LabCommand, ListsAndTellsTheKey) {
    EXPECT_NE(lockstep("lab --list").output.find("systolic"), std::string::npos);
    const Result key = lockstep("lab systolic --key");
    EXPECT_EQ(key.status, 0);
    EXPECT_NE(key.output.find("predict_8x8: 42 cycles"), std::string::npos);
}

TEST(LabCommand, ChecksAnswersFromStandardInput) {
    const std::string answers = temporary("_answers.txt");
    std::ofstream(answers) << "4\n6\nb\n\n";
    const Result result = lockstep("lab systolic < " + answers);
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.output.find("No. That is PE (0, 0)."), std::string::npos);
    EXPECT_NE(result.output.find("cycles 7 (stream 3, load 2, skew 2)"), std::string::npos);
    EXPECT_NE(result.output.find("2 of 21 right."), std::string::npos);
    std::filesystem::remove(answers);
}

TEST(LabCommand, RefusesWhatIsWrong) {
    const auto expect = [](const std::string& words, const std::string& message) {
        const Result result = lockstep(words);
        EXPECT_EQ(result.status, 2) << words;
        EXPECT_NE(result.output.find(message), std::string::npos) << result.output;
    };
    expect("lab sistolic", "no lab 'sistolic'; did you mean systolic?");
    expect("lab --key", "--key: of which lab?");
    expect("lab --port 70000", "--port");
    expect("lab --labs /nowhere", "/nowhere: no folder labs in it");
    expect("lab --widget systolic </dev/null", "parse error");
}

}  // namespace
}  // namespace lockstep::cli
