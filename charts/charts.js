// SPDX-License-Identifier: Apache-2.0
// What the charts of a report need of plotly.js: scatter (part of the core), scatter3d, heatmap and bar.
import Plotly from 'plotly.js/lib/core';
import bar from 'plotly.js/lib/bar';
import heatmap from 'plotly.js/lib/heatmap';
import scatter3d from 'plotly.js/lib/scatter3d';

Plotly.register([bar, heatmap, scatter3d]);
window.Plotly = Plotly;
