import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { operationList } from '../../../src/capabilities/list.ts'
import { errorOf } from '../../support/servers/acme-server.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { webhookOptions, webhooksOf } from '../../support/servers/webhooks.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer(webhookOptions)
})
afterAll(() => server.stop())

const organizationId = 'acme'
const documentId = 'report'

/** Makes a call that must succeed, and returns its data. */
const call = async (path: string, data: object, on = server): Promise<unknown> =>
  dataOf(await on.post(path, data))
const warningsOf = ({ body }: Answer): unknown =>
  (body.result as { warnings?: unknown } | undefined)?.warnings

beforeAll(async () => {
  await call('/v2/organizations/add', { organizations: [{ organizationId }] })
  await call('/v1/organizations/folders/add', {
    organizationId,
    folders: [{ folderId: 'top' }, { folderId: 'in', parentFolderId: 'top' }],
  })
  await call('/v2/organizations/documents/add', {
    organizationId,
    documents: [{ documentId }, { documentId: 'other' }],
  })
  await call('/v2/users/add', { organizationId, users: [{ userId: 'ann' }] })
})

describe('null', () => {
  it('[COMPAT-1] treats null in an optional request member as if the member were absent, at any depth', async () => {
    const users = [{ userId: 'nina', name: 'Nina', email: null, accessRole: null, metadata: null }]
    expect(await call('/v2/users/add', { organizationId, documentId: null, users })).toMatchObject({
      nina: { success: true },
    })
    expect(await call('/v2/users/get', { organizationId, userIds: ['nina'], pageToken: null })).toMatchObject(
      [{ userId: 'nina', name: 'Nina', email: '', accessRole: 'editor' }],
    )
    await call('/v2/auth/permissions/add', {
      user: { userId: 'nina' },
      organizationUserGroupId: null,
      permissions: {
        resources: [{ type: 'document', id: documentId, organizationId, accessRole: null, expiresAt: null }],
      },
    })
    const found = await call('/v2/organizations/folders/get', {
      organizationId,
      folderId: null,
      maxDepth: null,
    })
    expect(found).toHaveLength(2)
  })

  it('[COMPAT-1] rejects null in a required member, and keeps null where it has a meaning', async () => {
    expect(errorOf(await server.post('/v2/users/add', { organizationId, users: null }))).toEqual([
      'INVALID_ARGUMENT',
      '/data/users',
    ])
    expect(
      errorOf(await server.post('/v2/users/add', { organizationId, users: [{ userId: null }] })),
    ).toEqual(['INVALID_ARGUMENT', '/data/users/0/userId'])
    const { advanced, create, update } = await webhooksOf(server)
    await advanced({ isEnabled: true, publicKey: null })
    const { id } = await create({ description: 'kept', rateLimit: 5, uid: null, channels: null })
    expect(await update(id, { rateLimit: null, disabled: null })).toMatchObject({
      description: 'kept',
      rateLimit: null,
      disabled: false,
    })
    const metadata = { nothing: null }
    await call('/v2/organizations/update', { organizations: [{ organizationId, metadata }] })
    expect(await call('/v2/organizations/get', { organizationIds: [organizationId] })).toMatchObject([
      { metadata },
    ])
  })

  it('[COMPAT-1] in /openapi.json, allows null for every optional request member, and for no other member', async () => {
    const described = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<string, { post: { requestBody: { content: Record<string, { schema: Described }> } } }>
    }
    const members = operationList.flatMap(({ path }) =>
      membersOf(described.paths[path]?.post.requestBody.content['application/json']?.schema ?? {}),
    )
    expect(members.length).toBeGreaterThan(300)
    expect(members.filter(({ isRequired, acceptsNull }) => isRequired === acceptsNull)).toEqual([])
  })
})

interface Described {
  readonly type?: string
  readonly anyOf?: readonly Described[]
  readonly items?: Described
  readonly properties?: Readonly<Record<string, Described>>
  readonly required?: readonly string[]
}

