import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operationList } from '../../../src/capabilities/list.ts'
import { specifiedPaths } from '../../support/data/specification.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { nowhere } from '../../support/servers/webhooks.ts'

const adminToken = 'the-admin-token-of-a-customer'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ adminToken })
})
afterAll(() => server.stop())

interface Customer {
  /** Calls an operation with the credentials of its level. The call must succeed. */
  readonly call: (path: string, data: object) => Promise<unknown>
  readonly answers: ReadonlyMap<string, Answer>
}

/** Credentials that the first call of the set-up returns. */
interface Workspace {
  readonly id: string
  readonly authToken: string
  readonly apiKey: string
  readonly apiKeyAuthToken: string
}

/** A backend that starts with a workspace of its own. */
function customer(): Customer {
  const answers = new Map<string, Answer>()
  let headers: Record<string, string> = { 'x-service-admin-token': adminToken }
  const call = async (path: string, data: object): Promise<unknown> => {
    const own = path === '/v1/organizations/documents/locations/data/delete' ? credentialsIn(headers) : {}
    const answer = await server.post(path, { ...own, ...data }, headers)
    expect(answer.body.error, path).toBeUndefined()
    answers.set(path, answer)
    if (path === '/v2/workspace/create') headers = headersOf(dataOf(answer) as Workspace)
    return path === '/v2/memory/suggest' ? answer.body.result : dataOf(answer)
  }
  return { call, answers }
}

const headersOf = ({ id, authToken, apiKey, apiKeyAuthToken }: Workspace): Record<string, string> => ({
  'x-service-api-key': apiKey,
  'x-service-auth-token': apiKeyAuthToken,
  'x-service-workspace-id': id,
  'x-service-workspace-auth-token': authToken,
})

const credentialsIn = (headers: Readonly<Record<string, string>>) => ({
  apiKey: headers['x-service-api-key'],
  authToken: headers['x-service-auth-token'],
})

const organizationId = 'northwind'
const documentId = 'proposal'
const location = { id: 'section-2', locationName: 'Section 2' }
const done = { success: true }

