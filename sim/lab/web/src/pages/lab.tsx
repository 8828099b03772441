// SPDX-License-Identifier: Apache-2.0
// A lab, a step at a time.
import { useEffect, useRef, useState } from "preact/hooks";

import { type Lab, getLab } from "../api";
import { CommandLine } from "../parts/command";
import { Markdown } from "../parts/markdown";
import { QuestionCard } from "../parts/question";
import { forget, onProgress, rightOf } from "../progress";
import { WidgetView } from "../widgets/registry";

interface Props {
    name: string;
    step: number;
}

const idsOf = (lab: Lab, step: number) => lab.steps[step].questions.map((question) => question.id);

export function LabPage({ name, step }: Props) {
    const [lab, setLab] = useState<Lab>();
    const [error, setError] = useState("");
    const [, setChanges] = useState(0);
    const heading = useRef<HTMLHeadingElement>(null);
    const isFirst = useRef(true);

    useEffect(() => {
        getLab(name).then(setLab, (problem) => setError(problem.message));
        return onProgress(() => setChanges((changes) => changes + 1));
    }, [name]);
    const index = lab ? Math.min(Math.max(step, 1), lab.steps.length) - 1 : 0;
    useEffect(() => {
        if (!lab) return;
        document.title = `${lab.steps[index].title} · ${lab.title} · Lockstep labs`;
        // Whoever turned a page goes on from its top; the first page is as the browser opened it.
        if (!isFirst.current) {
            scrollTo(0, 0);
            heading.current?.focus({ preventScroll: true });
        }
        isFirst.current = false;
    }, [lab, index]);

    if (error) return <p class="wrong">{error}</p>;
    if (!lab) return <p class="loading">Loading…</p>;
    const current = lab.steps[index];
    const first = lab.steps.slice(0, index).reduce((sum, before) => sum + before.questions.length, 0);
    return (
        <div class="lab">
            <StepList lab={lab} index={index} />
            <article>
                <p class="eyebrow">
                    {lab.title} · step {index + 1} of {lab.steps.length}
                </p>
                <h1 ref={heading} tabIndex={-1}>
                    {current.title}
                </h1>
                {index === 0 && <p class="lead">{lab.goal}</p>}
                <Markdown text={current.text} />
                {current.widget && <WidgetView key={`${name}-${index}`} {...current.widget} />}
                {current.commands.map((command, i) => (
                    <CommandLine key={`${index}-${i}`} lab={name} step={index} index={i} command={command} />
                ))}
                {current.questions.map((question, i) => (
                    <QuestionCard key={question.id} lab={name} number={first + i + 1} question={question} />
                ))}
                <nav class="pager" aria-label="Steps before and after">
                    {index > 0 ? (
                        <a class="button" href={`#/${name}/${index}`}>
                            ← {lab.steps[index - 1].title}
                        </a>
                    ) : (
                        <a class="button" href="#/">
                            ← All labs
                        </a>
                    )}
                    {index + 1 < lab.steps.length ? (
                        <a class="button primary" href={`#/${name}/${index + 2}`}>
                            {lab.steps[index + 1].title} →
                        </a>
                    ) : (
                        <a class="button primary" href="#/">
                            All labs →
                        </a>
                    )}
                </nav>
                {index + 1 === lab.steps.length && lab.sheet && (
                    <p class="note">
                        To go further: <code>{lab.sheet}</code> in the repository.
                    </p>
                )}
            </article>
        </div>
    );
}

function StepList({ lab, index }: { lab: Lab; index: number }) {
    const all = lab.steps.flatMap((_, i) => idsOf(lab, i));
    const right = rightOf(lab.name, all);
    return (
        <nav class="steps" aria-label={`Steps of ${lab.title}`}>
            <ol>
                {lab.steps.map((step, i) => {
                    const ids = idsOf(lab, i);
                    const done = ids.length > 0 && rightOf(lab.name, ids) === ids.length;
                    return (
                        <li key={step.title} class={done ? "done" : ""}>
                            <a href={`#/${lab.name}/${i + 1}`} aria-current={i === index ? "step" : undefined}>
                                <span class="dot" aria-hidden="true">
                                    {done ? "✓" : i + 1}
                                </span>
                                <span class="name">{step.title}</span>
                                {done && <span class="visually-hidden"> (all answered)</span>}
                            </a>
                        </li>
                    );
                })}
            </ol>
            <div class="score">
                <progress value={right} max={all.length} aria-label="Questions answered" />
                <p>
                    {right} of {all.length} right
                </p>
                {right > 0 && (
                    <button
                        type="button"
                        class="link"
                        onClick={() => {
                            if (confirm("Forget all answers of this lab?")) {
                                forget(lab.name);
                                location.reload();
                            }
                        }}
                    >
                        Start over
                    </button>
                )}
            </div>
        </nav>
    );
}
