import { expect, it } from 'vitest'
import { eventually, type RawClient, typed } from '../../support/clients/clients.ts'
import { answering, hanging } from '../../support/clients/webhook-receiver.ts'
import { type AgentTokenOptions, agentToken, callsWith, codeOf } from '../../support/servers/agents.ts'
import {
  type Asked,
  askedOf,
  callbackTests,
  deciding,
  json,
  organizationId,
} from '../../support/servers/callback-servers.ts'

const { backend, start } = callbackTests()

const editorOf = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })

/** Starts a server with documents that have content, and a backend that answers. */
async function withDocuments(...documentIds: readonly string[]) {
  const started = await start()
  for (const documentId of documentIds)
    await started.call('/v2/crdt/add', { ...editorOf(documentId), type: 'text', data: 'kept' })
  return started
}

/** Sends an edit, and returns whether the server has stored it. */
async function edits(client: RawClient, read: () => Promise<string>, word: string): Promise<boolean> {
  client.sendUpdate(typed(word, Math.floor(Math.random() * 2 ** 30) + 1))
  await client.roundTrip()
  return (await read()).includes(word)
}

const tokens = { admin: { isAdmin: true }, limited: {} } as const

it('[CALL-20] lets the backend decide about users without a grant', async () => {
  const { configure, connect, textOf } = await withDocuments('doc')
  const roles: Record<string, unknown> = { ed: 'editor', vic: 'viewer', nobody: null }
  const receiver = await backend(deciding(({ user }) => ({ role: roles[user?.userId ?? ''] })))
  await configure({ authorize: { url: receiver.url } })
  const text = () => textOf('doc')
  expect(await edits(await connect('doc', 'ed'), text, 'written')).toBe(true)
  expect(await edits(await connect('doc', 'vic'), text, 'dropped')).toBe(false)
  expect(await (await connect('doc', 'nobody')).closed).toMatchObject({ code: 4404 })
  expect(askedOf(receiver)).toContainEqual({
    callback: 'authorize',
    apiKey: expect.any(String) as string,
    ...editorOf('doc'),
    user: { userId: 'vic', name: 'vic', email: expect.any(String) as string },
    agent: null,
  } satisfies Asked)
})

it('[MCP-75] describes an agent to the backend, whose decision about a person does not apply to it', async () => {
  const { server, configure, connect, textOf } = await withDocuments('doc')
  const receiver = await backend(
    deciding(({ agent }) => ({ role: agent === null || agent?.model === 'trusted' ? 'editor' : 'viewer' })),
  )
  await configure({ authorize: { url: receiver.url } })
  expect(await edits(await connect('doc', 'ed'), () => textOf('doc'), 'written')).toBe(true)
  const codeFor = async (options: AgentTokenOptions) => {
    const call = callsWith(server, await agentToken(server, 'ed', options))
    const insert = [{ insert: { at: 'end', content: 'More.' } }]
    return codeOf(await call('/v2/crdt/edit', { ...editorOf('doc'), edits: insert }))
  }
  expect(await codeFor({})).toBe('agent/role-required')
  expect(await codeFor({ model: 'trusted', onBehalfOf: 'ann', policy: 'no-delete' })).toBeUndefined()
  expect(await codeFor({ model: 'trusted', onBehalfOf: 'ann' })).toBeUndefined()
  expect(await codeFor({ model: 'trusted', onBehalfOf: 'ann' })).toBeUndefined()
  expect(askedOf(receiver).map(({ user, agent }) => [user?.userId, agent])).toEqual([
    ['ed', null],
    ['ed', { model: null, onBehalfOf: null, policies: [] }],
    ['ed', { model: 'trusted', onBehalfOf: 'ann', policies: ['no-delete'] }],
    ['ed', { model: 'trusted', onBehalfOf: 'ann', policies: [] }],
  ])
})

it('[CALL-20] decides in place of the access type of a public document', async () => {
  const { configure, connect } = await start({ defaultAccess: 'public' })
  const receiver = await backend(json({ role: null }))
  await configure({ authorize: { url: receiver.url } })
  expect(await (await connect('open')).closed).toMatchObject({ code: 4404 })
})

it('[CALL-21] does not ask about rights that are decided', async () => {
  const { configure, connect, call, read } = await withDocuments('doc', 'off')
  const receiver = await backend(json({ role: 'editor' }))
  const resource = { type: 'document', id: 'doc', organizationId, accessRole: 'viewer' } as const
  await call('/v2/auth/permissions/add', {
    user: { userId: 'granted' },
    permissions: { resources: [resource] },
  })
  await call('/v2/organizations/documents/update', {
    organizationId,
    documents: [{ documentId: 'off', disabled: true }],
  })
  await configure({ authorize: { url: receiver.url } })
  expect(await read(await connect('doc', 'boss', tokens.admin))).toBe('kept')
  expect(await read(await connect('doc', 'granted'))).toBe('kept')
  // The token has permissions, and the document is restricted.
  const limited = await connect('doc', 'limited', { resources: [resource] })
  expect(await limited.closed).toMatchObject({ code: 4404 })
  expect(await (await connect('off', 'ada')).closed).toMatchObject({ code: 4403 })
  expect(receiver.hooks).toHaveLength(0)
})

