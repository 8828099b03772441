// SPDX-License-Identifier: Apache-2.0
// Random graphs of Tiles on the engine against a reference that knows no windows: it steps every
// edge of every clock and moves each message and credit by its time. Then the engine against
// itself: any number of threads, any order, shorter windows, activation by the Tiles' processes.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <memory>

#include "sim/engine/simulation.h"

namespace lockstep::engine {
namespace {

struct Message {
    std::uint64_t value = 0;
    int hops = 0;
};

struct Link {
    std::size_t from, to;
    ChannelParameters parameters;
};

struct Graph {
    std::vector<Time> periods;  // by node
    std::vector<Link> links;
    int messages;  // that each node originates
    std::uint64_t seed;
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 27);
}

/// A node's view of its links, of the engine or of the reference.
class Ends {
  public:
    virtual ~Ends() = default;
    virtual bool ready(std::size_t in, Cycle now) = 0;
    virtual Message receive(std::size_t in, Cycle now) = 0;
    virtual std::uint32_t credits(std::size_t out, Cycle now) = 0;
    virtual void send(std::size_t out, Cycle now, Message message) = 0;
};

/// What a node computes: it takes messages, is busy for a while after each, and sends them on by
/// another link until their hops are used up. Everything it does goes into `trace` with its cycle.
struct Node {
    std::size_t inputs = 0, outputs = 0;
    int to_originate = 0;
    std::uint64_t trace = 0;
    Cycle last_event = 0;
    Cycle busy_until = 0;
    Cycle next_origin = 0;
    std::deque<std::pair<std::size_t, Message>> pending;

    bool finished() const { return to_originate == 0 && pending.empty(); }

    void note(Cycle now, std::uint64_t what) {
        trace = mix(mix(trace, now), what);
        last_event = now;
    }

    void forward(Message message) {
        if (outputs != 0 && message.hops-- > 0) pending.emplace_back(trace % outputs, message);
    }

    /// One cycle; without work it changes nothing.
    void tick(Cycle now, Ends& ends) {
        for (std::size_t in = 0; in < inputs && now >= busy_until; ++in) {
            if (!ends.ready(in, now)) continue;
            const Message message = ends.receive(in, now);
            note(now, mix(message.value, in));
            busy_until = now + 1 + trace % 4;
            forward(message);
        }
        if (to_originate > 0 && now >= next_origin) {
            --to_originate;
            note(now, 1);
            next_origin = now + 1 + trace % 40;
            forward({trace, static_cast<int>(trace >> 32) % 6 + 1});
        }
        while (!pending.empty()) {
            const auto& [out, message] = pending.front();
            const std::uint32_t credits = ends.credits(out, now);
            if (credits == 0) break;
            note(now, credits);
            ends.send(out, now, message);
            pending.pop_front();
        }
    }
};

std::vector<Node> nodes_of(const Graph& graph) {
    std::vector<Node> nodes(graph.periods.size());
    for (const Link& link : graph.links) {
        ++nodes[link.from].outputs;
        ++nodes[link.to].inputs;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].to_originate = graph.messages;
        nodes[i].trace = mix(graph.seed, i);
    }
    return nodes;
}

using Result = std::vector<std::pair<std::uint64_t, Cycle>>;  // trace and last event by node

Result result_of(const std::vector<const Node*>& nodes) {
    Result result;
    for (const Node* node : nodes) result.emplace_back(node->trace, node->last_event);
    return result;
}

// The reference.

struct ReferenceLink {
    ChannelParameters parameters;
    Time from_period, to_period;
    std::deque<std::pair<Time, Message>> messages;  // and when each arrives
    std::deque<Time> credits_back;
    std::uint32_t credits;
    Cycle last_send = kNever;
    std::uint32_t sent_in_cycle = 0;
};

