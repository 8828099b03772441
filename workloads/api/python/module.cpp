// SPDX-License-Identifier: Apache-2.0
// The Python module lockstep: lockstep.h in Python's words. README.md of the folder above.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "workloads/api/lockstep.h"
#include "workloads/api/python/values.h"

namespace lockstep::python {

namespace py = pybind11;
using namespace py::literals;

namespace {

std::vector<api::Tensor> tensors_from(const py::sequence& inputs) {
    std::vector<api::Tensor> list;
    for (const py::handle& input : inputs)
        list.push_back(py::isinstance<api::Tensor>(input)
                           ? input.cast<api::Tensor>()
                           : tensor_from(py::reinterpret_borrow<py::buffer>(input)));
    return list;
}

void add_errors(py::module_& module) {
    static py::exception<api::Error> error(module, "Error");
    error.doc() = "What went wrong, with the exit status of the program in .status";
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const api::Error& caught) {
            py::object made = py::object(error)(caught.what());
            made.attr("status") = caught.status();
            PyErr_SetObject(error.ptr(), made.ptr());
        }
    });
}

void add_machines(py::module_& module) {
    py::class_<api::Parameter>(module, "Parameter")
        .def_readonly("path", &api::Parameter::path)
        .def_readonly("value", &api::Parameter::value)
        .def_readonly("unit", &api::Parameter::unit)
        .def_readonly("evidence", &api::Parameter::evidence)
        .def_readonly("meaning", &api::Parameter::meaning);
    py::class_<api::Machine>(module, "Machine", "A modelled chip: a name, or a machine file")
        .def(py::init([](const std::string& name, const std::map<std::string, std::string>& set) {
                 std::vector<std::string> overrides;
                 for (const auto& [path, value] : set) overrides.push_back(path + "=" + value);
                 return api::Machine(name, overrides);
             }),
             "name_or_file"_a, "set"_a = std::map<std::string, std::string>())
        .def_static("names", &api::Machine::names)
        .def_property_readonly("name", &api::Machine::name)
        .def_property_readonly("kind", &api::Machine::kind)
        .def_property_readonly("description", &api::Machine::description)
        .def("parameters", &api::Machine::parameters)
        .def("number", &api::Machine::number, "path"_a)
        .def("text", &api::Machine::text, "path"_a);
}

void add_runs(py::module_& module) {
    py::class_<api::Step>(module, "Step")
        .def_readonly("name", &api::Step::name)
        .def_readonly("grid", &api::Step::grid)
        .def_readonly("block", &api::Step::block)
        .def_readonly("mode", &api::Step::mode)
        .def_readonly("metrics", &api::Step::metrics);
    py::class_<api::Statistics>(module, "Statistics")
        .def_readonly("json", &api::Statistics::json)
        .def_readonly("machine", &api::Statistics::machine)
        .def_readonly("mode", &api::Statistics::mode)
        .def_readonly("workload", &api::Statistics::workload)
        .def_readonly("steps", &api::Statistics::steps)
        .def_readonly("totals", &api::Statistics::totals)
        .def_property_readonly("cycles", &api::Statistics::cycles)
        .def_property_readonly("seconds", &api::Statistics::seconds);
    py::class_<api::Tensor>(module, "Tensor", py::buffer_protocol(),
                            "Values, by the buffer protocol: numpy.asarray(t), memoryview(t)")
        .def(py::init([](const py::buffer& values) { return tensor_from(values); }), "values"_a)
        .def_readwrite("name", &api::Tensor::name)
        .def_readonly("type", &api::Tensor::type)
        .def_readonly("shape", &api::Tensor::shape)
        .def_buffer(&buffer_of);
    py::class_<api::RunResult>(module, "RunResult")
        .def_readonly("status", &api::RunResult::status)
        .def_readonly("report", &api::RunResult::report)
        .def_readonly("statistics", &api::RunResult::statistics)
        .def_readonly("outputs", &api::RunResult::outputs);
    module.def(
        "run",
        [](const std::string& what, const api::Machine& on, const py::kwargs& options) {
            return api::run(what, on, options_from(options));
        },
        "what"_a, "on"_a, "Runs what `lockstep run` runs; options as RunOptions of lockstep.h");
    module.def(
        "run_network",
        [](const std::string& what, const api::Machine& on, const py::sequence& inputs,
           const py::kwargs& options) {
            return api::run_network(what, on, tensors_from(inputs), options_from(options));
        },
        "what"_a, "on"_a, "inputs"_a = py::list(),
        "The same of a network, with inputs as buffers; outputs come back");
    module.def("network_inputs", &api::network_inputs, "what"_a);
}

