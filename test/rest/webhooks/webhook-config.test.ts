import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { rsaKey, webhookOptions, webhooksOf } from '../../support/servers/webhooks.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer(webhookOptions)
})
afterAll(() => server.stop())

const basicPath = 'webhookconfig/update'
const advancedPath = 'advancedwebhookconfig/update'
const never = {
  useWebhookService: false,
  webhookServiceConfig: {
    authToken: '',
    rawNotificationUrl: '',
    processedNotificationUrl: '',
    encodeData: false,
    encryptData: false,
    publicKey: '',
    triggers: {},
  },
}
const neverAdvanced = {
  isEnabled: false,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
}
/** Defaults of the specification. */
const firstTriggers = {
  'comment_annotation.add': true,
  'comment.add': true,
  'comment.update': true,
  'comment.delete': true,
  'comment_annotation.status_change': true,
  'comment_annotation.assign': true,
  'comment_annotation.priority_change': true,
  'comment_annotation.suggestion_accept': false,
  'comment_annotation.suggestion_reject': false,
  'comment.reaction_add': true,
  'comment.reaction_delete': true,
  'huddle.create': true,
  'huddle.join': true,
  'recorder.done': false,
  'crdt.delete_data': false,
  'crdt.update_data': false,
  'document.create': false,
  'document.delete': false,
  'permission.add': false,
  'permission.update': false,
  'permission.delete': false,
  'presence.join': false,
  'presence.leave': false,
  'message.attempt.exhausted': false,
  enableDataProtection: false,
}

it('[HOOK-1] returns webhook settings that were never configured as disabled and empty', async () => {
  const { basic, advanced } = await webhooksOf(server)
  expect(await basic()).toEqual(never)
  expect(await advanced()).toEqual(neverAdvanced)
})

it('[HOOK-2] changes the given settings of the basic service, keeps the other settings, and returns all of them', async () => {
  const { basic, refused } = await webhooksOf(server)
  expect(await refused(basicPath, {})).toEqual(['INVALID_ARGUMENT'])
  expect(await refused(basicPath, { other: true })).toEqual(['INVALID_ARGUMENT', '/data/other'])
  expect(await basic({ webhookServiceConfig: {} })).toEqual(never)
  const config = {
    authToken: 'a token: with/all+sorts=~',
    rawNotificationUrl: 'https://raw.test/a?b=c',
    processedNotificationUrl: 'http://processed.test:8080',
    encodeData: true,
    encryptData: true,
    publicKey: rsaKey().spki,
    triggers: { 'comment.add': true, 'comment.delete': false },
  }
  const all = { useWebhookService: false, webhookServiceConfig: config }
  expect(await basic(all)).toEqual(all)
  expect(await basic({ webhookServiceConfig: { authToken: '' } })).toEqual({
    ...all,
    webhookServiceConfig: { ...config, authToken: '' },
  })
  const next = {
    useWebhookService: true,
    webhookServiceConfig: {
      ...config,
      authToken: '',
      rawNotificationUrl: '',
      triggers: { ...config.triggers, 'presence.join': true },
    },
  }
  expect(
    await basic({
      useWebhookService: true,
      webhookServiceConfig: { rawNotificationUrl: '', triggers: { 'presence.join': true } },
    }),
  ).toEqual(next)
  expect(await basic()).toEqual(next)
})

it('[HOOK-3] when the basic service is enabled and has no stored triggers, uses the default triggers', async () => {
  const { basic } = await webhooksOf(server)
  await basic({ webhookServiceConfig: { authToken: 'kept' } })
  const first = await basic({
    useWebhookService: true,
    webhookServiceConfig: {
      encodeData: true,
      triggers: { 'comment.add': false, 'comment_annotation.suggestion_accept': true },
    },
  })
  const expected = {
    ...never.webhookServiceConfig,
    authToken: 'kept',
    encodeData: true,
    triggers: { ...firstTriggers, 'comment.add': false, 'comment_annotation.suggestion_accept': true },
  }
  expect(first).toEqual({ useWebhookService: true, webhookServiceConfig: expected })
  expect(await basic({ useWebhookService: false })).toEqual({
    useWebhookService: false,
    webhookServiceConfig: expected,
  })
  expect(await basic({ useWebhookService: true })).toEqual({
    useWebhookService: true,
    webhookServiceConfig: expected,
  })
})

it('[HOOK-3] when the basic service is enabled, keeps its stored triggers, and enables no other triggers', async () => {
  const { basic } = await webhooksOf(server)
  await basic({ webhookServiceConfig: { triggers: { 'recorder.done': true } } })
  expect(await basic({ useWebhookService: true })).toMatchObject({
    webhookServiceConfig: { triggers: { 'recorder.done': true } },
  })
  const plain = await webhooksOf(server)
  expect(await plain.basic({ useWebhookService: true })).toEqual({
    useWebhookService: true,
    webhookServiceConfig: { ...never.webhookServiceConfig, triggers: firstTriggers },
  })
})

