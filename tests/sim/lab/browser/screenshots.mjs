// SPDX-License-Identifier: Apache-2.0
// Pictures of pages to look at: node screenshots.mjs LOCKSTEP SOURCE FOLDER PLACE...
import { goTo, openBrowser, sizes, startServer } from "./pages.mjs";

const [folder, ...places] = process.argv.slice(4);
const server = await startServer(process.env.LABS ? ["--labs", process.env.LABS] : []);
const browser = await openBrowser();
const page = browser.context.pages()[0];
for (const place of places)
    for (const [name, size, colorScheme] of [
        ["desktop", sizes.desktop, "light"],
        ["phone", sizes.phone, "light"],
        ["dark", sizes.desktop, "dark"],
    ]) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme });
        await goTo(page, server.address, place);
        await page.waitForTimeout(400);
        for (const button of await page.locator(".scrubber button[aria-label$=after]").all())
            for (let i = 0; i < 4 && (await button.isEnabled()); i++) await button.click();
        await page.evaluate(() => scrollTo(0, 0));
        await page.screenshot({ path: `${folder}/${place.replace("/", "_") || "home"}_${name}.png`, fullPage: true });
    }
await browser.close();
await server.stop();
