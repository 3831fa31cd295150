// -- heatmap: a row a course, in the order of the clusters ---------------------------------------------------------

const MOST_ROWS = 900;
const HEATMAP_HEIGHT = 560;
const MAPS = {
  light: { low: ["#f4f4f2", "#8cbfe0", "#2a6fb0", "#08306b"], high: ["#f4f4f2", "#f9bd73", "#c05f0c", "#7a3603"],
    missing: "#d9d9d9" },
  dark: { low: ["#23272e", "#2f5f8f", "#5aa6e6", "#c3e3ff"], high: ["#23272e", "#86501c", "#e08f36", "#ffe0b5"],
    missing: "#3a3f47" },
};

/** Three numbers from "#rrggbb". */
function rgb(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

/** The colour of a number between -1 and 1: blue below, orange above, which colour-blind readers can tell apart. */
function diverging(value, map) {
  const stops = (value < 0 ? map.low : map.high).map(rgb);
  const place = Math.min(Math.abs(value), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(place), stops.length - 2);
  return stops[i].map((from, c) => Math.round(from + (place - i) * (stops[i + 1][c] - from)));
}

/** All courses: by cluster, the earliest or surest first, those in none at the end. */
function clusterOrder(data) {
  const key = (i) => (data.labels[i] === NONE ? data.k : data.labels[i]);
  const sure = data.probability ?? new Float32Array(data.n);
  const late = data.freed?.delay?.mean ?? new Float32Array(data.n);
  return Array.from({ length: data.n }, (_, i) => i).sort((a, b) => key(a) - key(b) || late[a] - late[b] || sure[b] - sure[a] || a - b);
}

/** The values of a course at the columns of the heatmap, NaN where nothing was measured. */
function rowOf(data, index) {
  const course = courseAt(data, index);
  if (data.ownTimes) return sharedCurve(data, [course], false).mean; // at the times of the grid
  const row = new Float64Array(data.times.length).fill(NaN);
  const places = [...new Set(course.rows)];
  averaged(course).values.forEach((value, i) => { row[places[i]] = value; });
  return row;
}

/** The picture's rows: the mean of the courses that fall on each, or, with own times, one of them. */
function heatRows(data, order) {
  const height = Math.min(order.length, MOST_ROWS);
  const columns = data.ownTimes ? data.grid.length : data.times.length;
  return Array.from({ length: height }, (_, h) => {
    const first = Math.floor((h * order.length) / height);
    const last = data.ownTimes ? first + 1 : Math.max(Math.floor(((h + 1) * order.length) / height), first + 1);
    const sum = new Float64Array(columns);
    const seen = new Float64Array(columns);
    for (let i = first; i < last; i += 1) {
      rowOf(data, order[i]).forEach((value, c) => {
        if (!Number.isNaN(value)) { sum[c] += value; seen[c] += 1; }
      });
    }
    return sum.map((total, c) => (seen[c] ? total / seen[c] : NaN));
  });
}

/** Rows at the times of the grid, at times that are evenly spaced along the axis instead. */
function alongAxis(data, rows) {
  const { x, place } = timeAxis(data);
  const last = data.grid.length - 1;
  const places = Array.from(data.grid, place);
  let left = 0;
  const weights = Array.from({ length: last + 1 }, (_, i) => {
    const at = x[0] + (i / last) * (x[1] - x[0]);
    while (left < last - 1 && places[left + 1] <= at) left += 1;
    return [left, Math.min(Math.max((at - places[left]) / (places[left + 1] - places[left] || 1), 0), 1)];
  });
  return rows.map((row) => Float64Array.from(weights, ([i, share]) => row[i] + share * (row[i + 1] - row[i])));
}

/** The rows around the mean level, or each around its own mean. */
function centered(rows, mode, mean) {
  return rows.map((row) => {
    const present = row.filter((value) => !Number.isNaN(value));
    const center = mode === "own" ? present.reduce((a, b) => a + b, 0) / present.length : mean;
    return row.map((value) => value - center);
  });
}

/** Nearly the largest distance from zero: the colours end there. */
function colorLimit(rows) {
  const sizes = rows.flatMap((row) => Array.from(row).filter((v) => !Number.isNaN(v)).map(Math.abs)).sort((a, b) => a - b);
  return sizes[Math.floor(0.98 * (sizes.length - 1))] || 1;
}

/** The picture as a data address: one pixel a cell. */
function heatPicture(rows, limit, map) {
  const canvas = html("canvas", { width: rows[0].length, height: rows.length });
  const context = canvas.getContext("2d");
  const image = context.createImageData(rows[0].length, rows.length);
  const missing = rgb(map.missing);
  rows.forEach((row, r) => row.forEach((value, c) => {
    const color = Number.isNaN(value) ? missing : diverging(value / limit, map);
    image.data.set([...color, 255], 4 * (r * row.length + c));
  }));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

class Heatmap {
  /** @param open called with the number of a course that was chosen */
  constructor(data, open) {
    this.data = data;
    this.open = open;
    this.all = clusterOrder(data);
    this.mode = "level";
    this.choose();
  }

  /** Takes the courses whose condition is shown. */
  choose() {
    this.order = shownOf(this.data, this.all);
    this.rows = heatRows(this.data, this.order);
  }

  /** Marks along the right edge: where the courses of the reader's list are. */
  marks(box) {
    if (!chosen.of) return [];
    const step = box.height / this.order.length;
    const rows = this.order.map((i, row) => [i, box.y + (row + 0.5) * step]).filter(([i]) => isMarked(i));
    return rows.map(([i, y]) => svg("line", { x1: box.x + box.width + 1, x2: box.x + box.width + 11, y1: y, y2: y, stroke: "var(--mark)",
      "stroke-width": Math.min(Math.max(step, 1.2), 5), class: "marked" }, svg("title", {}, this.data.names[i])));
  }

  /** The figure, for the page or (in the colours of paper) for a file. */
  draw(width, theme) {
    const { data } = this;
    const even = data.ownTimes && data.clock ? alongAxis(data, this.rows) : this.rows;
    const rows = centered(even, this.mode, data.mean);
    const limit = colorLimit(rows);
    const box = { x: 58, y: 40, width: width - 58 - 12, height: Math.min(HEATMAP_HEIGHT, Math.max(rows.length * 8, 120)) };
    const root = svg("svg", {
      xmlns: SVG, viewBox: `0 0 ${width} ${box.y + box.height + 40}`, width, height: box.y + box.height + 40,
      role: "img", "aria-label": `Heatmap of ${counted(this.order.length, "course")} in ${counted(data.k, "cluster")}`,
      "font-family": FONT, "font-size": 11, fill: "var(--muted)",
    });
    root.append(
      svg("image", {
        ...box, href: heatPicture(rows, limit, MAPS[theme]), preserveAspectRatio: "none", "image-rendering": "pixelated",
      }),
      ...this.strips(box), ...this.marks(box), ...this.timeAxis(box), ...this.key(box, limit, MAPS[theme]), this.touch(box),
    );
    return root;
  }

  /** The clusters along the left edge: colour and number. */
  strips(box) {
    const { data, order } = this;
    const parts = [];
    for (let i = 0; i < order.length;) {
      const label = data.labels[order[i]];
      let end = i;
      while (end < order.length && data.labels[order[end]] === label) end += 1;
      const [top, bottom] = [i, end].map((at) => box.y + (at / order.length) * box.height);
      parts.push(svg("rect", { x: box.x - 14, y: top, width: 9, height: Math.max(bottom - top - 1, 0.5),
        fill: clusterColor(label) }));
      parts.push(svg("line", { x1: box.x - 14, x2: box.x + box.width, y1: bottom, y2: bottom, stroke: "var(--paper)" }));
      if (bottom - top >= 10) {
        parts.push(svg("text", { x: box.x - 19, y: (top + bottom) / 2 + 4, "text-anchor": "end", fill: "var(--ink)" },
          label === NONE ? "none" : String(label)));
      }
      i = end;
    }
    return parts;
  }

  /** Times below the columns, as many as there is room for. */
  timeAxis(box) {
    const { data } = this;
    const y = box.y + box.height + 15;
    const { x: ends, place, xTicks } = timeAxis(data);
    const along = scale(ends, [box.x, box.x + box.width]);
    const step = Math.ceil((data.times.length * 44) / box.width);
    const places = data.ownTimes
      ? xTicks(ends, box.width / 80).map((time) => [along(place(time)), time])
      : Array.from(data.times, (time, i) => [box.x + ((i + 0.5) / data.times.length) * box.width, time])
        .filter((_, i) => i % step === 0);
    const marks = places.map(([x, time]) => svg("text", { x, y, "text-anchor": "middle" }, beside(time, (data.grid[data.grid.length - 1] - data.grid[0]) / 100)));
    const right = { x: box.x + box.width, y: box.y + box.height + 32, "text-anchor": "end" };
    return [...marks, svg("text", right, data.timeLabel)];
  }

  /** What the colours mean. */
  key(box, limit, map) {
    const [steps, wide, top] = [41, Math.min(220, box.width / 2), 8];
    const left = box.x + box.width - wide;
    const cells = Array.from({ length: steps }, (_, i) => svg("rect", {
      x: left + (i * wide) / steps, y: top, width: wide / steps + 0.5, height: 9,
      fill: `rgb(${diverging((2 * i) / (steps - 1) - 1, map).join(",")})`,
    }));
    const center = this.mode === "own" ? 0 : this.data.mean;
    const words = [[left, "start", center - limit], [left + wide / 2, "middle", center], [left + wide, "end", center + limit]]
      .map(([x, anchor, value]) => svg("text", { x, y: top + 22, "text-anchor": anchor }, beside(value, limit)));
    const name = this.mode === "own" ? `${this.data.valueLabel}, minus own mean` : this.data.valueLabel;
    return [...cells, ...words, svg("text", { x: left - 8, y: top + 9, "text-anchor": "end" }, shortened(name, 34))];
  }

  /** What lies over the picture: names the row under the pointer, opens it when it is chosen. */
  touch(box) {
    const area = svg("rect", { ...box, fill: "transparent", class: "touch" });
    const place = (event) => {
      const { top, height } = area.getBoundingClientRect();
      const row = Math.min(Math.max(Math.floor(((event.clientY - top) / height) * this.order.length), 0), this.order.length - 1);
      return this.order[row];
    };
    area.addEventListener("pointermove", (event) => this.say(place(event)));
    area.addEventListener("click", (event) => this.open(place(event)));
    return area;
  }

  /** Writes the name of a course below the heatmap. */
  say(index) {
    const label = this.data.labels[index];
    const place = document.getElementById("heatmap-name");
    const known = detailWords(this.data, index);
    place.replaceChildren(...[starOf(index), named(this.data.names[index]), ` \u00b7 ${clusterName(label)}`, known ? ` \u00b7 ${known}` : ""].filter(Boolean));
  }
}
