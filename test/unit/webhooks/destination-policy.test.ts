import { afterAll, beforeAll, expect, it } from 'vitest'
import { AttemptSender } from '../../../src/capabilities/webhooks/sending/delivery-attempt.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { type Destination, DestinationPolicy } from '../../../src/core/outgoing/destination-policy.ts'
import { onRequest, Receiver } from '../../support/clients/delivery-receiver.ts'
import { hostileHosts, hostileNames, publicAddresses } from './hostile-destinations.ts'

const receiver = new Receiver((socket) =>
  onRequest(socket, () => socket.end('HTTP/1.1 204 No Content\r\n\r\n')),
)
const receiver6 = new Receiver((socket) =>
  onRequest(socket, () => socket.end('HTTP/1.1 204 No Content\r\n\r\n')),
)
beforeAll(async () => {
  // Listens on every interface, so that any address of this machine would reach it.
  await receiver.start('0.0.0.0')
  await receiver6.start('::1')
})
afterAll(() => {
  receiver.stop()
  receiver6.stop()
})

/** Resolves names from a table, and fails for others. */
const resolving =
  (names: Readonly<Record<string, readonly string[]>>) =>
  async (host: string): Promise<readonly string[]> => {
    const found = names[host]
    if (found === undefined) throw Object.assign(new Error('not known'), { code: 'ENOTFOUND' })
    return found
  }

async function attempted(url: string, destinations: DestinationPolicy) {
  const attempts = new AttemptSender({ destinations, clock: systemClock })
  return attempts.make({ url, headers: {}, body: Buffer.from('{}') }, new AbortController().signal)
}

const everywhere = new DestinationPolicy([], resolving({}))
const checked = async (host: string, destinations = everywhere): Promise<Destination> =>
  destinations.of(new URL(`http://${host}/hook`))

it(`[HOOK-110] does not connect to any of ${hostileHosts.length} hostile addresses`, async () => {
  const [before, before6] = [receiver.connections, receiver6.connections]
  for (const host of hostileHosts)
    for (const port of [receiver.port, receiver6.port])
      for (const scheme of ['http', 'https']) {
        const outcome = await attempted(`${scheme}://${host}:${port}/hook`, everywhere)
        expect(outcome, host).toMatchObject({ httpStatus: null })
        expect(outcome, host).toMatchObject({ error: expect.stringMatching(/public internet|not valid/) })
      }
  expect([receiver.connections, receiver6.connections]).toEqual([before, before6])
})

it(`[HOOK-110] does not connect to any of ${hostileNames.length} hostile names, regardless of their addresses`, async () => {
  const before = receiver.connections
  for (const [name, address] of hostileNames) {
    const destinations = new DestinationPolicy([], async () => [address])
    const outcome = await attempted(`http://${name}:${receiver.port}/hook`, destinations)
    expect(outcome, name).toMatchObject({ error: expect.stringMatching('public internet') })
  }
  expect(receiver.connections).toBe(before)
})

it('[HOOK-110] when it rejects a name, does not state the addresses of the name', async () => {
  const destinations = new DestinationPolicy([], resolving({ 'inside.example.com': ['10.1.2.3'] }))
  const outcome = await attempted('http://inside.example.com/', destinations)
  expect(JSON.stringify(outcome)).not.toContain('10.1.2.3')
})

it.each(publicAddresses)('[HOOK-111] accepts %s as a part of the public internet', async (address) => {
  const host = address.includes(':') ? `[${address}]` : address
  expect(await checked(host)).toMatchObject({ kind: 'reachable' })
  const named = new DestinationPolicy([], resolving({ 'hooks.example.com': [address] }))
  expect(await checked('hooks.example.com', named)).toMatchObject({
    kind: 'reachable',
    addresses: [{ address }],
  })
})

it('[HOOK-112] rejects a name if any of its addresses is not public', async () => {
  const good = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']
  for (const bad of ['127.0.0.1', '10.0.0.1', '::1', '::ffff:127.0.0.1', 'fe80::1%eth0', 'nonsense', ''])
    for (const addresses of [
      [bad, ...good],
      [...good, bad],
    ]) {
      const destinations = new DestinationPolicy([], resolving({ 'hooks.example.com': addresses }))
      expect((await checked('hooks.example.com', destinations)).kind, bad).toBe('refused')
    }
  const none = new DestinationPolicy([], resolving({ 'hooks.example.com': [] }))
  expect((await checked('hooks.example.com', none)).kind).toBe('refused')
})

