// SPDX-License-Identifier: Apache-2.0
// A write-ahead log that is synchronised at each commit (sqlite.org/wal.html): what was added is
// kept through the end of the process and of the machine. The lock is held from the first write on.
#include "workloads/sweep/store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "sim/error/error.h"

namespace lockstep::sweep {

namespace {

constexpr int kApplication = 0x4c535750;  // what kind of SQLite file it is
constexpr int kVersion = 1;

constexpr const char* kSchema =
    "CREATE TABLE points(key TEXT PRIMARY KEY, description TEXT NOT NULL, status INTEGER NOT NULL,"
    " reason TEXT NOT NULL, cycles INTEGER NOT NULL, seconds REAL NOT NULL, metrics TEXT NOT NULL)"
    " WITHOUT ROWID";

class Statement {
  public:
    Statement(sqlite3* database, const char* sql) {
        sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    void bind(int at, const std::string& text) {
        sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
    }
    void bind(int at, std::int64_t number) { sqlite3_bind_int64(statement_, at, number); }
    void bind(int at, double number) { sqlite3_bind_double(statement_, at, number); }
    int step() { return statement_ ? sqlite3_step(statement_) : SQLITE_ERROR; }
    std::string text(int column) const {
        const auto* const bytes = sqlite3_column_text(statement_, column);
        return bytes ? reinterpret_cast<const char*>(bytes) : "";
    }
    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    double number(int column) const { return sqlite3_column_double(statement_, column); }

  private:
    sqlite3_stmt* statement_ = nullptr;
};

std::int64_t pragma(sqlite3* database, const char* sql) {
    Statement statement(database, sql);
    return statement.step() == SQLITE_ROW ? statement.integer(0) : 0;
}

}  // namespace

void Store::Close::operator()(sqlite3* database) const {
    sqlite3_close(database);
}

void Store::fail() const {
    const int code = sqlite3_errcode(database_.get());
    if (code == SQLITE_BUSY)
        throw InputError(fmt::format("{}: another sweep writes this state", file_));
    throw InputError(fmt::format(
        "{}: {}", file_,
        code == SQLITE_NOTADB ? "not the state of a sweep" : sqlite3_errmsg(database_.get())));
}

void Store::execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

Store::Store(const std::string& file) : file_(file) {
    sqlite3* database = nullptr;
    const int opened = sqlite3_open_v2(file.c_str(), &database,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    database_.reset(database);
    if (opened != SQLITE_OK) fail();
    execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    execute("BEGIN IMMEDIATE");
    const bool is_new = pragma(database, "PRAGMA schema_version") == 0;
    if (is_new) {
        execute(kSchema);
        execute(
            fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kVersion)
                .c_str());
    } else if (pragma(database, "PRAGMA application_id") != kApplication ||
               pragma(database, "PRAGMA user_version") != kVersion) {
        throw InputError(fmt::format("{}: not the state of a sweep", file));
    }
    execute("COMMIT");
}

std::map<std::string, Result> Store::results() const {
    std::map<std::string, Result> results;
    Statement statement(database_.get(),
                        "SELECT key, status, reason, cycles, seconds, metrics FROM points");
    int got = 0;
    while ((got = statement.step()) == SQLITE_ROW) {
        Result result;
        result.status = statement.integer(1) == 0 ? Status::kDone : Status::kFailed;
        result.reason = statement.text(2);
        result.cycles = static_cast<std::uint64_t>(statement.integer(3));
        result.seconds = statement.number(4);
        read_metrics(statement.text(5), result);
        results.emplace(statement.text(0), std::move(result));
    }
    if (got != SQLITE_DONE) fail();
    return results;
}

void Store::add(const std::string& key, const std::string& description, const Result& result) {
    Statement statement(database_.get(), "INSERT INTO points VALUES(?,?,?,?,?,?,?)");
    statement.bind(1, key);
    statement.bind(2, description);
    statement.bind(3, std::int64_t{result.status != Status::kDone});
    statement.bind(4, result.reason);
    statement.bind(5, static_cast<std::int64_t>(result.cycles));
    statement.bind(6, result.seconds);
    statement.bind(7, metrics_json(result));
    if (statement.step() == SQLITE_DONE) return;
    LOCKSTEP_CHECK(sqlite3_errcode(database_.get()) != SQLITE_CONSTRAINT, "{} was run twice",
                   description);
    fail();
}

void Store::forget_failed() {
    execute("DELETE FROM points WHERE status <> 0");
}

void Store::forget_all() {
    execute("DELETE FROM points");
}

}  // namespace lockstep::sweep
