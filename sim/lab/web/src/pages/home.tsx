// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";

import { type LabHead, getLabs } from "../api";
import { rightOf } from "../progress";

export function Home() {
    const [labs, setLabs] = useState<LabHead[]>([]);
    const [error, setError] = useState("");
    useEffect(() => {
        document.title = "Lockstep labs";
        getLabs().then(setLabs, (problem) => setError(problem.message));
    }, []);
    return (
        <div class="home">
            <h1>Labs</h1>
            <p class="lead">
                How accelerators for neural networks work, on models that compute every bit and count every cycle. Predict, run,
                explain; each answer is checked by the model itself.
            </p>
            {error && <p class="wrong">{error}</p>}
            <ul class="cards">
                {labs.map((lab) => (
                    <li key={lab.name}>
                        <LabCard lab={lab} />
                    </li>
                ))}
            </ul>
        </div>
    );
}

function LabCard({ lab }: { lab: LabHead }) {
    const right = rightOf(lab.name, lab.questions);
    const total = lab.questions.length;
    return (
        <a class="card" href={`#/${lab.name}/1`}>
            <h2>{lab.title}</h2>
            <p>{lab.goal}</p>
            <p class="facts">
                {lab.minutes} min · {lab.steps} steps · {right > 0 ? `${right} of ${total} answered` : `${total} questions`}
            </p>
            <progress value={right} max={total} aria-label={`${right} of ${total} questions answered`} />
        </a>
    );
}
