// SPDX-License-Identifier: Apache-2.0
// The same bytes for the same sources: no hashes in names, one script, one style sheet.
import { defineConfig } from "vite";

export default defineConfig({
    base: "./",
    esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
    server: { host: "127.0.0.1", proxy: { "/api": { target: "http://127.0.0.1:8017", changeOrigin: true } } },
    build: {
        target: "es2022",
        modulePreload: false,
        assetsInlineLimit: 0,
        rollupOptions: {
            output: {
                entryFileNames: "lab.js",
                assetFileNames: "lab[extname]",
                inlineDynamicImports: true,
            },
        },
    },
});
