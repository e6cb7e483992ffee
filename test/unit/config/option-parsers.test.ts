import { expect, it } from 'vitest'
import { natsUrls } from '../../../src/config/option-parsers.ts'

it('[CL-22] URLs of NATS servers are all in plain text or all with TLS, and nothing else', () => {
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
