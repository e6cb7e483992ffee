import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createEndpoint,
  type EndpointDocument,
  type EndpointUser,
  type StartedSuggesting,
  type SuggestedChange,
  type SuggestionList,
} from '../../src/client/rest/index.ts'
import { createServer, dataOf, type WeftServer } from '../../src/server/library/index.ts'

let server: WeftServer
beforeAll(async () => {
  server = await createServer({ engine: 'memory', log: false, shutdownSeconds: 2 })
})
afterAll(() => server?.close())

const users: Readonly<Record<string, EndpointUser>> = {
  ada: { userId: 'ada', role: 'editor' },
  sue: { userId: 'sue', role: 'suggester' },
  sam: { userId: 'sam@example.com', role: 'suggester' },
  vera: { userId: 'vera', role: 'viewer' },
}

interface Answer {
  readonly result?: { readonly data: unknown }
  readonly error?: { readonly details: { readonly code: string } }
}

async function send(user: string, path: string, members: object): Promise<Answer> {
  const endpoint = createEndpoint({ api: server.api, authorize: () => users[user] ?? null })
  const response = await endpoint(
    new Request(`https://app.example.com/weft/suggestions/${path}`, {
      method: 'POST',
      body: JSON.stringify(members),
      headers: { 'content-type': 'application/json' },
    }),
  )
  return (await response.json()) as Answer
}
const call = async <Data>(user: string, path: string, members: object): Promise<Data> => {
  const { result, error } = await send(user, path, members)
  expect([path, error]).toEqual([path, undefined])
  return result?.data as Data
}
const codeOf = async (user: string, path: string, members: object): Promise<string | undefined> =>
  (await send(user, path, members)).error?.details.code

let documents = 0
async function newDocument(): Promise<EndpointDocument> {
  const editor = { organizationId: 'acme', documentId: `suggested-${++documents}`, editorId: 'main' }
  dataOf(await server.api.crdt.add({ ...editor, type: 'text', data: 'We meet on Monday at noon.' }))
  return editor
}

/** Replaces a text in the branch of a user. */
async function suggest(user: string, editor: EndpointDocument, find: string, text: string): Promise<void> {
  const { editorId } = await call<StartedSuggesting>(user, 'start', editor)
  const edits = [{ replace: { find, with: text } }]
  dataOf(await server.api.crdt.edit({ ...editor, editorId, edits, userId: users[user]?.userId }))
}
const listed = (user: string, editor: EndpointDocument): Promise<SuggestionList> => call(user, 'get', editor)
const textOf = async (editor: EndpointDocument): Promise<unknown> =>
  dataOf(await server.api.crdt.get(editor))[0]?.data

it('[END-20] a user who suggests gets an own branch, always the same one until it is decided', async () => {
  const editor = await newDocument()
  const [first, second] = await Promise.all([1, 2].map(() => call<StartedSuggesting>('sue', 'start', editor)))
  expect([first, second]).toEqual([{ editorId: 'main@sue' }, { editorId: 'main@sue' }])
  const other = await call<StartedSuggesting>('sam', 'start', editor)
  expect(other.editorId).toMatch(/^main@[0-9a-f]{50}$/)
  expect(await call('sam', 'start', editor)).toEqual(other)
  expect(await codeOf('vera', 'start', editor)).toBe('endpoint/denied')
  await suggest('sue', editor, 'Monday', 'Friday')
  dataOf(await server.api.crdt.branches.reject({ ...editor, name: 'sue', userId: 'ada' }))
  expect(await call('sue', 'start', editor)).toEqual(first)
  expect(await textOf({ ...editor, editorId: 'main@sue' })).toBe('We meet on Monday at noon.')
  await server.api.crdt.branches.create({ ...editor, name: 'ada', userId: 'eve' })
  expect(await codeOf('ada', 'start', editor)).toBe('endpoint/denied')
  const missing = { ...editor, documentId: 'missing' }
  expect(await codeOf('sue', 'start', missing)).toBe('document/not-found')
  expect(await listed('ada', missing)).toMatchObject({ suggestions: [] })
})

it('[END-21] all users read the suggestions, an editor decides them, and a suggester only withdraws own ones', async () => {
  const editor = await newDocument()
  await suggest('sue', editor, 'Monday', 'Friday')
  await suggest('sam', editor, 'noon', '12')
  const { suggestions, canDecide } = await listed('vera', editor)
  expect(canDecide).toBe(false)
  expect((await listed('ada', editor)).canDecide).toBe(true)
  const of = (userId: string) => suggestions.find((each) => each.userId === userId) as SuggestedChange
  const [sue, sam] = [of('sue'), of('sam@example.com')]
  expect([sue.deleted, sue.inserted, sam.branchEditorId]).toEqual(['Mon', 'Fri', `main@${sam.branch}`])
  const decision = ({ branch, hunkId }: SuggestedChange) => ({ ...editor, branch, hunkIds: [hunkId] })
  for (const user of ['sue', 'vera'])
    expect(await codeOf(user, 'accept', decision(sue))).toBe('endpoint/cannot-decide')
  for (const user of ['sam', 'vera'])
    expect(await codeOf(user, 'reject', decision(sue))).toBe('endpoint/cannot-decide')
  expect(await call('sam', 'reject', decision(sam))).toEqual({ decided: [sam.hunkId] })
  expect(await call('ada', 'accept', decision(sue))).toEqual({ decided: [sue.hunkId] })
  expect(await textOf(editor)).toBe('We meet on Friday at noon.')
  expect((await listed('ada', editor)).suggestions).toEqual([])
  expect(await codeOf('ada', 'accept', decision(sue))).toBe('endpoint/suggestion-changed')
  expect(await codeOf('ada', 'accept', { ...decision(sue), hunkIds: [] })).toBe('request/invalid-member')
})

it('[END-21] a user whose permission in Weft is lower than the role of the application cannot accept', async () => {
  const editor = await newDocument()
  await suggest('sue', editor, 'Monday', 'Friday')
  const { organizationId, documentId: id } = editor
  const resource = { type: 'document', id, organizationId, accessRole: 'suggester' } as const
  dataOf(
    await server.api.auth.permissions.add({
      user: { userId: 'ada' },
      permissions: { resources: [resource] },
    }),
  )
  const [sue] = (await listed('ada', editor)).suggestions
  const decision = { ...editor, branch: 'sue', hunkIds: [sue?.hunkId] }
  expect(await codeOf('ada', 'accept', decision)).toBe('endpoint/cannot-decide')
  expect(await textOf(editor)).toBe('We meet on Monday at noon.')
})