it('[CALL-22] asks once for clients that connect together, and again when the decision has expired', async () => {
  const { configure, connect, read } = await withDocuments('doc', 'other')
  const receiver = await backend(json({ role: 'viewer', ttlSeconds: 2 }))
  await configure({ authorize: { url: receiver.url } })
  const clients = await Promise.all(Array.from({ length: 30 }, () => connect('doc')))
  for (const client of clients) expect(await read(client)).toBe('kept')
  expect(receiver.hooks).toHaveLength(1)
  for (const client of clients) client.end()
  await read(await connect('doc', 'bob'))
  await read(await connect('other'))
  expect(receiver.hooks).toHaveLength(3)
  await new Promise((resolve) => setTimeout(resolve, 2_100))
  const before = askedOf(receiver).filter(({ user }) => user?.userId === 'carl').length
  await read(await connect('doc', 'carl'))
  expect(askedOf(receiver).filter(({ user }) => user?.userId === 'carl')).toHaveLength(before + 1)
})

it('[CALL-54] asks the new backend when the URL has changed', async () => {
  const { configure, connect, read } = await withDocuments('doc')
  const old = await backend(json({ role: 'editor', ttlSeconds: 3600 }))
  await configure({ authorize: { url: old.url } })
  expect(await read(await connect('doc'))).toBe('kept')
  const strict = await backend(json({ role: null }))
  await configure({ authorize: { url: strict.url } })
  expect(await (await connect('doc')).closed).toMatchObject({ code: 4404 })
  expect(strict.hooks).toHaveLength(1)
})

it('[CALL-23] applies a changed decision to open sockets', async () => {
  const { configure, connect, textOf, read } = await withDocuments('doc')
  let role: string | null = 'viewer'
  const receiver = await backend(deciding(() => ({ role, ttlSeconds: 1 })))
  await configure({ authorize: { url: receiver.url } })
  const client = await connect('doc')
  const text = () => textOf('doc')
  expect(await read(client)).toBe('kept')
  expect(await edits(client, text, 'dropped')).toBe(false)
  role = 'editor'
  await eventually(() => edits(client, text, 'written'))
  role = 'viewer'
  await eventually(async () => !(await edits(client, text, `more${Math.random()}`)))
  role = null
  expect(await client.closed).toMatchObject({ code: 4403 })
})

it('[CALL-24] rejects a new client with a transient error if the backend cannot be asked', async () => {
  const { configure, connect, read } = await withDocuments('doc')
  const receiver = await backend(answering(500))
  await configure({ authorize: { url: receiver.url, timeoutMs: 500 } })
  const reason = 'the backend could not decide about access to the document; try again'
  expect(await (await connect('doc')).closed).toEqual({ code: 1013, reason })
  for (const wrong of [
    json({ role: 'owner' }),
    json({}),
    json('editor'),
    json({ role: 'editor', ttlSeconds: -1 }),
  ]) {
    receiver.behavior = wrong
    expect(await (await connect('doc')).closed).toEqual({ code: 1013, reason })
  }
  receiver.behavior = hanging
  expect(await (await connect('doc')).closed).toEqual({ code: 1013, reason })
  receiver.behavior = json({ role: 'viewer' })
  expect(await read(await connect('doc'))).toBe('kept')
})

it('[CALL-24] applies the access type if the API key prefers this', async () => {
  const { configure, connect, call, read } = await withDocuments('public', 'restricted')
  await call('/v2/organizations/documents/access/update', {
    organizationId,
    documentIds: ['public'],
    accessType: 'public',
  })
  const receiver = await backend(answering(500))
  await configure({ authorize: { url: receiver.url, timeoutMs: 500, onFailure: 'stored' } })
  expect(await read(await connect('public'))).toBe('kept')
  expect(await (await connect('restricted')).closed).toMatchObject({ code: 4404 })
})

it('[CALL-25] keeps the role of an open socket while the backend is down for a short time', async () => {
  const { configure, connect, textOf } = await withDocuments('doc')
  const receiver = await backend(json({ role: 'editor', ttlSeconds: 1 }))
  await configure({ authorize: { url: receiver.url, timeoutMs: 300 } })
  const client = await connect('doc')
  await client.roundTrip()
  receiver.behavior = answering(500)
  const calls = receiver.hooks.length
  await eventually(() => receiver.hooks.length > calls)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(await edits(client, () => textOf('doc'), 'still')).toBe(true)
  receiver.behavior = json({ role: null })
  expect(await client.closed).toMatchObject({ code: 4403 })
})

it('[CALL-26] closes with a transient code when a grant ends, and asks the backend when the client reconnects', async () => {
  const { configure, connect, call, read } = await withDocuments('doc')
  const receiver = await backend(json({ role: 'viewer' }))
  const resource = { type: 'document', id: 'doc', organizationId } as const
  const user = { userId: 'ada' }
  await call('/v2/auth/permissions/add', {
    user,
    permissions: { resources: [{ ...resource, accessRole: 'editor' }] },
  })
  await configure({ authorize: { url: receiver.url } })
  const client = await connect('doc')
  expect(await read(client)).toBe('kept')
  expect(receiver.hooks).toHaveLength(0)
  await call('/v2/auth/permissions/remove', { ...user, permissions: { resources: [resource] } })
  expect(await client.closed).toMatchObject({ code: 1013 })
  expect(await read(await connect('doc'))).toBe('kept')
  expect(receiver.hooks).toHaveLength(1)
})
