// SPDX-License-Identifier: Apache-2.0
// A question with its check. What is said of an answer is read out.
import { useState } from "preact/hooks";

import { type Answer, type Question, check } from "../api";
import { type Kept, keep, kept } from "../progress";
import { Markdown } from "./markdown";

interface Props {
    lab: string;
    number: number;
    question: Question;
}

const percent = (part: number) => `${Math.round(part * 1000) / 10} %`;

export function QuestionCard({ lab, number, question }: Props) {
    const before: Kept | undefined = kept(lab)[question.id];
    const [answer, setAnswer] = useState<Answer>(before?.answer ?? (question.kind === "several" ? [] : ""));
    const [verdict, setVerdict] = useState<Kept | undefined>(before);
    const [error, setError] = useState("");
    const [isChecking, setChecking] = useState(false);
    const name = `${lab}-${question.id}`;
    const isEmpty = answer.length === 0 || (typeof answer === "string" && answer.trim() === "");

    const change = (value: Answer) => {
        setAnswer(value);
        if (!verdict?.right) setVerdict(undefined);
        setError("");
    };

    const submit = async (event: Event) => {
        event.preventDefault();
        if (isEmpty || isChecking) return;
        setChecking(true);
        setError("");
        try {
            const result = { ...(await check(lab, question.id, answer)), answer };
            setVerdict(result);
            keep(lab, question.id, result);
        } catch (problem) {
            setError((problem as Error).message);
        }
        setChecking(false);
    };

    return (
        <form class={`question ${verdict?.right ? "is-right" : ""}`} onSubmit={submit} data-question={question.id}>
            <fieldset>
                <legend>
                    <span class="number" aria-hidden="true">
                        {verdict?.right ? "✓" : number}
                    </span>
                    <span>
                        <span class="visually-hidden">Question {number}: </span>
                        <Markdown text={question.ask} inline />
                    </span>
                </legend>
                <Field question={question} name={name} answer={answer} change={change} />
                {question.tolerance && (
                    <p class="note">
                        Counts as right within{" "}
                        {question.tolerance.relative > 0
                            ? percent(question.tolerance.relative)
                            : `${question.tolerance.absolute} ${question.unit}`}
                        : {question.tolerance.because}.
                    </p>
                )}
                <button type="submit" class="button primary" disabled={isEmpty || isChecking}>
                    {isChecking ? "Checking…" : "Check"}
                </button>
            </fieldset>
            <div class="verdict" role="status" aria-live="polite">
                {verdict && !isChecking && (
                    <div class={verdict.right ? "right" : "wrong"}>
                        <strong>{verdict.right ? "Right." : "Not yet."}</strong>{" "}
                        <Markdown text={verdict.text.replace(/^Not yet\. /, "")} inline />
                    </div>
                )}
                {error && <div class="wrong">{error}</div>}
            </div>
        </form>
    );
}

interface FieldProps {
    question: Question;
    name: string;
    answer: Answer;
    change: (answer: Answer) => void;
}

function Field({ question, name, answer, change }: FieldProps) {
    if (question.kind === "number" || question.kind === "text")
        return (
            <p class="field">
                <label class="visually-hidden" for={name}>
                    Your answer{question.unit ? ` in ${question.unit}` : ""}
                </label>
                <input
                    id={name}
                    class={question.kind}
                    type="text"
                    inputMode={question.kind === "number" ? "decimal" : "text"}
                    autocomplete="off"
                    maxLength={200}
                    value={answer as string}
                    onInput={(event) => change(event.currentTarget.value)}
                />
                {question.unit && <span class="unit">{question.unit}</span>}
            </p>
        );
    const isSeveral = question.kind === "several";
    const isChosen = (id: string) => (isSeveral ? answer.includes(id) : answer === id);
    const choose = (id: string) => {
        if (!isSeveral) return change(id);
        const list = answer as string[];
        change(isChosen(id) ? list.filter((other) => other !== id) : [...list, id]);
    };
    return (
        <div class="choices">
            {isSeveral && <p class="note">Choose all that are right.</p>}
            {question.choices!.map((choice) => (
                <label key={choice.id} class="choice">
                    <input
                        type={isSeveral ? "checkbox" : "radio"}
                        name={name}
                        value={choice.id}
                        checked={isChosen(choice.id)}
                        onChange={() => choose(choice.id)}
                    />
                    <Markdown text={choice.text} inline />
                </label>
            ))}
        </div>
    );
}
