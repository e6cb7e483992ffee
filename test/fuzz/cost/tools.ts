import { agentToken, connectMcp } from '../../support/clients/mcp-client.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'
import type { Probe } from './measure.ts'

const heading = '# Other\n'
/** Characters of a document that a thread reads, and of the largest one. */
const [from, to] = [160_000, 2_560_000]

const calls: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ['read_document', { heading: 'Missing' }],
  ['read_document', { heading: 'Other', occurrence: 3 }],
  ['read_document', {}],
  ['search', { query: 'missing' }],
]

/** Calls of tools about a document of n characters in headings. Its size must not cost time of the event loop. */
export async function toolProbes(server: TestServer): Promise<readonly Probe[]> {
  const mcp = await connectMcp(server.url, await agentToken(server, 'agent'))
  const add = async (documentId: string, n: number): Promise<void> => {
    const ids = { organizationId: 'acme', documentId, editorId: 'main' }
    dataOf(
      await server.post('/v2/crdt/add', { ...ids, type: 'text', data: heading.repeat(n / heading.length) }),
    )
  }
  const added = new Map<number, Promise<void>>()
  return calls.map(([tool, args]) => ({
    name: `${tool} ${JSON.stringify(args)}`,
    from,
    to,
    prepare: async (n) => {
      const documentId = `headings-${n}`
      const done = added.get(n) ?? add(documentId, n)
      added.set(n, done)
      await done
      return { size: n, run: () => mcp.call(tool, { documentId, ...args }) }
    },
  }))
}
