import { createSocket, type Socket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resolveByDns, resolveName } from '../../../src/core/outgoing/destination-policy.ts'

/** Types of records (RFC 1035, 3596). */
const [a, aaaa] = [1, 28]
const ipv4 = Buffer.from([127, 0, 0, 1])
const ipv6 = Buffer.from('20010db8000000000000000000000001', 'hex')

/** Records by the first label of a name; other names are unknown. */
const zone: Readonly<Record<string, readonly (readonly [type: number, data: Buffer])[]>> = {
  both: [
    [a, ipv4],
    [a, Buffer.from([8, 8, 8, 8])],
    [aaaa, ipv6],
  ],
  four: [[a, ipv4]],
  six: [[aaaa, ipv6]],
}

/** A response to a query: header, question, and a record for each address (RFC 1035 4.1). */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5
  const records = zone[query.subarray(13, 13 + (query[12] ?? 0)).toString()]
  const found = (records ?? []).filter(([type]) => type === query.readUInt16BE(end - 4))
  const header = Buffer.alloc(12)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  header.writeUInt16BE(records === undefined ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(found.length, 6)
  const written = found.map(([type, data]) =>
    Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]), data]),
  )
  return Buffer.concat([header, query.subarray(12, end), ...written])
}

let server: Socket
let resolver: Resolver
beforeAll(async () => {
  server = createSocket('udp4', (query, { port, address }) => server.send(answerTo(query), port, address))
  await new Promise<void>((resolve) => {
    server.bind(0, '127.0.0.1', resolve)
  })
  resolver = new Resolver()
  resolver.setServers([`127.0.0.1:${server.address().port}`])
})
afterAll(() => {
  server.close()
})

it('[HOOK-112] finds all addresses of a name, both IPv4 and IPv6', async () => {
  expect(await resolveByDns('both.example.com', resolver)).toEqual(['127.0.0.1', '8.8.8.8', '2001:db8::1'])
  expect(await resolveByDns('four.example.com', resolver)).toEqual(['127.0.0.1'])
  expect(await resolveByDns('six.example.com', resolver)).toEqual(['2001:db8::1'])
})

it('[HOOK-133] finds no address for an unknown name', async () => {
  await expect(resolveByDns('none.example.com', resolver)).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

it('[HOOK-113] resolves names of the allowlist in the same way as the operating system', async () => {
  const found = await resolveName('localhost', 'listed')
  expect(found.some((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true)
})
