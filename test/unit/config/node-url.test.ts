import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, it } from 'vitest'
import { nodeUrlAt } from '../../../src/core/config/public-url.ts'

it('[CL-37] the URL of a node has the address on which it listens, or else the first external IPv4 address', () => {
  expect(nodeUrlAt('10.0.0.7', 8080)).toBe('http://10.0.0.7:8080')
  expect(nodeUrlAt('fd00::7', 8080)).toBe('http://[fd00::7]:8080')
  expect(nodeUrlAt('weft-1.internal', 80)).toBe('http://weft-1.internal:80')
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const external = addresses.filter(({ internal, address }) => !internal && isIPv4(address))
  const expected = external[0]?.address ?? 'localhost'
  expect(nodeUrlAt('0.0.0.0', 8080)).toBe(`http://${expected}:8080`)
  expect(nodeUrlAt('::', 8080)).toBe(`http://${expected}:8080`)
})