void add_devices(py::module_& module) {
    py::class_<api::LaunchResult>(module, "LaunchResult")
        .def_readonly("warp_instructions", &api::LaunchResult::warp_instructions)
        .def_readonly("thread_instructions", &api::LaunchResult::thread_instructions)
        .def_readonly("cycles", &api::LaunchResult::cycles)
        .def_readonly("seconds", &api::LaunchResult::seconds)
        .def_readonly("metrics", &api::LaunchResult::metrics);
    py::class_<api::Module>(module, "Module")
        .def("kernels", &api::Module::kernels)
        .def("parameter_bytes", &api::Module::parameter_bytes, "kernel"_a)
        .def("variable", &api::Module::variable, "name"_a);
    py::class_<api::Device>(module, "Device", "A GPU: memory, modules, launches")
        .def(py::init([](const api::Machine& machine, const std::string& mode, unsigned threads,
                         std::uint64_t max_instructions, bool warm_l2, bool sample) {
                 return api::Device(machine,
                                    {mode_from(mode), threads, max_instructions, warm_l2, sample});
             }),
             "machine"_a, py::kw_only(), "mode"_a = "cycle", "threads"_a = 1,
             "max_instructions"_a = 0, "warm_l2"_a = false, "sample"_a = false)
        .def("allocate", &api::Device::allocate, "bytes"_a)
        .def("free", &api::Device::free, "address"_a)
        .def(
            "write",
            [](api::Device& device, api::Address to, const py::buffer& from) {
                const py::buffer_info info = from.request();
                if (!PyBuffer_IsContiguous(info.view(), 'C'))
                    throw py::type_error("the buffer is not contiguous");
                device.write(to, info.ptr, static_cast<std::size_t>(info.size * info.itemsize));
            },
            "to"_a, "buffer"_a)
        .def(
            "read",
            [](const api::Device& device, api::Address from, const py::buffer& into) {
                const py::buffer_info info = into.request(true);
                if (!PyBuffer_IsContiguous(info.view(), 'C'))
                    throw py::type_error("the buffer is not contiguous");
                device.read(info.ptr, from, static_cast<std::size_t>(info.size * info.itemsize));
            },
            "address"_a, "into"_a, "Fills a writable buffer")
        .def(
            "load",
            [](api::Device& device, const py::object& what) {
                if (py::isinstance<py::bytes>(what)) {
                    const auto text = what.cast<std::string>();
                    return device.load(std::as_bytes(std::span(text)));
                }
                return device.load(py::str(what).cast<std::string>());
            },
            "file_or_bytes"_a, py::keep_alive<0, 1>())
        .def(
            "launch",
            [](api::Device& device, const api::Module& code, const std::string& kernel,
               const py::sequence& arguments, const py::object& grid, const py::object& block,
               std::uint32_t shared) {
                const std::vector<std::uint32_t> sizes = code.parameter_bytes(kernel);
                std::vector<api::Argument> list;
                for (std::size_t i = 0; i < arguments.size(); ++i)
                    list.push_back(argument_from(arguments[i], i < sizes.size() ? sizes[i] : 8));
                return device.launch(code, kernel, {dim3_from(grid), dim3_from(block), shared},
                                     list);
            },
            "module"_a, "kernel"_a, "arguments"_a, "grid"_a = 1, "block"_a = 1,
            "dynamic_shared_bytes"_a = 0);
}

}  // namespace

PYBIND11_MODULE(lockstep, module) {
    module.doc() = "Simulator and emulator of the machines that run neural networks";
    module.attr("__version__") = api::version();
    add_errors(module);
    add_machines(module);
    add_runs(module);
    add_devices(module);
}

}  // namespace lockstep::python
