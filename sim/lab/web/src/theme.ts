// SPDX-License-Identifier: Apache-2.0
// Light, dark, or what the system says; kept.

export type Theme = "system" | "light" | "dark";

const kName = "lockstep-theme";

export function theme(): Theme {
    const kept = localStorage.getItem(kName);
    return kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(value: Theme) {
    if (value === "system") localStorage.removeItem(kName);
    else localStorage.setItem(kName, value);
    applyTheme();
}

export function applyTheme() {
    const value = theme();
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
}
