// SPDX-License-Identifier: Apache-2.0
// Bundles charts.js with plotly.js into one compressed file, and collects the licence texts of what is in it.
// usage: node build.mjs OUTPUT.js.gz OUTPUT.LICENSES.txt
import { build } from 'esbuild';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const [bundle, licences] = process.argv.slice(2);

const result = await build({
  absWorkingDir: here,
  entryPoints: ['charts.js'],
  bundle: true,
  minify: true,
  format: 'iife',
  legalComments: 'none',
  define: { global: 'window' },
  loader: { '.css': 'empty' },
  metafile: true,
  write: false,
  logLevel: 'error',
});
const code = result.outputFiles.find((file) => !file.path.endsWith('.css')).contents;
writeFileSync(bundle, gzipSync(code, { level: 9 }));

// The packages that the bundle contains code of.
const packages = new Set(Object.keys(result.metafile.inputs)
  .map((path) => path.match(/^(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean));
const texts = [...packages].sort().map((folder) => {
  const about = JSON.parse(readFileSync(join(here, folder, 'package.json'), 'utf8'));
  const names = readdirSync(join(here, folder)).filter((name) => /^(licen[cs]e|copying)/i.test(name));
  const text = names.map((name) => readFileSync(join(here, folder, name), 'utf8')).join('\n');
  return `==== ${about.name} ${about.version}: ${about.license ?? 'see below'} ====\n\n${text || about.author?.name || ''}\n`;
});
writeFileSync(licences, texts.join('\n'));
