'use strict';
// The script of a report. It unpacks the figures (JSON, compressed), draws a chart when it is scrolled to, and shows and
// saves the numbers of every figure as a table. Without plotly.js the static pictures stay. Names are only ever set as text.
(() => {
  const state = window.kfeReport = { drawn: [], failed: [], charts: false };
  const SYMBOLS = ['circle', 'square', 'triangle-up', 'diamond', 'triangle-down', 'cross', 'x', 'hexagon'];
  const DASHES = ['solid', 'dash', 'dot', 'dashdot'];
  const SHADES = [[0, '#f7fbff'], [0.25, '#c6dbef'], [0.5, '#6baed6'], [0.75, '#2171b5'], [1, '#08306b']];
  // Points are small: no shade may come near to the paper's.
  const ON_WHITE = [[0, '#9ecae1'], [0.33, '#5ba3d0'], [0.67, '#2171b5'], [1, '#08306b']];
  const ON_BLACK = [[0, '#22649c'], [0.33, '#4292c6'], [0.67, '#8fc1e3'], [1, '#f0f7fd']];
  const GREY = '#888888';
  const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;
  const MOST_ROWS = 1000;

  const unpack = async (id) => {
    const text = document.getElementById(id).textContent.trim();
    if (!text) return '';
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(stream).text();
  };

  // plotly.js reads a little markup in its texts; escaped, a name is only a name.
  const plain = (text) => String(text).replace(/[\u0000-\u001f]/g, ' ').replace(/&/g, '&amp;').replace(/</g, '&lt;')
    .replace(/>/g, '&gt;');
  const cut = (text, most) => ([...text].length > most ? [...text].slice(0, most).join('') + '…' : text);

  const columnOf = (figure, number) => figure.columns[number - 1];
  const cellOf = (column, row) => (column.numbers ? column.numbers[row] : column.codes[row] < 0 ? null : column.codes[row]);
  const shownOf = (column, row) => (column.numbers ? column.numbers[row] : column.words[column.codes[row]]);
  const rowsOf = (series) => Array.from({ length: series.count }, (_, k) => (series.first || 0) + k);
  const valuesOf = (figure, series, number) => {
    const column = columnOf(figure, number);
    return rowsOf(series).map((row) => cellOf(column, row));
  };

  // ---- traces ----

  const hoverOf = (figure, series) => {
    const shown = series.plain ? [columnOf(figure, series.x), columnOf(figure, series.y)] : figure.columns.slice(0, 8);
    return rowsOf(series).map((row) => shown.map((column) => {
      const value = shownOf(column, row);
      return value === null || value === undefined ? null : plain(cut(`${column.name}: ${value}`, 80));
    }).filter((line) => line !== null).join('<br>'));
  };

  const axisName = (letter, panel) => letter + (panel ? panel + 1 : '');

  const base = (figure, series) => ({
    name: series.name ? plain(cut(series.name, figure.square && figure.panels.length === 1 ? 44 : 30)) : '', showlegend: Boolean(series.name), hoverinfo: 'text',
    legendgroup: `style${series.style}${series.crosses ? 'wrong' : ''}${series.hollow ? 'hollow' : ''}${series.name || ''}`,
  });

  const pointTrace = (figure, series, ink) => {
    const trace = { ...base(figure, series), mode: 'markers', text: hoverOf(figure, series), marker: { color: series.colour } };
    const symbol = SYMBOLS[series.style % SYMBOLS.length];
    trace.marker.size = figure.space ? 3.5 : 6;
    trace.marker.opacity = 0.8;
    if (figure.space) {
      trace.marker.symbol = series.crosses ? (series.hollow ? 'cross' : 'x') : series.hollow ? 'circle-open' : ['circle', 'square', 'diamond', 'cross'][series.style % 4];
    } else {
      trace.marker.symbol = series.crosses ? (series.hollow ? 'cross-thin' : 'x-thin') : symbol + (series.hollow ? '-open' : '');
    }
    if (series.crosses) {
      trace.marker.color = series.hollow ? GREY : ink;
      trace.marker.size = figure.space ? 2.5 : 7;
      if (!figure.space) trace.marker.line = { width: series.hollow ? 1 : 1.5, color: trace.marker.color };
      trace.hoverinfo = 'skip';
    }
    if (series.shade) { // one scale and one bar for all series of a figure
      trace.marker.color = valuesOf(figure, series, series.shade);
      trace.marker.coloraxis = 'coloraxis';
    }
    return trace;
  };

  const errorsOf = (figure, series, ink) => (series.spread
    ? { type: 'data', array: valuesOf(figure, series, series.spread), color: ink, thickness: 1, width: 3 } : undefined);

  const bandTrace = (figure, series) => {
    const x = valuesOf(figure, series, series.x);
    const y = valuesOf(figure, series, series.y);
    const half = valuesOf(figure, series, series.spread);
    const good = x.map((_, k) => k).filter((k) => y[k] !== null && half[k] !== null);
    return { x: [...good.map((k) => x[k]), ...good.reverse().map((k) => x[k])],
      y: [...good.slice().reverse().map((k) => y[k] + half[k]), ...good.map((k) => y[k] - half[k])],
      type: 'scatter', mode: 'lines', fill: 'toself', fillcolor: series.colour + '2e', line: { width: 0 }, hoverinfo: 'skip',
      showlegend: false };
  };

  const toneAt = (share) => {
    const k = ON_BLACK.findIndex(([end]) => end >= share && end > 0);
    const [[low, from], [high, to]] = [ON_BLACK[k - 1], ON_BLACK[k]];
    const mixed = [1, 3, 5].map((c) => {
      const [a, b] = [from, to].map((colour) => parseInt(colour.slice(c, c + 2), 16));
      return Math.round(a + ((b - a) * (share - low)) / (high - low));
    });
    return `rgb(${mixed.join()})`;
  };

  const lineTrace = (figure, series) => ({
    ...base(figure, series), type: 'scatter', mode: series.dotted ? 'lines+markers' : 'lines', text: hoverOf(figure, series),
    line: { color: series.tone !== undefined && isDark() ? toneAt(series.tone) : series.colour, width: series.plain ? 1 : 2, dash: series.dashed ? 'dash' : series.grey || series.plain ? 'solid' : DASHES[series.style % 4] },
    marker: { symbol: SYMBOLS[series.style % SYMBOLS.length], size: 6 },
  });

  // Words beside their places.
  const labelTrace = (figure, series) => ({
    type: 'scatter', mode: 'text', text: rowsOf(series).map((row) => {
      const column = columnOf(figure, series.label);
      return column.codes[row] < 0 ? '' : plain(cut(column.words[column.codes[row]], 16));
    }), textposition: 'top right', textfont: { size: 10 }, cliponaxis: false, hoverinfo: 'skip', showlegend: false,
  });

  // Hotelling's ellipse belongs to the axes that the figure came with.
  const ellipseTrace = (figure, panel) => {
    const [x, y, a, b, c] = figure.panels[panel].ellipse;
    const angles = Array.from({ length: 73 }, (_, k) => (2 * Math.PI * k) / 72);
    return { type: 'scatter', mode: 'lines+markers', marker: { size: 8, opacity: 0 }, // unseen markers keep the ellipse off the frame
      x: angles.map((t) => x + a * Math.cos(t)),
      y: angles.map((t) => y + b * Math.cos(t) + c * Math.sin(t)),
      line: { color: GREY, width: 1, dash: 'dash' }, hoverinfo: 'skip', showlegend: false, xaxis: axisName('x', panel), yaxis: axisName('y', panel) };
  };

  const heatTrace = (figure, series) => {
    const xs = columnOf(figure, series.x);
    const ys = columnOf(figure, series.y);
    const z = ys.words.map(() => xs.words.map(() => null));
    const text = ys.words.map(() => xs.words.map(() => ''));
    const hover = hoverOf(figure, series);
    rowsOf(series).forEach((row, k) => {
      z[ys.codes[row]][xs.codes[row]] = columnOf(figure, series.z).numbers[row];
      text[ys.codes[row]][xs.codes[row]] = hover[k];
    });
    const most = z.flat().reduce((a, b) => Math.max(a, b === null ? 0 : b), 0);
    const few = figure.counts && xs.words.length <= 20 && ys.words.length <= 20;
    return { type: 'heatmap', z, text, hoverinfo: 'text', colorscale: SHADES, xgap: 1, ygap: 1,
      ...(figure.counts && { zmin: 0, zmax: most || 1 }), x: xs.words.map((_, k) => k), y: ys.words.map((_, k) => k),
      texttemplate: few ? '%{z}' : undefined, colorbar: { thickness: 12, title: { text: plain(columnOf(figure, series.z).name) } } };
  };

  const traceOf = (figure, series, ink) => {
    let trace;
    if (series.mark === 'heat') trace = heatTrace(figure, series);
    else if (series.mark === 'bars') {
      trace = { ...base(figure, series), type: 'bar', text: hoverOf(figure, series), textposition: 'none',
        // Every other series is an outline with a light filling, so that neighbours differ in grey as well.
        marker: series.style % 2 ? { color: series.colour + '59', line: { color: series.colour, width: 1.5 } }
          : { color: series.colour }, error_y: errorsOf(figure, series, ink) };
    } else if (series.mark === 'line') trace = lineTrace(figure, series);
    else if (series.mark === 'labels') trace = labelTrace(figure, series);
    else {
      trace = { ...pointTrace(figure, series, ink), type: figure.space ? 'scatter3d' : 'scatter' };
      if (series.spread) trace.error_y = errorsOf(figure, series, ink);
    }
    if (series.mark !== 'heat') {
      trace.x = valuesOf(figure, series, series.x);
      trace.y = valuesOf(figure, series, series.y);
      if (series.shift) trace.y = valuesOf(figure, series, series.shift).map((shift, k) => (trace.y[k] === null ? null : trace.y[k] + shift));
      if (figure.space) trace.z = valuesOf(figure, series, series.z);
    }
    return trace;
  };

  // Keys are entries of the legend without rows: a class, a set of examples, or the wrong predictions of a set. Each switches the series
  // that belong to it.
  const classOf = (series) => `class ${series.grey ? 'others' : series.style}`;
  const keyOf = (series) => (series.crosses ? `wrong ${series.set}` : series.set ? `set ${series.set}` : classOf(series));
  const keysOf = (series) => [classOf(series), `set ${series.set}`, ...(series.crosses ? [`wrong ${series.set}`] : [])];
  const isHidden = (figure, key) => Boolean(figure.hidden && figure.hidden.has(key));

  const switchTrace = (figure, series, trace) => {
    if (series.mark === 'labels') return;
    if (!series.key) {
      trace.showlegend = false;
      trace.visible = !keysOf(series).some((key) => isHidden(figure, key));
      return;
    }
    trace.meta = trace.legendgroup = keyOf(series);
    trace.visible = isHidden(figure, trace.meta) ? 'legendonly' : true;
    for (const axis of figure.space ? ['x', 'y', 'z'] : ['x', 'y']) trace[axis] = [null]; // without a row there would be no entry
  };

  // The entry of shaded points is grey, since it stands for all shades.
  const withLegend = (series, trace) => {
    if (!series.shade || !trace.showlegend) return [trace];
    const none = series.z ? { x: [null], y: [null], z: [null] } : { x: [null], y: [null] };
    const entry = { ...trace, ...none, text: '', marker: { ...trace.marker, color: GREY, coloraxis: undefined } };
    return [{ ...trace, showlegend: false }, entry];
  };

  const tracesOf = (figure, ink) => {
    const traces = [];
    const hasKeys = figure.series.some((series) => series.key);
    for (const series of figure.series) {
      const own = [traceOf(figure, series, ink)];
      const beside = figure.series.filter((other) => other.mark === 'line' && (other.panel || 0) === (series.panel || 0)).length;
      if (series.mark === 'line' && series.spread && beside <= 3) own.unshift(bandTrace(figure, series));
      for (const trace of own) {
        if (hasKeys) switchTrace(figure, series, trace);
        if (!figure.space) {
          trace.xaxis = axisName('x', series.panel);
          trace.yaxis = axisName('y', series.panel);
        }
        traces.push(...withLegend(series, trace));
      }
    }
    figure.panels.forEach((panel, p) => panel.ellipse && traces.push(ellipseTrace(figure, p)));
    return traces;
  };

  // ---- layout ----

  const coloursOf = () => {
    const style = getComputedStyle(document.documentElement);
    return { ink: style.getPropertyValue('--ink').trim(), line: style.getPropertyValue('--line').trim(),
      paper: style.getPropertyValue('--paper').trim() };
  };

  const NARROW = 560; // below this width panels stand below each other, and the legend below them
  const acrossOf = (figure, width) => (width < NARROW && !figure.square ? 1 : figure.across);

  const tickNames = (column, axis, width) => {
    const step = Math.max(1, Math.ceil(column.words.length / Math.min(40, Math.max(6, width / 18))));
    axis.tickvals = column.words.map((_, k) => k).filter((k) => k % step === 0);
    axis.ticktext = axis.tickvals.map((k) => plain(cut(column.words[k], width < NARROW ? 14 : 24)));
    axis.range = [-0.5, column.words.length - 0.5];
    const longest = axis.ticktext.reduce((most, text) => Math.max(most, text.length), 0);
    const room = width / axis.ticktext.length;
    if (longest * 7 > room) axis.tickangle = room < 30 ? 90 : 30;
  };

  const extent = (figure, panel, letter) => {
    const all = figure.series.filter((s) => (s.panel || 0) === panel && s[letter])
      .flatMap((s) => valuesOf(figure, s, s[letter])).filter((v) => v !== null);
    return [all.reduce((a, b) => Math.min(a, b), Infinity), all.reduce((a, b) => Math.max(a, b), -Infinity)];
  };

  const shadeAxis = (figure, narrow) => {
    const shaded = figure.series.find((series) => series.shade);
    if (!shaded) return {};
    const title = { text: plain(columnOf(figure, shaded.shade).name) };
    const bar = narrow ? { orientation: 'h', x: 0, xanchor: 'left', y: 1, yanchor: 'bottom', len: 0.55, title: { ...title, side: 'top' }, nticks: 4 }
      : { len: 0.6, y: 0.3, title };
    return { coloraxis: { colorscale: isDark() ? ON_BLACK : ON_WHITE, colorbar: { thickness: narrow ? 8 : 12, outlinewidth: 0, ...bar } } };
  };

  const axisLayout = (figure, panel, letter, colours, width, panels) => {
    const about = figure.panels[panel][letter];
    const axis = { title: { text: plain(about.title), standoff: 6 }, gridcolor: colours.line, linecolor: colours.line,
      zeroline: false, automargin: true, ticklabeloverflow: 'allow', type: about.log ? 'log' : 'linear', exponentformat: 'power', minexponent: 5 };
    const series = figure.series.find((s) => (s.panel || 0) === panel && s[letter]);
    const column = series && columnOf(figure, series[letter]);
    if (about.range) axis.range = about.log ? about.range.map(Math.log10) : about.range.slice();
    if (panels === 'small') Object.assign(axis, { nticks: 3, tickangle: 0, tickfont: { size: 9 }, title: { ...axis.title, standoff: 18 } });
    if (letter === 'x' && column && column.numbers && column.numbers.every((v) => v === null || Number.isInteger(v))) {
      const [low, high] = extent(figure, panel, letter);
      if (high - low < 10) axis.dtick = 1; // there is nothing between 1 and 2 features
    }
    if (column && !column.numbers) {
      axis.type = 'linear';
      axis.showgrid = false;
      tickNames(column, axis, letter === 'x' ? width : Infinity);
    }
    if ((letter === 'y' && figure.reversed) || about.reversed) {
      if (axis.range) axis.range = axis.range.slice().reverse();
      else axis.autorange = 'reversed';
    }
    return axis;
  };

  const referenceOf = (figure, panel, colours) => {
    const kind = figure.panels[panel].reference;
    const line = { color: colours.ink, width: 1, dash: 'dash' };
    const refs = { xref: axisName('x', panel), yref: axisName('y', panel) };
    if (kind === 'zero' || kind === 'level') {
      const y = kind === 'zero' ? 0 : figure.panels[panel].level;
      return { type: 'line', ...refs, xref: refs.xref + ' domain', x0: 0, x1: 1, y0: y, y1: y, line, layer: 'below' };
    }
    if (kind !== 'diagonal') return null;
    const [x0, x1] = figure.panels[panel].x.range || extent(figure, panel, 'x');
    const [y0, y1] = figure.panels[panel].y.range || extent(figure, panel, 'y');
    const low = Math.min(x0, y0);
    const high = Math.max(x1, y1);
    return { type: 'line', ...refs, x0: low, y0: low, x1: high, y1: high, line, layer: 'below' };
  };

  const placePanels = (figure, layout, colours, whole) => {
    const across = acrossOf(figure, whole);
    const down = Math.ceil(figure.panels.length / across);
    const gapX = across > 1 ? 0.07 : 0;
    const gapY = down > 1 ? Math.min((figure.square ? 50 : 85) / layout.height, 0.5 / (down - 1)) : 0;
    const width = (1 - gapX * (across - 1)) / across;
    const height = (1 - gapY * (down - 1)) / down;
    const size = across > 1 && whole < NARROW ? 'small' : '';
    figure.panels.forEach((panel, p) => {
      const left = (p % across) * (width + gapX);
      const top = 1 - Math.floor(p / across) * (height + gapY);
      const number = p ? p + 1 : '';
      layout['xaxis' + number] = { ...axisLayout(figure, p, 'x', colours, whole * width, size), domain: [left, left + width], anchor: 'y' + number };
      layout['yaxis' + number] = { ...axisLayout(figure, p, 'y', colours, whole, size), domain: [top - height, top], anchor: 'x' + number };
      if (!figure.series.some((s) => (s.panel || 0) === p)) { // a panel without series is only its name
        layout['xaxis' + number].visible = layout['yaxis' + number].visible = false;
        layout.annotations.push({ text: plain(panel.title || ''), x: left + width / 2, y: top - height / 2, xref: 'paper', yref: 'paper',
          xanchor: 'center', yanchor: 'middle', showarrow: false, font: { size: 14 } });
        return;
      }
      if (figure.panels.length > 4) layout['xaxis' + number].automargin = layout['yaxis' + number].automargin = false;
      if (panel.title) {
        layout.annotations.push({ text: plain(panel.title), x: left + width / 2, y: top, xref: 'paper', yref: 'paper',
          xanchor: 'center', yanchor: 'bottom', showarrow: false, font: { size: 13 } });
      }
      const reference = referenceOf(figure, p, colours);
      if (reference) layout.shapes.push(reference);
    });
  };

  // Names under the x-axis are turned, so that what stands below them needs room.
  const hasNames = (figure) => figure.series.some((s) => columnOf(figure, s.x).words && columnOf(figure, s.x).words.length > 8);

  const layoutOf = (figure, colours, width) => {
    const down = Math.ceil(figure.panels.length / acrossOf(figure, width));
    const narrow = width < NARROW;
    const barRoom = narrow && figure.series.some((series) => series.shade) ? 34 : 0;
    const layout = { ...shadeAxis(figure, narrow), annotations: [], shapes: [], margin: { l: 55, r: 22, t: (figure.panels.some((p) => p.title) ? 56 : 34) + barRoom, b: 45 }, modebar: { bgcolor: 'rgba(0,0,0,0)', color: colours.line, activecolor: colours.ink },
      height: figure.panels.length === 1 ? (figure.space ? 560 : 460) : Math.max(360, (figure.square ? 250 : 290) * down), paper_bgcolor: 'rgba(0,0,0,0)',
      plot_bgcolor: 'rgba(0,0,0,0)', font: { color: colours.ink, size: 12, family: 'system-ui, sans-serif' },
      hoverlabel: { align: 'left', bgcolor: colours.paper, bordercolor: colours.line, font: { color: colours.ink } },
      hovermode: 'closest', legend: { itemsizing: 'constant', font: { size: 12 }, y: 1, yanchor: 'top', ...(narrow && { orientation: 'h', x: 0, yanchor: 'top' }) }, barmode: 'group', bargap: 0.2 };
    if (figure.space) {
      const about = figure.panels[0];
      const axis = (a) => ({ title: { text: plain(a.title) }, gridcolor: colours.line, color: colours.ink, backgroundcolor: 'rgba(0,0,0,0)' });
      const away = narrow ? 1.95 : 1.5; // far enough to see the names of all axes
      layout.scene = { aspectmode: 'cube', xaxis: axis(about.x), yaxis: axis(about.y), zaxis: axis(about.z), camera: { eye: { x: away, y: away, z: away * 0.7 } } };
      layout.margin = { l: 0, r: 0, t: 30 + barRoom, b: 0 };
      if (narrow) layout.legend.y = 0;
    } else {
      placePanels(figure, layout, colours, width);
      // The legend stands below the names of the lowest axis, however tall the figure is.
      if (narrow) layout.legend.y = -(hasNames(figure) ? 110 : 62) / (layout.height - layout.margin.t - layout.margin.b);
    }
    if (figure.square && figure.panels.length === 1) layout.width = Math.min(width, 640);
    return layout;
  };

  // ---- drawing ----

  const hasWebGl = () => {
    try {
      return Boolean(document.createElement('canvas').getContext('webgl'));
    } catch (_) {
      return false;
    }
  };

  const draw = async (figure, element) => {
    const plot = element.querySelector('.plot');
    if (!figure.panels.length || (figure.space && !hasWebGl())) return;
    let chart = plot.querySelector('.chart');
    if (!chart) {
      chart = document.createElement('div');
      chart.className = 'chart';
      chart.setAttribute('role', 'img');
      chart.setAttribute('aria-label', `${figure.title}. ${figure.caption}`);
      plot.append(chart);
    }
    const colours = coloursOf();
    const layout = layoutOf(figure, colours, plot.clientWidth);
    const isNew = !chart.on;
    chart.style.height = `${layout.height}px`; // plotly.js forgets the height when the window changes and takes the element's
    await window.Plotly.react(chart, tracesOf(figure, colours.ink), layout,
      { responsive: true, displaylogo: false, modeBarButtonsToRemove: ['lasso2d', 'select2d'] });
    if (isNew && figure.series.some((series) => series.key)) {
      chart.on('plotly_legendclick', (event) => {
        const key = event.data[event.curveNumber].meta;
        figure.hidden = figure.hidden || new Set();
        if (!figure.hidden.delete(key)) figure.hidden.add(key);
        draw(figure, element).catch((error) => fail(figure, error));
        return false;
      });
      chart.on('plotly_legenddoubleclick', () => false);
    }
    plot.classList.add('drawn');
    performance.mark(`kfe-${figure.figure}`);
    if (!state.drawn.includes(figure.figure)) state.drawn.push(figure.figure);
  };

  const addChoices = (figure, element) => {
    const controls = element.querySelector('.controls');
    for (const letter of figure.space ? ['x', 'y', 'z'] : ['x', 'y']) {
      const label = document.createElement('label');
      const select = document.createElement('select');
      label.append(`${letter} `, select);
      for (let k = 0; k < figure.feature_count; k++) {
        const option = document.createElement('option');
        option.value = figure.first_feature + k;
        option.textContent = columnOf(figure, figure.first_feature + k).name;
        select.append(option);
      }
      select.value = figure.series[0][letter];
      select.addEventListener('change', () => {
        for (const series of figure.series) series[letter] = Number(select.value);
        const column = columnOf(figure, Number(select.value));
        figure.panels[0][letter].title = column.title || column.name;
        delete figure.panels[0].ellipse;
        draw(figure, element).catch((error) => fail(figure, error));
      });
      controls.append(label);
    }
  };

  const fail = (figure, error) => {
    state.failed.push(`${figure.figure}: ${error}`);
    console.error(error);
  };

  // ---- tables ----

  const csvCell = (value) => {
    let text = value === null || value === undefined ? '' : String(value);
    if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };

  const csvOf = (figure) => {
    const lines = [figure.columns.map((c) => csvCell(c.name)).join(',')];
    for (let row = 0; row < figure.rows; row++) lines.push(figure.columns.map((c) => csvCell(shownOf(c, row))).join(','));
    return lines.join('\n') + '\n';
  };

  const save = (figure) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([csvOf(figure)], { type: 'text/csv' }));
    link.download = `${figure.figure}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const addCell = (row, tag, value) => {
    const cell = document.createElement(tag);
    cell.textContent = value === null || value === undefined ? '' : value;
    if (typeof value === 'number') cell.className = 'number';
    row.append(cell);
  };

  const buildTable = (figure, details) => {
    if (details.querySelector('table')) return;
    const table = document.createElement('table');
    const head = table.createTHead().insertRow();
    const body = table.createTBody();
    figure.columns.forEach((column) => addCell(head, 'th', column.name));
    for (let row = 0; row < Math.min(figure.rows, MOST_ROWS); row++) {
      const line = body.insertRow();
      figure.columns.forEach((column) => addCell(line, 'td', shownOf(column, row)));
    }
    const holder = document.createElement('div');
    holder.className = 'table';
    holder.tabIndex = 0;
    holder.append(table);
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Save as CSV';
    button.addEventListener('click', () => save(figure));
    details.append(holder, button);
    if (figure.rows > MOST_ROWS) {
      const note = document.createElement('p');
      note.className = 'note';
      note.textContent = `The first ${MOST_ROWS} of ${figure.rows} rows; the CSV file has them all.`;
      details.append(note);
    }
  };

  // ---- all together ----

  const begin = async () => {
    const figures = JSON.parse(await unpack('kfe-figures')).figures;
    const elements = figures.map((figure) => document.getElementById(`figure-${figure.figure}`));
    state.figures = figures;
    state.csvOf = csvOf;
    figures.forEach((figure, k) => {
      const details = elements[k].querySelector('details');
      details.addEventListener('toggle', () => details.open && buildTable(figure, details));
      if (details.open) buildTable(figure, details);
    });
    const code = await unpack('kfe-charts');
    if (!code) return;
    const script = document.createElement('script');
    script.textContent = code;
    document.head.append(script);
    state.charts = Boolean(window.Plotly);
    let queue = Promise.resolve(); // one chart after the other, so that the first is there before the next begins
    const watcher = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((e) => e.isIntersecting)) {
        const k = elements.indexOf(entry.target);
        watcher.unobserve(entry.target);
        if (figures[k].choice && figures[k].feature_count > 1) addChoices(figures[k], elements[k]);
        queue = queue.then(() => draw(figures[k], elements[k])).catch((error) => fail(figures[k], error))
          .then(() => new Promise((resolve) => { setTimeout(resolve, 0); }));
      }
    }, { rootMargin: '300px' });
    elements.forEach((element) => watcher.observe(element));
    const redraw = () => figures.forEach((figure, k) => state.drawn.includes(figure.figure)
      && draw(figure, elements[k]).catch((error) => fail(figure, error)));
    const isNarrow = () => document.getElementById('content').clientWidth < NARROW;
    let wasNarrow = isNarrow();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
    window.addEventListener('resize', () => {
      if (isNarrow() === wasNarrow) return;
      wasNarrow = !wasNarrow;
      elements.forEach((element) => { // a changed layout of panels and legends begins anew
        const chart = element.querySelector('.chart');
        if (chart && chart.on) window.Plotly.purge(chart);
      });
      redraw();
    });
  };

  begin().catch((error) => {
    state.failed.push(String(error));
    console.error(error);
  });
})();
