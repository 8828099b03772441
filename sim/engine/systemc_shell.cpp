// SPDX-License-Identifier: Apache-2.0
// One SC_METHOD, the driver, wakes at the begin of each window that has work; SystemC time is the
// window's begin while its Tiles run. An activation through the Tile's own SC_METHOD and event
// costs several times a direct call (tests/benchmarks/engine_benchmark.cpp), hence the driver.
#include "sim/engine/systemc_shell.h"

#include <algorithm>
#include <map>
#include <systemc>

#include "sim/engine/systemc_context.h"
#include "sim/engine/systemc_objects.h"

namespace lockstep::engine {

class SystemcShell::TileModule : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(TileModule);
    TileModule(const sc_core::sc_module_name& name, Simulation& simulation, const Tile& tile)
        : sc_core::sc_module(name), simulation_(simulation), index_(tile.index_) {
        SC_METHOD(activate);
        sensitive << work;
        dont_initialize();
    }
    sc_core::sc_event work{"work"};

  private:
    void activate() { simulation_.activate(index_); }
    Simulation& simulation_;
    const std::uint32_t index_;
};

class SystemcShell::Driver : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Driver);
    Driver(const sc_core::sc_module_name& name, Simulation& simulation,
           const std::vector<std::unique_ptr<TileModule>>& tiles, SystemcSignals& signals)
        : sc_core::sc_module(name),
          simulation_(simulation),
          tiles_(tiles),
          signals_(signals),
          by_process_(simulation.options_.activation == Activation::kProcess) {
        SC_METHOD(step);
        sensitive << go;
        dont_initialize();
    }
    sc_core::sc_event go{"go"}, done{"done"};
    std::exception_ptr failure;
    bool is_guest = false;  ///< SystemC's kernel is run by somebody else
    Time ahead = 0;         ///< of the Simulation's time: SystemC's
    std::vector<ChannelObject*> traced_channels;

  private:
    void update_channels() {
        for (ChannelObject* const channel : traced_channels) channel->update();
    }
    void step() {
        try {
            if (shows_signals_) return go_on();
            if (!tiles_running_) {
                update_channels();
                const auto order = simulation_.begin_window();
                if (by_process_) {
                    for (const std::uint32_t tile : order) tiles_[tile]->work.notify();
                    tiles_running_ = true;
                    next_trigger(sc_core::SC_ZERO_TIME);
                    return;
                }
                simulation_.run_tiles();
            }
            tiles_running_ = false;
            next_ = simulation_.end_window();
            return go_on();
        } catch (...) {
            failure = std::current_exception();
        }
        stop();
    }

    /// To the next window, or to the end; through the changes of signals before it.
    void go_on() {
        const Time now = sc_core::sc_time_stamp().value() - ahead;
        signals_.write(now);
        const Time change = signals_.next();
        shows_signals_ = change < std::min(next_, simulation_.now());
        const Time then = shows_signals_ ? change : next_;
        if (then == kNever) return stop();
        next_trigger(sc_core::sc_time::from_value(then - now));
    }

    void stop() {
        if (is_guest)
            done.notify(sc_core::SC_ZERO_TIME);
        else
            sc_core::sc_pause();
    }

    Simulation& simulation_;
    const std::vector<std::unique_ptr<TileModule>>& tiles_;
    SystemcSignals& signals_;
    const bool by_process_;
    bool tiles_running_ = false;
    bool shows_signals_ = false;  ///< a window has ended, whose signals change
    Time next_ = kNever;          ///< window
};

namespace {

class Group : public sc_core::sc_module {
  public:
    explicit Group(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}
};

/// While it lives, what is made becomes the module's child.
class InsideOf {
  public:
    explicit InsideOf(sc_core::sc_module& module) : context_(*module.simcontext()) {
        context_.hierarchy_push(&module);
    }
    ~InsideOf() { context_.hierarchy_pop(); }
    InsideOf(const InsideOf&) = delete;
    InsideOf& operator=(const InsideOf&) = delete;

  private:
    sc_core::sc_simcontext& context_;
};

}  // namespace

class SystemcShell::Modules {
  public:
    explicit Modules(Simulation& simulation) : top(simulation.options_.name.c_str()) {
        const InsideOf inside(top);
        driver = std::make_unique<Driver>("driver", simulation, tiles, signals);
    }