class ReferenceEnds : public Ends {
  public:
    std::vector<ReferenceLink*> in, out;
    bool ready(std::size_t i, Cycle now) override {
        return !in[i]->messages.empty() && in[i]->messages.front().first <= now * in[i]->to_period;
    }
    Message receive(std::size_t i, Cycle now) override {
        const Message message = in[i]->messages.front().second;
        in[i]->messages.pop_front();
        in[i]->credits_back.push_back((now + in[i]->parameters.credit_latency) * in[i]->to_period);
        return message;
    }
    std::uint32_t credits(std::size_t o, Cycle now) override {
        ReferenceLink& link = *out[o];
        for (; !link.credits_back.empty() && link.credits_back.front() <= now * link.from_period;
             link.credits_back.pop_front())
            ++link.credits;
        if (link.parameters.width == 0) return link.credits;
        const std::uint32_t used = link.last_send == now ? link.sent_in_cycle : 0;
        return std::min(link.credits, link.parameters.width - used);
    }
    void send(std::size_t o, Cycle now, Message message) override {
        ReferenceLink& link = *out[o];
        if (link.last_send != now) link.sent_in_cycle = 0;
        link.last_send = now;
        ++link.sent_in_cycle;
        --link.credits;
        link.messages.emplace_back((now + link.parameters.latency) * link.from_period, message);
    }
};

Result run_reference(const Graph& graph) {
    std::vector<Node> nodes = nodes_of(graph);
    std::vector<ReferenceEnds> ends(nodes.size());
    std::deque<ReferenceLink> links;
    for (const Link& link : graph.links) {
        links.push_back({link.parameters,
                         graph.periods[link.from],
                         graph.periods[link.to],
                         {},
                         {},
                         link.parameters.capacity});
        ends[link.from].out.push_back(&links.back());
        ends[link.to].in.push_back(&links.back());
    }
    std::vector<Cycle> cycles(nodes.size(), 0);
    const auto live = [&] {
        for (const Node& node : nodes)
            if (!node.finished()) return true;
        for (const ReferenceLink& link : links)
            if (!link.messages.empty()) return true;
        return false;
    };
    while (live()) {
        Time time = kNever;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            time = std::min(time, cycles[i] * graph.periods[i]);
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (cycles[i] * graph.periods[i] == time) nodes[i].tick(cycles[i]++, ends[i]);
    }
    std::vector<const Node*> all;
    for (const Node& node : nodes) all.push_back(&node);
    return result_of(all);
}

// The engine.

class GraphTile : public Tile, private Ends {
  public:
    GraphTile(Simulation& simulation, std::string name, ClockDomain clock, Node node)
        : Tile(simulation, std::move(name), clock), node_(std::move(node)) {}
    std::vector<std::unique_ptr<Receiver<Message>>> in;
    std::vector<std::unique_ptr<Sender<Message>>> out;
    const Node& node() const { return node_; }

    Cycle advance(Cycle from, Cycle until) override {
        for (Cycle now = from;;) {
            node_.tick(now, *this);
            const Cycle next = std::max(next_work(now, until), now + 1);
            if (next >= until) return next;
            now = next;
        }
    }
    bool finished() const override { return node_.finished(); }
    std::string explain_wait() const override {
        return fmt::format("{} messages pending", node_.pending.size());
    }

  private:
    /// Leaves out what the engine is to wake it for: messages that become readable after the
    /// window.
    Cycle next_work(Cycle now, Cycle until) {
        Cycle next = node_.to_originate > 0 ? node_.next_origin : kNever;
        for (const auto& receiver : in)
            if (receiver->next_ready() < until)
                next = std::min(next, std::max(receiver->next_ready(), node_.busy_until));
        if (!node_.pending.empty())
            next = std::min(next, out[node_.pending.front().first]->next_credit(now));
        return next;
    }
    bool ready(std::size_t i, Cycle now) override { return in[i]->ready(now); }
    Message receive(std::size_t i, Cycle now) override { return in[i]->receive(now); }
    std::uint32_t credits(std::size_t o, Cycle now) override { return out[o]->credits(now); }
    void send(std::size_t o, Cycle now, Message message) override { out[o]->send(now, message); }

