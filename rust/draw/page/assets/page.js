"use strict";
(() => {
  const { colors, dashes, charts } = JSON.parse(document.getElementById("data").textContent);
  // The colours of the page; on paper those of the light one.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let onPaper = false;
  const theme = () => (dark.matches && !onPaper
    ? { ink: "#e4e8ec", grid: "#31373e", alarm: "#ff8c3b", black: "#e4e8ec" }
    : { ink: "#1f2933", grid: "#e1e5ea", alarm: "#d55e00", black: "#000000" });
  const color = (index) => {
    const own = colors[index % colors.length];
    return own === "#000000" ? theme().black : own;
  };
  // The dashes of lines, as near as borders of the legend have them.
  const borders = ["solid", "dashed", "dotted", "double"];
  // Pixels of a chart on paper: as wide as A4, and two charts fit on a page.
  const printed = { width: 680, height: 290 };
  const plots = [];

  // The values of a series by position; of several at one position the last, as steps show it.
  const columns = (series, xUnit, yUnit) => {
    const byX = new Map();
    for (const { x, y, interval } of series.points) {
      byX.set(x / xUnit, [y, ...(interval || [y, y])].map((value) => value / yUnit));
    }
    const xs = [...byX.keys()].sort((a, b) => a - b);
    return [xs, ...[0, 1, 2].map((part) => xs.map((x) => byX.get(x)[part]))];
  };

  const drawMarks = (marks, xUnit) => (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = theme().alarm;
    ctx.fillStyle = theme().ink;
    ctx.setLineDash([5, 4]);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.font = `${12 * devicePixelRatio}px Helvetica, Arial, sans-serif`;
    marks.forEach((mark, index) => {
      const x = plot.valToPos(mark.x / xUnit, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      if (index < 6) {
        const isRight = x > bbox.left + bbox.width / 2;
        ctx.textAlign = isRight ? "right" : "left";
        const y = bbox.top + (14 + 15 * index) * devicePixelRatio;
        ctx.fillText(mark.text, x + (isRight ? -5 : 5) * devicePixelRatio, y);
      }
    });
    ctx.restore();
  };

  const title = ({ label, unit }) => (unit ? `${label} (${unit})` : label);
  const shown = (value) => (value == null ? "–" : String(Number(value.toPrecision(5))));

  const options = (chart, width, parts) => {
    const { x, y } = chart;
    const scale = (axis) => ({ time: false, distr: axis.scale === "logarithmic" ? 3 : 1 });
    const fromZero = y.scale === "linear" && y.from_zero;
    const series = [{ label: title(x), value: (_, value) => shown(value) }];
    const bands = [];
    // A link or a policy has one style on the whole page.
    chart.series.forEach((it) => {
      const stroke = () => color(it.style);
      series.push({
        label: it.name, stroke, width: 2, dash: dashes[it.style % dashes.length], spanGaps: true,
        paths: it.join === "step" ? uPlot.paths.stepped({ align: 1 }) : undefined,
        points: { show: it.join === "line", size: 7, fill: stroke },
        value: (_, value) => shown(value),
      });
    });
    parts.forEach(({ index }) => {
      const { style } = chart.series[index];
      const stroke = () => color(style);
      const edge = { stroke, width: 0, spanGaps: true, points: { show: false }, legend: false };
      series.push({ ...edge, label: "low", class: "edge" }, { ...edge, label: "high", class: "edge" });
      bands.push({ series: [series.length - 1, series.length - 2], fill: () => `${color(style)}2e` });
    });
    // Room above the lines for the names of marks, each of which is as high whatever the chart is.
    const names = 8 + 15 * Math.min(6, chart.marks.length);
    const top = (plot, high) => high / (1 - Math.min(0.6, names / (plot.height - 95)));
    const axis = (it, size) => ({
      label: title(it), stroke: () => theme().ink, size, labelSize: 22, font: "13px Helvetica, Arial, sans-serif",
      labelFont: "13px Helvetica, Arial, sans-serif", grid: { stroke: () => theme().grid }, ticks: { stroke: () => theme().grid },
    });
    return {
      width, height: Math.max(280, Math.min(420, width * 0.55)), series, bands,
      scales: {
        x: scale(x),
        y: { ...scale(y), range: fromZero ? (plot, low, high) => [Math.min(0, low), top(plot, high) || 1] : undefined },
      },
      axes: [axis(x, 40), axis(y, 62)],
      legend: {
        markers: { width: 3, dash: (_, index) => borders[(chart.series[index - 1]?.style ?? 0) % borders.length] },
      },
      cursor: { drag: { x: true, y: false } },
      hooks: { draw: [drawMarks(chart.marks, x.unit_size)] },
    };
  };

  const draw = (place) => {
    const { chart } = charts[Number(place.dataset.chart)];
    const tables = [];
    const parts = [];
    const units = [chart.x.unit_size, chart.y.unit_size];
    const all = chart.series.map((series) => columns(series, ...units));
    all.forEach(([xs, ys]) => tables.push([xs, ys]));
    chart.series.forEach((series, index) => {
      if (series.points.some((point) => point.interval)) {
        const [xs, , low, high] = all[index];
        parts.push({ index });
        tables.push([xs, low], [xs, high]);
      }
    });
    const data = tables.length ? uPlot.join(tables) : [[]];
    // The limits of intervals have no entries in the legend.
    const plot = new uPlot(options(chart, place.clientWidth, parts), data, place);
    place.querySelectorAll(".u-legend .edge").forEach((row) => row.remove());
    plots[Number(place.dataset.chart)] = { plot, xs: data[0] };
    new ResizeObserver(() => {
      const width = place.clientWidth;
      if (width > 0 && width !== plot.width && !onPaper) {
        plot.setSize({ width, height: plot.height });
      }
    }).observe(place);
  };

  const zoom = ({ plot, xs }, how) => {
    const [first, last] = [xs[0], xs[xs.length - 1]];
    const isLog = plot.scales.x.distr === 3;
    const to = isLog ? Math.log : (value) => value;
    const from = isLog ? Math.exp : (value) => value;
    const [min, max] = [to(plot.scales.x.min), to(plot.scales.x.max)];
    const [middle, half] = [(min + max) / 2, (max - min) / 2];
    const moved = { in: [0, 0.5], out: [0, 2], left: [-0.5, 1], right: [0.5, 1] }[how];
    if (!moved) {
      plot.setScale("x", { min: first, max: last });
      return;
    }
    const [shift, stretch] = moved;
    const center = middle + shift * half;
    plot.setScale("x", {
      min: Math.max(first, from(center - half * stretch)),
      max: Math.min(last, from(center + half * stretch)),
    });
  };

  document.querySelectorAll(".chart").forEach(draw);
  // The vertical scale follows the horizontal one.
  const heights = plots.map(({ plot }) => plot.height);
  const resize = (size) => plots.forEach(({ plot }, index) => {
    const { min, max } = plot.scales.x;
    plot.setSize(size(plot.root.parentElement.clientWidth, heights[index]));
    plot.setScale("x", { min, max });
  });
  addEventListener("beforeprint", () => {
    onPaper = true;
    const least = Math.min;
    resize((wide, high) => ({ width: least(printed.width, wide), height: least(printed.height, high) }));
  });
  addEventListener("afterprint", () => {
    onPaper = false;
    resize((width, height) => ({ width, height }));
  });
  dark.addEventListener("change", () => plots.forEach(({ plot }) => plot.redraw()));
  // What is wider than its place has a cue and a tab stop; other places need neither.
  const cut = (place) => {
    const hidden = place.scrollWidth - place.clientWidth;
    place.classList.toggle("cut-left", hidden > 1 && place.scrollLeft > 1);
    place.classList.toggle("cut-right", hidden > 1 && place.scrollLeft < hidden - 1);
    place.previousElementSibling.hidden = hidden <= 1;
    if (hidden > 1) {
      place.tabIndex = 0;
    } else {
      place.removeAttribute("tabindex");
    }
  };
  const places = document.querySelectorAll(".scroll");
  const watched = new ResizeObserver((entries) => entries.forEach(({ target }) => cut(target)));
  places.forEach((place) => {
    place.addEventListener("scroll", () => cut(place), { passive: true });
    watched.observe(place);
  });
  document.querySelectorAll("button[data-zoom]").forEach((button) => {
    button.addEventListener("click", () => zoom(plots[Number(button.dataset.chart)], button.dataset.zoom));
  });
  document.querySelectorAll(".fabric").forEach((fabric) => {
    const facts = fabric.nextElementSibling;
    const show = (event) => {
      const link = event.target.closest(".link");
      if (link) {
        facts.textContent = link.getAttribute("aria-label");
      }
    };
    fabric.addEventListener("pointerover", show);
    fabric.addEventListener("focusin", show);
  });
  document.documentElement.dataset.charts = String(plots.length);
})();
