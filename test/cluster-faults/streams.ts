import { eventually, syncedEditor } from '../support/clients/clients.ts'
import { ContentStream } from '../support/clients/content-stream.ts'
import { Random } from '../support/data/random-doc.ts'
import { dataOf } from '../support/servers/server.ts'
import { contents, TypingUser } from './edits.ts'
import type { TestCluster } from './support/cluster.ts'
import type { ClusterNode } from './support/node.ts'
import { digestOf, stateAt, stateInLog } from './support/read-document.ts'

const users = ['ada', 'bob'] as const
const words = ['1', '22 ', '😀', '漢字', 'Ö', '"\\', '\t'] as const
const credentials = { apiKey: 'test-key', authToken: 'test-auth-token-1234' }
/** Maximum number of connections of one stream. A node that was killed accepts none for a while. */
const connectionsMax = 200
const downMs = 500

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface StreamCounts {
  readonly streams: number
  readonly connections: number
  readonly typed: number
  readonly problems: readonly string[]
}

/**
 * Streams text to several places of one document while users type at two nodes. The connections break, each next one
 * is at another node, and one node is killed and started again.
 */
export async function streamWhileTyping(
  cluster: TestCluster,
  { streams, seed }: { readonly streams: number; readonly seed: number },
): Promise<StreamCounts> {
  const random = new Random(seed)
  const documentId = `streams-${seed}`
  const address = { organizationId: 'acme', documentId, editorId: 'main' }
  const [killed, ...others] = cluster.serving as [ClusterNode, ClusterNode, ClusterNode]
  const places = Array.from({ length: streams }, (_, index) => `place ${index}:`)
  const data = ['ada: start', ...places, 'bob: start', 'last line.'].join('\n')
  dataOf(await killed.post('/v2/crdt/add', { ...address, type: 'text', data }))
  const token = await cluster.token('ada')
  const editors = await Promise.all(
    others.map((node) => syncedEditor(node.wsUrl, `acme/${documentId}/main`, token)),
  )
  const typing = users.map(
    (name, index) => new TypingUser(name, editors[index] as (typeof editors)[number], contents.text, random),
  )
  const problems: string[] = []
  let connections = 0

  const connect = async (opening: object, content: string): Promise<boolean> => {
    connections += 1
    const { url } = cluster.next()
    const writer = await ContentStream.open({ url, credentials }, opening)
    const { received } = writer.opened
    let at = Math.max(0, received - random.below(5))
    const breaksAt = random.once(2) ? content.length + 1 : received + random.below(content.length)
    while (at < content.length && at < breaksAt) {
      const length = 1 + random.below(12)
      writer.text(content.slice(at, at + length), at)
      at += length
      await sleep(random.below(10))
    }
    // Sometimes the connection stays open, and the next one takes over.
    if (at < content.length) {
      if (random.below(3) > 0) writer.destroy()
      return false
    }
    const done = await writer.end()
    if (done.received !== content.length)
      problems.push(`${done.received} of ${content.length} units were received`)
    return true
  }
  const write = async (place: string, index: number): Promise<string> => {
    const length = 100 + random.below(400)
    let content = ''
    while (content.length < length) content += random.pick(words)
    const opening = {
      ...address,
      streamId: `${documentId}-${index}`,
      edit: { insert: { after: place } },
      userId: 'agent',
    }
    for (let tries = 0; tries < connectionsMax; tries += 1) {
      if (await connect(opening, content).catch(() => sleep(100).then(() => false))) return content
    }
    problems.push(`the stream at ${place} did not end`)
    return content
  }
  const writing = Promise.all(places.map(write))
  await sleep(downMs)
  await killed.kill()
  await sleep(downMs)
  await killed.start()
  const written = await writing
  for (const user of typing) await user.finish()

  const expected = [
    `ada:${'x'.repeat(typing[0]?.typed ?? 0)} start`,
    ...places.map((place, index) => place + written[index]),
    `bob:${'x'.repeat(typing[1]?.typed ?? 0)} start`,
    'last line.',
  ].join('\n')
  await eventually(
    () => editors.every(({ text }) => text.toString() === expected),
    () => editors.map(({ text }) => text.toString().slice(0, 2_000)),
  )
  const digests = new Set<string>()
  for (const node of cluster.serving) digests.add(digestOf(await stateAt(node, documentId, token)))
  const stored = await stateInLog(cluster, documentId)
  digests.add(digestOf(stored))
  if (digests.size > 1) problems.push('nodes and log differ')
  for (const editor of editors) editor.close()
  const typed = typing.reduce((sum, user) => sum + user.typed, 0)
  return { streams, connections, typed, problems }
}