it('[HOOK-4] expands a group of triggers to its members, lets a member override its group, and returns all triggers as they were set', async () => {
  const { basic, refused } = await webhooksOf(server)
  const triggers = async (change: object) =>
    (
      (await basic({ webhookServiceConfig: { triggers: change } })) as {
        webhookServiceConfig: { triggers: object }
      }
    ).webhookServiceConfig.triggers
  expect(await triggers({ crdt: true, huddle: true, 'huddle.join': false })).toEqual({
    crdt: true,
    huddle: true,
    'crdt.update_data': true,
    'huddle.create': true,
    'huddle.join': false,
  })
  expect(await triggers({ 'huddle.create': true, huddle: false, recorder: { done: true } })).toEqual({
    crdt: true,
    huddle: false,
    recorder: { done: true },
    'crdt.update_data': true,
    'huddle.create': true,
    'huddle.join': false,
    'recorder.done': true,
  })
  expect(await triggers({ huddle: { 'huddle.join': true }, comment: { add: true } })).toMatchObject({
    huddle: { 'huddle.join': true },
    comment: { add: true },
    'comment.add': true,
    'huddle.create': true,
    'huddle.join': true,
  })
  expect(await triggers({ huddle: { create: false } })).toMatchObject({
    huddle: { 'huddle.join': true, create: false },
    'huddle.create': false,
    'huddle.join': true,
  })
  for (const wrong of ['yes', 1, { create: 1 }, [true]])
    expect(
      (await refused(basicPath, { webhookServiceConfig: { triggers: { huddle: wrong } } })).slice(0, 1),
    ).toEqual(['INVALID_ARGUMENT'])
})

it.each<[string, string, unknown]>([
  ['no URL', 'rawNotificationUrl', 'example.com'],
  ['another scheme', 'rawNotificationUrl', 'ftp://example.com/'],
  ['a script', 'processedNotificationUrl', 'javascript:alert(1)'],
  ['no host', 'processedNotificationUrl', 'https://'],
  ['white space', 'rawNotificationUrl', ' https://example.com/'],
  ['a line break', 'rawNotificationUrl', 'https://example.com/\nx'],
  ['a port that is none', 'rawNotificationUrl', 'https://example.com:99999/'],
  ['a password', 'rawNotificationUrl', 'https://ann:secret@example.com/'],
  ['a user', 'processedNotificationUrl', 'https://ann@example.com/'],
  ['a long URL', 'rawNotificationUrl', `https://example.com/${'x'.repeat(2_000)}`],
  ['a header of its own', 'authToken', 'a\r\nX-Other: b'],
  ['what no header holds', 'authToken', 'töken'],
  ['spaces around', 'authToken', ' token'],
  ['a long token', 'authToken', 'x'.repeat(2_001)],
  ['a number', 'authToken', 1],
  ['no boolean', 'encodeData', 'true'],
  ['no key', 'publicKey', 'abc'],
])(
  '[HOOK-5] rejects unusable settings of the basic service, and states the position of the problem: %s',
  async (_name, member, wrong) => {
    const { basic, refused } = await webhooksOf(server)
    const change = { authToken: 'x', [member]: wrong }
    expect(await refused(basicPath, { useWebhookService: true, webhookServiceConfig: change })).toEqual([
      'INVALID_ARGUMENT',
      `/data/webhookServiceConfig/${member}`,
    ])
    expect(await basic()).toEqual(never)
  },
)

it('[HOOK-6] accepts an RSA key of at least 2048 bits, as a PEM file or base64 of SPKI or PKCS#1', async () => {
  const { basic, advanced, refused } = await webhooksOf(server)
  await advanced({ isEnabled: true })
  const [key, small] = [rsaKey(), rsaKey(1_024)]
  const lines = key.spki.match(/.{1,64}/g)?.join('\r\n')
  const pem = `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n`
  const rsaPem = `-----BEGIN RSA PUBLIC KEY-----\n${key.pkcs1}\n-----END RSA PUBLIC KEY-----`
  const oneLine = pem.replaceAll('\n', String.raw`\n`)
  for (const publicKey of [key.spki, key.pkcs1, lines, pem, rsaPem, oneLine, '']) {
    expect(await basic({ webhookServiceConfig: { publicKey } })).toMatchObject({
      webhookServiceConfig: { publicKey },
    })
    expect(await advanced({ publicKey })).toMatchObject({ publicKey })
  }
  const curve = generateKeyPairSync('ed25519').publicKey
  const signing = generateKeyPairSync('rsa-pss', { modulusLength: 2_048 }).publicKey
  for (const publicKey of [
    small.spki,
    small.pkcs1,
    `-----BEGIN PUBLIC KEY-----\n${key.spki}\n-----END RSA PUBLIC KEY-----`,
    `-----BEGIN CERTIFICATE-----\n${key.spki}\n-----END CERTIFICATE-----`,
    key.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    key.spki.slice(4),
    Buffer.concat([Buffer.from(key.spki, 'base64'), Buffer.of(0)]).toString('base64'),
    key.spki.slice(0, -8),
    `${key.spki}*`,
    key.spki.replace('M', '-'),
    key.privateKey.export({ format: 'der', type: 'pkcs1' }).toString('base64'),
    key.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    curve.export({ format: 'der', type: 'spki' }).toString('base64'),
    signing.export({ format: 'der', type: 'spki' }).toString('base64'),
    ' ',
    'x'.repeat(4_001),
  ]) {
    expect(await refused(advancedPath, { publicKey })).toEqual(['INVALID_ARGUMENT', '/data/publicKey'])
    expect(await refused(basicPath, { webhookServiceConfig: { publicKey } })).toEqual([
      'INVALID_ARGUMENT',
      '/data/webhookServiceConfig/publicKey',
    ])
  }
})

