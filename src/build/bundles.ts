import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BuildOptions, Plugin } from 'esbuild'
import { packageFile } from '../core/base/package-file.ts'
import { clientEntryPoints, clientPackages, entryPoints } from './client-packages.ts'

const pathOf = (path: string): string => fileURLToPath(packageFile(path))

const common = {
  bundle: true,
  logLevel: 'warning',
  legalComments: 'none',
  absWorkingDir: pathOf('.'),
} as const satisfies BuildOptions

/** Libraries that the programs load from `node_modules`, because they have binaries. */
export const installedLibraries = ['level', 'node-sqlite3-wasm'] as const

/**
 * Makes the copy of Yjs in the programs private. The server replaces methods of Yjs, so an application that
 * embeds the server must have another copy. No object of either copy gets into the other one. Therefore the
 * private copy does not announce itself in the global object, where Yjs would find it and warn of two copies.
 */
const privateYjs: Plugin = {
  name: 'private-yjs',
  setup(build) {
    build.onLoad({ filter: /[\\/]node_modules[\\/]yjs[\\/]dist[\\/]yjs\.mjs$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const [before = '', after = ''] = source
        .split(/^const glo = |^glo\[importIdentifier\] = true;$/m)
        .filter((_, index) => index !== 1)
      const contents = before + after
      if (contents === source || contents.includes('$YJS$'))
        throw new Error(`${path} has no known announcement`)
      return { contents, loader: 'js' }
    })
  },
}

/**
 * Leaves out the parts of Express that Weft does not use, such as templates and parsers of bodies. They would take
 * 20 ms of CPU time of each start. Its debug output would contain paths.
 */
const onlyRouterOfExpress: Plugin = {
  name: 'only-router-of-express',
  setup(build) {
    const replace = (filter: RegExp, contents: string): void =>
      build.onLoad({ filter }, () => ({ contents, loader: 'js' }))
    replace(/[\\/]node_modules[\\/]express[\\/]lib[\\/]express\.js$/, "exports.Router = require('router')")
    replace(/[\\/]node_modules[\\/]debug[\\/]src[\\/]index\.js$/, 'module.exports = () => () => {}')
  },
}

/** Code that defines `require`, because CommonJS packages inside an ES module need it. */
const requireBanner =
  "import { createRequire as requireForLibraries } from 'node:module'; const require = requireForLibraries(import.meta.url);"

/**
 * Returns the options for the programs: the command line, the program of `npm start`, the one that writes the
 * documentation in a build, the thread of the server, the load generator, and the server as a library.
 * @param folder output folder, with a slash at the end; the programs look for their other files in it
 */
export const programs = (folder: string): BuildOptions => ({
  ...common,
  entryPoints: {
    main: 'src/main.ts',
    'build/start': 'src/build/start.ts',
    'build/reference': 'src/build/reference.ts',
    'core/rooms/threads/thread-main': 'src/core/rooms/threads/thread-main.ts',
    'cli/bench/run': 'src/cli/bench/run.ts',
    'package/server': entryPoints.server,
  },
  outdir: folder,
  chunkNames: 'parts/[name]-[hash]',
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  external: [...installedLibraries],
  plugins: [privateYjs, onlyRouterOfExpress],
  banner: { js: requireBanner },
  define: { BUILD_FOLDER: JSON.stringify(folder) },
  minifyWhitespace: true,
  lineLimit: 160,
  sourcemap: true,
  // They would be a third of the package. The names and lines in stack traces do not need them.
  sourcesContent: false,
})

/** Returns the options for the scripts of the console and the playground. */
export const pages = (folder: string): BuildOptions => ({
  ...common,
  entryPoints: { main: 'src/console/main.tsx', playground: 'src/console/playground/main.tsx' },
  outdir: `${folder}console`,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  splitting: true,
  format: 'esm',
  target: 'es2022',
  alias: { 'lib0/logging': './src/console/lib0-logging.ts' },
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  sourcemap: 'external',
  sourcesContent: false,
})

/** Returns the options for the scripts of the documentation. */
export const docsScripts = (folder: string): BuildOptions => ({
  ...common,
  entryPoints: { script: 'src/docs/browser/main.ts' },
  outdir: `${folder}docs`,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  sourcemap: 'external',
  sourcesContent: false,
})

/** Returns the options for the class that replaces `WebSocket` in pages of applications. */
export const clientScript = (folder: string): BuildOptions => ({
  ...common,
  entryPoints: { 'weft-socket': 'src/client/weft-socket.ts' },
  outdir: `${folder}client`,
  format: 'esm',
  target: 'es2022',
  minify: true,
  sourcemap: 'external',
  sourcesContent: false,
})

/** Returns the options for the entry points of the package of the server that also run in browsers. */
export const browserPackage = (folder: string): BuildOptions => ({
  ...entryPointsForPages('./provider.js'),
  outdir: `${folder}package`,
})

/** Returns the options for the packages without the server. */
export const packagesForPages = (folder: string): BuildOptions => ({
  ...entryPointsForPages(clientPackages.provider.name),
  outdir: `${folder}packages`,
  entryNames: '[name]/index',
})

/** @param provider name by which other entry points import the provider, because it must be one class */
const entryPointsForPages = (provider: string): BuildOptions => ({
  ...common,
  entryPoints: clientEntryPoints,
  // An application and its editors must load one copy of Yjs.
  external: ['yjs', 'y-protocols', 'lib0', 'react', 'prosemirror-state', 'prosemirror-view'],
  plugins: [
    {
      name: 'shared-provider',
      setup: (build) =>
        build.onResolve({ filter: /^\.\.\/provider\/index\.ts$/ }, () => ({
          path: provider,
          external: true,
        })),
    },
  ],
  format: 'esm',
  target: 'es2022',
  sourcemap: true,
})

/** Returns the options for the style sheets of the console and the playground. */
export const styles = (folder: string): BuildOptions => ({
  ...common,
  entryPoints: [
    ...['style', 'documents', 'overview'].map((name) => `src/console/styles/${name}.css`),
    'src/console/playground/playground.css',
  ],
  outdir: `${folder}console`,
  entryNames: '[name]',
  minify: true,
})

/** Copies the files of the console that need no build. */
export function copyPages(folder: string): void {
  const console = pathOf(`${folder}console`)
  mkdirSync(console, { recursive: true })
  for (const name of readdirSync(pathOf('src/console')).filter((each) => /\.(html|svg)$/.test(each)))
    copyFileSync(pathOf(`src/console/${name}`), `${console}/${name}`)
  copyFileSync(pathOf('src/console/playground/index.html'), `${console}/playground.html`)
}
