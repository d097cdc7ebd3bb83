"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const OWN = "own";
  const LISTED = ["text", "name", "settings", "seeds"];
  let engine; // The compiled module.
  let worker;
  let calls = new Map();
  let about;
  let policies = [];
  let isRunning = false;
  let report = "";

  // The engine.

  const load = async () => {
    const packed = Uint8Array.from(atob($("engine").textContent), (letter) => letter.charCodeAt(0));
    const bytes = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
    engine = await WebAssembly.compile(await bytes.arrayBuffer());
  };

  const call = (name, argument) => new Promise((resolve, reject) => {
    const id = call.last = (call.last ?? 0) + 1;
    calls.set(id, { resolve, reject });
    worker.postMessage({ id, name, argument });
  });

  // For programs and tests: the functions of rust/web/lib.rs.
  window.evenkeel = (name, argument) => call(name, argument);

  const start = () => {
    worker?.terminate();
    calls = new Map();
    const script = new Blob([$("worker").textContent], { type: "text/javascript" });
    const address = URL.createObjectURL(script);
    worker = new Worker(address);
    URL.revokeObjectURL(address);
    worker.onmessage = ({ data: { id, result, error, isBroken, done, label } }) => {
      if (label !== undefined) {
        $("progress").value = done;
        say(`${Math.floor(100 * done)} %: ${label}`);
        return;
      }
      const { resolve, reject } = calls.get(id);
      calls.delete(id);
      if (isBroken) {
        start();
      }
      return error === undefined ? resolve(result) : reject(new Error(error));
    };
    return call("start", engine);
  };

  // The form.

  const say = (text, isBad = false) => {
    $("status").textContent = text;
    $("status").classList.toggle("bad", isBad);
  };

  const option = (value, text = value, title = "") => Object.assign(new Option(text, value), { title });

  const showPolicies = () => {
    const chip = (name) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: `${name} ×` });
      button.setAttribute("aria-label", `Remove ${name}`);
      button.onclick = () => {
        policies = policies.filter((it) => it !== name);
        showPolicies();
        changed();
        $("policy").focus();
      };
      return button;
    };
    const own = Object.assign(document.createElement("span"), { className: "hint", textContent: "that of the scenario" });
    const other = about.policies.find(([name]) => !policies.includes(name));
    $("policy").value = other ? other[0] : "";
    $("chosen").replaceChildren(...(policies.length ? policies.map(chip) : [own]));
  };

  const request = () => ({
    name: $("name").value.replace(/[^\w.-]/g, "-") || "scenario",
    text: $("text").value,
    settings: $("settings").value.split(/\s+/).filter((it) => it),
    policies,
    seeds: $("seeds").value ? Number($("seeds").value) : null,
  });

  const choose = (example) => {
    $("text").value = example.text;
    $("name").value = example.name;
    policies = [...example.policies];
    $("settings").value = $("seeds").value = "";
  };

  const seconds = (value) => (value < 1 ? "less than a second" : value < 90 ? `about ${Math.ceil(value)} s`
    : `about ${Math.ceil(value / 60)} minutes`);
  const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

  // Checks the form, and shows what it will run.
  const check = async () => {
    try {
      const plan = JSON.parse(await call("check", JSON.stringify(request())));
      const before = $("link").value;
      $("link").replaceChildren(...plan.links.map((name) => option(name)));
      $("link").value = plan.links.includes(before) ? before : plan.links[0];
      $("commands").textContent = plan.commands;
      const time = plan.seconds === null ? "" : `, ${seconds(plan.seconds)}`;
      say([`${plural(plan.runs, "run")} of ${plural(plan.messages, "message")} among ${plural(plan.hosts, "host")}${time}.`,
        ...plan.warnings].join("\n"));
      return true;
    } catch (error) {
      say(error.message, true);
      return false;
    }
  };

  const changed = () => {
    clearTimeout(changed.timer);
    changed.timer = setTimeout(() => isRunning || check(), 250);
  };

  // The address.

  const packed = async (text, Stream, to) => new Response(
    new Blob([text]).stream().pipeThrough(new Stream("deflate-raw"))).arrayBuffer().then(to);
  const toAddress = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const fromAddress = (text) => Uint8Array.from(
    atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

  const address = async () => {
    const { name, text, settings, seeds } = request();
    const parts = [];
    const example = about.examples.find((it) => it.text === text && it.name === name);
    parts.push(example ? ["example", name] : ["name", name]);
    if (!example) {
      parts.push(["toml", await packed(text, CompressionStream, toAddress)]);
    }
    parts.push(["policies", policies.join(",")]);
    settings.forEach((it) => parts.push(["set", it]));
    if (seeds) {
      parts.push(["seeds", seeds]);
    }
    return `#${new URLSearchParams(parts).toString().replaceAll("%2C", ",")}`;
  };

  // Fills the form from the address; false if the address has no scenario.
  const open = async () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    const example = about.examples.find((it) => it.name === parts.get("example"));
    if (!example && !parts.has("toml")) {
      if (parts.has("example")) {
        say(`The address names no example: ${parts.get("example")}.`, true);
      }
      return false;
    }
    choose(example ?? { name: parts.get("name") ?? "scenario", policies: [], text: await packed(
      fromAddress(parts.get("toml")), DecompressionStream, (buffer) => new TextDecoder().decode(buffer)) });
    $("example").value = example ? example.name : OWN;
    if (parts.has("policies")) {
      policies = parts.get("policies").split(",").filter((it) => it);
    }
    $("settings").value = parts.getAll("set").join(" ");
    $("seeds").value = parts.get("seeds") ?? "";
    showPolicies();
    return true;
  };

  // Runs.

  const running = (is) => {
    isRunning = is;
    $("run").disabled = is;
    $("stop").disabled = !is;
    $("form").ariaBusy = String(is);
  };

  const simulate = async () => {
    if (isRunning) {
      return;
    }
    clearTimeout(changed.timer);
    running(true);
    $("progress").value = 0;
    if (await check()) {
      history.replaceState(null, "", await address());
      const began = performance.now();
      try {
        const made = JSON.parse(await call("simulate", JSON.stringify(request())));
        report = made.html;
        $("report").hidden = false;
        $("frame").srcdoc = report;
        $("progress").value = 1;
        const took = ((performance.now() - began) / 1e3).toFixed(1);
        say([`Done in ${took} s. The report is below, and the address of this page repeats it.`, ...made.notes].join("\n"));
      } catch (error) {
        say(error.message, true);
      }
    }
    running(false);
  };

  const stop = async () => {
    if (!isRunning) {
      return;
    }
    running(false);
    $("progress").value = 0;
    await start();
    say("Stopped.");
  };

  // The report is as high as its content. A link in its drawing can be chosen to fail.
  const fit = () => {
    const { documentElement, body } = $("frame").contentDocument;
    const size = () => {
      $("frame").style.height = `${Math.ceil(body.getBoundingClientRect().height) + 20}px`;
    };
    new ResizeObserver(size).observe(body);
    size();
    const pick = (event) => {
      const link = event.target.closest?.(".link");
      if (!link || (event.type === "keydown" && event.key !== "Enter")) {
        return;
      }
      const { from, to } = link.dataset;
      const names = [`${from}-${to}`, `${to}-${from}`];
      const found = [...$("link").options].find((it) => names.includes(it.value));
      if (found) {
        $("link").value = found.value;
        say(`${found.value} is chosen: press Add to fail it.`);
        $("fail").focus();
      }
    };
    // In an embedded document, links to its own parts would load this page.
    const follow = (event) => {
      const link = event.target.closest?.("a[href^='#']");
      if (link) {
        event.preventDefault();
        const part = body.ownerDocument.getElementById(link.getAttribute("href").slice(1));
        part.focus({ preventScroll: true });
        part.scrollIntoView();
      }
    };
    documentElement.addEventListener("click", follow);
    documentElement.addEventListener("click", pick);
    documentElement.addEventListener("keydown", pick);
  };

  const save = (name, text, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
  };

  const fail = () => {
    const [link, at, until] = ["link", "at", "until"].map((id) => $(id).value);
    const text = $("text").value.replace(/\n*$/, "\n");
    $("text").value = `${text}\n[[failure]]\nlink = ${JSON.stringify(link)}\nat = ${JSON.stringify(at)}\n`
      + `until = ${JSON.stringify(until)}\n`;
    $("example").value = OWN;
    $("file").open = true;
    $("text").scrollTop = $("text").scrollHeight;
    changed();
  };

  const listen = () => {
    $("form").onsubmit = (event) => {
      event.preventDefault();
      simulate();
    };
    $("stop").onclick = stop;
    $("fail").onclick = fail;
    $("frame").onload = () => report && fit();
    $("save").onclick = () => save(`${request().name}.toml`, $("text").value, "text/plain");
    $("keep").onclick = () => save(`${request().name}.html`, report, "text/html");
    $("share").onclick = async () => {
      history.replaceState(null, "", await address());
      await navigator.clipboard?.writeText(location.href).catch(() => {});
      say("The address of this page has the scenario; it is copied.");
    };
    $("example").onchange = () => {
      const example = about.examples.find((it) => it.name === $("example").value);
      choose(example ?? { name: "scenario", text: "", policies: [] });
      showPolicies();
      if (example) {
        changed();
      } else {
        $("file").open = true;
        $("text").focus();
      }
    };
    $("add").onclick = () => {
      policies = [...new Set([...policies, $("policy").value])];
      showPolicies();
      changed();
    };
    LISTED.forEach((id) => $(id).addEventListener("input", changed));
    // The address has the scenario, so that a link within the page must not change it.
    $("skip").onclick = (event) => {
      event.preventDefault();
      $("report").focus();
    };
    addEventListener("hashchange", async () => {
      if (await open()) {
        await stop();
        await simulate();
      }
    });
  };

  const begin = async () => {
    say("The engine is starting.");
    await load();
    await start();
    about = JSON.parse(await call("about"));
    $("version").textContent = about.version;
    $("example").append(...about.examples.map(({ name, title }) => option(name, title)), option(OWN, "Your own: paste its file"));
    $("policy").append(...about.policies.map(([name, summary]) => option(name, `${name}: ${summary}`)));
    $("file").open = innerWidth >= 900;
    listen();
    if (await open()) {
      await simulate();
    } else {
      choose(about.examples[0]);
      showPolicies();
      await check();
    }
    document.documentElement.dataset.ready = "true";
  };
  begin().catch((error) => say(`The engine cannot start: ${error.message}`, true));
})();
