// SPDX-License-Identifier: Apache-2.0
// Training on several devices: the same network by data, by layers' columns, and as a pipeline.
// Times of layers are those of a training step that the TPU model simulated; what is sent is
// counted, and takes the time that the chosen bandwidth gives it.
import { useEffect, useState } from "preact/hooks";

import { post } from "../api";
import { NumberField, SelectField } from "./controls";

interface Setting {
    mode: string;
    devices: number;
    microbatches: number;
    bandwidth: string;
    schedule: string;
}

interface Answer {
    statistics: { totals: { cycles: number; seconds: number }; steps: { name: string; metrics: Record<string, number> }[] };
}

interface Layer {
    name: string;
    forward: number;
    backward: number;
    update: number;
}

const kBatch = 64;
const kNetwork = { layers: 6, hidden: 256, input: 784, classes: 10 };
const kRun = `mlp:batch=${kBatch},layers=${kNetwork.layers},hidden=${kNetwork.hidden}`;

/// Elements of each layer's weight and bias.
const parametersOf = (layer: number) =>
    layer === 0
        ? (kNetwork.input + 1) * kNetwork.hidden
        : layer < kNetwork.layers
          ? (kNetwork.hidden + 1) * kNetwork.hidden
          : (kNetwork.hidden + 1) * kNetwork.classes;
const kParameters = Array.from({ length: kNetwork.layers + 1 }, (_, i) => parametersOf(i)).reduce((a, b) => a + b);

/// Microseconds by layer; what belongs to none is the loss.
function layersOf(answer: Answer): { layers: Layer[]; loss: number } {
    const { totals, steps } = answer.statistics;
    const scale = (totals.seconds / totals.cycles) * 1e6;
    const layers = new Map<string, Layer>();
    let loss = 0;
    for (const { name, metrics } of steps) {
        const time = (metrics.cycles ?? 0) * scale;
        const layer = name.match(/^(fc\d+|classifier)/)?.[1];
        if (!layer) {
            loss += time;
            continue;
        }
        const sums = layers.get(layer) ?? { name: layer, forward: 0, backward: 0, update: 0 };
        if (name.includes(".update")) sums.update += time;
        else if (name.includes(".grad")) sums.backward += time;
        else sums.forward += time;
        layers.set(layer, sums);
    }
    return { layers: [...layers.values()], loss };
}

export function Parallel({ parameters }: { parameters: Record<string, unknown> }) {
    const [setting, setSetting] = useState<Setting>({
        mode: "data",
        devices: 4,
        microbatches: 4,
        bandwidth: "50",
        schedule: "gpipe",
        ...parameters,
    } as Setting);
    const [answer, setAnswer] = useState<Answer>();
    const [error, setError] = useState("");
    useEffect(() => {
        post<Answer>("/api/run", { command: `run ${kRun} --train --on tpu_v3 --epochs 1` })
            .then(setAnswer)
            .catch((problem: Error) => setError(problem.message));
    }, []);
    const set = (change: Partial<Setting>) => setSetting({ ...setting, ...change });
    return (
        <section class="widget" aria-label="Training on several devices">
            <div class="controls">
                <SelectField
                    label="by"
                    value={setting.mode}
                    options={[
                        ["data", "data"],
                        ["tensor", "columns of each layer"],
                        ["pipeline", "layers (pipeline)"],
                    ]}
                    change={(mode) => set({ mode })}
                />
                <NumberField label="devices" value={setting.devices} least={1} most={7} change={(devices) => set({ devices })} />
                {setting.mode === "pipeline" && (
                    <NumberField label="micro-batches" value={setting.microbatches} least={1} most={32} change={(microbatches) => set({ microbatches })} />
                )}
                {setting.mode === "pipeline" ? (
                    <SelectField
                        label="order"
                        value={setting.schedule}
                        options={[
                            ["gpipe", "all forward, then all backward"],
                            ["1f1b", "one forward, one backward"],
                        ]}
                        change={(schedule) => set({ schedule })}
                    />
                ) : (
                    <SelectField
                        label="link"
                        value={setting.bandwidth}
                        options={[
                            ["5", "5 GB/s"],
                            ["50", "50 GB/s"],
                            ["450", "450 GB/s"],
                        ]}
                        change={(bandwidth) => set({ bandwidth })}
                    />
                )}
            </div>
            {error && <p class="wrong">{error}</p>}
            {!answer && !error && <p class="muted">The model trains a step …</p>}
            {answer && <View answer={answer} setting={setting} />}
        </section>
    );
}

