import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { dialects, type Person } from '../../support/clients/protocol-clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type HeldEngine, holdable } from '../../support/stores/pausable-engine.ts'

let engine: HeldEngine
let server: TestServer
let documents = 0
const newDocument = (): string => `dialects ${++documents}/ä`
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))

beforeAll(async () => {
  engine = holdable(await openMemoryEngine())
  server = await startTestServer({}, { engine })
})

afterAll(() => server.stop())

const closeAll = (people: readonly Person[]): void => {
  for (const person of people) person.close()
}

it('[DIA-1] clients of all protocols can edit one document concurrently, and all of them get a REST replacement', async () => {
  const documentId = newDocument()
  const people = await Promise.all(
    dialects.map(async (dialect) => dialect.open(server, documentId, await server.token(dialect.name))),
  )
  for (let round = 0; round < 5; round++) {
    for (const { text } of people) text.insert(Math.min(round * 3, text.length), `${round}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const length = people.length * 5
  const seen = (): string[] => people.map(({ text }) => text.toString())
  await eventually(() => seen().every((text) => text.length === length && text === seen()[0]), seen)
  const address = { organizationId: 'acme', documentId, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/update', { ...address, type: 'text', data: 'from REST' }))
  await eventually(() => seen().every((text) => text === 'from REST'), seen)
  const vectors = people.map(({ doc }) => [...Y.decodeStateVector(Y.encodeStateVector(doc))].sort())
  for (const vector of vectors) expect(vector).toEqual(vectors[0])
  closeAll(people)
})

it('[DIA-2] shows users and cursors across protocols, and removes them on disconnect', async () => {
  const documentId = newDocument()
  const people = await Promise.all(
    dialects.map(async (dialect) => dialect.open(server, documentId, await server.token(dialect.name))),
  )
  for (const [index, { awareness }] of people.entries()) awareness.setLocalStateField('cursor', index)
  const cursors = ({ awareness }: Person): unknown[] =>
    [...awareness.getStates().values()].map((state) => (state as { cursor?: number }).cursor).sort()
  const all = people.map((_, index) => index)
  await eventually(
    () => people.every((person) => cursors(person).join() === all.join()),
    () => people.map(cursors),
  )
  const [first, ...others] = people as [Person, ...Person[]]
  first.close()
  const left = all.slice(1).join()
  await eventually(
    () => others.every((person) => cursors(person).join() === left),
    () => others.map(cursors),
  )
  closeAll(others)
})

describe.each(dialects)('$name', (dialect) => {
  it('[DIA-3] does not send edits of a viewer to any other client', async () => {
    const documentId = newDocument()
    const editor = await dialect.open(server, documentId, await server.token('ada'))
    editor.text.insert(0, 'kept')
    const resources = [
      { type: 'document', id: documentId, organizationId: 'acme', accessRole: 'viewer' } as const,
    ]
    await eventually(async () => {
      const answer = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId })
      return JSON.stringify(answer.body).includes('kept')
    })
    const viewer = await dialect.open(server, documentId, await server.token('bob', { resources }))
    await eventually(() => viewer.text.toString() === 'kept')
    viewer.text.insert(0, 'not ')
    await pause()
    editor.text.insert(4, '!')
    await eventually(() => viewer.text.toString() === 'not kept!')
    expect(editor.text.toString()).toBe('kept!')
    expect(viewer.isUnsaved()).toBe(dialect.saves)
    closeAll([editor, viewer])
  })
})

describe.each(dialects.filter(({ saves }) => saves))('$name', (dialect) => {
  it('[DIA-4] acknowledges an edit to its client only when the edit is durable', async () => {
    const person = await dialect.open(server, newDocument(), await server.token('ada'))
    engine.hold()
    person.text.insert(0, 'a')
    person.text.insert(1, 'b')
    await eventually(() => engine.waiting() > 0)
    await pause()
    expect(person.isUnsaved()).toBe(true)
    engine.release()
    await eventually(() => !person.isUnsaved())
    person.close()
  })
})
