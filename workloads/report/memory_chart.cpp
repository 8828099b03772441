// SPDX-License-Identifier: Apache-2.0
// The way of data: kernel, L1 and shared memory, L2, DRAM, with what passed on each edge.
#include <fmt/format.h>

#include "sim/html/plot.h"
#include "workloads/report/numbers.h"
#include "workloads/report/sections.h"

namespace lockstep::report {

namespace {

constexpr double kSectorBytes = 32, kWavefrontBytes = 128;

class Chart {
  public:
    void box(double x, double y, double width, double height, const std::string& name,
             const std::string& detail = "") {
        body_ += fmt::format(
            "<rect class=\"box\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
            "rx=\"6\"/><text class=\"head\" x=\"{:.0f}\" y=\"{:.0f}\" "
            "text-anchor=\"middle\">{}</text>",
            x, y, width, height, x + width / 2, y + height / 2 + (detail.empty() ? 4 : -4),
            html::escape(name));
        if (!detail.empty())
            body_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>",
                                 x + width / 2, y + height / 2 + 13, html::escape(detail));
    }
    /// An arrow from one x to another, its text above it.
    void edge(double from, double to, double y, const std::string& text, double share) {
        const double tip = from < to ? -7 : 7;
        body_ += fmt::format(
            "<path class=\"flow\" style=\"stroke-width:{:.1f}\" d=\"M{:.0f} {:.0f}H{:.0f}\"/><path "
            "class=\"tip\" d=\"M{:.0f} {:.0f}l{:.0f} -5v10z\"/><text x=\"{:.0f}\" y=\"{:.0f}\" "
            "text-anchor=\"middle\">{}</text>",
            1 + 5 * share, from, y, to + tip, to, y, tip, (from + to) / 2, y - 8,
            html::escape(text));
    }
    std::string text(double width, double height) const {
        return html::picture(width, height, 640,
                             "traffic between the kernel and the levels of memory", body_);
    }

  private:
    std::string body_;
};

}  // namespace

std::string memory_section(const Step& step) {
    const Metrics& m = step.metrics;
    if (!m.has("lts__t_sectors.sum")) return "";
    const double global = m["l1tex__t_sectors.sum"] * kSectorBytes,
                 shared_read =
                     m["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] * kWavefrontBytes,
                 shared_write =
                     m["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] * kWavefrontBytes,
                 l2_read = m["l1tex__m_xbar2l1tex_read_sectors.sum"] * kSectorBytes,
                 l2_write = m["l1tex__m_l1tex2xbar_write_sectors.sum"] * kSectorBytes,
                 dram_read = m["dram__bytes_read.sum"], dram_write = m["dram__bytes_write.sum"];
    double most = 1;
    for (const double bytes :
         {global, shared_read, shared_write, l2_read, l2_write, dram_read, dram_write})
        most = std::max(most, bytes);
    const auto bytes = [](double value) { return scaled_text(value, "B"); };
    const auto hits = [&](const char* name) { return fmt::format("hits {:.1f} %", m[name]); };
    Chart chart;
    chart.box(4, 60, 90, 110, "kernel");
    chart.box(222, 40, 140, 60, "L1", hits("l1tex__t_sector_hit_rate.pct"));
    chart.box(222, 130, 140, 60, "shared memory");
    chart.box(490, 60, 110, 110, "L2", hits("lts__t_sector_hit_rate.pct"));
    chart.box(726, 60, 90, 110, "DRAM");
    chart.edge(222, 94, 75, bytes(global), global / most);
    chart.edge(222, 94, 135, bytes(shared_read), shared_read / most);
    chart.edge(94, 222, 165, bytes(shared_write), shared_write / most);
    chart.edge(490, 362, 75, bytes(l2_read), l2_read / most);
    chart.edge(362, 490, 98, bytes(l2_write), l2_write / most);
    chart.edge(726, 600, 100, bytes(dram_read), dram_read / most);
    chart.edge(600, 726, 140, bytes(dram_write), dram_write / most);
    return "<h3>Memory</h3><p class=\"dim\">Bytes on each way while the kernel ran: global and "
           "local "
           "memory by L1, in both directions.</p>" +
           chart.text(820, 200);
}

}  // namespace lockstep::report