interface Bar {
    device: number;
    from: number;
    to: number;
    kind: string;
    label?: string;
}

function dataBars(layers: Layer[], loss: number, { devices, bandwidth }: Setting): Bar[] {
    const sum = (part: "forward" | "backward" | "update") => layers.reduce((total, layer) => total + layer[part], 0);
    const sent = (2 * (devices - 1) * 4 * kParameters) / devices / (Number(bandwidth) * 1e3);
    const ends = [sum("forward"), loss, sum("backward"), sent, sum("update")];
    const kinds = ["forward", "loss", "backward", "send", "update"];
    const labels = ["forward", "", "backward", "all-reduce", "update"];
    return Array.from({ length: devices }, (_, device) => {
        let at = 0;
        return ends.map((time, i) => ({ device, from: at, to: (at += time), kind: kinds[i], label: labels[i] }));
    }).flat();
}

/// Each device has a part of every layer's columns; after a layer all need all of its results.
function tensorBars(layers: Layer[], loss: number, { devices, bandwidth }: Setting): Bar[] {
    const width = (i: number) => (i < kNetwork.layers ? kNetwork.hidden : kNetwork.classes);
    const sent = (i: number) => (((devices - 1) / devices) * kBatch * width(i) * 4) / (Number(bandwidth) * 1e3);
    return Array.from({ length: devices }, (_, device) => {
        const bars: Bar[] = [];
        let at = 0;
        const add = (time: number, kind: string, label?: string) => bars.push({ device, from: at, to: (at += time), kind, label });
        layers.forEach((layer, i) => {
            add(layer.forward / devices, "forward", layer.name);
            add(sent(i), "send");
        });
        add(loss, "loss");
        [...layers].reverse().forEach((layer, i) => {
            add(layer.backward / devices, "backward", layer.name);
            if (i + 1 < layers.length) add(sent(layers.length - 2 - i), "send");
        });
        add(layers.reduce((total, layer) => total + layer.update, 0) / devices, "update");
        return bars;
    }).flat();
}

/// Layers in a row on each device, as even as their times allow.
function stagesOf(layers: Layer[], devices: number): Layer[][] {
    const time = (layer: Layer) => layer.forward + layer.backward;
    const stages: Layer[][] = [];
    let left = [...layers];
    for (let device = devices; device > 0; device--) {
        const share = left.reduce((total, layer) => total + time(layer), 0) / device;
        const stage = [left[0]];
        let taken = time(left[0]);
        while (left.length - stage.length > device - 1 && (device === 1 || taken + time(left[stage.length]) / 2 < share)) {
            taken += time(left[stage.length]);
            stage.push(left[stage.length]);
        }
        stages.push(stage);
        left = left.slice(stage.length);
    }
    return stages;
}

/// A device does its tasks in the order of its schedule, each as soon as what it needs is there.
function pipelineBars(layers: Layer[], { devices, microbatches, schedule }: Setting): Bar[] {
    const stages = stagesOf(layers, devices);
    const cost = stages.map((stage) => ({
        F: stage.reduce((total, layer) => total + layer.forward, 0),
        B: stage.reduce((total, layer) => total + layer.backward, 0),
    }));
    const orders = stages.map((_, stage) => {
        const ahead = schedule === "gpipe" ? microbatches : Math.min(devices - stage, microbatches);
        const tasks: ["F" | "B", number][] = Array.from({ length: ahead }, (_, i) => ["F", i]);
        for (let i = 0; i < microbatches; i++) {
            tasks.push(["B", i]);
            if (ahead + i < microbatches) tasks.push(["F", ahead + i]);
        }
        return tasks;
    });
    const end = new Map<string, number>();
    const free = stages.map(() => 0);
    const next = stages.map(() => 0);
    const bars: Bar[] = [];
    for (let moves = true; moves; ) {
        moves = false;
        for (let stage = 0; stage < devices; stage++) {
            const task = orders[stage][next[stage]];
            if (!task) continue;
            const [kind, batch] = task;
            const needs = kind === "F" ? (stage === 0 ? "" : `F${stage - 1}.${batch}`) : stage === devices - 1 ? `F${stage}.${batch}` : `B${stage + 1}.${batch}`;
            const ready = needs === "" ? 0 : end.get(needs);
            if (ready === undefined) continue;
            const from = Math.max(ready, free[stage]);
            const to = from + cost[stage][kind];
            bars.push({ device: stage, from, to, kind: kind === "F" ? "forward" : "backward", label: String(batch) });
            end.set(`${kind}${stage}.${batch}`, to);
            free[stage] = to;
            next[stage]++;
            moves = true;
        }
    }
    return bars;
}

