import { operationList } from '../../../src/capabilities/list.ts'
import { syncedEditor } from '../clients/clients.ts'
import { dataOf, type TestServer } from '../servers/server.ts'
import { callExample, type OpenApi } from './example-calls.ts'
import type { ExampleServer } from './openapi-example-data.ts'
import { zoe } from './user-data.ts'

const deletes = /\/(delete|remove|reset|revoke_tokens)$/

/**
 * Calls each operation that writes with its example, in which Zoe is the user, and edits a document as Zoe. Returns
 * the number of operations.
 */
export async function useEveryOperation({ server, credentials }: ExampleServer): Promise<number> {
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  // First, because the examples add domains, and clients of other domains are rejected.
  const editor = await syncedEditor(server.wsUrl, 'acme/typed/main', await server.token(zoe.userId, zoe))
  editor.text.insert(0, 'Typed by Zoe.')
  editor.close()
  const api = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi
  const paths = operationList.flatMap(({ path, effect }) =>
    effect === 'reads' || deletes.test(path) ? [] : [path],
  )
  let calls = 0
  for (const [index, path] of paths.entries()) {
    // Each example has an organization of its own, so that its data stays.
    const post: TestServer['post'] = async (at, data, headers = {}) => {
      const text = JSON.stringify(data)
        .replaceAll('"ann"', `"${zoe.userId}"`)
        .replaceAll('ann@example.com', zoe.email)
        .replaceAll('"acme"', `"acme-${index}"`)
      calls += 1
      return server.post(at, JSON.parse(text), { 'idempotency-key': `call-${calls}`, ...headers })
    }
    const { status, body } = await callExample({ post }, api, credentials, path)
    if (status !== 200) throw new Error(`${path} failed with ${status}: ${body.error?.message}`)
  }
  return paths.length
}

/**
 * Leaves out the keys at which the id of an erased user stays, as the chapter states: the audit log, the log of
 * webhooks and the revocation of the tokens.
 */
export const unexplained = (keys: readonly string[]): readonly string[] =>
  keys.filter((key) => !/^k(v\S*)? (audit|deliveries .* events|tenant .* revocations) /.test(key))
