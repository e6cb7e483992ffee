// y-partyserver with the SQLite of its durable objects, in the local runtime of Cloudflare. The server is that of
// its README. Its runtime is large, so the lock file does not contain it. In addition to `npm ci`, it needs:
//   npm install --no-save --prefix bench/peers y-partyserver@2.2.0 partyserver@0.5.10 miniflare@4.20260426.0
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const worker = `import { routePartykitRequest } from 'partyserver'
import { YServer } from 'y-partyserver'
import { applyUpdate, encodeStateAsUpdate } from 'yjs'
export class Editor extends YServer {
  async onLoad() {
    const { sql } = this.ctx.storage
    sql.exec('CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, content BLOB)')
    for (const { content } of sql.exec('SELECT content FROM documents'))
      applyUpdate(this.document, new Uint8Array(content))
  }
  async onSave() {
    const content = encodeStateAsUpdate(this.document)
    this.ctx.storage.sql.exec("INSERT OR REPLACE INTO documents VALUES ('content', ?)", content)
  }
}
export default { fetch: async (request, env) => (await routePartykitRequest(request, env)) ?? new Response('ok') }`
const [port, directory] = process.argv.slice(2)
const stdin = { contents: worker, resolveDir: import.meta.dirname }
const external = ['cloudflare:*', 'node:*']
const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false, external })
const durableObjects = { Editor: { className: 'Editor', useSQLite: true } }
const script = outputFiles[0].text
const place = { host: '127.0.0.1', port: Number(port), durableObjectsPersist: directory }
const options = { modules: true, script, durableObjects, compatibilityDate: '2026-04-01', cf: false }
await new Miniflare({ ...place, ...options }).ready
