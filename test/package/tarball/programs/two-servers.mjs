import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, dataOf } from 'weft-server'
import { backendOf, editTogether, report } from './editors.mjs'

const folders = [await mkdtemp('data-'), await mkdtemp('data-')]
const servers = await Promise.all([
  createServer({ engine: 'memory', log: false }),
  ...folders.map((dataDir) => createServer({ dataDir, log: false })),
])
const texts = []
for (const weft of servers) {
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  const read = await weft.api.crdt.get({ organizationId: 'acme', documentId: 'notes', editorId: 'main' })
  if (read.ok) throw new Error('the server has the document of another one')
  texts.push(await editTogether({ url, ...backendOf(weft.api, dataOf) }))
}
const keys = new Set(servers.map(({ credentials }) => credentials.apiKey)).size
await Promise.all(servers.map((weft) => weft.close()))
// The data of a directory is still there.
const again = await createServer({ dataDir: folders[1], log: false })
const [{ data }] = dataOf(
  await again.api.crdt.get({ organizationId: 'acme', documentId: 'notes', editorId: 'main' }),
)
await again.close()
await Promise.all(folders.map((folder) => rm(folder, { recursive: true })))
await report({ texts, isKept: data === texts[2], keys })