    Node node_;
};

struct EngineRun {
    Result result;
    SimulationStatistics statistics;
};

EngineRun run_engine(const Graph& graph, SimulationOptions options) {
    Simulation simulation(std::move(options));
    std::vector<std::unique_ptr<GraphTile>> tiles;
    for (const Node& node : nodes_of(graph)) {
        const std::size_t i = tiles.size();
        tiles.push_back(std::make_unique<GraphTile>(simulation, "tile" + std::to_string(i),
                                                    ClockDomain(graph.periods[i]), node));
    }
    for (const Link& link : graph.links) {
        GraphTile &from = *tiles[link.from], &to = *tiles[link.to];
        from.out.push_back(
            std::make_unique<Sender<Message>>(from, "out" + std::to_string(from.out.size())));
        to.in.push_back(
            std::make_unique<Receiver<Message>>(to, "in" + std::to_string(to.in.size())));
        simulation.connect(*from.out.back(), *to.in.back(), link.parameters);
    }
    EXPECT_EQ(simulation.run(), StopReason::kFinished);
    std::vector<const Node*> nodes;
    for (const auto& tile : tiles) nodes.push_back(&tile->node());
    return {result_of(nodes), simulation.statistics()};
}

Graph random_graph() {
    Graph graph;
    const auto nodes = *rc::gen::inRange<std::size_t>(1, 12);
    for (std::size_t i = 0; i < nodes; ++i)
        graph.periods.push_back(*rc::gen::element<Time>(500, 500, 505, 700, 1429, 9000));
    const auto links = *rc::gen::inRange<std::size_t>(0, 3 * nodes);
    for (std::size_t i = 0; i < links; ++i)
        graph.links.push_back({*rc::gen::inRange<std::size_t>(0, nodes),
                               *rc::gen::inRange<std::size_t>(0, nodes),
                               {.latency = *rc::gen::element<Cycle>(1, 2, 7, 20, 33, 400),
                                .capacity = *rc::gen::inRange<std::uint32_t>(1, 9),
                                .credit_latency = *rc::gen::element<Cycle>(1, 3, 20, 150),
                                .width = *rc::gen::inRange<std::uint32_t>(0, 3)}});
    graph.messages = *rc::gen::resize(100, rc::gen::inRange(0, 80));
    graph.seed = *rc::gen::arbitrary<std::uint64_t>();
    return graph;
}

TEST(RandomGraph, AgreesWithSteppingEveryCycle) {
    EXPECT_TRUE(rc::check([] {
        const Graph graph = random_graph();
        RC_ASSERT(run_engine(graph, {}).result == run_reference(graph));
    }));
}

TEST(RandomGraph, DoesNotDependOnThreadsOrderWindowOrActivation) {
    EXPECT_TRUE(rc::check([] {
        const Graph graph = random_graph();
        const EngineRun one = run_engine(graph, {});
        const auto seed = *rc::gen::arbitrary<std::uint64_t>();
        const auto threads = *rc::gen::inRange<unsigned>(2, 5);
        const EngineRun shuffled = run_engine(graph, {.shuffle = seed});
        const EngineRun parallel = run_engine(graph, {.threads = threads, .shuffle = seed});
        const EngineRun process =
            run_engine(graph, {.activation = Activation::kProcess, .shuffle = seed});
        for (const EngineRun* run : {&shuffled, &parallel, &process}) {
            RC_ASSERT(run->result == one.result);
            RC_ASSERT(run->statistics.activations == one.statistics.activations);
            RC_ASSERT(run->statistics.messages == one.statistics.messages);
        }
        const auto window = *rc::gen::inRange<Time>(50, 2000);
        RC_ASSERT(run_engine(graph, {.max_window = window}).result == one.result);
    }));
}

}  // namespace
}  // namespace lockstep::engine
