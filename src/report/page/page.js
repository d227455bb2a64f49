'use strict';
// Draws every <figure data-plot> from the data in #plots. Text only ever enters as text.
(function () {
  const plots = JSON.parse(document.getElementById('plots').textContent);
  const drawn = [];

  function css(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }
  function colours(count) {
    const all = [];
    for (let i = 0; i < count; i++) all.push(css('--c' + (i % 8 + 1)));
    return all;
  }
  function add(parent, tag, text) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  }
  function shown(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return '–';
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2);
    return String(Number(value.toPrecision(4)));
  }
  // Zoomed in, neighbours differ in their last digit.
  function place(value) {
    return String(Number(value.toPrecision(10)));
  }
  function rows(plot) {
    return plot.x.map((x, i) => [x].concat(plot.series.map((s) => {
      const value = s.values[i];
      return value === undefined ? null : value;
    })));
  }

  function legend(box, plot, graph, x, points) {
    box.textContent = '';
    add(box, 'span', plot.xlabel + ' ' + (x === undefined ? '' : place(x)));
    plot.series.forEach((series, i) => {
      const entry = add(box, 'span');
      const mark = add(entry, 'i');
      mark.style.background = graph.getColors()[i];
      const point = points && points.find((p) => p.name === graph.getLabels()[i + 1]);
      entry.appendChild(document.createTextNode(series.name + (point ? ' ' + shown(point.yval) : '')));
    });
  }

  function options(plot, box, figure) {
    // Between two steps there is nothing to name.
    const tick = (x) => plot.xlabel === 'step' && !Number.isInteger(Number(place(x))) ? '' : place(x);
    const labelWidth = 60;
    const theme = {
      labels: ['x'].concat(plot.series.map((s, i) => 's' + i)),
      colors: colours(plot.series.length), legend: 'never', connectSeparatedPoints: true, strokeWidth: 1.6,
      gridLineColor: css('--grid'), axisLineColor: css('--line'), stackedGraph: Boolean(plot.stacked),
      fillGraph: Boolean(plot.stacked), drawPoints: Boolean(plot.points), pointSize: 2.5, xlabel: '', ylabel: '',
      highlightCircleSize: 4, includeZero: Boolean(plot.zero), labelsUTC: true, axisLabelFontSize: 12,
      rightGap: labelWidth / 2,  // or the last label is moved inwards
      axes: {x: {axisLabelWidth: labelWidth, axisLabelFormatter: tick, valueFormatter: place},
             y: {axisLabelWidth: 58, axisLabelFormatter: shown, valueFormatter: shown}},
      highlightCallback: (event, x, points) => legend(box, plot, figure.graph, x, points),
      unhighlightCallback: () => legend(box, plot, figure.graph),
      drawCallback: (graph) => {
        const range = graph.xAxisRange();
        figure.dataset.drawn = 'yes';
        figure.dataset.from = range[0];
        figure.dataset.to = range[1];
      }
    };
    return theme;
  }

  function controls(figure, caption, plot) {
    if (!plot.stacked) {
      const log = add(caption, 'label', ' log');
      const box = document.createElement('input');
      box.type = 'checkbox';
      log.prepend(box);
      box.checked = Boolean(plot.log);
      box.addEventListener('change', () => figure.graph.updateOptions({logscale: box.checked}));
      const smooth = add(caption, 'label', 'smooth ');
      const choice = add(smooth, 'select');
      [1, 5, 20, 100].forEach((n) => { add(choice, 'option', n === 1 ? 'no' : String(n)).value = n; });
      choice.addEventListener('change', () => figure.graph.updateOptions({rollPeriod: Number(choice.value)}));
    }
    const move = (text, title, change) => {
      const button = add(caption, 'button', text);
      button.type = 'button';
      button.title = title;
      button.setAttribute('aria-label', title + ': ' + plot.title);
      button.addEventListener('click', () => {
        const range = figure.graph.xAxisRange();
        change(range[0], range[1], range[1] - range[0]);
      });
    };
    const to = (a, b) => figure.graph.updateOptions({dateWindow: [a, b]});
    move('+', 'zoom in', (a, b, w) => to(a + w / 4, b - w / 4));
    move('−', 'zoom out', (a, b, w) => to(a - w / 2, b + w / 2));
    move('‹', 'earlier', (a, b, w) => to(a - w / 4, b - w / 4));
    move('›', 'later', (a, b, w) => to(a + w / 4, b + w / 4));
    move('all', 'show all', () => figure.graph.resetZoom());
  }

  function draw(figure) {
    const plot = plots[figure.dataset.plot];
    const caption = add(figure, 'figcaption');
    add(caption, 'b', plot.title);
    const area = add(figure, 'div');
    area.className = 'plot';
    area.setAttribute('role', 'img');
    area.setAttribute('aria-label', plot.title + '; the verdict and the table say the same in words');
    const box = add(figure, 'div');
    box.className = 'legend';
    figure.graph = new Dygraph(area, rows(plot), Object.assign({logscale: Boolean(plot.log)}, options(plot, box, figure)));
    legend(box, plot, figure.graph);
    controls(figure, caption, plot);
    drawn.push({figure, plot, box});
  }

  function recolour() {
    drawn.forEach(({figure, plot, box}) => {
      figure.graph.updateOptions({colors: colours(plot.series.length), gridLineColor: css('--grid'), axisLineColor: css('--line')});
      legend(box, plot, figure.graph);
    });
  }

  document.querySelectorAll('figure[data-plot]').forEach(draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
  addEventListener('beforeprint', () => drawn.forEach(({figure}) => figure.graph.resize()));
  document.documentElement.dataset.ready = 'yes';
})();