function View({ answer, setting }: { answer: Answer; setting: Setting }) {
    const { layers, loss } = layersOf(answer);
    const { mode, devices, microbatches } = setting;
    const bars = mode === "data" ? dataBars(layers, loss, setting) : mode === "tensor" ? tensorBars(layers, loss, setting) : pipelineBars(layers, setting);
    const end = Math.max(...bars.map((bar) => bar.to));
    const busy = bars.filter((bar) => bar.kind !== "send").reduce((total, bar) => total + bar.to - bar.from, 0);
    const share = (100 * busy) / end / devices;
    const batches = mode === "data" ? devices : mode === "pipeline" ? microbatches : 1;
    const rate = (batches * kBatch) / end;
    const summary = `${end.toFixed(0)} µs for ${batches * kBatch} samples, ${rate.toFixed(2)} samples per µs; devices compute ${share.toFixed(1)} % of the time`;
    const stages = mode === "pipeline" ? stagesOf(layers, devices) : [];
    return (
        <>
            <Gantt bars={bars} devices={devices} end={end} summary={summary} />
            <div class="legend">
                <span class="key part-key forward">forward</span>
                <span class="key part-key backward">backward</span>
                <span class="key part-key send">sends</span>
                <span class="key part-key update">update, loss</span>
            </div>
            <p class="summary" role="status">
                <b>{summary}.</b>{" "}
                <span class="muted">
                    {mode === "data" &&
                        `Each device has all ${kParameters.toLocaleString("en-US")} weights and a batch of ${kBatch}; around the ring each sends 2 (N − 1) / N of ${(
                            (4 * kParameters) / 1e6
                        ).toFixed(2)} MB.`}
                    {mode === "tensor" &&
                        "Each device has 1 / N of each layer's columns and gathers the others' results after each layer. (Its part is drawn with 1 / N of the layer's simulated time.)"}
                    {mode === "pipeline" &&
                        `Stages: ${stages.map((stage) => stage.map((layer) => layer.name).join(" ")).join(" | ")}. Each micro-batch is a batch of ${kBatch}, numbered; loss and update are left out.`}
                </span>
            </p>
        </>
    );
}

function Gantt({ bars, devices, end, summary }: { bars: Bar[]; devices: number; end: number; summary: string }) {
    const left = 26;
    const width = 760;
    const row = 34;
    const x = (time: number) => left + (time / end) * (width - left - 2);
    return (
        <div class="picture" tabIndex={0} role="group" aria-label="Devices over time">
            <svg role="img" aria-label={summary} viewBox={`0 0 ${width} ${devices * row + 4}`} style={`min-width: 640px; max-width: ${width}px`}>
                {Array.from({ length: devices }, (_, device) => (
                    <text key={device} class="address" x={left - 8} y={device * row + 21}>
                        {device}
                    </text>
                ))}
                {bars.map((bar, i) => (
                    <g key={i}>
                        <rect class={`task ${bar.kind}`} x={x(bar.from)} y={bar.device * row + 2} width={Math.max(x(bar.to) - x(bar.from) - 0.6, 0.4)} height={row - 6} rx={2} />
                        {bar.label && x(bar.to) - x(bar.from) > 7 * bar.label.length + 2 && (
                            <text class={`lane on-${bar.kind}`} x={(x(bar.from) + x(bar.to)) / 2} y={bar.device * row + 20}>
                                {bar.label}
                            </text>
                        )}
                    </g>
                ))}
            </svg>
        </div>
    );
}
