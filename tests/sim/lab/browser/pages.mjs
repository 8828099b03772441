// SPDX-License-Identifier: Apache-2.0
// The labs' server and a browser, for tests and pictures. Packages are those of sim/lab/web.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const program = process.argv[2];
export const source = process.argv[3];
export const require = createRequire(join(source, "sim/lab/web/package.json"));
const { chromium } = require("playwright-core");

const kFlags = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
];

/// The address of a server of its own, and what ends it.
export function startServer(words = []) {
    return new Promise((resolve, reject) => {
        const server = spawn(program, ["lab", "--port", "0", ...words], { stdio: ["ignore", "pipe", "inherit"] });
        const ended = new Promise((end) => server.on("exit", end));
        server.on("error", reject);
        let text = "";
        server.stdout.on("data", (chunk) => {
            text += chunk;
            const address = text.match(/http:\/\/127\.0\.0\.1:\d+\//);
            if (address) resolve({ address: address[0], stop: () => (server.kill("SIGTERM"), ended) });
        });
        ended.then((status) => reject(new Error(`the server ended with ${status}: ${text}`)));
    });
}

/// A browser that has never been anywhere.
export async function openBrowser() {
    const folder = mkdtempSync(join(tmpdir(), "lockstep_lab_browser_"));
    const context = await chromium.launchPersistentContext(folder, {
        executablePath: process.env.LOCKSTEP_CHROMIUM ?? "/usr/bin/chromium",
        headless: true,
        args: kFlags,
        reducedMotion: "reduce",
    });
    const close = async () => {
        await context.close();
        rmSync(folder, { recursive: true, force: true });
    };
    return { context, close };
}

export const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 400, height: 800 } };

/// Goes to a page, and waits until its text and its picture are there.
export async function goTo(page, address, place) {
    await page.goto("about:blank");
    await page.goto(address + "#/" + place);
    await page.waitForSelector("h1");
    if ((await page.locator(".widget").count()) > 0) await page.waitForSelector(".widget :is(svg, .bars, table)");
}