/** The typed members of a schema. Any value, also null, fits a member without a type. */
function membersOf(
  schema: Described,
): readonly { name: string; isRequired: boolean; acceptsNull: boolean }[] {
  const { anyOf = [], items, properties = {}, required = [] } = schema
  const below = [...anyOf, ...(items === undefined ? [] : [items]), ...Object.values(properties)]
  const own = Object.entries(properties)
    .filter(([, { type, anyOf: alternatives }]) => type !== undefined || alternatives !== undefined)
    .map(([name, member]) => ({
      name,
      isRequired: required.includes(name),
      acceptsNull: member.anyOf?.some(({ type }) => type === 'null') === true,
    }))
  return [...own, ...below.flatMap(membersOf)]
}

describe('lists', () => {
  it('[COMPAT-2] in an operation that reads, treats an empty list as no filter', async () => {
    const activities = { organizationId, featureTypes: [], actionTypes: [] }
    expect(await call('/v2/activities/get', activities)).not.toEqual([])
    const annotations = { organizationId, documentId, statuses: [] }
    expect(await call('/v2/commentannotations/get', annotations)).toEqual([])
  })

  it('[COMPAT-2] in notifications/config/set, treats an empty list of documents as the whole organization', async () => {
    const config = { inbox: 'MINE', email: null }
    expect(
      await call('/v2/notifications/config/set', {
        organizationId,
        documentIds: [],
        userIds: ['ann'],
        config,
      }),
    ).toMatchObject({ ann: { success: true, documentId: '' } })
    expect(
      await call('/v2/notifications/config/get', {
        organizationId,
        userId: 'ann',
        getOrganizationConfig: true,
      }),
    ).toMatchObject([{ config: { inbox: 'MINE' } }])
  })

  it('[COMPAT-2] treats an empty filter of a new endpoint as no filter, but rejects an empty filter when an endpoint is changed', async () => {
    const { advanced, create, post } = await webhooksOf(server)
    await advanced({ isEnabled: true })
    const { id, filterTypes, channels } = await create({ filterTypes: [], channels: [] })
    expect({ filterTypes, channels }).toEqual({ filterTypes: null, channels: null })
    for (const change of [{ filterTypes: [] }, { channels: [] }])
      expect(errorOf(await post('advancedwebhook/endpoints/update', { endpointId: id, ...change }))[0]).toBe(
        'INVALID_ARGUMENT',
      )
  })

  it('[COMPAT-2] in an operation that writes, never treats an empty list as "all"', async () => {
    const made = { organizationId, documentId: 'kept', editorId: 'main', type: 'text', data: 'kept' }
    await call('/v2/crdt/add', made)
    await server.post('/v2/crdt/delete', { organizationId, documentId: 'kept', editorIds: [] })
    expect(await call('/v2/crdt/get', { organizationId, documentId: 'kept' })).toMatchObject([
      { data: 'kept' },
    ])
    await call('/v2/organizations/documents/delete', { organizationId, documentIds: ['kept'] })
  })

  it('[COMPAT-5] uses the maximum page size if a call requests a larger one; with maxDepth 0, returns a folder without subfolders', async () => {
    expect(await call('/v2/users/get', { organizationId, pageSize: 1_000_000_000 })).not.toEqual([])
    expect(await call('/v2/activities/get', { organizationId, pageSize: 10_000 })).not.toEqual([])
    const { advanced, post } = await webhooksOf(server)
    await advanced({ isEnabled: true })
    const listed = await post('advancedwebhook/endpoints/get', { limit: 250 })
    expect(dataOf(listed)).toMatchObject({ done: true })
    const endpoints = (dataOf(listed) as { endpoints: { id: string }[] }).endpoints
    for (const { id: endpointId } of endpoints)
      expect(dataOf(await post('advancedwebhook/deliveries/get', { endpointId, limit: 251 }))).toMatchObject({
        done: true,
      })
    expect(await call('/v2/memory/judgments/query', { limit: 101 })).toEqual([])
    expect(
      await call('/v2/organizations/folders/get', { organizationId, folderId: 'top', maxDepth: 0 }),
    ).toEqual([expect.not.objectContaining({ subFolders: expect.anything() })])
  })
})

