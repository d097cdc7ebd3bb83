// Runs in a worker, after the glue that wasm-bindgen generates.
"use strict";
let ready;
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
    ready ??= wasm_bindgen({ module_or_path: argument });
    await ready;
    postMessage({ id, result: name === "start" ? null : wasm_bindgen[name](argument) });
  } catch (error) {
    // The engine throws texts for what is wrong with a request. Anything else leaves it broken.
    const isBroken = typeof error !== "string";
    const hint = error instanceof WebAssembly.RuntimeError ? "The engine stopped, most likely without memory: " : "";
    postMessage({ id, error: hint + (isBroken ? error.message : error), isBroken });
  }
};
