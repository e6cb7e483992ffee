import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { domainsOf, isAllowedOrigin, normalizeDomain } from '../../../src/core/model/domain.ts'

it.each<[string, string]>([
  ['example.com', 'example.com'],
  ['  Example.COM \n', 'example.com'],
  ['https://www.example.com/path?query#fragment', 'example.com'],
  ['http://user:password@example.com:8080/', 'example.com'],
  ['https://a@b@example.com', 'example.com'],
  ['//example.com/x', 'example.com'],
  ['WSS://example.com', 'example.com'],
  ['www.example.com', 'example.com'],
  ['WWW.www.example.com', 'example.com'],
  ['wwwexample.com', 'wwwexample.com'],
  ['shop.www.example.com', 'shop.www.example.com'],
  ['example.com.', 'example.com'],
  ['example.com:443', 'example.com'],
  ['example.com:', 'example.com'],
  ['example.com?x', 'example.com'],
  ['example.com\\x', 'example.com'],
  ['*.example.com', '*.example.com'],
  ['https://*.Example.com:3000/app', '*.example.com'],
  ['*.www.example.com', '*.example.com'],
  ['*.localhost', '*.localhost'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
  ['localhost:3000', 'localhost'],
  ['my_host.internal', 'my_host.internal'],
  ['127.0.0.1:80', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['http://[::1]:3000', '[::1]'],
  ['http://[0:0::1]', '[::1]'],
  ['constructor', 'constructor'],
])('[WS-40] stores %j as %j', (text, domain) => {
  expect(normalizeDomain(text)).toBe(domain)
  expect(normalizeDomain(domain)).toBe(domain)
})

it.each([
  '',
  ' ',
  '.',
  '..',
  '*',
  '*.',
  '*.*.example.com',
  'a.*.example.com',
  '**.example.com',
  '*example.com',
  '*.com',
  '*.127.0.0.1',
  '*.[::1]',
  'https://',
  'https:///path',
  'http:example.com',
  'example..com',
  '.example.com',
  'example.com..',
  '-example.com',
  'example-.com',
  'exa mple.com',
  'example.com,other.com',
  'example.com:port',
  'a:b:c',
  '[::1',
  '[::g]',
  'exa%6dple.com',
  'a\u0000b.com',
  'ex<a>mple.com',
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(127)}com`,
  '\ud800.com',
  'x'.repeat(3000),
])('[WS-41] rejects %j as a domain', (text) => {
  expect(normalizeDomain(text)).toBeNull()
})

it('[WS-40] does not change a domain that is already normalized', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.webUrl(), fc.domain(), fc.ipV6())
  fc.assert(
    fc.property(text, fc.constantFrom('', '*.', 'www.', 'https://', 'HTTPS://www.'), (body, before) => {
      const once = normalizeDomain(before + body)
      if (once !== null) expect(normalizeDomain(once)).toBe(once)
    }),
    { numRuns: 2000 },
  )
})

it.each<[string, string, boolean]>([
  ['example.com', 'https://example.com', true],
  ['example.com', 'http://www.EXAMPLE.com.:8080', true],
  ['example.com', 'https://app.example.com', false],
  ['example.com', 'https://example.com.evil.test', false],
  ['example.com', 'https://evilexample.com', false],
  ['example.com', 'https://evil.test/example.com', false],
  ['example.com', 'https://example.com@evil.test', false],
  ['example.com', 'https://evil.test#example.com', false],
  ['example.com', 'null', false],
  ['example.com', '', false],
  ['example.com', 'example.com', false],
  ['*.example.com', 'https://app.example.com', true],
  ['*.example.com', 'https://a.b.c.example.com', true],
  ['*.example.com', 'https://www.example.com', true],
  ['*.example.com', 'https://example.com', false],
  ['*.example.com', 'https://evilexample.com', false],
  ['xn--bcher-kva.example', 'https://bücher.example', true],
  ['localhost', 'http://localhost:3000', true],
  ['localhost', 'capacitor://localhost', true],
  ['127.0.0.1', 'http://127.0.0.1:3000', true],
  ['[::1]', 'http://[::1]:3000', true],
])(
  '[WS-52] for the domain %s and a page of %s, decides whether the page is allowed: %s',
  (domain, origin, allowed) => {
    expect(isAllowedOrigin([domain], origin)).toBe(allowed)
    expect(isAllowedOrigin(['other.test', domain], origin)).toBe(allowed)
    expect(domainsOf(origin).includes(domain)).toBe(allowed)
  },
)

it('[WS-50] without domains, allows every page', () => {
  for (const origin of ['https://example.com', 'null', '']) expect(isAllowedOrigin([], origin)).toBe(true)
})