it('[HOOK-7] rejects encryptData without a public key, and the removal of a public key that encryptData needs', async () => {
  const { basic, advanced, refused } = await webhooksOf(server)
  const { spki: publicKey } = rsaKey()
  const ofBasic = (change: object) => ({ webhookServiceConfig: change })
  expect(await refused(basicPath, ofBasic({ encryptData: true }))).toEqual(['INVALID_ARGUMENT'])
  expect(await refused(advancedPath, { isEnabled: true, encryptData: true })).toEqual(['INVALID_ARGUMENT'])
  await basic(ofBasic({ encryptData: true, publicKey }))
  await advanced({ isEnabled: true, encryptData: true, publicKey })
  expect(await refused(basicPath, ofBasic({ publicKey: '' }))).toEqual(['INVALID_ARGUMENT'])
  expect(await refused(advancedPath, { publicKey: '' })).toEqual(['INVALID_ARGUMENT'])
  expect(await basic()).toMatchObject(ofBasic({ encryptData: true, publicKey }))
  expect(await basic(ofBasic({ encryptData: false, publicKey: '' }))).toMatchObject(
    ofBasic({ encryptData: false, publicKey: '' }),
  )
  expect(await advanced({ encryptData: false, publicKey: '' })).toEqual({ ...neverAdvanced, isEnabled: true })
})

it('[HOOK-8] rejects changes of advanced webhooks until they are enabled, then changes the given settings', async () => {
  const { advanced, refused } = await webhooksOf(server)
  expect(await refused(advancedPath, {})).toEqual(['INVALID_ARGUMENT'])
  for (const early of [{ isEnabled: false }, { encodeData: true }, { enableDataProtection: true }])
    expect(await refused(advancedPath, early)).toEqual(['FAILED_PRECONDITION'])
  expect(await advanced()).toEqual(neverAdvanced)
  expect(await advanced({ isEnabled: true, encodeData: true })).toEqual({
    ...neverAdvanced,
    isEnabled: true,
    encodeData: true,
  })
  expect(await refused(advancedPath, {})).toEqual(['INVALID_ARGUMENT'])
  expect(await refused(advancedPath, { other: 1 })).toEqual(['INVALID_ARGUMENT', '/data/other'])
  const next = { ...neverAdvanced, encodeData: true, enableDataProtection: true }
  expect(await advanced({ isEnabled: false, enableDataProtection: true })).toEqual(next)
  expect(await advanced()).toEqual(next)
})

it('[HOOK-9] applies all concurrent changes of webhook settings and endpoints', async () => {
  const { basic, advanced, create, update, list } = await webhooksOf(server)
  await advanced({ isEnabled: true })
  const { id } = await create()
  const types = Object.keys(firstTriggers)
  await Promise.all([
    ...types.map((type) => basic({ webhookServiceConfig: { triggers: { [type]: true } } })),
    basic({ webhookServiceConfig: { authToken: 'x' } }),
    basic({ webhookServiceConfig: { rawNotificationUrl: 'https://a.test' } }),
    advanced({ encodeData: true }),
    advanced({ enableDataProtection: true }),
    update(id, { description: 'd' }),
    update(id, { rateLimit: 3 }),
    update(id, { metadata: { a: 'b' } }),
    ...[1, 2, 3].map(() => create()),
  ])
  expect(await basic()).toMatchObject({
    webhookServiceConfig: {
      authToken: 'x',
      rawNotificationUrl: 'https://a.test',
      triggers: Object.fromEntries(types.map((type) => [type, true])),
    },
  })
  expect(await advanced()).toMatchObject({ encodeData: true, enableDataProtection: true })
  const { endpoints } = await list()
  expect(endpoints).toHaveLength(4)
  expect(endpoints.find((each) => each.id === id)).toMatchObject({
    description: 'd',
    rateLimit: 3,
    metadata: { a: 'b' },
  })
})
