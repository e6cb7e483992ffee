import { expect, it } from 'vitest'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'

/** A user types only letters of its own alphabet, so that a test recognizes every character. */
const alphabets = ['abcdefgh', 'stuvwxyz']
const words = ['1', '22 ', '\n', '😀', '👩‍👩‍👧', '漢字', 'Ö', '"\\', '\t']
const roundsMax = times(3, 15)

/** Types one character at a time at random places, until `stop` is called. */
function typing({ text }: Editor, alphabet: string, random: Random) {
  let typed = ''
  const timer = setInterval(() => {
    const character = alphabet[random.below(alphabet.length)] as string
    let at = random.below(text.length + 1)
    // An editor never types into the middle of a surrogate pair.
    while ((text.toString().charCodeAt(at) & 0xfc00) === 0xdc00) at += 1
    text.insert(at, character)
    typed += character
  }, 5)
  return (): string => {
    clearInterval(timer)
    return typed
  }
}

const sorted = (text: string): string => Array.from(text).toSorted().join('')
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Sends all content, over as many connections as break. */
async function writeAll(
  servers: readonly TestServer[],
  opening: object,
  content: string,
  random: Random,
): Promise<void> {
  let previous: ContentStream | null = null
  for (;;) {
    // Sometimes the previous connection is still open, and the new one takes over.
    if (random.below(3) > 0) previous?.destroy()
    const writer = await ContentStream.open(random.pick(servers), opening)
    previous = writer
    const { received } = writer.opened
    let at = Math.max(0, received - random.below(5))
    const breaksAt = random.once(2) ? content.length + 1 : received + random.below(content.length)
    while (at < content.length && at < breaksAt) {
      const length = 1 + random.below(12)
      writer.text(content.slice(at, at + length), random.once(2) || at < received ? at : undefined)
      at += length
      if (random.once(3)) await pause(random.below(30))
    }
    if (at < content.length) continue
    if (random.once(4)) continue
    expect(await writer.end()).toMatchObject({ outcome: 'done', received: content.length })
    return
  }
}

const targetWord = new RegExp(['', ...Array.from('REPLACED'), ''].join('[a-z]*'))

/** The target stays if users have typed into its word. A space can separate the content from words of users. */
function expectReplaced(written: string, text: string, content: string): void {
  const [, word = '', replaced] = /^START\. (REPLACED)? ?([\s\S]*?) END\.$/.exec(written) ?? []
  expect([content, `${content} `]).toContain(replaced)
  if (word !== '') expect(targetWord.exec(text)?.[0]).not.toBe('REPLACED')
}

it(`[STRM-20] the content is the pieces, to the character, and no typed character is lost: random breaks, retries, typists and two nodes (seed ${seed})`, async () => {
  const random = new Random(seed)
  const cluster = await startCluster(2)
  const [one] = cluster.servers as [TestServer, TestServer]
  for (let round = 0; round < roundsMax; round += 1) {
    const ids = { organizationId: 'acme', documentId: `d${round}`, editorId: 'main' }
    const data = 'START. REPLACED. END.'
    const added = dataOf(await one.post('/v2/crdt/add', { ...ids, type: 'text', data }))
    const { version: baseVersion } = added as { version: string }
    const users = await Promise.all(
      alphabets.map(async (alphabet, index) => {
        const server = cluster.servers[index] as TestServer
        const editor = await syncedEditor(server.wsUrl, `acme/d${round}/main`, await server.token('ann'))
        return { editor, stop: typing(editor, alphabet, random) }
      }),
    )
    const replaces = random.once(2)
    const edit = replaces ? { replace: { find: 'REPLACED.' } } : { insert: { at: 'end' } }
    const length = 20 + random.below(300)
    let content = ''
    while (content.length < length) content += random.pick(words)
    await writeAll(cluster.servers, { ...ids, streamId: `s${round}`, baseVersion, edit }, content, random)
    const typed = users.map(({ stop }) => stop()).join('')
    const textOf = async (server: TestServer): Promise<string> =>
      (dataOf(await server.post('/v2/crdt/get', ids)) as [{ data: string }])[0].data
    await eventually(
      async () => sorted((await textOf(one)).replaceAll(/[^a-z]/g, '')) === sorted(typed),
      () => `round ${round}`,
    )
    const text = await textOf(one)
    const written = text.replaceAll(/[a-z]/g, '')
    if (replaces) expectReplaced(written, text, content)
    else expect(written).toBe(`START. REPLACED. END.${content}`)
    await eventually(() => users.every(({ editor }) => editor.text.toString() === text))
    for (const { editor } of users) editor.close()
  }
  await cluster.stop()
}, 120_000)
