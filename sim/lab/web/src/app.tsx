// SPDX-License-Identifier: Apache-2.0
// Pages by the address behind #: "" the list, "systolic/3" a lab's third step.
import { useEffect, useState } from "preact/hooks";

import { Home } from "./pages/home";
import { LabPage } from "./pages/lab";
import { type Theme, setTheme, theme } from "./theme";

const place = () => location.hash.replace(/^#\/?/, "").split("/").filter(Boolean);

export function App() {
    const [path, setPath] = useState(place());
    useEffect(() => {
        const follow = () => setPath(place());
        addEventListener("hashchange", follow);
        return () => removeEventListener("hashchange", follow);
    }, []);
    return (
        <>
            <a class="skip" href="#main" onClick={toMain}>
                Skip to the content
            </a>
            <header class="top">
                <a class="brand" href="#/">
                    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
                        <rect x="1" y="1" width="8" height="8" rx="2" />
                        <rect x="11" y="1" width="8" height="8" rx="2" opacity=".55" />
                        <rect x="1" y="11" width="8" height="8" rx="2" opacity=".55" />
                        <rect x="11" y="11" width="8" height="8" rx="2" opacity=".25" />
                    </svg>
                    Lockstep labs
                </a>
                <ThemeSwitch />
            </header>
            <main id="main" tabIndex={-1}>
                {path.length === 0 ? <Home /> : <LabPage key={path[0]} name={path[0]} step={Number(path[1] ?? 1) || 1} />}
            </main>
        </>
    );
}

/// The address behind # is the page's.
function toMain(event: Event) {
    event.preventDefault();
    document.getElementById("main")!.focus();
}

function ThemeSwitch() {
    const [value, setValue] = useState<Theme>(theme());
    return (
        <label class="theme">
            <span class="visually-hidden">Colors</span>
            <select
                value={value}
                onChange={(event) => {
                    const chosen = event.currentTarget.value as Theme;
                    setTheme(chosen);
                    setValue(chosen);
                }}
            >
                <option value="system">System colors</option>
                <option value="light">Light</option>
                <option value="dark">Dark</option>
            </select>
        </label>
    );
}
