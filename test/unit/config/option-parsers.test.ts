import { expect, it } from 'vitest'
import { natsUrls } from '../../../src/core/config/option-parsers.ts'

it('[CL-22] accepts URLs of NATS servers that are all plain text or all TLS, and no other URLs', () => {
  expect(natsUrls.parse('nats://a')).toEqual(['nats://a'])
  const several = ['tls://weft:p%40ss@a.example:4222', 'tls://[::1]:4222/']
  expect(natsUrls.parse(several.join(' , '))).toEqual(several)
  const broken = [
    '',
    'a:4222',
    'http://a',
    'nats://a,tls://b',
    'nats://a,',
    'nats://a/path',
    'nats://x%y@a',
    'nats://',
  ]
  expect(broken.filter((text) => natsUrls.parse(text) !== undefined)).toEqual([])
})