it('[HOOK-112] when a name resolves to another address a moment later, connects to the address that was checked', async () => {
  const before = receiver.connections
  // The first resolution is listed and has no server. Every later one has the server.
  let asked = 0
  const destinations = new DestinationPolicy(['127.0.0.77/32'], async () => {
    asked += 1
    return [asked === 1 ? '127.0.0.77' : '127.0.0.1']
  })
  const lone = await new Receiver((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n')).start(
    '127.0.0.1',
  )
  const url = `http://rebinding.example.com:${lone.port}/`
  expect(await attempted(url, destinations)).toMatchObject({ error: 'the connection was refused' })
  expect(asked).toBe(1)
  expect(await attempted(url, destinations)).toMatchObject({
    error: expect.stringMatching('public internet'),
  })
  expect([receiver.connections, lone.connections]).toEqual([before, 0])
  lone.stop()
})

it('[HOOK-113] connects to names, addresses and ranges of the allowlist in any spelling', async () => {
  const names = resolving({ 'hooks.test': ['127.0.0.1'], localhost: ['127.0.0.1'], intranet: ['127.0.0.1'] })
  const reaches = async (listed: readonly string[], host: string, { port } = receiver): Promise<string> => {
    const outcome = await attempted(`http://${host}:${port}/`, new DestinationPolicy(listed, names))
    return outcome?.result === 'answered' ? 'succeeded' : 'failed'
  }
  expect(await reaches(['hooks.test'], 'HOOKS.test')).toBe('succeeded')
  expect(await reaches(['hooks.test'], 'hooks.test.')).toBe('succeeded')
  expect(await reaches(['hooks.test'], 'localhost')).toBe('failed')
  expect(await reaches(['intranet'], 'intranet')).toBe('succeeded')
  expect(await reaches(['127.0.0.0/8'], 'hooks.test')).toBe('succeeded')
  expect(await reaches(['127.0.0.1'], '0x7f.1')).toBe('succeeded')
  expect(await reaches(['127.0.0.1'], '[::ffff:127.0.0.1]')).toBe('succeeded')
  expect(await reaches(['127.0.0.1'], '127.0.0.2')).toBe('failed')
  expect(await reaches(['10.0.0.0/8', 'hooks.test'], '127.0.0.1')).toBe('failed')
  expect(await reaches(['::1'], '[::1]', receiver6)).toBe('succeeded')
  expect(await reaches(['127.0.0.0/8'], '[::1]', receiver6)).toBe('failed')
})

it('[HOOK-113] connects to a private name only if the allowlist has this name, and does not resolve it otherwise', async () => {
  let asked = 0
  const resolve = async () => {
    asked += 1
    return ['127.0.0.1']
  }
  const byAddress = new DestinationPolicy(['127.0.0.0/8'], resolve)
  expect((await checked('localhost', byAddress)).kind).toBe('refused')
  expect(asked).toBe(0)
  expect((await checked('localhost', new DestinationPolicy(['localhost'], resolve))).kind).toBe('reachable')
})

it.each([
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:,x',
  'unix:/tmp/s',
  '//example.com',
  'http://',
  'nonsense',
  '',
])('[HOOK-114] accepts only http and https, and rejects %s', async (url) => {
  const outcome = await attempted(url, everywhere)
  expect(outcome).toMatchObject({
    httpStatus: null,
    error: expect.stringMatching(/^the URL/),
  })
})

it('[HOOK-114] rejects a URL with a password', async () => {
  const destinations = new DestinationPolicy(['127.0.0.1'], resolving({}))
  const outcome = await attempted(`http://user:pass@127.0.0.1:${receiver.port}/`, destinations)
  expect(outcome).toMatchObject({ error: expect.stringMatching('password') })
})

const read = (value: string) =>
  readConfig({ flags: {}, environment: { WEFT_WEBHOOK_ALLOWLIST: value }, file: null }).config
    .webhookAllowlist

it('[HOOK-115] accepts names, addresses and CIDR ranges in the allowlist option, and rejects anything else', () => {
  expect(read('')).toEqual([])
  expect(read('Hooks.Internal, 10.1.0.0/16,::1 ,fd00::/8,192.168.1.1')).toEqual([
    'hooks.internal',
    '10.1.0.0/16',
    '::1',
    'fd00::/8',
    '192.168.1.1',
  ])
  const unfit = [
    '*',
    '*.a.b',
    'a,,b',
    '10.1/16',
    '10.0.0.0/33',
    '1',
    '0x7f.1',
    'a b',
    'http://a',
    'a:80',
    '::1%lo',
    '/8',
  ]
  for (const value of unfit) expect(() => read(value), value).toThrow('WEFT_WEBHOOK_ALLOWLIST')
})