describe('event types that Weft does not have', () => {
  it('[COMPAT-3] an endpoint keeps event types that Weft does not have, and the response lists them as warnings', async () => {
    const { advanced, post, list } = await webhooksOf(server)
    await advanced({ isEnabled: true })
    const filterTypes = ['comment.add', 'recorder.start', 'agent.run']
    const created = await post('advancedwebhook/endpoints/create', {
      url: 'https://northwind.example/hooks',
      filterTypes,
    })
    expect(created.body.result).toMatchObject({
      data: { filterTypes },
      warnings: expect.arrayContaining([
        expect.stringContaining('"recorder.start"'),
        expect.stringContaining('"agent.run"'),
      ]),
    })
    expect((await list()).endpoints).toMatchObject([{ filterTypes }])
    const [{ id: endpointId } = { id: '' }] = (await list()).endpoints
    const updated = await post('advancedwebhook/endpoints/update', {
      endpointId,
      filterTypes: ['comment.add'],
    })
    expect(updated.status).toBe(200)
    expect(warningsOf(updated)).toBeUndefined()
    expect(
      warningsOf(await post('advancedwebhook/endpoints/update', { endpointId, filterTypes: ['coment.add'] })),
    ).toEqual([
      'Weft has no event type "coment.add" (did you mean comment.add?): it is stored and never sent.',
    ])
  })

  it('[COMPAT-3] the basic service keeps triggers for event types that Weft does not have, and the response lists them as warnings', async () => {
    const { post, basic } = await webhooksOf(server)
    const triggers = {
      'comment.add': true,
      'recorder.start': true,
      agent: { run: true },
      crdt: { update_data: false, other: true },
      ['__proto__']: true,
    }
    const changed = await post('webhookconfig/update', { webhookServiceConfig: { triggers } })
    expect(warningsOf(changed)).toEqual(
      ['"recorder.start"', '"agent.run"', '"crdt.other"', '"__proto__"'].map((name) =>
        expect.stringContaining(name),
      ),
    )
    expect(await basic()).toMatchObject({
      webhookServiceConfig: { triggers: { ...triggers, 'crdt.update_data': false } },
    })
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`many.${index}`, true]))
    expect(errorOf(await post('webhookconfig/update', { webhookServiceConfig: { triggers: many } }))).toEqual(
      ['INVALID_ARGUMENT'],
    )
  })

  it('[COMPAT-11] rejects a misspelled `enableDataProtection` among the triggers', async () => {
    const { post, basic } = await webhooksOf(server)
    for (const name of [
      'enableDataProtecton',
      'EnableDataProtection',
      'enable_data_protection',
      'dataProtection',
      'dataProtecton',
    ]) {
      const triggers = { 'comment.add': true, [name]: true }
      const refused = await post('webhookconfig/update', { webhookServiceConfig: { triggers } })
      expect(refused.status).toBe(400)
      expect(refused.body.error).toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining('did you mean enableDataProtection?'),
        details: { issues: [{ path: `/data/webhookServiceConfig/triggers/${name}` }] },
      })
    }
    expect(await basic()).not.toMatchObject({ webhookServiceConfig: { triggers: { 'comment.add': true } } })
    const triggers = { 'data.protected': true, dataExport: true, enableDataProtection: true }
    expect(await basic({ webhookServiceConfig: { triggers } })).toMatchObject({
      webhookServiceConfig: { triggers },
    })
  })

  it('[COMPAT-4] treats `webhookServiceConfig.enableDataProtection` like the trigger `triggers.enableDataProtection`', async () => {
    const { basic } = await webhooksOf(server)
    const config = (change: object) => basic({ webhookServiceConfig: change })
    expect(await config({ enableDataProtection: true })).toMatchObject({
      webhookServiceConfig: { enableDataProtection: true, triggers: { enableDataProtection: true } },
    })
    // The first enabling of the service still sets the defaults of the other triggers.
    expect(await basic({ useWebhookService: true })).toMatchObject({
      webhookServiceConfig: {
        enableDataProtection: true,
        triggers: { enableDataProtection: true, 'comment.add': true },
      },
    })
    expect(await config({ triggers: { enableDataProtection: false } })).toMatchObject({
      webhookServiceConfig: { enableDataProtection: false, triggers: { enableDataProtection: false } },
    })
    for (const [beside, inside] of [
      [true, false],
      [false, true],
    ])
      expect(
        await config({ enableDataProtection: beside, triggers: { enableDataProtection: inside } }),
      ).toMatchObject({
        webhookServiceConfig: { enableDataProtection: true, triggers: { enableDataProtection: true } },
      })
  })
})

