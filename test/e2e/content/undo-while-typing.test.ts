import { expect, it } from 'vitest'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'

/** A user types only letters of its own alphabet, so that a test recognizes every character. */
const alphabets: Readonly<Record<string, string>> = { bob: 'abcdefgh', cem: 'stuvwxyz' }
const initial = 'THE WEAVER SETS THE LOOM.\n'.repeat(4)
const roundsMax = times(2, 20)
/** Milliseconds between two words of a user. A change of the agent takes longer. */
const typingMs = 5

const sortedCharacters = (text: string): string => Array.from(text).toSorted().join('')

/** Types words of one character at the start of random words, until `stop` is called. */
function typing({ text }: Editor, alphabet: string, random: Random) {
  let typed = ''
  const timer = setInterval(() => {
    const character = alphabet[random.below(alphabet.length)] as string
    text.insert(random.pick(wordStarts(text.toString())), `${character} `)
    typed += `${character} `
  }, typingMs)
  return {
    stop: (): string => {
      clearInterval(timer)
      return typed
    },
  }
}

/** Returns the indexes at which a new word touches no other word. */
const wordStarts = (text: string): readonly number[] =>
  [...text.matchAll(/(?<![^ \n])/g)].map(({ index }) => index)

/**
 * Two users type while an agent edits, and while the changes of the agent are undone. Then checks the text of all.
 * @param servers nodes of one cluster; the users are connected to different nodes
 */
async function runRound(servers: readonly TestServer[], round: number, random: Random): Promise<void> {
  const serverOf = (index: number) => servers[index % servers.length] as TestServer
  const ids = { organizationId: 'acme', documentId: `typing-${round}`, editorId: 'main' }
  const call = (operation: string, data: object) =>
    serverOf(random.below(servers.length)).post(`/v2/crdt/${operation}`, { ...ids, ...data })
  const done = async (operation: string, data: object) => dataOf(await call(operation, data))
  const read = async () => ((await done('get', {})) as [{ data: string; version: string }])[0]
  const { version: from } = (await done('add', { type: 'text', data: initial, userId: 'ann' })) as {
    version: string
  }
  const users = await Promise.all(
    Object.entries(alphabets).map(async ([userId, alphabet], index) => {
      const server = serverOf(index)
      const path = `acme/${ids.documentId}/main`
      return { editor: await syncedEditor(server.wsUrl, path, await server.token(userId)), alphabet }
    }),
  )
  const typists = users.map(({ editor, alphabet }) => typing(editor, alphabet, random))
  const meta = { job: `round-${round}` }
  for (let edits = 0; edits < 8; edits += 1) {
    const { data, version: baseVersion } = await read()
    const index = random.pick(wordStarts(data))
    const [word = ''] = data.slice(index).match(/^[^ \n]+ /) ?? []
    const removal = word !== '' && random.once(2) ? [{ text: { index, delete: word.length } }] : []
    const texts = [...removal, { text: { index, insert: `${edits}1234567890 ` } }]
    await call('edit', { edits: texts, baseVersion, userId: 'agent', meta })
  }
  expect(await done('changes', { from, meta })).toMatchObject({ changes: [{ userId: 'agent', meta }] })
  expect(await done('undo', { from, meta, userId: 'ann' })).toMatchObject({ changed: true, notUndone: [] })
  const typed = typists.map(({ stop }) => stop())
  // More than four words of each user.
  for (const each of typed) expect(each.length).toBeGreaterThan(2 * 4)
  const all = sortedCharacters(initial + typed.join(''))
  const texts = () => users.map(({ editor }) => editor.text.toString())
  await eventually(async () => {
    const { data } = await read()
    return sortedCharacters(data) === all && texts().every((text) => text === data)
  }, texts)
  // The text of the other author also has its order again.
  expect((await read()).data.replaceAll(/[a-z] /g, '')).toBe(initial)
  for (const { editor } of users) editor.close()
}

it(`[ATT-70] an undo of an agent's changes keeps each character of users who type meanwhile (seed ${seed})`, async () => {
  const random = new Random(seed)
  const server = await startTestServer({ engine: 'level' })
  for (let round = 0; round < roundsMax; round += 1) await runRound([server], round, random)
  await server.stop()
}, 60_000)

it(`[ATT-70] an undo on two nodes keeps each character of users who type meanwhile (seed ${seed})`, async () => {
  const random = new Random(seed)
  const cluster = await startCluster(2)
  for (let round = 0; round < roundsMax; round += 1) await runRound(cluster.servers, round, random)
  await cluster.stop()
}, 60_000)