it('[COMPAT-10] accepts the recorded calls with which a customer was set up, which use all 31 operations of the specification', async () => {
  const { call, answers } = customer()
  const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    .publicKey.export({ format: 'pem', type: 'spki' })
    .toString()

  // The workspace.
  await call('/v2/workspace/create', { ownerEmail: 'it@northwind.example', name: 'Nora', avatar: null })
  const workspace = (await call('/v2/workspace/get', {})) as { apiKeyList: Record<string, object> }
  const [apiKey = ''] = Object.keys(workspace.apiKeyList)
  expect(await call('/v2/workspace/authtokens/get', { apiKey })).toMatchObject({
    apiKey,
    authTokens: [{ domains: [] }],
  })
  expect(
    await call('/v2/workspace/domains/add', {
      domains: ['https://www.northwind.example/app', '*.northwind.example'],
    }),
  ).toEqual({ domainsAdded: ['northwind.example', '*.northwind.example'] })

  // Organizations, folders and documents, none of which exist before.
  const folders = [
    { folderId: 'sales', folderName: 'Sales', parentFolderId: null },
    { folderId: 'offers', folderName: null, parentFolderId: 'sales' },
    { folderId: 'bad', folderName: 5 },
  ]
  expect(
    await call('/v1/organizations/folders/add', { organizationId, createMissing: true, folders }),
  ).toMatchObject({
    sales: done,
    offers: done,
    bad: { success: false },
  })
  const users = [
    { userId: 'nora', name: 'Nora', email: 'nora@northwind.example', photoUrl: null, accessRole: 'editor' },
    { userId: 'otto', name: 'Otto', email: null, accessRole: 'viewer', metadata: null },
  ]
  expect(
    await call('/v2/users/add', { organizationId, documentId, folderId: null, users, createMissing: true }),
  ).toMatchObject({ nora: done, otto: done })
  expect(
    await call('/v2/users/update', { organizationId, users: [{ userId: 'otto', name: 'Otto O.' }] }),
  ).toMatchObject({
    otto: done,
  })
  expect(
    await call('/v1/organizations/usergroups/users/add', {
      organizationId,
      organizationUserGroupId: 'board',
      userIds: ['nora', 'otto'],
    }),
  ).toMatchObject({ nora: { success: true, organizationUserGroupId: 'board' } })
  const proposal = { type: 'document', id: documentId, organizationId }
  await call('/v2/auth/permissions/add', {
    user: { userId: 'otto' },
    createMissing: true,
    permissions: {
      resources: [
        { ...proposal, accessRole: 'viewer', expiresAt: null },
        { type: 'folder', id: 'offers', organizationId },
        { type: 'organization', id: organizationId, expiresAt: 1_600_000_000 },
        { ...proposal, accessRole: 'editor' },
        { type: 'document', id: 'minutes', organizationId },
      ],
    },
  })
  const named = [
    { documentId, documentName: 'Proposal' },
    { documentId: 'minutes', documentName: null },
  ]
  expect(
    await call('/v1/organizations/documents/update', { organizationId, documents: named }),
  ).toMatchObject({
    [documentId]: done,
    minutes: done,
  })
  expect(await call('/v1/organizations/documents/get', { organizationId })).toMatchObject([
    { id: 'minutes' },
    { id: documentId, documentName: 'Proposal' },
  ])
  const moved = [{ folderId: 'offers', parentFolderId: 'root' }]
  expect(await call('/v1/organizations/folders/update', { organizationId, folders: moved })).toMatchObject({
    offers: done,
  })
  expect(await call('/v1/organizations/folders/get', { organizationId, folderId: null })).toHaveLength(2)
  expect(
    await call('/v2/organizations/folders/get', { organizationId, folderId: 'sales', maxDepth: 0 }),
  ).toMatchObject([{ folderId: 'sales', ancestors: ['root'] }])

  // Webhooks, with event types of the service that the customer comes from.
  const triggers = {
    'comment.add': true,
    'comment_annotation.subscribe': true,
    crdt: true,
    recorder: { done: true, transcribe: true },
    huddle: null,
  }
  expect(
    await call('/v2/workspace/webhookconfig/update', {
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: 'a-token-for-the-receiver',
        rawNotificationUrl: nowhere,
        processedNotificationUrl: null,
        encryptData: true,
        publicKey: pem,
        enableDataProtection: true,
        triggers,
      },
    }),
  ).toMatchObject({
    useWebhookService: true,
    webhookServiceConfig: {
      publicKey: pem,
      enableDataProtection: true,
      triggers: {
        'comment_annotation.subscribe': true,
        crdt: true,
        recorder: { done: true, transcribe: true },
      },
    },
  })
  expect(answers.get('/v2/workspace/webhookconfig/update')?.body.result).toMatchObject({
    warnings: expect.arrayContaining([
      expect.stringContaining('"comment_annotation.subscribe"'),
      expect.stringContaining('"recorder.transcribe"'),
    ]),
  })
  expect(await call('/v2/workspace/webhookconfig/get', {})).toMatchObject({
    webhookServiceConfig: {
      triggers: { 'crdt.update_data': true, 'recorder.done': true, 'huddle.join': true },
    },
  })
  await call('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true, publicKey: null })
  const { id: endpointId } = (await call('/v2/workspace/advancedwebhook/endpoints/create', {
    url: 'https://northwind.example/hooks',
    description: null,
    filterTypes: ['comment.add', 'comment.update', 'agent.finished'],
    channels: [],
    rateLimit: null,
  })) as { id: string }
  expect(
    await call('/v2/workspace/advancedwebhook/endpoints/update', {
      endpointId,
      description: 'Billing',
      disabled: false,
      metadata: { team: 'billing' },
    }),
  ).toMatchObject({
    filterTypes: ['comment.add', 'comment.update', 'agent.finished'],
    description: 'Billing',
  })
  expect(
    await call('/v2/workspace/advancedwebhook/endpoints/get', { limit: 250, iterator: null }),
  ).toMatchObject({
    endpoints: [{ id: endpointId }],
    done: true,
  })
  expect(await call('/v2/workspace/advancedwebhook/endpoints/secret/get', { endpointId })).toMatchObject({
    secret: expect.stringMatching(/^whsec_/),
  })

  // The users and their actions.
  expect(
    await call('/v2/auth/generate_token', {
      userId: 'nora',
      userProperties: { name: 'Nora', email: 'nora@northwind.example', isAdmin: null },
      permissions: { resources: [proposal] },
      expiresInSeconds: null,
    }),
  ).toMatchObject({ token: expect.stringMatching(/./) })
  const editor = { organizationId, documentId, editorId: 'main', type: 'text' }
  await call('/v2/crdt/add', { ...editor, data: 'Dear customer' })
  await call('/v2/crdt/update', { ...editor, data: 'Dear customers', contentKey: null })
  expect(
    await call('/v2/presence/update', {
      organizationId,
      documentId,
      users: [{ userId: 'nora', status: 'online' }],
    }),
  ).toEqual({ success: true })
  expect(await call('/v2/presence/delete', { organizationId, documentId, userIds: ['nora'] })).toEqual(done)
  expect(
    await call('/v1/notifications/add', {
      organizationId,
      documentId,
      actionUser: { userId: 'nora', name: 'Nora', email: null },
      notificationId: null,
      displayHeadlineMessageTemplate: '{actionUser} has shared a proposal with {recipientUser}',
      displayHeadlineMessageTemplateData: { recipientUser: { userId: 'otto', name: 'Otto' } },
      displayBodyMessage: 'Have a look.',
      notifyUsers: [],
      notifyAll: null,
      notificationSourceData: null,
      createDocument: false,
    }),
  ).toMatchObject(done)
  expect(
    await call('/v2/notifications/config/set', {
      organizationId,
      documentIds: [],
      userIds: ['nora', 'otto'],
      config: { inbox: 'ALL', email: 'NONE', slack: null },
    }),
  ).toMatchObject({ nora: done, otto: done })
  const activities = await call('/v2/activities/get', {
    organizationId,
    documentId: null,
    featureTypes: [],
    actionTypes: [],
    userId: null,
    order: null,
    pageSize: 5_000,
    pageToken: null,
  })
  expect(activities).not.toEqual([])
  expect(
    await call('/v2/memory/suggest', { query: 'A discount of 10 %', organizationId, documentId: null }),
  ).toEqual({
    primary: null,
    conflict: null,
  })
  expect(await call('/v1/organizations/documents/locations/data/delete', { documentId, location })).toBeNull()
  expect(
    await call('/v2/organizations/delete', { organizationIds: [organizationId, 'never-existed'] }),
  ).toMatchObject({
    [organizationId]: done,
    'never-existed': { success: false },
  })

  expect(specifiedPaths.filter((path) => !answers.has(path))).toEqual([])
  expect(new Set(specifiedPaths).size).toBe(31)
})

describe('the chapter on migration', () => {
  const chapter = readFileSync(new URL('../../../src/docs/migration.md', import.meta.url), 'utf8')
  const section = chapter.slice(chapter.indexOf('## The original REST service')).split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| `([^`]+)` \| (.+) \| (.+) \|$/gm)]

  it('[COMPAT-9] lists each operation of the specification in one row of the table, and all of these operations exist', () => {
    expect(rows.map(([, path = '']) => `/${path}`).toSorted()).toEqual(specifiedPaths.toSorted())
    const paths = new Set<string>(operationList.map(({ path }) => path))
    expect(specifiedPaths.filter((path) => !paths.has(path))).toEqual([])
    for (const [, path, same = '', different = ''] of rows)
      expect(
        [same.length, different.length].every((length) => length > 5),
        path,
      ).toBe(true)
  })

  it('[COMPAT-9] mentions only existing operations', () => {
    const named = [...section.matchAll(/`((?:[a-z]+\/)+[a-z]+)`/g)].map(([, name = '']) => name)
    const known = operationList.map(({ path }) => path)
    expect(named.filter((name) => !known.some((path) => path.endsWith(`/${name}`)))).toEqual([])
  })
})
