# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # How many SMs, how much bandwidth?
# A notebook in text form (py:percent): Jupyter with jupytext, VS Code and Spyder open it cell by cell, and
# it runs as it is: `PYTHONPATH=build/lib/python /usr/bin/python3 workloads/api/examples/sweep.py`
#
# A vector sum moves 12 bytes for each addition, so that bandwidth should limit it; a matrix product
# multiplies each value it loads many times. Which of them gains from SMs, which from bandwidth?

# %%
import array

import lockstep

WORKLOADS = ["vector_add:n=262144", "sgemm:m=512,n=512,k=64"]
SMS = [4, 8, 16]
BANDWIDTHS = ["1200 GB/s", "4800 GB/s"]

# %% [markdown]
# One run for each point. `result.statistics` has what `--stats` writes: steps with Nsight Compute's metrics.

# %%
microseconds = {}
for workload in WORKLOADS:
    for sms in SMS:
        for bandwidth in BANDWIDTHS:
            machine = lockstep.Machine("h200", {"sm.count": str(sms), "dram.bandwidth": bandwidth})
            result = lockstep.run(workload, machine, verify=True)
            assert result.status == 0, result.report
            microseconds[workload, sms, bandwidth] = 1e6 * result.statistics.seconds

# %%
print(f"{'microseconds':<26}" + "".join(f"{sms:>9} SMs" for sms in SMS))
for workload in WORKLOADS:
    for bandwidth in BANDWIDTHS:
        row = "".join(f"{microseconds[workload, sms, bandwidth]:>13.2f}" for sms in SMS)
        print(f"{workload.split(':')[0]:<14}{bandwidth:>12}{row}")

# %% [markdown]
# The same from below: memory, a module, a launch, counters. numpy arrays are buffers too; here the
# standard library's do.

# %%
N = 1000
device = lockstep.Device(lockstep.Machine("h200", {"sm.count": "8"}))
a, b, c = (array.array("f", values) for values in (range(N), [0.5] * N, [0] * N))
addresses = [device.allocate(4 * N) for _ in range(3)]
device.write(addresses[0], a)
device.write(addresses[1], b)
module = device.load("workloads/cuda/cubin/sm_90/vector_add.cubin")
did = device.launch(module, "vector_add", [*addresses, N], grid=8, block=128)
device.read(addresses[2], c)
print(f"c[{N - 1}] = {c[N - 1]}, in {did.cycles} cycles, {did.metrics['smsp__inst_executed.sum']:.0f} warp instructions")
del device, module  # one chip is simulated at a time

# %% [markdown]
# A network on inputs of one's own: what does a TPU of int8 lose against this computer's fp32?

# %%
image = memoryview(array.array("f", [0.25] * 784)).cast("B").cast("f", (1, 784))
outputs = {}
for machine in ("host", "tpu_v1"):
    outputs[machine] = memoryview(lockstep.run_network("mlp", lockstep.Machine(machine), [image]).outputs[0])
rows = [view.tolist()[0] for view in outputs.values()]
worst = max(abs(exact - got) for exact, got in zip(*rows))
print(f"mlp on tpu_v1: {len(rows[0])} outputs, off by at most {worst / max(map(abs, rows[0])):.1%} of the largest")
