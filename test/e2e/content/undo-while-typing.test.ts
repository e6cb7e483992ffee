import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'

/** A user types only letters of its own alphabet, so that a test recognizes every character. */
const alphabets: Readonly<Record<string, string>> = { bob: 'abcdefgh', cem: 'stuvwxyz' }
const initial = 'THE WEAVER SETS THE LOOM.\n'.repeat(4)
const roundsMax = times(4, 20)

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ engine: 'level' })
})
afterAll(() => server.stop())

const sortedCharacters = (text: string): string => Array.from(text).toSorted().join('')

/** Types one character at a time at random places, until `stop` is called. */
function typing({ text }: Editor, alphabet: string, random: Random) {
  let typed = ''
  const timer = setInterval(() => {
    const character = alphabet[random.below(alphabet.length)] as string
    text.insert(random.below(text.length + 1), character)
    typed += character
  }, 1)
  return {
    stop: (): string => {
      clearInterval(timer)
      return typed
    },
  }
}

it(`[ATT-70] an undo of an agent's changes keeps each character of users who type meanwhile (seed ${seed})`, async () => {
  const random = new Random(seed)
  for (let round = 0; round < roundsMax; round += 1) {
    const ids = { organizationId: 'acme', documentId: `typing-${round}`, editorId: 'main' }
    const done = async (operation: string, data: object) =>
      dataOf(await server.post(`/v2/crdt/${operation}`, { ...ids, ...data }))
    const textOf = async () => ((await done('get', {})) as [{ data: string }])[0].data
    const { version: from } = (await done('add', { type: 'text', data: initial, userId: 'ann' })) as {
      version: string
    }
    const path = `acme/typing-${round}/main`
    const users = await Promise.all(
      Object.entries(alphabets).map(async ([userId, alphabet]) => ({
        editor: await syncedEditor(server.wsUrl, path, await server.token(userId)),
        alphabet,
      })),
    )
    const typists = users.map(({ editor, alphabet }) => typing(editor, alphabet, random))
    const meta = { job: `round-${round}` }
    for (let edits = 0; edits < 8; edits += 1) {
      const { length } = await textOf()
      const index = random.below(length)
      const text = {
        index,
        delete: Math.min(random.below(12), length - index),
        insert: `${random.below(1_000_000)}`,
      }
      // The user may have changed the text meanwhile, so that the range can exceed it.
      await server.post('/v2/crdt/edit', { ...ids, edits: [{ text }], userId: 'agent', meta })
    }
    const { changes } = (await done('changes', { from, meta })) as {
      changes: { userId: string; inserted: number }[]
    }
    expect(changes).toMatchObject([{ userId: 'agent' }])
    const outcome = await done('undo', { from, meta, userId: 'ann' })
    expect(outcome).toMatchObject({ changed: true, notUndone: [] })
    const typed = typists.map(({ stop }) => stop())
    const all = sortedCharacters(initial + typed.join(''))
    await eventually(
      async () => {
        const stored = await textOf()
        return (
          sortedCharacters(stored) === all && users.every(({ editor }) => editor.text.toString() === stored)
        )
      },
      () => users.map(({ editor }) => editor.text.toString()),
    )
    // The text of the other author also has its order again.
    expect((await textOf()).replaceAll(/[a-z]/g, '')).toBe(initial)
    for (const { editor } of users) editor.close()
  }
}, 60_000)
