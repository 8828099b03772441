// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";

import { type Placed, type Roof, nameOf, scaled } from "./roofline";

const kWidth = 680,
    kHeight = 400,
    kLeft = 76,
    kRight = 30,
    kTop = 16,
    kBottom = 48;

interface Props {
    roofs: Roof[];
    ceilings: string[];
    points: Placed[];
}

const decade = (value: number, round: (x: number) => number) => 10 ** round(Math.log10(value));

function same(one: Roof, other: Roof) {
    return one.machine === other.machine && one.bandwidth === other.bandwidth && JSON.stringify(one.peaks) === JSON.stringify(other.peaks);
}

export function RoofPicture({ roofs, ceilings, points }: Props) {
    const all = [...roofs];
    for (const { point } of points) if (!all.some((roof) => same(roof, point.roof))) all.push(point.roof);
    const peaksOf = (roof: Roof) => {
        const wanted = Object.entries(roof.peaks).filter(([name]) => ceilings.includes(name));
        return wanted.length > 0 ? wanted : Object.entries(roof.peaks).slice(-1);
    };
    const intensities = points.map(({ point }) => point.operations / point.bytes);
    const rates = points.map(({ point }) => point.operations / point.seconds);
    const ridges = all.flatMap((roof) => peaksOf(roof).map(([, peak]) => peak / roof.bandwidth));
    const highest = Math.max(...all.flatMap((roof) => peaksOf(roof).map(([, peak]) => peak)));
    const x0 = decade(Math.min(0.5, ...intensities, ...ridges.map((ridge) => ridge / 20)), Math.floor);
    const x1 = decade(Math.max(...ridges, ...intensities) * 2, Math.ceil);
    const y1 = decade(highest * 1.2, Math.ceil);
    const y0 = decade(Math.min(highest / 2000, ...rates), Math.floor);
    const x = (value: number) => kLeft + ((Math.log10(value) - Math.log10(x0)) / Math.log10(x1 / x0)) * (kWidth - kLeft - kRight);
    const y = (value: number) => kHeight - kBottom - ((Math.log10(value) - Math.log10(y0)) / Math.log10(y1 / y0)) * (kHeight - kTop - kBottom);
    const grid: ComponentChildren[] = [];
    for (let value = x0; value <= x1 * 1.001; value *= 10)
        grid.push(
            <g key={`x${value}`}>
                <line x1={x(value)} x2={x(value)} y1={kTop} y2={kHeight - kBottom} />
                <text x={x(value)} y={kHeight - kBottom + 18}>
                    {value >= 1 ? value : value.toPrecision(1)}
                </text>
            </g>,
        );
    for (let value = y0; value <= y1 * 1.001; value *= 10)
        grid.push(
            <g key={`y${value}`}>
                <line x1={kLeft} x2={kWidth - kRight} y1={y(value)} y2={y(value)} />
                <text x={kLeft - 8} y={y(value) + 4} class="end">
                    {scaled(value, "").replace(/\.0+ /, " ")}
                </text>
            </g>,
        );
    const label = `Rooflines of ${all.map((roof) => roof.machine).join(", ")} with ${points.length} runs. The table below has the runs.`;
    return (
        <>
            <div class="picture" tabIndex={0} role="group" aria-label="Roofline; it may be wider than the page">
                <svg class="roofline" viewBox={`0 0 ${kWidth} ${kHeight}`} style={{ minWidth: "420px" }} role="img" aria-label={label}>
                    <g class="grid">{grid}</g>
                    <text x={(kLeft + kWidth) / 2} y={kHeight - 8} class="axis">
                        operations a byte of DRAM
                    </text>
                    <text class="axis" transform={`translate(15 ${(kTop + kHeight - kBottom) / 2}) rotate(-90)`}>
                        operations a second
                    </text>
                    {all.map((roof, i) => (
                        <RoofLines key={i} roof={roof} number={i} peaks={peaksOf(roof)} x={x} y={y} x0={x0} x1={x1} y0={y0} />
                    ))}
                    {points.map(({ label: name }, i) => (
                        <g key={name} class="point">
                            <circle cx={x(intensities[i])} cy={y(rates[i])} r={9} />
                            <text x={x(intensities[i])} y={y(rates[i]) + 4}>
                                {i + 1}
                            </text>
                        </g>
                    ))}
                </svg>
            </div>
            <details>
                <summary>These roofs as a table</summary>
                <div class="scroll" tabIndex={0} role="region" aria-label="Roofs">
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">machine</th>
                                <th scope="col">numbers</th>
                                <th scope="col">peak</th>
                                <th scope="col">bandwidth</th>
                                <th scope="col">ridge, op/B</th>
                            </tr>
                        </thead>
                        <tbody>
                            {all.flatMap((roof, i) =>
                                peaksOf(roof).map(([name, peak]) => (
                                    <tr key={`${i}${name}`}>
                                        <th scope="row">{nameOf(roof)}</th>
                                        <td>{name}</td>
                                        <td>{scaled(peak, "op/s")}</td>
                                        <td>{scaled(roof.bandwidth, "B/s")}</td>
                                        <td>{(peak / roof.bandwidth).toPrecision(3)}</td>
                                    </tr>
                                )),
                            )}
                        </tbody>
                    </table>
                </div>
            </details>
        </>
    );
}

interface LinesProps {
    roof: Roof;
    number: number;
    peaks: [string, number][];
    x: (value: number) => number;
    y: (value: number) => number;
    x0: number;
    x1: number;
    y0: number;
}

function RoofLines({ roof, number, peaks, x, y, x0, x1, y0 }: LinesProps) {
    const highest = Math.max(...peaks.map(([, peak]) => peak));
    const from = Math.max(x0, y0 / roof.bandwidth);
    return (
        <g class={`roof r${number % 3}`}>
            <line x1={x(from)} y1={y(from * roof.bandwidth)} x2={x(highest / roof.bandwidth)} y2={y(highest)} />
            {peaks.map(([name, peak]) => (
                <g key={name}>
                    <line x1={x(peak / roof.bandwidth)} y1={y(peak)} x2={x(x1)} y2={y(peak)} />
                    <text x={x(x1) - 4} y={y(peak) + (number === 0 ? -6 : 15)} class="end">
                        {nameOf(roof)} {name}
                    </text>
                </g>
            ))}
        </g>
    );
}
