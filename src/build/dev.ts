import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { context } from 'esbuild'
import { endWithParent } from '../cli/end-with-parent.ts'
import { errorMessage } from '../core/base/errors.ts'
import { packageFile } from '../core/base/package-file.ts'
import { buildFolders } from './build-folders.ts'
import { clientScript, copyPages, docsScripts, pages, programs, styles } from './bundles.ts'
import { generatedPaths, updateGeneratedFiles } from './generated-files.ts'
import { writePages } from './reference.ts'

/**
 * Implements `npm run dev`, which serves from the sources. After each change of a file in `src`, it builds
 * again, restarts the server, and reloads the open pages. It does not check types. Its
 * arguments are passed to the command `serve`.
 */
const folder = buildFolders.dev

/** Time in ms to wait after a change, because editors write a file in several steps. */
const settleMs = 50

/** Served file that each build changes. */
const buildFile = 'console/build.js'

/** Code that runs in each page, and reloads the page after each build. */
const reloadScript = `if (!globalThis.isReloading) {
  globalThis.isReloading = true
  let seen
  setInterval(async () => {
    const { ok, headers } = await fetch('/${buildFile}', { method: 'HEAD', cache: 'no-store' }).catch(() => ({}))
    const tag = ok && headers.get('etag')
    if (tag && seen && tag !== seen) location.reload()
    seen = tag || seen
  }, 250)
}`

/** Options that let the tools of a browser show the sources of a page. */
const debuggable = { banner: { js: reloadScript }, sourcemap: 'inline', sourcesContent: true } as const

endWithParent()
const contexts = await Promise.all(
  [
    programs(folder),
    { ...pages(folder), ...debuggable },
    styles(folder),
    { ...docsScripts(folder), ...debuggable },
    clientScript(folder),
  ].map((options) => context(options)),
)
let server: ChildProcess | null = null

/**
 * True until the changed documentation is built. An error in another file may end a build before the
 * documentation is built.
 */
let hasNewDocs = true

async function rebuild(): Promise<void> {
  const began = performance.now()
  try {
    await updateGeneratedFiles()
    await Promise.all(contexts.map((each) => each.rebuild()))
    copyPages(folder)
    if (hasNewDocs) {
      writePages(folder)
    }
    hasNewDocs = false
    writeFileSync(packageFile(folder + buildFile), `// ${new Date().toISOString()}\n`)
  } catch (error) {
    // The compiler has already printed the place of the error. The previous server continues.
    console.error(errorMessage(error))
    return
  }
  await stop()
  const main = fileURLToPath(packageFile(`${folder}main.js`))
  const args = ['--enable-source-maps', main, 'serve', ...process.argv.slice(2)]
  server = spawn(process.execPath, args, { stdio: 'inherit' })
  console.error(`built in ${Math.round(performance.now() - began)} ms`)
}

async function stop(): Promise<void> {
  if (server === null || server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}

let [timer, running]: [NodeJS.Timeout | undefined, Promise<void>] = [undefined, rebuild()]
watch(fileURLToPath(packageFile('src')), { recursive: true }, (_event, name) => {
  // A rebuild writes these files itself.
  if (generatedPaths.some((path) => path === `src/${name}`)) return
  hasNewDocs ||= name?.startsWith('docs') ?? false
  clearTimeout(timer)
  timer = setTimeout(() => {
    running = running.then(rebuild)
  }, settleMs)
})

async function end(): Promise<void> {
  await running
  await stop()
  process.exit()
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end())
