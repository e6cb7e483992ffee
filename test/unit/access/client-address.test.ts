import type { IncomingMessage } from 'node:http'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { clientAddress, subnetOf } from '../../../src/core/access/client-address.ts'

const asked = (peer: string, forwarded?: string | string[]): IncomingMessage =>
  ({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['192.0.2.7:4711', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::9', '2001:db8:1:3::/64'],
  ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
  ['::1', '::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['unknown', 'unknown'],
  ['', ''],
  ['x'.repeat(30_000), 'x'.repeat(64)],
])('[LIM-8] groups the address %s under %s', (address, counted) => {
  expect(subnetOf(address)).toBe(counted)
})

it('[LIM-8] reads any header without an error, and never returns an address of more than 64 characters', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 200 }), fc.ipV6(), fc.ipV4()), (text) => {
      expect(subnetOf(text).length).toBeLessThanOrEqual(64)
    }),
  )
})

it('[LIM-8] reads only the addresses that trusted proxies add, and ignores those that a client sends', () => {
  expect(clientAddress(asked('192.0.2.1', '198.51.100.9'), 0)).toBe('192.0.2.1')
  expect(clientAddress(asked('192.0.2.1', 'made up, 198.51.100.9'), 1)).toBe('198.51.100.9')
  expect(clientAddress(asked('192.0.2.1', ['made up', '198.51.100.9, 192.0.2.2']), 2)).toBe('198.51.100.9')
  expect(clientAddress(asked('192.0.2.1', '2001:db8::1, 2001:db8:0:0:8::2'), 1)).toBe('2001:db8::/64')
  expect(clientAddress(asked('::ffff:192.0.2.1'), 1)).toBe('192.0.2.1')
})
