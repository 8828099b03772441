// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";

import { App } from "./app";
import "./style.css";
import { applyTheme } from "./theme";

applyTheme();
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