    /// A Tile's module, or that of a group.
    sc_core::sc_module& module(const std::string& path) {
        const std::string whole = top.name() + ("." + path);
        sc_core::sc_object* const found =
            path.empty() ? &top : sc_core::sc_find_object(whole.c_str());
        auto* const module = dynamic_cast<sc_core::sc_module*>(found);
        if (module != nullptr) return *module;
        const InsideOf inside(this->module(parent(path)));
        return *(groups[path] = std::make_unique<Group>(leaf(path).c_str()));
    }

    static std::string parent(const std::string& path) {
        const auto dot = path.rfind('.');
        return dot == std::string::npos ? "" : path.substr(0, dot);
    }
    static std::string leaf(const std::string& path) { return path.substr(path.rfind('.') + 1); }

    // Destroyed from the last to the first.
    Group top;
    std::map<std::string, std::unique_ptr<Group>> groups;
    std::vector<std::unique_ptr<TileModule>> tiles;
    std::vector<std::unique_ptr<EndObject>> ends;
    std::vector<std::unique_ptr<ChannelObject>> channels;
    SystemcSignals signals;
    std::unique_ptr<Driver> driver;
};

SystemcShell::SystemcShell(Simulation& simulation) : simulation_(simulation) {
    use_fresh_systemc_context();
    LOCKSTEP_CHECK(sc_core::sc_get_time_resolution() == sc_core::sc_time(1, sc_core::SC_PS),
                   "SystemC's time resolution must be 1 ps");
    modules_ = std::make_unique<Modules>(simulation);
}

SystemcShell::~SystemcShell() {
    leave_systemc_context(modules_->top.simcontext());
}

void SystemcShell::add_tile(const Tile& tile) {
    LOCKSTEP_CHECK(sc_core::sc_get_status() == sc_core::SC_ELABORATION,
                   "tile {} made after the first run", tile.name());
    const std::string path = modules_->top.name() + ("." + tile.name());
    LOCKSTEP_CHECK(sc_core::sc_find_object(path.c_str()) == nullptr, "two tiles called {}", path);
    const InsideOf inside(modules_->module(Modules::parent(tile.name())));
    modules_->tiles.push_back(
        std::make_unique<TileModule>(Modules::leaf(tile.name()).c_str(), simulation_, tile));
}

void SystemcShell::add_channel(const ChannelBase& channel, const End& sender, const End& receiver) {
    const std::string name = sender.role + "_channel";
    build_inside(sender.tile, [&] {
        modules_->ends.push_back(
            std::make_unique<EndObject>(sender.role.c_str(), "lockstep_sender"));
        modules_->channels.push_back(std::make_unique<ChannelObject>(
            name.c_str(), channel, modules_->driver->traced_channels));
    });
    build_inside(receiver.tile, [&] {
        modules_->ends.push_back(
            std::make_unique<EndObject>(receiver.role.c_str(), "lockstep_receiver"));
    });
}

SignalId SystemcShell::add_signal(const std::string& path) {
    const InsideOf inside(modules_->module(Modules::parent(path)));
    return modules_->signals.add(
        std::make_unique<SystemcSignals::Signal>(Modules::leaf(path).c_str()));
}

void SystemcShell::set_signal(SignalId signal, Time at, std::uint64_t value) {
    modules_->signals.set(signal, at, value);
}

void SystemcShell::build_inside(const Tile& tile, const std::function<void()>& build) {
    const InsideOf inside(*modules_->tiles[tile.index_]);
    build();
}

void SystemcShell::run(Time start) {
    Driver& driver = *modules_->driver;
    enter_systemc_context(modules_->top.simcontext());
    const Time now = sc_core::sc_time_stamp().value();
    driver.is_guest = sc_core::sc_get_status() == sc_core::SC_RUNNING;
    // Somebody else may have gone on in the same context.
    driver.ahead = std::max(driver.ahead, now - std::min(now, start));
    const Time begin = start + driver.ahead;
    LOCKSTEP_CHECK(begin >= now, "SystemC's time is past {} ps", begin);
    driver.go.notify(sc_core::sc_time::from_value(begin - now));
    if (driver.is_guest)
        sc_core::wait(driver.done);
    else
        sc_core::sc_start();
    if (driver.failure) std::rethrow_exception(std::exchange(driver.failure, nullptr));
}

}  // namespace lockstep::engine
