# SPDX-License-Identifier: Apache-2.0
"""The Python module: values, errors, buffers."""
import array
import json
import struct
import unittest

import lockstep

CUBIN = "workloads/cuda/cubin/sm_90/vector_add.cubin"


class Machines(unittest.TestCase):
    def test_parameters(self):
        machine = lockstep.Machine("h200", {"sm.count": "64"})
        self.assertEqual((machine.name, machine.kind), ("h200", "gpu"))
        self.assertEqual(machine.number("sm.count"), 64)
        self.assertEqual({p.path: p.unit for p in machine.parameters()}["l2.size"], "B")
        self.assertIn("tpu_v1", lockstep.Machine.names())

    def test_errors_have_text_and_status(self):
        with self.assertRaisesRegex(lockstep.Error, "did you mean h200") as caught:
            lockstep.Machine("h20")
        self.assertEqual(caught.exception.status, 2)
        with self.assertRaisesRegex(TypeError, "no option 'thread'"):
            lockstep.run("mlp", lockstep.Machine("tpu_v1"), thread=2)
        with self.assertRaisesRegex(ValueError, "'cycle' or 'emulate'"):
            lockstep.run("mlp", lockstep.Machine("tpu_v1"), mode="fast")


class Runs(unittest.TestCase):
    def test_statistics(self):
        result = lockstep.run("mlp", lockstep.Machine("tpu_v1"), verify=True)
        self.assertEqual(result.status, 0)
        whole = json.loads(result.statistics.json)
        self.assertEqual(result.statistics.cycles, whole["totals"]["cycles"])
        self.assertEqual([s.name for s in result.statistics.steps], [s["name"] for s in whole["steps"]])
        self.assertIn("verified", result.report)

    def test_network_with_inputs(self):
        (wanted,) = lockstep.network_inputs("mlp")
        self.assertEqual((wanted.type, wanted.shape), ("fp32", [1, 784]))
        values = memoryview(array.array("f", [0.5] * 784)).cast("B").cast("f", (1, 784))
        on_host = lockstep.run_network("mlp", lockstep.Machine("host"), [values]).outputs[0]
        view = memoryview(on_host)
        self.assertEqual((view.format, view.shape), ("f", (1, 10)))
        again = lockstep.run_network("mlp", lockstep.Machine("host"), [lockstep.Tensor(values)]).outputs[0]
        self.assertEqual(view.tolist(), memoryview(again).tolist())
        with self.assertRaisesRegex(lockstep.Error, "its shape is"):
            lockstep.run_network("mlp", lockstep.Machine("host"), [array.array("f", [0.5] * 784)])
        with self.assertRaises(TypeError):
            lockstep.Tensor(array.array("u", "text"))

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        values = numpy.full((784, 1), 0.5, numpy.float32).T  # strides of its own
        output = lockstep.run_network("mlp", lockstep.Machine("host"), [values]).outputs[0]
        self.assertEqual(numpy.asarray(output).shape, (1, 10))


class Devices(unittest.TestCase):
    def setUp(self):
        self.device = lockstep.Device(lockstep.Machine("h200", {"sm.count": "8"}), mode="emulate")

    def test_launch(self):
        n = 100
        address = self.device.allocate(4 * n)
        self.device.write(address, array.array("f", range(n)))
        with open(CUBIN, "rb") as file:
            module = self.device.load(file.read())
        self.assertEqual(module.kernels(), ["vector_add"])
        self.assertEqual(module.parameter_bytes("vector_add"), [8, 8, 8, 4])
        arguments = [address, struct.pack("<Q", address), address, n]
        result = self.device.launch(module, "vector_add", arguments, grid=(2, 1), block=64)
        self.assertGreater(result.thread_instructions, n)
        values = array.array("f", bytes(4 * n))
        self.device.read(address, values)
        self.assertEqual(values[99], 198)
        self.device.free(address)

    def test_wrong_uses(self):
        module = self.device.load(CUBIN)
        with self.assertRaisesRegex(lockstep.Error, "4 parameters, but 0"):
            self.device.launch(module, "vector_add", [])
        with self.assertRaises(OverflowError):
            self.device.launch(module, "vector_add", [0, 0, 0, 1 << 40])
        with self.assertRaises(TypeError):
            self.device.launch(module, "vector_add", [0, 0, 0, "n"])
        with self.assertRaisesRegex(lockstep.Error, "null pointer") as caught:
            self.device.launch(module, "vector_add", [0, 0, 0, 32], block=32)
        self.assertEqual(caught.exception.status, 3)
        with self.assertRaises((TypeError, BufferError)):
            self.device.read(self.device.allocate(4), b"text")

    def test_one_chip_at_a_time(self):
        machine = lockstep.Machine("h200", {"sm.count": "8"})
        chip = lockstep.Device(machine)
        with self.assertRaisesRegex(lockstep.Error, "one at a time"):
            lockstep.Device(machine)
        del chip
        lockstep.Device(machine)


if __name__ == "__main__":
    unittest.main()
