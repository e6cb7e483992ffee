// Makes `dist` of the sources and of the libraries they use. Put together in a few files, they are read in half the
// time that hundreds take, and need a fifth less memory. Types are checked by `npm run typecheck`.

import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'

/** What is run as a process or thread of its own. */
const programs = ['src/main.ts', 'src/rooms/threads/worker.ts']

/** It loads a binary from beside itself. */
const external = ['level']

/** Libraries of CommonJS ask for the modules of Node. */
const requireForLibraries =
  "import { createRequire as createRequireForLibraries } from 'node:module'; " +
  'const require = createRequireForLibraries(import.meta.url);'

/** Their licences want to be where their code is. */
function licencesOf(inputs) {
  const packages = new Set(inputs.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]))
  packages.delete(undefined)
  return [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    const text = file === undefined ? license : readFileSync(join(folder, file), 'utf8')
    return `${name} ${version}\n\n${text.trim()}\n`
  })
}

function copyDocs() {
  const from = join('node_modules', 'swagger-ui-dist')
  const names = [
    'LICENSE',
    'NOTICE',
    'swagger-ui.css',
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
  ]
  for (const name of names)
    cpSync(join(from, name), join('dist', 'api', 'swagger-ui', name), { dereference: true })
}

process.chdir(dirname(resolve(process.argv[1])))
rmSync('dist', { recursive: true, force: true })
const { metafile } = await build({
  entryPoints: programs,
  outdir: 'dist',
  outbase: 'src',
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external,
  banner: { js: requireForLibraries },
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})
writeFileSync('dist/LICENSES', licencesOf(Object.keys(metafile.inputs)).join(`\n${'-'.repeat(80)}\n\n`))
copyDocs()
