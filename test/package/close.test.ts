import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { builtFile } from '../../src/core/base/package-file.ts'

/** A program that opens servers, uses sockets, threads and streams, closes everything, and prints what keeps it. */
const program = (entry: string): string => `
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { createServer } from ${JSON.stringify(entry)}

const none = () => {}
const log = { debug: none, info: none, warn: none, error: (fields) => console.error(fields) }
const dataDir = mkdtempSync(join(tmpdir(), 'weft-close-'))
const servers = await Promise.all([createServer({ dataDir, log }), createServer({ engine: 'memory', log })])
for (const weft of servers) {
  weft.on('crdt.update_data', () => {})
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  const headers = {
    'content-type': 'application/json',
    'x-service-api-key': weft.credentials.apiKey,
    'x-service-auth-token': weft.credentials.authToken,
  }
  const post = async (path, data) => {
    const { result, error } = await (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ data }) })).json()
    if (error) throw new Error(error.message)
    return result.data
  }
  const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
  // Large content is changed on a thread.
  await post('/v2/crdt/update', { ...editor, type: 'text', data: 'long text '.repeat(200_000), upsert: true })
  await post('/v2/crdt/update', { ...editor, type: 'text', data: 'other text '.repeat(200_000) })
  const { token } = await post('/v2/auth/generate_token', { userId: 'ada', userProperties: { name: 'Ada', email: '', isAdmin: true } })
  const socket = new WebSocket(url.replace('http', 'ws') + '/sync/acme/plan/main?token=' + token)
  await new Promise((resolve) => socket.once('message', resolve))
}
const started = performance.now()
await Promise.all(servers.map((weft) => weft.close()))
console.log(JSON.stringify({ closedMs: Math.round(performance.now() - started) }))
setTimeout(() => {
  console.log(JSON.stringify(process.getActiveResourcesInfo()))
  process.exit(3)
}, 10_000).unref()
`

it('[PKG-6] a process ends by itself after its servers are closed', () => {
  const entry = fileURLToPath(builtFile('package/server.js'))
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program(entry)],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), encoding: 'utf8', timeout: 60_000 },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ closedMs: expect.any(Number) as number })
})
