// SPDX-License-Identifier: Apache-2.0
// Every page of a lab in a real browser: node labs.mjs LOCKSTEP SOURCE LAB, or home: the list of
// labs and the keyboard. Ends with 1 and what is wrong, a line each.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

import { goTo, openBrowser, program, require, sizes, startServer } from "./pages.mjs";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const failures = [];
let place = "";
const expect = (holds, message) => holds || failures.push(`${place}: ${message}`);

/// Right answers by question, as the key is printed.
function keyOf(lab) {
    const text = execFileSync(program, ["lab", lab, "--key"], { encoding: "utf8" });
    return new Map([...text.matchAll(/^ {3}([a-z0-9_]+): (.*)$/gm)].map((line) => [line[1], line[2]]));
}

const server = await startServer();
const browser = await openBrowser();
const page = browser.context.pages()[0];
page.on("console", (message) => {
    // A refused request of a page is told in the page.
    if (message.type() === "error") failures.push(`${place}: console: ${message.text()}`);
});
page.on("pageerror", (error) => failures.push(`${place}: ${error.message}`));
page.on("request", (request) => {
    if (!request.url().startsWith(server.address) && !/^(about|data|blob):/.test(request.url()))
        failures.push(`${place}: fetches ${request.url()}`);
});

/// Violations that axe finds.
async function checkAccess(rules) {
    await page.evaluate(axe);
    const found = await page.evaluate(async (only) => {
        const options = only ? { runOnly: { type: "rule", values: only } } : {};
        const result = await window.axe.run(document, options);
        return result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
    }, rules);
    for (const violation of found) expect(false, `axe: ${violation}`);
}

async function checkWidths() {
    await page.setViewportSize(sizes.phone);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width <= sizes.phone.width, `${width} px wide on a phone`);
    await page.setViewportSize(sizes.desktop);
}

/// Light and dark have other colors, and enough contrast both.
async function checkColors() {
    const color = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await color();
    await page.emulateMedia({ colorScheme: "dark" });
    expect((await color()) !== light, "dark is as light");
    await checkAccess(["color-contrast"]);
    await page.emulateMedia({ colorScheme: "light" });
}

async function fill(card, kind, answer) {
    if (kind === "number" || kind === "text") return card.locator("input").fill(answer);
    const ids = answer.split(",");
    for (const box of await card.locator("input").all()) {
        const wanted = ids.includes(await box.getAttribute("value"));
        if (kind === "choice") {
            if (wanted) await box.check();
        } else {
            await box.setChecked(wanted);
        }
    }
}

function wrongOf(question, right) {
    if (question.kind === "number") return String(Number(right.split(" ")[0]) * 3 + 7);
    if (question.kind === "text") return "~";
    const ids = question.choices.map((choice) => choice.id);
    if (question.kind === "choice") return ids.find((id) => id !== right);
    return ids.filter((id) => !right.split(",").includes(id)).join(",") || ids[0];
}

/// A wrong answer is refused with a reason, the right one accepted.
async function checkQuestion(question, right) {
    const card = page.locator(`[data-question="${question.id}"]`);
    for (const [answer, word] of [
        [wrongOf(question, right), "Not yet."],
        [right, "Right."],
    ]) {
        await fill(card, question.kind, answer);
        await card.locator("button[type=submit]").click();
        const verdict = card.locator(".verdict strong", { hasText: word });
        await verdict.waitFor({ timeout: 60000 }).catch(() => expect(false, `${question.id}: ${answer} is not "${word}"`));
    }
}

async function checkKeyboard() {
    place = "home";
    await goTo(page, server.address, "");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement.className === "skip"), "Tab does not lead to the skip link");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement.id === "main"), "the skip link does not lead to the content");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none"), "focus is not visible");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".scrubber input");
    place = "systolic/1";
    await page.locator(".scrubber input").focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    expect((await page.locator(".scrubber output").innerText()).startsWith("cycle 3"), "arrow keys do not step");
    await page.locator("[data-question=last_row] input").focus();
    await page.keyboard.type("6");
    await page.keyboard.press("Enter");
    await page.locator("[data-question=last_row] .right").waitFor();
    await page.locator(".command button").click();
    await page.locator(".command pre", { hasText: "cycles 7" }).waitFor();
    await page.reload();
    await page.locator("[data-question=last_row] .right").waitFor();
    expect((await page.locator(".score p").innerText()).startsWith("1 of"), "what was answered is forgotten");
    await page.locator(".theme select").selectOption("dark");
    expect(await page.evaluate(() => document.documentElement.dataset.theme === "dark"), "the switch does not make it dark");
    await page.locator(".theme select").selectOption("system");
}

async function checkHome() {
    await checkKeyboard();
    place = "home";
    await goTo(page, server.address, "");
    await checkAccess();
    await checkColors();
    await checkWidths();
}

async function checkLab(name) {
    const key = keyOf(name);
    const lab = await (await fetch(`${server.address}api/labs/${name}`)).json();
    for (const [index, step] of lab.steps.entries()) {
        place = `${name}/${index + 1}`;
        await goTo(page, server.address, place);
        expect((await page.locator("h1").innerText()) === step.title, "another title");
        await checkAccess();
        if (index < 3) await checkColors();
        await checkWidths();
        for (const question of step.questions) await checkQuestion(question, key.get(question.id));
    }
}

try {
    await page.setViewportSize(sizes.desktop);
    await (process.argv[4] === "home" ? checkHome() : checkLab(process.argv[4]));
} catch (error) {
    expect(false, error.stack);
}
await browser.close();
await server.stop();
for (const failure of failures) console.log(failure);
process.exit(failures.length > 0 ? 1 : 0);