describe('missing organizations, folders and documents', () => {
  const grant = (id: string, more: object = {}) => ({
    user: { userId: 'ann' },
    permissions: {
      resources: [
        { type: 'document', id: 'd', organizationId: id },
        { type: 'folder', id: 'f', organizationId: id },
        { type: 'organization', id },
      ],
    },
    ...more,
  })
  const calls = (id: string, more: object = {}): readonly (readonly [string, object])[] => [
    ['/v2/users/add', { organizationId: `${id}-1`, documentId: 'd', users: [{ userId: 'ann' }], ...more }],
    ['/v2/users/add', { organizationId: `${id}-2`, folderId: 'f', users: [{ userId: 'ann' }], ...more }],
    ['/v1/organizations/folders/add', { organizationId: `${id}-3`, folders: [{ folderId: 'f' }], ...more }],
    ['/v2/auth/permissions/add', grant(`${id}-4`, more)],
  ]

  it('[COMPAT-7] creates missing organizations, folders and documents unless createMissing is false', async () => {
    for (const [path, data] of calls('absent', { createMissing: false }))
      expect(errorOf(await server.post(path, data))).toEqual(['NOT_FOUND'])
    const owned = { organizationId: 'own', users: [{ userId: 'ann' }], createOrganization: false }
    expect(errorOf(await server.post('/v2/users/add', owned))).toEqual(['NOT_FOUND'])
    for (const [path, data] of calls('made'))
      expect((await server.post(path, data)).body.error).toBeUndefined()
    for (const number of [1, 2, 4])
      expect(await call('/v2/users/get', { organizationId: `made-${number}` })).toMatchObject([
        { userId: 'ann' },
      ])
    expect(await call('/v2/organizations/folders/get', { organizationId: 'made-3' })).toHaveLength(1)
    expect(
      await call('/v2/auth/permissions/get', {
        organizationId: 'made-4',
        userIds: ['ann'],
        folderIds: ['f'],
        documentIds: ['d'],
      }),
    ).toMatchObject({
      ann: { folders: { f: { accessRole: 'editor' } }, documents: { d: { accessRole: 'editor' } } },
    })
  })

  it('[COMPAT-7] does not create a missing organization if none of the folders of the call can be added', async () => {
    for (const folders of [
      [{ folderId: 'f', parentFolderId: 'unknown' }],
      [{ folderId: 'f' }, { folderId: 'f', parentFolderId: 'unknown' }],
    ]) {
      const data = { organizationId: 'left-over', folders, createMissing: true }
      expect(await call('/v1/organizations/folders/add', data)).toMatchObject({ f: { success: false } })
      expect(await call('/v2/organizations/get', { organizationIds: ['left-over'] })).toEqual([])
    }
    const organizations = await call('/v2/organizations/get', {})
    expect(organizations).not.toContainEqual(expect.objectContaining({ id: 'left-over' }))
  })

  it('[COMPAT-7] creates no missing organization or document if every user, document or grant of the call fails', async () => {
    const at = { organizationId: 'left-over' }
    const tooLarge = [{ userId: 'ann', metadata: { text: 'x'.repeat(16_384) } }]
    const users = { ...at, documentId: 'd', users: tooLarge, createMissing: true }
    expect(await call('/v2/users/add', users)).toMatchObject({ ann: { success: false } })
    const documents = [{ documentId: 'd', folderId: 'unknown' }]
    expect(
      await call('/v2/organizations/documents/add', { ...at, documents, createOrganization: true }),
    ).toMatchObject({ d: { success: false } })
    const { permissions } = grant('left-over')
    const toGroup = { organizationUserGroupId: 'unknown', permissions, createMissing: true }
    expect(errorOf(await server.post('/v2/auth/permissions/add', toGroup))).toEqual(['NOT_FOUND'])
    const resources = ['document', 'folder'].map((type) => ({
      type,
      id: 'root',
      organizationId: 'left-over',
    }))
    const onRoot = { user: { userId: 'ann' }, permissions: { resources }, createMissing: true }
    const refused = await server.post('/v2/auth/permissions/add', onRoot)
    expect(refused.body.error?.details).toMatchObject({ code: 'folder/root' })
    const organizations = await call('/v2/organizations/get', {})
    expect(organizations).not.toContainEqual(expect.objectContaining({ id: 'left-over' }))
  })

  it('[COMPAT-7] creates no missing organization or document in a call that adds nothing', async () => {
    const nobody = { userId: 'ann' }
    const remark = { annotationId: 'used', comments: [{ from: nobody, text: 'x' }] }
    const notification = {
      actionUser: nobody,
      displayHeadlineMessageTemplate: 'x',
      displayBodyMessage: 'x',
      notifyUsers: [nobody],
      notificationId: 'used',
    }
    const at = { organizationId, documentId }
    await call('/v2/commentannotations/add', { ...at, actionUser: nobody, annotations: [remark] })
    await call('/v1/notifications/add', { ...at, ...notification })
    const calls: readonly (readonly [string, object])[] = [
      ['/v2/users/add', { users: [nobody], createMissing: false }],
      ['/v1/notifications/add', notification],
      ['/v2/commentannotations/add', { actionUser: nobody, annotations: [{}] }],
      ['/v2/presence/add', { users: [nobody] }],
    ]
    for (const [path, data] of calls) {
      const given = { organizationId: 'left-over', documentId: 'd', createOrganization: true, ...data }
      expect([path, errorOf(await server.post(path, given))]).toEqual([path, ['NOT_FOUND']])
    }
    const inRoot = { organizationId: 'left-over', folderId: 'root', createMissing: true, users: [nobody] }
    expect(errorOf(await server.post('/v2/users/add', inRoot))).toEqual(['NOT_FOUND'])
    const editor = { organizationId: 'left-over', documentId: 'd', editorId: 'main' }
    const text = { ...editor, type: 'text' }
    const nested = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`)
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'x')
    const before = Y.encodeStateVector(doc)
    doc.getText('content').insert(1, 'y')
    // This update builds on an update that the server does not have.
    const afterOther = Buffer.from(Y.encodeStateAsUpdate(doc, before)).toString('base64')
    const rejected: readonly (readonly [string, object])[] = [
      ['add', { ...text, data: 5 }],
      ['add', { ...editor, type: 'map', data: { nested } }],
      ['add', { ...editor, type: 'xml', data: '<p>' }],
      ['update', { ...text, data: [], upsert: true }],
      ['update', { ...text, data: 'x', upsert: true, ifVersion: '1.1' }],
      ['update', { ...text, data: 'x', upsert: true, baseVersion: '1.1' }],
      ['apply', { ...editor, update: 'AAAAAAAA', create: true }],
      ['apply', { ...editor, update: afterOther, create: true }],
    ]
    for (const [path, data] of rejected)
      expect([path, data, (await server.post(`/v2/crdt/${path}`, data)).status]).not.toEqual([
        path,
        data,
        200,
      ])
    await call('/v2/crdt/update', { ...text, data: 'x', upsert: true, dryRun: true })
    expect(await call('/v2/organizations/get', { organizationIds: ['left-over'] })).toEqual([])
    const unmade = { organizationId, documentId: 'left-over', createDocument: true }
    expect(await call('/v1/notifications/add', { ...unmade, ...notification })).toMatchObject({
      success: false,
    })
    const annotations = { ...unmade, actionUser: nobody, annotations: [remark] }
    expect(await call('/v2/commentannotations/add', annotations)).toMatchObject({ used: { success: false } })
    const documents = [{ documentId, folderId: 'left-over' }]
    expect(
      await call('/v2/organizations/documents/add', { organizationId, documents, createFolder: true }),
    ).toMatchObject({ [documentId]: { success: false } })
    const left = { organizationId, documentIds: ['left-over'] }
    expect(await call('/v2/organizations/documents/get', left)).toEqual([])
    const folders = await call('/v2/organizations/folders/get', { organizationId })
    expect(folders).not.toContainEqual(expect.objectContaining({ folderId: 'left-over' }))
  })
})

describe('one invalid entry', () => {
  const at = { organizationId: 'entries' }
  const bad = { success: false, message: expect.stringMatching(/./) }
  const long = 'x'.repeat(1_001)
  const ok = { success: true }
  it.each<[string, object, object]>([
    [
      '/v1/organizations/folders/add',
      { folders: [{ folderId: 'f' }, { folderId: 'g', folderName: long }, { folderId: '..' }] },
      { f: ok, g: { ...bad, id: 'g', message: expect.stringContaining('folderName') }, '..': bad },
    ],
    [
      '/v1/organizations/folders/update',
      {
        folders: [
          { folderId: 'f', folderName: 'F' },
          { folderId: 'g', folderName: 5 },
        ],
      },
      { f: ok, g: bad },
    ],
    [
      '/v1/organizations/documents/update',
      {
        documents: [
          { documentId: 'd', documentName: long },
          { documentId: 'e', documentName: 'E' },
        ],
      },
      { d: bad, e: ok },
    ],
    [
      '/v1/organizations/usergroups/users/add',
      { organizationUserGroupId: 'crew', userIds: ['ann', 'a\tb', ''] },
      { ann: ok, 'a\tb': { ...bad, organizationUserGroupId: 'crew' }, '': bad },
    ],
    [
      '/v2/notifications/config/set',
      { documentIds: ['e'], userIds: ['ann', '.'], config: { inbox: 'NONE' } },
      { ann: ok, '.': { ...bad, userId: '.', documentId: 'e' } },
    ],
    [
      '/v2/organizations/delete',
      { organizationIds: ['entries', '..'] },
      { entries: ok, '..': { ...bad, id: '..' } },
    ],
  ])('[COMPAT-8] one invalid entry does not stop the other entries: %s', async (path, data, expected) => {
    if (path.endsWith('folders/add')) {
      await call('/v2/organizations/add', { organizations: [at] })
      await call('/v2/organizations/documents/add', {
        ...at,
        documents: [{ documentId: 'd' }, { documentId: 'e' }],
      })
    }
    const given = 'organizationIds' in data ? data : { ...at, ...data }
    expect(await call(path, given)).toMatchObject(expected)
  })

  it('[COMPAT-8] rejects the call if none of its entries is valid', async () => {
    for (const folders of [
      [{ folderId: '..' }],
      [{ folderName: 'x' }, 5],
      [{ folderId: 'ok' }, { folderId: 'ok', folderName: 5 }],
      [{ folderId: 'ok', folderNmae: 'x' }],
    ])
      expect(
        errorOf(await server.post('/v1/organizations/folders/add', { organizationId, folders }))[0],
      ).toBe('INVALID_ARGUMENT')
    expect(await call('/v1/organizations/folders/get', { organizationId })).toHaveLength(2)
  })
})
