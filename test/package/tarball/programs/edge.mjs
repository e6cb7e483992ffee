// Runs with `--experimental-vm-modules`. The client gets the standard APIs that all edge runtimes have, and nothing
// of Node.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createContext, SourceTextModule } from 'node:vm'
import { createServer } from 'weft-server'

const weft = await createServer({ engine: 'memory', log: false })
const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
const { apiKey, authToken } = weft.credentials
const context = createContext({
  AbortController,
  AbortSignal,
  Headers,
  ReadableStream,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  atob,
  btoa,
  clearTimeout,
  crypto,
  fetch,
  performance,
  setTimeout,
  given: { url, apiKey, authToken },
})
const folder = 'node_modules/weft-server/dist/package'
const modules = new Map()
/** Loads a file of the client. It may import further files of the client, and nothing else. */
const load = async (path) => {
  if (!modules.has(path))
    modules.set(path, new SourceTextModule(await readFile(path, 'utf8'), { context, identifier: path }))
  return modules.get(path)
}
const link = (name, { identifier }) => {
  if (!name.startsWith('./')) throw new Error(`imports ${name}`)
  return load(join(dirname(identifier), name))
}
const client = await load(`${folder}/client.js`)
await client.link(link)
const program = new SourceTextModule(
  `import { createClient, dataOf, verifyWebhook } from 'client'
  const client = createClient(given)
  const editor = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
  dataOf(await client.crdt.update({ ...editor, type: 'text', data: 'Hello', upsert: true }))
  const [{ data }] = dataOf(await client.crdt.get(editor))
  const ids = []
  for await (const { id } of client.organizations.get.items({ pageSize: 1 })) ids.push(id)
  const failed = await client.crdt.get({ ...editor, documentId: 'other' })
  const late = await client.crdt.get(editor, { timeoutMs: 1, signal: AbortSignal.abort() })
  const webhook = await verifyWebhook('{}', {}, 'whsec_' + btoa('a secret that is long enough')).then(
    () => 'accepted',
    (error) => error.name,
  )
  export const result = { data, ids, code: failed.error.code, late: late.error.code, webhook }`,
  { context },
)
await program.link((name, from) => (name === 'client' ? client : link(name, from)))
await program.evaluate()
console.log(JSON.stringify(program.namespace.result))
await weft.close()
