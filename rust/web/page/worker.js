// Runs in a worker, after the glue that wasm-bindgen generates.
"use strict";
let shown = 0;
// The engine calls it: many times in a second.
const showProgress = (done, label) => {
  const now = performance.now();
  if (now - shown > 50) {
    shown = now;
    postMessage({ done, label });
  }
};
onmessage = async ({ data: { id, name, argument } }) => {
  try {
    const result = name === "start" ? await wasm_bindgen({ module_or_path: argument }) && null : wasm_bindgen[name](argument);
    postMessage({ id, result });
  } catch (error) {
    // The engine throws texts for what is wrong with a request. Anything else leaves it broken.
    postMessage({ id, error: String(error.message ?? error), isBroken: typeof error !== "string" });
  }
};
