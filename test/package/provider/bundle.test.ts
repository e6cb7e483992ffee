import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { startTestServer } from '../../support/servers/server.ts'

const root = join(import.meta.dirname, '../../..')
const sizeMax = 8 * 1024
/** Milliseconds in which a process must end after `destroy`. A timer or a connection would keep it alive. */
const endMs = 5_000

async function bundled(minify: boolean): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'src/client/provider/index.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify,
    external: ['yjs', 'y-protocols', 'lib0'],
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

it('[PROV-13] has at most 8 KiB gzipped, and imports only packages that Yjs users have', async () => {
  const text = await bundled(true)
  const { length } = gzipSync(text, { level: 9 })
  console.log(`provider: ${length} bytes gzipped of at most ${sizeMax}`)
  expect(length).toBeLessThanOrEqual(sizeMax)
  const imported = new Set([...text.matchAll(/from"([^"]+)"/g)].map(([, name]) => name as string))
  expect([...imported].toSorted()).toEqual([
    'lib0/decoding',
    'lib0/encoding',
    'lib0/observable',
    'y-protocols/awareness',
    'yjs',
  ])
})

it('[PROV-10] lets a process end after `destroy`, in each state', async () => {
  const server = await startTestServer()
  // Inside of the repository, so that Node finds the packages.
  const folder = await mkdtemp(join(root, 'node_modules/.cache/provider-'))
  try {
    await writeFile(join(folder, 'provider.mjs'), await bundled(false))
    await writeFile(
      join(folder, 'main.mjs'),
      `import { WebSocket } from 'ws'
import { DocumentProvider } from './provider.mjs'
const [url, token] = process.argv.slice(2)
const at = { url, organizationId: 'acme', documentId: 'plan', getToken: () => token, WebSocket }
const open = (more) => new DocumentProvider({ ...at, ...more })
const synced = (provider) => new Promise((resolve) => provider.on('synced', resolve))
const [connected, http] = [open({}), open({ WebSocket: null })]
const waiting = open({ getToken: () => new Promise(() => {}) })
const failing = open({ getToken: () => Promise.reject(new Error('no')) })
const away = open({ url: 'http://127.0.0.1:1' })
const stopped = open({ connect: false })
await Promise.all([synced(connected), synced(http)])
connected.doc.getText('content').insert(0, 'last words')
for (const each of [connected, http, waiting, failing, away, stopped]) each.destroy()
console.log('destroyed')
`,
    )
    const child = spawn(process.execPath, [join(folder, 'main.mjs'), server.url, await server.token('ada')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const late = setTimeout(() => child.kill('SIGKILL'), endMs + 15_000)
    await once(child.stdout, 'data')
    const destroyedAt = Date.now()
    const [code] = (await once(child, 'exit')) as [number | null]
    clearTimeout(late)
    expect(code).toBe(0)
    expect(Date.now() - destroyedAt).toBeLessThan(endMs)
    const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
    expect(JSON.stringify((await server.post('/v2/crdt/get', address)).body)).toContain('last words')
  } finally {
    await rm(folder, { recursive: true, force: true })
    await server.stop()
  }
})
